"""Arithmetic: exact, bounded, and never across currencies."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from policies.arithmetic import (
    DIGITS_MAX,
    AmountError,
    add,
    add_money,
    bounded,
    divide,
    divide_money,
    multiply,
    multiply_money,
    ratio,
    rounded,
    same_currency,
    subtract,
    subtract_money,
)
from policies.values import Money

if TYPE_CHECKING:
    from collections.abc import Callable

numbers = st.decimals(allow_nan=False, allow_infinity=False)
USD, EUR = Money(Decimal(1), "USD"), Money(Decimal(1), "EUR")


@pytest.mark.parametrize(
    "number",
    ["9" * DIGITS_MAX, f"-{'9' * DIGITS_MAX}", f"0.{'0' * (DIGITS_MAX - 1)}1", f"1E+{DIGITS_MAX - 1}", "0", "-0.0"],
)
def test_the_bound_itself_is_allowed(number: str) -> None:
    """As many digits as the name of the bound says, in front of the point or behind it."""
    assert bounded(Decimal(number)) == Decimal(number)


@pytest.mark.parametrize(
    "number",
    [
        "9" * (DIGITS_MAX + 1),
        f"1E+{DIGITS_MAX}",
        f"1E-{DIGITS_MAX + 1}",
        "NaN",
        "-sNaN",
        "Infinity",
        "0E+999",
        "0E-999",
    ],
)
def test_what_lies_beyond_is_an_error(number: str) -> None:
    """Too many digits, too far from the point, or not a number at all."""
    with pytest.raises(AmountError):
        bounded(Decimal(number))


@given(numbers, numbers)
def test_results_are_exact_or_refused(left: Decimal, right: Decimal) -> None:
    """Against fractions, over everything that a decimal can be: never a rounded sum, difference or product."""
    try:
        bounded(left), bounded(right)
    except AmountError:
        return
    a, b = Fraction(left), Fraction(right)
    rows: list[tuple[Callable[[Decimal, Decimal], Decimal], Fraction]] = [
        (add, a + b),
        (subtract, a - b),
        (multiply, a * b),
    ]
    for operation, exact in rows:
        with contextlib.suppress(AmountError):
            assert Fraction(operation(left, right)) == exact


@given(st.decimals(-(10**20), 10**20, places=6), st.decimals(-(10**20), 10**20, places=6))
def test_a_quotient_that_ends_within_28_digits_is_exact(quotient: Decimal, divisor: Decimal) -> None:
    """Dividing undoes multiplying wherever 28 digits can say so."""
    assume(divisor != 0 and len(quotient.as_tuple().digits) <= 28)

    assert divide(multiply(quotient, divisor), divisor) == quotient


@given(st.integers(-(10**12), 10**12), st.integers(0, 6))
def test_rounding_is_half_away_from_zero(units: int, places: int) -> None:
    """Against integers: a five at the end moves away from zero, whatever stands before it."""
    number = Decimal(units).scaleb(-places - 1)
    whole, rest = divmod(abs(units), 10)
    expected = (whole + (rest >= 5)) * (1 if units >= 0 else -1)

    assert rounded(number, Decimal(places)) == Decimal(expected).scaleb(-places)


@pytest.mark.parametrize("places", ["-1", "13", "0.5", "1E+9"])
def test_places_are_few_and_whole(places: str) -> None:
    """Rounding to half a place, or to a thousand, is an error."""
    with pytest.raises(AmountError):
        rounded(Decimal(1), Decimal(places))


def test_rounding_does_not_lengthen_past_the_bound() -> None:
    """A long number that would need more digits is refused."""
    with pytest.raises(AmountError):
        rounded(Decimal("9" * DIGITS_MAX), Decimal(2))


def test_money_stays_in_its_currency() -> None:
    """Each operation keeps the currency, or refuses two."""
    two = Money(Decimal(2), "USD")

    assert add_money(USD, two) == Money(Decimal(3), "USD")
    assert subtract_money(USD, two) == Money(Decimal(-1), "USD")
    assert multiply_money(two, Decimal("1.5")) == Money(Decimal(3), "USD")
    assert divide_money(two, Decimal(4)) == Money(Decimal("0.5"), "USD")
    assert ratio(USD, two) == Decimal("0.5")
    for operation in (add_money, subtract_money, ratio, same_currency):
        with pytest.raises(AmountError, match="USD and EUR do not mix"):
            operation(USD, EUR)


def test_division_by_zero_is_an_error() -> None:
    """Also by a zero of money, and by a negative one."""
    for divisor in (Decimal(0), Decimal("-0.00")):
        with pytest.raises(AmountError, match="division by zero"):
            divide(Decimal(1), divisor)
        with pytest.raises(AmountError, match="division by zero"):
            ratio(USD, Money(divisor, "USD"))
