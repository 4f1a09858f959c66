"""Stage 5: the matrix of cases and segments, where it governs the tool (DESIGN 7, `cases`).

Four checks, each with rows of its own: a policy exists for this case and customer; the action is in the cell; its value
is within the action's limit and the ceiling; the conditions hold. Where the case changed within the conversation every
cell that was seen is checked, so that the narrowest holds, and a write is for a person.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from interceptors.case import Stage
from interceptors.causes import RefusalCause, answer
from interceptors.decisions import Verdict
from interceptors.history import PastCall
from interceptors.rules import row
from policies.expressions import EvaluationError
from policies.matrix import CaseOfSession
from policies.model import Ruling, folded
from policies.values import Money, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interceptors.case import Case
    from policies.expressions import Expression
    from policies.matrix import Action, CaseOfTool, Cases, Matrix
    from policies.values import Value

_NAME: Final = "matrix"


class CaseMatrix:
    """Says nothing of a tool that its own rules govern. A write that no cell names is forbidden without a look."""

    name = _NAME
    stage = Stage.RULES

    def judge(self, case: Case) -> tuple[Verdict, ...]:
        matrix = case.found.tool.matrix
        if matrix is None:
            return ()
        if not matrix.actions:
            return (_against(RefusalCause.NOT_IN_CELL, "cases.cells", "no cell names this tool"),)
        return tuple(_rows(case, matrix))


def _rows(case: Case, matrix: Matrix) -> Iterator[Verdict]:
    cases = matrix.cases
    lacking = case.failed & {path[0] for path in (cases.segment.paths if cases.segment is not None else ())}
    if lacking:
        # The verdict about the fact refuses the call already.
        yield Verdict(_NAME, Ruling.ALLOW, rule="cases.segment", detail=f"not evaluated: no fact {_listed(lacking)}")
        return
    place = "cases.case"
    try:
        seen = _seen(case, cases)
        place = "cases.segment"
        segment = None if cases.segment is None else _text(cases.segment.evaluate(case.environment))
    except EvaluationError as error:
        given = answer(RefusalCause.EXPRESSION_ERROR)
        yield Verdict(_NAME, given.ruling, given.reason, place, error.message)
        return
    if not seen:
        yield _against(RefusalCause.NO_CELL, "cases.case", "the case is not known")
        return
    if len(seen) > 1:
        yield _changed(case)
    for name in seen:
        yield from _cell(case, matrix, name, segment)


def _changed(case: Case) -> Verdict:
    if case.found.is_write:
        return _against(RefusalCause.CASE_CHANGED, "cases.case")
    return Verdict(_NAME, Ruling.ALLOW, rule="cases.case", detail=RefusalCause.CASE_CHANGED.value)


def _seen(case: Case, cases: Cases) -> tuple[str, ...]:
    """Every case of this conversation, each once. `EvaluationError` where what is signed is no text."""
    if isinstance(cases.source, CaseOfSession):
        session = case.environment.roots["session"]
        value = session.get(cases.source.field) if isinstance(session, dict) else None
        return tuple(dict.fromkeys((_text(value), *case.context.history.cases)))
    return tuple(dict.fromkeys(_said(case, cases.source)))


def _said(case: Case, source: CaseOfTool) -> Iterator[str]:
    """What released calls of the classifying tool said: only calls that stand in the request, so in earlier turns."""
    for entry in case.context.history.entries:
        if isinstance(entry, PastCall) and entry.released and folded(entry.tool) == source.tool:
            word = (entry.arguments or {}).get(source.argument)
            if isinstance(word, str) and word in source.words:
                yield word


def _cell(case: Case, matrix: Matrix, name: str, segment: str | None) -> Iterator[Verdict]:
    """The four checks of one cell."""
    cases = matrix.cases
    if name in cases.owner_keeps:
        yield _against(RefusalCause.OWNER_KEEPS, f"cases.owner_keeps.{name}")
        return
    cell = cases.cell(name, segment)
    if cell not in cases.cells:
        # What is no name of a cell may be anything, so it is not told.
        yield _against(RefusalCause.NO_CELL, "cases.cells")
        return
    place = f"cases.cells.{cell}"
    yield _passed(place, "a policy exists for this case and customer")
    action = matrix.actions.get(cell)
    if action is None:
        yield _against(RefusalCause.NOT_IN_CELL, place)
        return
    yield _passed(action.id, "the action is in the cell")
    yield from _value(case, action, matrix.ceiling)
    rules = case.found.cells[cell]
    if not rules:
        yield _passed(f"{action.id}.rules", "no condition")
    for rule in rules:
        yield row(rule, case.environment, case.failed)


def _value(case: Case, action: Action, ceiling: Money | Decimal | None) -> Iterator[Verdict]:
    if action.value is None:
        yield _passed(f"{action.id}.max", "the action has no value")
        return
    yield _within(case, action.value, action.maximum, f"{action.id}.max")
    if ceiling is not None:
        yield _within(case, action.value, ceiling, f"cases.ceiling.{case.found.tool.name}")


def _within(case: Case, value: Expression, bound: Expression | Money | Decimal | None, place: str) -> Verdict:
    if bound is None:
        return _against(RefusalCause.NO_LIMIT, place)
    reads = [value] if isinstance(bound, Money | Decimal) else [value, bound]
    lacking = case.failed & {path[0] for one in reads for path in one.paths}
    if lacking:
        return _passed(place, f"not evaluated: no fact {_listed(lacking)}")
    try:
        given = value.evaluate(case.environment)
        most = bound if isinstance(bound, Money | Decimal) else bound.evaluate(case.environment)
        if _is_above(given, most):
            return _against(RefusalCause.ABOVE_LIMIT, place, f"above {render(most)}")
    except ValueError as error:  # an `EvaluationError` is one
        unreadable = answer(RefusalCause.EXPRESSION_ERROR)
        return Verdict(_NAME, unreadable.ruling, unreadable.reason, place, str(error))
    return _passed(place, f"at most {render(most)}")


def _is_above(value: Value, bound: Value) -> bool:
    """`ValueError` where they cannot be compared, and for a value below zero: it is under every limit."""
    if isinstance(value, Money) and isinstance(bound, Money) and value.currency == bound.currency:
        value, bound = value.amount, bound.amount
    if not isinstance(value, Decimal) or not isinstance(bound, Decimal):
        raise ValueError("the value and its limit are not of one currency or kind")  # noqa: TRY004 - both are values
    if value < 0:
        raise ValueError("the value is below zero")
    return value > bound


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise EvaluationError("the case or the segment is no text")
    return value


def _passed(place: str, detail: str) -> Verdict:
    return Verdict(_NAME, Ruling.ALLOW, rule=place, detail=detail)


def _against(cause: RefusalCause, place: str, detail: str = "") -> Verdict:
    given = answer(cause)
    return Verdict(_NAME, given.ruling, given.reason, place, detail or cause.value)


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
