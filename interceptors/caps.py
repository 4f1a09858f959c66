"""The values and the names of limits: what a call would add, under which cap, up to what; and which intent it is."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from interceptors.causes import RefusalCause, answer
from interceptors.decisions import Verdict
from interceptors.obligations import CapCharge
from interceptors.strict_json import canonical
from interceptors.usage import CapKey, Charge, IntentKey, units_of
from interceptors.windows import window_start
from policies.expressions import EvaluationError
from policies.limits import Limit, Measure, OncePer
from policies.model import Ruling
from policies.values import Money, kind_of, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from interceptors.calls import Json
    from interceptors.case import Case
    from policies.expressions import Expression
    from policies.values import Value

NAME: Final = "limits"
_ONE: Final = Decimal(1)


@dataclass(frozen=True, slots=True)
class Asked:
    """A limit with its values: what the call would add, under which cap, up to what. `key` is None of a ceiling."""

    limit: Limit
    charge: Charge
    maximum: Money | Decimal
    key: CapKey | None


def ask(case: Case, limit: Limit) -> Asked | Verdict:
    """The limit with its values, or the row where it has none."""
    lacking = _lacking(case, limit)
    if lacking is not None:
        return lacking
    try:
        maximum = _number(limit.maximum, case)
        amount = _ONE if limit.amount is None else _number(limit.amount, case)
        currency, units = units_of(amount)
        _check_currency(currency, maximum)
        counted: int | None = None
        if limit.fact_counts is not None:
            already = _number(limit.fact_counts, case)
            _check_currency(currency, already)
            counted = units_of(already)[1]
        key = None if limit.measure is Measure.VALUE else _cap(case, limit)
    except (EvaluationError, ValueError) as error:
        return incomplete(limit, error)
    return Asked(limit, Charge(currency, units, counted), maximum, key)


def charges(asked: Iterable[Asked]) -> tuple[CapCharge, ...]:
    """One charge a cap: two limits that measure the same for the same share it."""
    found: dict[str, CapCharge] = {}
    for one in asked:
        if one.key is not None and (one.key.name not in found or one.charge.counted is not None):
            found[one.key.name] = CapCharge(one.limit.id, one.key.name, one.charge)
    return tuple(found.values())


def ask_intent(case: Case, once: OncePer, held: tuple[CapCharge, ...]) -> IntentKey | Verdict:
    """Which intent the call is, or the row where it cannot be told. `held` are the charges that it would hold."""
    lacking = _lacking(case, once)
    if lacking is not None:
        return lacking
    try:
        name = _text(["intent", case.policy.name, _tool(case), *_named(once.values, case)])
    except (EvaluationError, ValueError) as error:
        return incomplete(once, error)
    return IntentKey(name, _text([[one.name, one.charge.currency, str(one.charge.units)] for one in held]))


def incomplete(limit: Limit | OncePer, error: EvaluationError | ValueError) -> Verdict:
    """The row of a limit that cannot be judged."""
    given = answer(RefusalCause.EXPRESSION_ERROR)
    why = error.message if isinstance(error, EvaluationError) else str(error)
    return Verdict(NAME, given.ruling, given.reason, limit.id, f"{limit.reason}: {why}")


def _lacking(case: Case, limit: Limit | OncePer) -> Verdict | None:
    """The row where a fact that it reads could not be had: the verdict about the fact refuses the call already."""
    if not case.failed:
        return None
    lacking = case.failed & {path[0] for one in limit.expressions for path in one.paths}
    if not lacking:
        return None
    return Verdict(NAME, Ruling.ALLOW, rule=limit.id, detail=f"not evaluated: no fact {', '.join(sorted(lacking))}")


def _number(expression: Expression, case: Case) -> Money | Decimal:
    value = expression.evaluate(case.environment)
    if isinstance(value, Money | Decimal):
        return value
    raise ValueError(f"{expression.source} is neither money nor a number")


def _check_currency(currency: str, other: Money | Decimal) -> None:
    second = other.currency if isinstance(other, Money) else ""
    if currency != second:
        raise ValueError(f"{currency or 'a number'} and {second or 'a number'} do not mix")


def _cap(case: Case, limit: Limit) -> CapKey:
    """The cap: what is measured, for whom. Bound, window and reason are no part of it, so that no edit empties it."""
    measured = "" if limit.amount is None else limit.amount.source
    parts = ["cap", case.policy.name, _tool(case), limit.measure.value, measured, *_named(limit.per, case)]
    since = window_start(limit.window, case.context.now, case.policy.time_zone)
    return CapKey(_text(parts), since, itemised=limit.fact_counts is not None)


def _named(expressions: Sequence[Expression], case: Case) -> list[Json]:
    """What tells calls apart: each expression with its value, in one spelling a value."""
    return [[one.source, *_spelled(one.evaluate(case.environment))] for one in expressions]


def _spelled(value: Value) -> tuple[str, str]:
    kind = kind_of(value)
    if kind is None or isinstance(value, tuple):
        raise ValueError("a list does not tell calls apart")
    return kind.value, canonical(value).decode() if isinstance(value, Decimal) else render(value)


def _tool(case: Case) -> str:
    """All tools that the policy does not name share their caps: what they are called is the model's to choose."""
    return case.key if case.found.is_named else ""


def _text(parts: Sequence[Json]) -> str:
    return canonical(list(parts)).decode()
