"""From an untrusted candidate and its source text to a schedule, or to every reason why not.

Validation is total and deterministic: the text is read by a grammar (`reader`) and must state exactly what the
candidate says, in the quotation, at its place. Nothing is repaired.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from policies.currencies import EXPONENTS
from policies.fees import matching
from policies.fees.candidate import FixedFee, Limit
from policies.fees.coverage import Covered, resolve
from policies.fees.evidence import Contexts, Located, defects, locate, states, uncited
from policies.fees.lexicon import Side
from policies.fees.notices import rest
from policies.fees.problems import Notice, Problem, ProblemKind
from policies.fees.reading import ReadAmount, ReadBase, ReadPercent, ReadReference
from policies.fees.schedule import Fixed, Interval, Percentage, Quoted, Schedule
from policies.values import Money

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from policies.fees.candidate import Candidate, Fee, Quotation
    from policies.fees.schedule import ScheduledFee
    from policies.fees.text import Source

SOURCE_CODE_POINTS_MAX = 200_000


@dataclass(frozen=True, slots=True)
class Validated:
    schedule: Schedule
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """`problems` holds at least one."""

    problems: tuple[Problem, ...]
    notices: tuple[Notice, ...] = ()


Validation: TypeAlias = "Validated | Refused"


def validate(candidate: Candidate, source: Source) -> Validation:
    """Whether the source says what the candidate says, wholly and without contradiction."""
    if len(source.text) > SOURCE_CODE_POINTS_MAX:
        return Refused((Problem(ProblemKind.SOURCE_TOO_LARGE, "schedule", f"{len(source.text)} code points"),))
    contexts = Contexts(source)
    problems = list(_declarations(candidate))
    located: dict[str, Located] = {}
    for subject, quotation in _quotations(candidate):
        one = locate(subject, quotation, source, contexts)
        if isinstance(one, Problem):
            problems.append(one)
        else:
            located[subject] = one
            problems.extend(defects(one, source))
    is_whole = len(located) == len(candidate.quotations())  # else what a misplaced quotation was to cite is uncited
    if is_whole:
        problems.extend(uncited(tuple(located.values()), source))
    problems.extend(_rules(candidate, located))
    problems.extend(_statements(candidate, located))
    uncited_rules, notices = rest(candidate, source, tuple(one.at for one in located.values()))
    if is_whole:
        problems.extend(uncited_rules)
    covered = resolve(candidate)
    if not isinstance(covered, Covered):
        return Refused(tuple(dict.fromkeys((*problems, *covered))), notices)
    if problems:
        return Refused(tuple(dict.fromkeys(problems)), notices)
    return Validated(_schedule(candidate, source, located, covered), notices)


def _subject(index: int) -> str:
    return f"interval {index + 1}"


def _quotations(candidate: Candidate) -> Iterator[tuple[str, Quotation]]:
    if candidate.reference.quotation is not None:
        yield "reference", candidate.reference.quotation
    if candidate.base is not None:
        yield "base", candidate.base.quotation
    for name, limit in _period_limits(candidate).items():
        yield name, limit.quotation
    for index, interval in enumerate(candidate.intervals):
        yield _subject(index), interval.quotation


def _period_limits(candidate: Candidate) -> Mapping[str, Limit]:
    ends = {"period start": candidate.period.start, "period end": candidate.period.end}
    return {name: end for name, end in ends.items() if isinstance(end, Limit)}


def _declarations(candidate: Candidate) -> Iterator[Problem]:
    if candidate.currency not in EXPONENTS:
        yield Problem(ProblemKind.UNSUPPORTED_CURRENCY, "schedule", candidate.currency)
    for subject, quotation in _quotations(candidate):
        if quotation.language not in candidate.languages:
            yield Problem(ProblemKind.UNDECLARED_LANGUAGE, subject, quotation.language.value, quotation.text)


def _rules(candidate: Candidate, located: Mapping[str, Located]) -> Iterator[Problem]:
    for index, interval in enumerate(candidate.intervals):
        one = located.get(_subject(index))
        if one is not None:
            yield from matching.interval(one, interval, candidate)
    sides = {"period start": Side.START, "period end": Side.END}
    for name, limit in _period_limits(candidate).items():
        if name in located:
            yield from matching.bounds(located[name], ((sides[name], limit.bound),))


def _statements(candidate: Candidate, located: Mapping[str, Located]) -> Iterator[Problem]:
    """The reference date and the base; and no statement's quotation may hide a rule from the intervals."""
    named = False
    for one in located.values():
        kinds = {item.kind for item in one.inside if isinstance(item, ReadReference)}
        if kinds - {candidate.reference.kind}:
            yield one.problem(ProblemKind.WRONG_REFERENCE, ", ".join(sorted(kind.value for kind in kinds)))
        named = named or bool(kinds)
    if located and not named:
        yield Problem(ProblemKind.REFERENCE_NOT_STATED, "reference", candidate.reference.kind.value)
    for name in ("reference", "base"):
        if name in located and any(states(item) for item in located[name].inside):
            yield located[name].problem(ProblemKind.STATEMENT_WITH_RULE)
    for name in _period_limits(candidate):
        if name in located and any(isinstance(item, ReadPercent | ReadAmount) for item in located[name].inside):
            yield located[name].problem(ProblemKind.STATEMENT_WITH_RULE)
    if candidate.base is not None and "base" in located:
        bases = {item.base for item in located["base"].inside if isinstance(item, ReadBase)}
        if bases != {candidate.base.of}:
            kind = ProblemKind.WRONG_BASE if bases else ProblemKind.BASE_NOT_STATED
            yield located["base"].problem(kind, candidate.base.of.value)


def _schedule(candidate: Candidate, source: Source, located: Mapping[str, Located], covered: Covered) -> Schedule:
    intervals = []
    for index, (interval, days) in enumerate(zip(candidate.intervals, covered.intervals, strict=True)):
        one = located[_subject(index)]
        quoted = Quoted(source.text[one.at.start : one.at.end], one.place)
        intervals.append(Interval(index + 1, days, _fee(interval.fee), quoted, matching.stated_pairs(one)))
    return Schedule(
        id=candidate.schedule,
        currency=candidate.currency,
        reference=candidate.reference.kind,
        rounding=candidate.rounding,
        period=covered.period,
        intervals=tuple(intervals),
        source=hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest(),
    )


def _fee(fee: Fee) -> ScheduledFee:
    if isinstance(fee, FixedFee):
        return Fixed(Money(fee.amount, fee.currency))
    return Percentage(fee.percent, fee.of)
