"""Exact arithmetic on numbers and money. Nothing is ever rounded but a quotient, and that by one stated rule.

Numbers are bounded before they are computed with, so that no operation costs more than a few microseconds.
"""

from __future__ import annotations

from decimal import (
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DecimalException,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
)

from policies.spelling import is_plain
from policies.values import Money

DIGITS_MAX = 64  # significant digits of a number, and powers of ten that it spans in either direction
QUOTIENT_DIGITS = 28  # a quotient is rounded half-even to this many significant digits
PLACES_MAX = 12  # decimal places that `rounded` may be asked for

# A sum spans at most 2 * DIGITS_MAX + 1 digits, a product 2 * DIGITS_MAX: both are exact in this context.
_EXACT = Context(
    prec=3 * DIGITS_MAX,
    Emin=-999,
    Emax=999,
    rounding=ROUND_HALF_UP,
    traps=[Inexact, InvalidOperation, DivisionByZero, Overflow],
)
_QUOTIENT = Context(
    prec=QUOTIENT_DIGITS,
    Emin=-999,
    Emax=999,
    rounding=ROUND_HALF_EVEN,
    traps=[InvalidOperation, DivisionByZero, Overflow],
)
_ROUNDING = Context(
    prec=3 * DIGITS_MAX, Emin=-999, Emax=999, rounding=ROUND_HALF_UP, traps=[InvalidOperation, Overflow]
)


class AmountError(ValueError):
    """Two currencies meet, a number is not finite or too long, or a divisor is zero. The message holds no value."""


def bounded(number: Decimal) -> Decimal:
    """The number itself. `AmountError` where it is not finite or longer than `DIGITS_MAX`."""
    if not number.is_finite():
        raise AmountError("a number is not finite")
    if is_plain(number, DIGITS_MAX):
        return number
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    if len(digits) > DIGITS_MAX or exponent < -DIGITS_MAX or exponent + len(digits) > DIGITS_MAX:
        raise AmountError(f"a number has more than {DIGITS_MAX} digits")
    return number


def add(left: Decimal, right: Decimal) -> Decimal:
    return bounded(_EXACT.add(left, right))


def subtract(left: Decimal, right: Decimal) -> Decimal:
    return bounded(_EXACT.subtract(left, right))


def multiply(left: Decimal, right: Decimal) -> Decimal:
    return bounded(_EXACT.multiply(left, right))


def divide(left: Decimal, right: Decimal) -> Decimal:
    if right.is_zero():
        raise AmountError("division by zero")
    return bounded(_QUOTIENT.divide(left, right))


def rounded(number: Decimal, places: Decimal) -> Decimal:
    """Half away from zero, to that many places behind the point."""
    if not 0 <= places <= PLACES_MAX or places != places.to_integral_value():
        raise AmountError(f"places to round to are a whole number from 0 to {PLACES_MAX}")
    try:
        return bounded(_ROUNDING.quantize(number, Decimal(1).scaleb(-int(places))))
    except DecimalException:
        raise AmountError(f"a number has more than {DIGITS_MAX} digits") from None


def same_currency(left: Money, right: Money) -> str:
    """Their currency. `AmountError` where they have two."""
    if left.currency != right.currency:
        raise AmountError(f"{left.currency} and {right.currency} do not mix")
    return left.currency


def add_money(left: Money, right: Money) -> Money:
    return Money(add(left.amount, right.amount), same_currency(left, right))


def subtract_money(left: Money, right: Money) -> Money:
    return Money(subtract(left.amount, right.amount), same_currency(left, right))


def multiply_money(money: Money, factor: Decimal) -> Money:
    return Money(multiply(money.amount, factor), money.currency)


def divide_money(money: Money, divisor: Decimal) -> Money:
    return Money(divide(money.amount, divisor), money.currency)


def ratio(left: Money, right: Money) -> Decimal:
    same_currency(left, right)
    return divide(left.amount, right.amount)
