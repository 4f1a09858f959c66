"""The matrix of cases in plain English, as one tool meets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.expressions import sentence
from policies.matrix import CaseOfSession
from policies.values import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from policies.matrix import Action, Cases, Matrix
    from policies.model import Policy, Rule


def case_lines(policy: Policy, matrix: Matrix, rule_text: Callable[[Rule], str]) -> Iterator[str]:
    """The lines about the cells, indented as lines of a tool. `rule_text` tells a rule and its outcome."""
    if not matrix.actions:
        yield "  No case of the matrix names it: always refused (not_in_cell)."
        return
    cases = matrix.cases
    yield f"  What holds depends on {source_words(cases)}{_segment(policy, cases)}:"
    if cases.owner_keeps:
        yield f"    - In {', '.join(sorted(cases.owner_keeps))}: a person decides, whatever else is said (owner_keeps)."
    for cell, action in matrix.actions.items():
        yield f"    - In {cell}: {bounded(policy, action)}"
        for number, rule in enumerate(action.rules, 1):
            yield f"       {number}. {rule_text(rule)}"
    others = [cell for cell in cases.cells if cell not in matrix.actions]
    if others:
        yield f"    - In {', '.join(others)}: refused (not_in_cell)."
    yield "    - Where no cell is written, or the case is not known: passed to a person (no_cell)."
    yield "  Where the case changed within the conversation all of its cells hold, and what changes something is passed"
    yield "  to a person (case_changed)."
    if matrix.ceiling is not None:
        yield f"  Above {render(matrix.ceiling)} it is passed to a person in every case (above_limit)."


def source_words(cases: Cases) -> str:
    """What says the case."""
    if isinstance(cases.source, CaseOfSession):
        return f"the case that the application signs (session.{cases.source.field})"
    return f"the case that {cases.source.name} said last in an earlier turn (its argument {cases.source.argument})"


def _segment(policy: Policy, cases: Cases) -> str:
    return "" if cases.segment is None else f" and on {sentence(cases.segment, policy.constants)}"


def bounded(policy: Policy, action: Action) -> str:
    """What of the action is allowed up to what."""
    where = "allowed" if not action.rules else "allowed where none of these says otherwise"
    if action.value is None:
        return f"{where}."
    value = sentence(action.value, policy.constants)
    if action.maximum is None:
        return f"passed to a person, since no limit of {value} is recorded (no_limit)."
    bound = sentence(action.maximum, policy.constants)
    return f"{where}, up to {bound} of {value}; above it passed to a person (above_limit)."
