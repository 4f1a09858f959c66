"""What goes with what: one table that the checker reads for kinds and the evaluator for the computation itself."""

from __future__ import annotations

import operator
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from policies.arithmetic import (
    AmountError,
    add,
    add_money,
    divide,
    divide_money,
    multiply,
    multiply_money,
    ratio,
    subtract,
    subtract_money,
)
from policies.expressions.errors import Mismatch
from policies.expressions.syntax import Comparator, Operator
from policies.values import Kind, Money, Type, Value, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

EQUATABLE = frozenset({Kind.BOOLEAN, Kind.STRING, Kind.NUMBER, Kind.MONEY, Kind.DATE, Kind.TIMESTAMP, Kind.DURATION})
ORDERED = EQUATABLE - {Kind.BOOLEAN, Kind.STRING}

# The functions' parameters differ by row; the key says which kinds they get.
Binary: TypeAlias = "Callable[[Any, Any], Value]"


def _days(duration: timedelta) -> timedelta:
    if duration % timedelta(days=1):
        raise Mismatch("a date moves by whole days only")
    return duration


def _date_plus(day: date, duration: timedelta) -> date:
    return day + _days(duration)


def _date_minus(day: date, duration: timedelta) -> date:
    return day - _days(duration)


def _money_times(money: Money, factor: Decimal) -> Money:
    return multiply_money(money, factor)


def _times_money(factor: Decimal, money: Money) -> Money:
    return multiply_money(money, factor)


ARITHMETIC: Mapping[tuple[Operator, Kind, Kind], tuple[Kind, Binary]] = {
    (Operator.ADD, Kind.NUMBER, Kind.NUMBER): (Kind.NUMBER, add),
    (Operator.ADD, Kind.MONEY, Kind.MONEY): (Kind.MONEY, add_money),
    (Operator.ADD, Kind.DURATION, Kind.DURATION): (Kind.DURATION, operator.add),
    (Operator.ADD, Kind.TIMESTAMP, Kind.DURATION): (Kind.TIMESTAMP, operator.add),
    (Operator.ADD, Kind.DATE, Kind.DURATION): (Kind.DATE, _date_plus),
    (Operator.SUBTRACT, Kind.NUMBER, Kind.NUMBER): (Kind.NUMBER, subtract),
    (Operator.SUBTRACT, Kind.MONEY, Kind.MONEY): (Kind.MONEY, subtract_money),
    (Operator.SUBTRACT, Kind.DURATION, Kind.DURATION): (Kind.DURATION, operator.sub),
    (Operator.SUBTRACT, Kind.TIMESTAMP, Kind.TIMESTAMP): (Kind.DURATION, operator.sub),
    (Operator.SUBTRACT, Kind.TIMESTAMP, Kind.DURATION): (Kind.TIMESTAMP, operator.sub),
    (Operator.SUBTRACT, Kind.DATE, Kind.DURATION): (Kind.DATE, _date_minus),
    (Operator.MULTIPLY, Kind.NUMBER, Kind.NUMBER): (Kind.NUMBER, multiply),
    (Operator.MULTIPLY, Kind.MONEY, Kind.NUMBER): (Kind.MONEY, _money_times),
    (Operator.MULTIPLY, Kind.NUMBER, Kind.MONEY): (Kind.MONEY, _times_money),
    (Operator.DIVIDE, Kind.NUMBER, Kind.NUMBER): (Kind.NUMBER, divide),
    (Operator.DIVIDE, Kind.MONEY, Kind.NUMBER): (Kind.MONEY, divide_money),
    (Operator.DIVIDE, Kind.MONEY, Kind.MONEY): (Kind.NUMBER, ratio),
}

SIGNED = frozenset({Kind.NUMBER, Kind.MONEY, Kind.DURATION})

_COMPARE: Mapping[Comparator, Callable[[Any, Any], bool]] = {
    Comparator.EQUAL: operator.eq,
    Comparator.UNEQUAL: operator.ne,
    Comparator.LESS: operator.lt,
    Comparator.AT_MOST: operator.le,
    Comparator.MORE: operator.gt,
    Comparator.AT_LEAST: operator.ge,
}
_MONEY = Kind.MONEY  # an attribute of an enum's class is looked up by a function of the interpreter
_EQUALITY = frozenset({Comparator.EQUAL, Comparator.UNEQUAL})


