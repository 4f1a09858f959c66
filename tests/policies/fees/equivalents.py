"""Mutants that change nothing that can be seen, each with the reason: (module, line of source, change)."""

from __future__ import annotations

_PRECISION = "60 digits hold every product of two bounded amounts; 61 do as well"
_AHEAD = "looks past white space between sentences; one character more or less meets no longer run in the texts"
_PERIOD = "the intervals of a validated schedule cover exactly its period; the period is checked as well, in depth"
_INEQUALITY = "stands where the two sides are known to differ"

EQUIVALENTS: dict[tuple[str, str, str], str] = {
    ("atoms", "_NUMBER_TOKENS = 16", "16 one more"): "no number below a million has as many words",
    (
        "atoms",
        "after = tokens[index + 1 : index + 2]",
        "2 one more",
    ): "only the first of them is looked at",
    (
        "atoms",
        "position, gap = index, False",
        "False flipped",
    ): "the first word of a phrase stands where it is looked for",
    (
        "atoms",
        'return Decimal("".join(groups) + (f".{fraction}" if mark else ""))',
        "condition always",
    ): "a point with nothing behind it spells the same number",
    ("engine", "_EXACT = Context(prec=60, traps=[Inexact])", "60 one more"): _PRECISION,
    ("engine", "_ROUNDING = Context(prec=60)", "60 one more"): _PRECISION,
    ("engine", "if not schedule.period.holds(distance):", "condition never"): _PERIOD,
    (
        "coverage",
        "is_overlap = days.first is None or (expected is not None and days.first > expected)",
        "Gt to GtE",
    ): _INEQUALITY,
    ("coverage", "kind = ProblemKind.OVERLAP if last < period.last else ProblemKind.GAP", "Lt to LtE"): _INEQUALITY,
    ("clauses", "_AHEAD = 64", "64 one more"): _AHEAD,
    (
        "clauses",
        "rest = text[index + 1 : min(index + _AHEAD, block.end)]",
        "min to max",
    ): "what follows the block decides only whether its last full stop ends the clause, where the block ends anyway",
    (
        "fee_schedule",
        "return value if isinstance(value, kind) else None",
        "condition always",
    ): "the loader lets no expression of another type through; it is asked again, in depth",
    (
        "fee_schedule",
        "dates={} if reference is None else {kind: reference},",
        "condition never",
    ): "the engine takes a date that is None for one that is missing",
}
