"""Values: what may be read from text and numbers, exactly, and how it is written again."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.currencies import EXPONENTS, exponent
from policies.spelling import parse_amount_text, parse_date, parse_duration, parse_timestamp
from policies.values import (
    Kind,
    Money,
    Type,
    Unit,
    Value,
    kind_of,
    list_of,
    money_from_number,
    money_type,
    parse_literal,
    record_of,
    render,
    type_of_value,
)


@pytest.mark.parametrize("text", ["0", "5", "-5", "10.50", "0.005", "1000.10", "-0.00", "9" * 40])
def test_a_plain_decimal_is_read_as_it_is_spelled(text: str) -> None:
    """No digit is lost and none is added."""
    assert str(parse_amount_text(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "-", "+5", "1,000", "1.234,50", "1 000", "1_000", "1e6", "1E6", "010", "00", "-01", ".5", "5."),
        *(
            "1.2.3",
            "\uff11\uff10\uff10\uff10",
            "\u0665",
            "5 ",
            " 5",
            "5\n",
            "\n5",
            "0x10",
            "NaN",
            "Infinity",
            "inf",
            "5USD",
            "$5",
            "--5",
        ),
        *("5\x00", "\ud800", "½", "9" * 41),
    ],
)
def test_an_amount_that_two_readers_could_read_differently_is_refused(text: str) -> None:
    """Separators, exponents, signs, leading zeros, other scripts and spaces are never normalised."""
    with pytest.raises(ValueError):
        parse_amount_text(text)


@given(st.text(alphabet="0123456789.-+eE_, ", max_size=12))
def test_what_is_accepted_spells_itself(text: str) -> None:
    """Every accepted text is the canonical spelling of its number."""
    try:
        number = parse_amount_text(text)
    except ValueError:
        return

    assert format(number, "f") == text


@pytest.mark.parametrize(
    ("number", "unit", "currency", "expected"),
    [
        (Decimal("10.5"), Unit.MAJOR, "USD", "10.50"),
        (Decimal("10.500"), Unit.MAJOR, "USD", "10.50"),
        (10, Unit.MAJOR, "JPY", "10"),
        (Decimal("1.234"), Unit.MAJOR, "KWD", "1.234"),
        (1050, Unit.MINOR, "USD", "10.50"),
        (Decimal("1050.0"), Unit.MINOR, "USD", "10.50"),
        (1050, Unit.MINOR, "JPY", "1050"),
        (1050, Unit.MINOR, "BHD", "1.050"),
        (10500, Unit.MILLI, "USD", "10.50"),
        (2000, Unit.MILLI, "JPY", "2"),
        (1234, Unit.MILLI, "KWD", "1.234"),
        (-5, Unit.MINOR, "USD", "-0.05"),
        (0, Unit.MINOR, "USD", "0.00"),
        (Decimal("1E+3"), Unit.MAJOR, "USD", "1000.00"),
    ],
)
def test_money_is_read_in_its_unit(number: Decimal | int, unit: Unit, currency: str, expected: str) -> None:
    """Cents, thousandths and whole units give the same amount, spelled with the currency's digits."""
    money = money_from_number(number, unit, currency)

    assert str(money.amount) == expected


@pytest.mark.parametrize(
    ("number", "unit", "currency"),
    [
        (Decimal("10.005"), Unit.MAJOR, "USD"),
        (Decimal("0.5"), Unit.MAJOR, "JPY"),
        (Decimal("10.5"), Unit.MINOR, "USD"),
        (Decimal("0.5"), Unit.MINOR, "JPY"),
        (10505, Unit.MILLI, "USD"),
        (500, Unit.MILLI, "JPY"),
        (Decimal("0.5"), Unit.MILLI, "KWD"),
        (Decimal("NaN"), Unit.MAJOR, "USD"),
        (Decimal("sNaN"), Unit.MAJOR, "USD"),
        (Decimal("Infinity"), Unit.MINOR, "USD"),
        (Decimal("1E+999999"), Unit.MAJOR, "USD"),
        (Decimal("1E-999999"), Unit.MAJOR, "USD"),
        (10**4000, Unit.MINOR, "USD"),
        (True, Unit.MINOR, "USD"),
        (1.5, Unit.MAJOR, "USD"),
        (5, Unit.MAJOR, "XYZ"),
        (5, Unit.MAJOR, "usd"),
    ],
)
def test_an_amount_that_the_currency_has_not_is_refused(number: Decimal, unit: Unit, currency: str) -> None:
    """Nothing is rounded, and nothing that is no number becomes an amount."""
    with pytest.raises(ValueError):
        money_from_number(number, unit, currency)