def words(kind: Kind | None, currency: str | None = None) -> str:
    """`a number`, `money in USD`."""
    if kind is None:
        return "nothing the language knows"
    if kind is Kind.MONEY:
        return f"money in {currency}" if currency else "money"
    return f"a {kind.value}"


# --- on types


def check_same(left: Type, right: Type) -> Type:
    """The type that both have, as far as it is known. `Mismatch` for two kinds, or money of two currencies."""
    if left.kind is Kind.ANY or right.kind is Kind.ANY:
        return right if left.kind is Kind.ANY else left
    if left.kind is not right.kind or (left.currency and right.currency and left.currency != right.currency):
        raise Mismatch(f"{words(left.kind, left.currency)} and {words(right.kind, right.currency)} do not go together")
    if left.kind is Kind.STRING:
        return left if right.safe else right
    return left if left.currency else right


def check_comparison(comparator: Comparator, left: Type, right: Type) -> None:
    """`Mismatch` where the two cannot be compared in this way."""
    allowed = EQUATABLE if comparator in _EQUALITY else ORDERED
    for side in (left, right):
        if side.kind is not Kind.ANY and side.kind not in allowed:
            raise Mismatch(f"{words(side.kind)} cannot be compared with {comparator.value}")
    check_same(left, right)


def check_arithmetic(sign: Operator, left: Type, right: Type) -> Type:
    """The type of the result, `ANY` where a side is not known yet."""
    if left.kind is Kind.ANY or right.kind is Kind.ANY:
        known = right if left.kind is Kind.ANY else left
        if known.kind is not Kind.ANY and not any(
            key[0] is sign and known.kind is key[2 if known is right else 1] for key in ARITHMETIC
        ):
            raise Mismatch(f"{sign.value} does not apply to {words(known.kind, known.currency)}")
        return Type(Kind.ANY)
    row = ARITHMETIC.get((sign, left.kind, right.kind))
    if row is None:
        raise Mismatch(
            f"{sign.value} does not apply to {words(left.kind, left.currency)} and {words(right.kind, right.currency)}"
        )
    if left.kind is Kind.MONEY and right.kind is Kind.MONEY:
        check_same(left, right)
    return Type(row[0], currency=(left.currency or right.currency) if row[0] is Kind.MONEY else None)


# --- on values


def same_kind(left: Value, right: Value) -> Kind:
    """The kind of both. `Mismatch` for two kinds, `AmountError` for money of two currencies."""
    kind, other = kind_of(left), kind_of(right)
    if kind is None or kind is not other:
        raise Mismatch(f"{words(kind)} and {words(other)} do not go together")
    if kind is _MONEY:
        assert isinstance(left, Money)
        assert isinstance(right, Money)
        if left.currency != right.currency:
            raise AmountError(f"{left.currency} and {right.currency} do not mix")
    return kind


def compare(comparator: Comparator, left: Value, right: Value) -> bool:
    kind = same_kind(left, right)
    if kind not in (EQUATABLE if comparator in _EQUALITY else ORDERED):
        raise Mismatch(f"{words(kind)} cannot be compared with {comparator.value}")
    if kind is _MONEY:
        assert isinstance(left, Money)
        assert isinstance(right, Money)
        return _COMPARE[comparator](left.amount, right.amount)
    return _COMPARE[comparator](left, right)


def comparing(comparator: Comparator, kind: Kind) -> Callable[[Any, Any], bool] | None:
    """How two values of this kind are compared, money by its amounts; None where they are not."""
    return _COMPARE[comparator] if kind in (EQUATABLE if comparator in _EQUALITY else ORDERED) else None


def compute(sign: Operator, left: Value, right: Value) -> Value:
    """`OverflowError` where a date or duration leaves the calendar; `AmountError` for numbers and money."""
    kind, other = kind_of(left), kind_of(right)
    row = ARITHMETIC.get((sign, kind, other)) if kind and other else None
    if row is None:
        raise Mismatch(f"{sign.value} does not apply to {words(kind)} and {words(other)}")
    return row[1](left, right)


def negate(value: Value) -> Value:
    if isinstance(value, Money):
        return Money(value.amount.copy_negate(), value.currency)
    if isinstance(value, Decimal):
        return value.copy_negate()
    if isinstance(value, timedelta):
        return -value
    raise Mismatch(f"- does not apply to {words(kind_of(value))}")
