"""Numbers, amounts and dates as people write them: one reading, several, or none."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.spoken import NUMBERS_MAX, dates, numbers

if TYPE_CHECKING:
    from collections.abc import Iterable


def says(text: str, value: str, currency: str = "USD") -> bool:
    """Whether the text says this amount, and nothing else at that place."""
    return any(one.is_money(Decimal(value), currency) for one in numbers(text, Decimal(value)).numbers)


SAID = [
    ("$120", "120"),
    ("120.00", "120"),
    ("120 dollars", "120"),
    ("120", "120.00"),
    ("refund 120, please", "120"),
    ("120.", "120"),
    ("USD120", "120"),
    ("120USD", "120"),
    ("US$ 120", "120"),
    ("(120)", "120"),
    ("amount:120", "120"),
    ("120,50", "120.50"),
    ("1,000.00", "1000"),
    ("1.000,00", "1000"),
    ("1'000", "1000"),
    ("1,234,567", "1234567"),
    ("1.234.567,89", "1234567.89"),
    ("0.123", "0.123"),
    ("1234.567", "1234.567"),
    ("\uff11\uff12\uff10", "120"),
    ("\uff04\uff11\uff12\uff10\uff0e\uff10\uff10", "120"),
    ("120を返金", "120"),
    ("order 5, 120.00", "120"),
    ("1200 and 3400", "3400"),
    ("1234 567", "567"),
    ("5.00 123", "123"),
    ("1 23 45", "45"),
]
NOT_SAID = [
    ("1.234", "1.234"),
    ("1.234", "1234"),
    ("1,234", "1234"),
    ("1 234", "1234"),
    ("1 234", "1"),
    ("1 234", "234"),
    ("1 000 1 000", "1"),
    ("1\u202f234", "1234"),
    ("-120", "120"),
    ("\u2212120", "120"),
    ("120%", "120"),
    ("A120", "120"),
    ("120A", "120"),
    ("1e6", "1"),
    ("1e6", "6"),
    ("100-120", "120"),
    ("100-120", "100"),
    ("10:30", "30"),
    ("10:30", "10"),
    ("1/2", "2"),
    ("3.4.5", "3"),
    (".5", "5"),
    ("007", "7"),
    ("00.50", "0.50"),
    ("01,234.00", "1234"),
    ("12 345 678", "678"),
    ("1 234.50", "234.50"),
    ("1 234.50", "1234.50"),
    ("1_000", "1000"),
    ("12,34,567.00", "1234567"),
    ("5 million", "5"),
    ("5k", "5"),
    ("5 Mio", "5"),
    ("500 cents", "500"),
    ("10\u00b2", "10"),
    ("€120", "120"),
    ("120 EUR", "120"),
    ("EUR 120", "120"),
    ("120元", "120"),
    ("120 kr", "120"),
    ("120.001", "120"),
    ("2026-01-31", "2026"),
    ("31.01.2026", "31"),
    ("\u0661\u0662\u0660", "120"),
    ("", "0"),
]


@pytest.mark.parametrize(("text", "value"), SAID)
def test_an_amount_with_one_reading_is_read(text: str, value: str) -> None:
    """Signs, words, groups and decimals of the usual ways of writing."""
    assert says(text, value)


@pytest.mark.parametrize(("text", "value"), NOT_SAID)
def test_an_amount_with_two_readings_or_none_is_not_read(text: str, value: str) -> None:
    """What may be another number, another currency, or a part of something longer."""
    assert not says(text, value)


def test_currencies_are_those_that_are_named() -> None:
    """A sign stands for each currency that has it; without one, any will do; a number may be a share, money may not."""
    assert says("$5.00", "5", "CAD")
    assert not says("CAD 5.00", "5", "USD")
    assert says("5.00 €", "5", "EUR")
    assert not says("USD 5.00 EUR", "5", "USD")
    assert says("5.00 all in all", "5", "USD")
    assert numbers("15% off", Decimal(15)).numbers[0].is_number(Decimal(15))


@pytest.mark.parametrize("text", ["1.234", "1,234", "1 234", "1\xa0234"])
def test_every_reading_counts_where_it_is_asked_what_was_seen(text: str) -> None:
    """The two readings of an ambiguous number are both known."""
    assert any(Decimal(1234) in one.readings for one in numbers(text, Decimal(1234)).numbers)


@given(
    st.decimals(0, 10**9, places=2, allow_nan=False),
    st.sampled_from(["{:,.2f}", "{:.2f}", "$ {:,.2f}!", "is {:.2f} USD"]),
)
def test_a_number_is_read_back(value: Decimal, form: str) -> None:
    """What is written with two decimals has one reading: the number itself, at its place."""
    text = form.format(value)
    found = [one for one in numbers(text, value).numbers if one.is_money(value, "USD")]
    assert [Decimal(text[one.start : one.end].replace(",", "")) for one in found] == [value]


TEXTS = st.text(max_size=80) | st.text("0123456789 .,'-$€%/:AakKm元\u202f\uff11\ud800", max_size=80)


@given(TEXTS, st.decimals(-(10**6), 10**6, places=2, allow_nan=False))
def test_any_text_has_numbers_or_none(text: str, value: Decimal) -> None:
    """No text of Unicode raises; all places lie within it."""
    text = text.encode("utf-8", "replace").decode()
    for one in numbers(text, value).numbers:
        assert 0 <= one.start < one.end <= len(text)


@given(st.text("0123456789 .,", max_size=12), st.text("0123456789 .,'-", min_size=1, max_size=3), st.integers(0, 12))
def test_no_number_is_said_inside_a_longer_one(text: str, more: str, place: int) -> None:
    """A number that is grounded is a maximal run of digits and marks: none is read out of the middle of one."""
    whole = text[:place] + more + text[place:]
    for value in {Decimal(part) for part in whole.replace(".", " ").replace(",", " ").split() if part.isdigit()}:
        for one in numbers(whole, value).numbers:
            if one.is_number(value):
                assert not whole[max(0, one.start - 1) : one.start].isdigit()
                assert not whole[one.end : one.end + 1].isdigit()


def test_reading_is_bounded() -> None:
    """A text of countless numbers is read up to a limit, and says so."""
    reading = numbers("120 and " * (NUMBERS_MAX + 1), Decimal(120))
    assert len(reading.numbers) <= NUMBERS_MAX
    assert not reading.is_whole


DAY = date(2026, 3, 14)


def days(text: str) -> Iterable[frozenset[date]]:
    return [found for _, _, found in dates(text, DAY)]


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-14",
        "2026/03/14",
        "on 14.03.2026.",
        "14.3.2026",
        "14. 3. 2026",
        "14/03/2026",
        "03/14/2026",
        "March 14, 2026",
        "Mar. 14th 2026",
        "14 March 2026",
        "the 14th of March, 2026",
        "14. März 2026",
        "14 mars 2026",
        "14 de marzo de 2026",
        "\uff12\uff10\uff12\uff16-03-14",
    ],
)
def test_a_date_with_one_reading_is_read(text: str) -> None:
    """With a year of four digits, in the usual orders and four languages."""
    assert days(text) == [frozenset({DAY})]


@pytest.mark.parametrize(
    "text",
    [
        "14.03.26",
        "March 14",
        "2026-03-14T10:00",
        "12026-03-14",
        "2026-03-145",
        "x2026-03-14",
        "2026-13-14",
        "14 Smarch 2026",
        "tomorrow",
    ],
)
def test_a_date_that_lacks_something_is_none(text: str) -> None:
    """Without a year, with one of two digits, as a part of something longer, or impossible."""
    assert all(DAY not in found for found in days(text))


def test_a_date_of_two_readings_has_both() -> None:
    """With slashes or hyphens the month may come first."""
    assert days("03/04/2026") == [frozenset({date(2026, 3, 4), date(2026, 4, 3)})]
    assert days("03/03/2026") == [frozenset({date(2026, 3, 3)})]
    assert days("03.04.2026") == [frozenset({date(2026, 4, 3)})]


@given(TEXTS)
def test_any_text_has_dates_or_none(text: str) -> None:
    """No text of Unicode raises."""
    dates(text.encode("utf-8", "replace").decode() + " 2026", DAY)