@given(st.integers(-(10**20), 10**20), st.sampled_from(list(Unit)), st.sampled_from(["USD", "JPY", "KWD", "CLF"]))
def test_money_is_exact_or_refused(number: int, unit: Unit, currency: str) -> None:
    """Against fractions: the amount is the number over its unit, whenever that is a whole number of minor units."""
    scale = {Unit.MAJOR: 1, Unit.MINOR: 10 ** exponent(currency), Unit.MILLI: 1000}[unit]
    expected = Fraction(number, scale)
    exists = (expected * 10 ** exponent(currency)).denominator == 1
    try:
        money = money_from_number(number, unit, currency)
    except ValueError:
        assert not exists
        return

    assert exists
    assert Fraction(money.amount) == expected


def test_currencies_know_their_minor_units() -> None:
    """No code is listed twice, every code is three capitals, and the exponents are those of ISO 4217."""
    assert all(len(code) == 3 and code.isalpha() and code.isupper() for code in EXPONENTS)
    assert {code: exponent(code) for code in ("USD", "EUR", "JPY", "KRW", "BHD", "KWD", "ISK", "CLF")} == {
        "USD": 2,
        "EUR": 2,
        "JPY": 0,
        "KRW": 0,
        "BHD": 3,
        "KWD": 3,
        "ISK": 0,
        "CLF": 4,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500.00 USD", Money(Decimal("500.00"), "USD")),
        ("500 JPY", Money(Decimal(500), "JPY")),
        ("-1.5 EUR", Money(Decimal("-1.50"), "EUR")),
        ("14d", timedelta(days=14)),
        ("24h", timedelta(hours=24)),
        ("15m", timedelta(minutes=15)),
        ("2s", timedelta(seconds=2)),
        ("2026-01-31", date(2026, 1, 31)),
        ("2026-01-31T09:30:00+02:00", datetime(2026, 1, 31, 7, 30, tzinfo=UTC)),
        ("standard", None),
        ("", None),
        ("14 days", None),
        ("d", None),
        ("500.00 usd", None),
        ("USD 500.00", None),
        ("1:30", None),
        ("2026-01", None),
        ("A1234", None),
        ("é", None),
    ],
)
def test_a_constant_is_what_its_spelling_says(text: str, expected: Value | None) -> None:
    """Money, durations, dates and timestamps have one spelling each; all else is a plain string."""
    assert parse_literal(text) == expected


@pytest.mark.parametrize(
    "text",
    ["500.005 USD", "1,000 USD", "010 USD", "1_000 USD", "5 XYZ", "2026-02-30", "9" * 30 + "d", "2026-01-31T25:00Z"],
)
def test_a_constant_that_means_to_be_typed_and_is_not_is_an_error(text: str) -> None:
    """A slip in an amount or a date never turns it silently into a string."""
    with pytest.raises(ValueError):
        parse_literal(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31T09:30:00Z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        ("2026-01-31t09:30:00z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        ("2026-01-31T09:30Z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        ("2026-01-31T09:30:00.123456789Z", datetime(2026, 1, 31, 9, 30, 0, 123456, tzinfo=UTC)),
        ("2026-01-31T00:30:00+05:30", datetime(2026, 1, 30, 19, 0, tzinfo=UTC)),
        ("2026-01-31T00:30:00-0800", datetime(2026, 1, 31, 8, 30, tzinfo=UTC)),
    ],
)
def test_timestamps_are_read_as_utc(text: str, expected: datetime) -> None:
    """Whatever the offset, one instant is one value."""
    parsed = parse_timestamp(text)

    assert (parsed, parsed.tzinfo) == (expected, UTC)


@pytest.mark.parametrize(
    "text",
    [
        *("2026-01-31T09:30:00", "2026-01-31", "2026-01-31 09:30:00Z", "20260131T093000Z", "2026-W05-6T09:30:00Z"),
        *("2026-01-31T24:00:00Z", "2026-01-31T09:30:60Z", "2026-02-30T00:00:00Z", "2026-01-31T09:30:00+25:00"),
        *("2026-01-31T09:30.5Z", "1769851800", "", "0001-01-01T00:00:00+10:00", "2026-01-31T09:30:00Z\n", "\ud800"),
    ],
)
def test_a_timestamp_without_offset_or_in_another_form_is_refused(text: str) -> None:
    """A local time is not an instant; exotic forms of ISO 8601 are read differently by different libraries."""
    with pytest.raises(ValueError):
        parse_timestamp(text)


@pytest.mark.parametrize(
    "text", ["20260131", "2026-1-31", "2026-02-30", "2026-W05-6", "2026-01-31T00:00Z", " 2026-01-31"]
)
def test_dates_have_one_form(text: str) -> None:
    """Only YYYY-MM-DD."""
    with pytest.raises(ValueError):
        parse_date(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Money(Decimal(847), "USD"), "847.00 USD"),
        (Money(Decimal("120.5"), "USD"), "120.50 USD"),
        (Money(Decimal("-0.00"), "USD"), "0.00 USD"),
        (Money(Decimal("1.005"), "USD"), "1.005 USD"),
        (Money(Decimal("1E+3"), "JPY"), "1000 JPY"),
        (Decimal(14), "14"),
        (Decimal("1000.10"), "1000.10"),
        (Decimal("1E+3"), "1000"),
        (True, "true"),
        (False, "false"),
        ("damaged", "damaged"),
        (date(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31, 9, 30, tzinfo=UTC), "2026-01-31T09:30:00Z"),
        (timedelta(days=14), "14d"),
        (timedelta(hours=36), "36h"),
        (timedelta(seconds=90), "90s"),
        (timedelta(minutes=-90), "-90m"),
        (timedelta(0), "0s"),
        (timedelta(milliseconds=1500), "1.5s"),
    ],
)
def test_values_are_written_as_the_policy_spells_them(value: Value, expected: str) -> None:
    """Money with its currency's digits, numbers without exponents, dates in ISO 8601."""
    assert render(value) == expected


def test_a_timestamp_is_written_in_the_zone_of_the_policy() -> None:
    """The customer reads the local time with its offset."""
    moment = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)

    assert render(moment, ZoneInfo("Europe/Berlin")) == "2026-07-02T00:30:00+02:00"


@given(st.integers(0, 10**9), st.sampled_from("dhms"))
def test_a_duration_reads_back(count: int, unit: str) -> None:
    """Whatever unit it is written in, it is the same duration."""
    try:
        duration = parse_duration(f"{count}{unit}")
    except ValueError:
        assert count > 999_999_999
        return

    assert parse_duration(render(duration)) == duration


@pytest.mark.parametrize("value", [(), (Decimal(1),), {"a": Decimal(1)}])
def test_lists_and_records_have_no_text(value: Value) -> None:
    """Nothing but a scalar is ever written."""
    with pytest.raises(ValueError):
        render(value)


def test_kinds_are_told_apart_where_python_mixes_them() -> None:
    """A boolean is no number, a timestamp is no date, and a float, an int or null is nothing."""
    kinds = [kind_of(value) for value in (True, Decimal(1), datetime(2026, 1, 1, tzinfo=UTC), date(2026, 1, 1), {})]

    assert kinds == [Kind.BOOLEAN, Kind.NUMBER, Kind.TIMESTAMP, Kind.DATE, Kind.RECORD]
    assert [kind_of(value) for value in (1.5, 1, None, b"", [])] == [None] * 5


def test_the_type_of_a_constant_is_exact() -> None:
    """Its currency, its elements and its fields are known, and its strings may stand in a reply."""
    value: Value = {"limit": Money(Decimal(1), "USD"), "codes": ("a", "b"), "mixed": ("a", Decimal("1.5"))}

    assert type_of_value(value) == record_of(
        {"limit": money_type("USD"), "codes": list_of(Type(Kind.STRING, safe=True)), "mixed": list_of()}
    )


def test_types_can_be_looked_up() -> None:
    """Types are hashable, records included."""
    assert len({record_of({"a": money_type("USD")}), record_of({"a": money_type("USD")})}) == 1
