"""The engine: what blocks it, and amounts at the edges of rounding, caps, days and zones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from policies.fees import (
    SUPPORTED_SCOPE,
    Blocked,
    Cancellation,
    Computed,
    Input,
    ReferenceKind,
    Validated,
    account,
    compute,
    explain,
)
from policies.fees.candidate import PercentBase, RoundingRule
from policies.fees.engine import Cause, interval_of
from policies.fees.minor import is_whole_minor, minor_unit
from policies.fees.schedule import DayBound, DayRange, Fixed, Interval, Percentage, Quoted, Schedule
from policies.fees.sentences import days_in_words, fee_in_words, money
from policies.fees.text import Place, Span
from policies.values import Money
from tests.policies.fees.drafts import draft, judge
from tests.policies.fees.refusals import EARLY_RULE, LATE_RULE, TWO

BERLIN = ZoneInfo("Europe/Berlin")


def _eur(amount: str | Decimal) -> Money:
    return Money(Decimal(amount), "EUR")


def _interval(position: int, days: DayRange, fee: Any) -> Interval:
    return Interval(position, days, fee, Quoted("words", Place("terms.txt", 1, 1, Span(0, 5))), ("pair",))


def schedule(*intervals: tuple[DayBound | None, DayBound, Any], currency: str = "EUR") -> Schedule:
    ranges = [DayRange(start, end) for start, end, _ in intervals]
    return Schedule(
        id="made",
        currency=currency,
        reference=ReferenceKind.DEPARTURE,
        rounding=RoundingRule.HALF_UP,
        period=DayRange(ranges[0].start, ranges[-1].end),
        intervals=tuple(
            _interval(n, days, fee) for n, (days, (*_, fee)) in enumerate(zip(ranges, intervals, strict=True), 1)
        ),
        source="",
    )


def whole(fee: Any, currency: str = "EUR") -> Schedule:
    return schedule((None, DayBound(0, inclusive=True), fee), currency=currency)


KNOWN = Cancellation(
    paid=_eur("100.00"),
    price=_eur("200.00"),
    cancelled_at=datetime(2026, 6, 1, 12, tzinfo=BERLIN),
    zone=BERLIN,
    dates={ReferenceKind.DEPARTURE: date(2026, 7, 1)},
)
HALF = whole(Percentage(Decimal(50), PercentBase.PRICE))


@pytest.mark.parametrize(
    ("change", "input_", "cause"),
    [
        ({"dates": {}}, Input.DEPARTURE, Cause.MISSING),
        ({"dates": {ReferenceKind.ARRIVAL: date(2026, 7, 1)}}, Input.DEPARTURE, Cause.MISSING),
        ({"cancelled_at": None}, Input.CANCELLED_AT, Cause.MISSING),
        ({"cancelled_at": datetime(2026, 6, 1)}, Input.CANCELLED_AT, Cause.NO_OFFSET),  # noqa: DTZ001 - the claim is about a time without an offset
        ({"zone": None}, Input.ZONE, Cause.MISSING),
        ({"paid": None}, Input.PAID, Cause.MISSING),
        ({"price": None}, Input.PRICE, Cause.MISSING),
        ({"paid": Money(Decimal(100), "USD")}, Input.PAID, Cause.OTHER_CURRENCY),
        ({"price": Money(Decimal(100), "USD")}, Input.PRICE, Cause.OTHER_CURRENCY),
        ({"paid": _eur("-0.01")}, Input.PAID, Cause.NO_AMOUNT),
        ({"paid": _eur("1.001")}, Input.PAID, Cause.NO_AMOUNT),
        ({"paid": _eur("NaN")}, Input.PAID, Cause.NO_AMOUNT),
        ({"paid": _eur("Infinity")}, Input.PAID, Cause.NO_AMOUNT),
        ({"paid": _eur("1000000000000000")}, Input.PAID, Cause.NO_AMOUNT),
        ({"price": _eur("-5")}, Input.PRICE, Cause.NO_AMOUNT),
        ({"cancelled_at": datetime(2026, 7, 2, tzinfo=BERLIN)}, Input.CANCELLED_AT, Cause.OUTSIDE_PERIOD),
    ],
)
def test_blocked(change: dict[str, Any], input_: Input, cause: Cause) -> None:
    """What is missing or unusable blocks, by the name of the input; no amount is guessed."""
    result = compute(HALF, replace(KNOWN, **change))

    assert isinstance(result, Blocked)
    assert (result.input, result.cause) == (input_, cause)
    assert input_.value in str(result)


def test_what_blocks_in_words() -> None:
    """The input, what is the matter with it, and a detail where there is one."""
    assert str(compute(HALF, replace(KNOWN, paid=None))) == "the paid amount is missing"
    assert str(compute(HALF, replace(KNOWN, cancelled_at=datetime(2026, 7, 2, tzinfo=BERLIN)))) == (
        "the cancellation time is outside the period of the schedule: -1 days before the reference date"
    )


def test_each_kind_of_reference_names_its_input() -> None:
    """A schedule that counts back from an arrival needs the arrival date, by that name."""
    names = {}
    for kind in ReferenceKind:
        result = compute(replace(HALF, reference=kind), replace(KNOWN, dates={}))
        assert isinstance(result, Blocked)
        names[kind.value] = result.input.value

    assert names == {"departure": "departure date", "arrival": "arrival date", "event": "event date"}


def test_a_price_is_needed_only_where_it_is_the_base() -> None:
    """A fixed fee, or a share of what was paid, needs no price."""
    for fee in (Fixed(_eur("10.00")), Percentage(Decimal(10), PercentBase.PAID)):
        result = compute(whole(fee), replace(KNOWN, price=None))
        assert isinstance(result, Computed)
        assert result.fee == _eur("10.00")


@pytest.mark.parametrize(
    ("percent", "price", "fee"),
    [
        ("50", "0.01", "0.01"),  # 0.005
        ("25", "0.01", "0.00"),  # 0.0025
        ("33.3333", "1.00", "0.33"),
        ("12.5", "0.20", "0.03"),  # 0.025, where half even gives 0.02
        ("12.5", "0.12", "0.02"),  # 0.015
        ("0.5", "0.99", "0.00"),  # 0.00495
        ("100", "999999999999999.99", "1000.00"),
        ("99.999999", "1000.00", "1000.00"),
        ("0", "1000.00", "0.00"),
    ],
)
def test_half_up_to_the_minor_unit(percent: str, price: str, fee: str) -> None:
    """The exact product is rounded once, half up, and then capped at what was paid."""
    result = compute(
        whole(Percentage(Decimal(percent), PercentBase.PRICE)),
        replace(KNOWN, price=_eur(price), paid=_eur("1000.00")),
    )

    assert isinstance(result, Computed)
    assert str(result.fee.amount) == fee
    assert result.exact == Decimal(price) * Decimal(percent) / 100


def test_currencies_without_minor_unit() -> None:
    """Yen are rounded to whole yen."""
    known = replace(KNOWN, paid=Money(Decimal(1001), "JPY"), price=Money(Decimal(1001), "JPY"))

    result = compute(whole(Percentage(Decimal(50), PercentBase.PAID), "JPY"), known)

    assert isinstance(result, Computed)
    assert (str(result.fee.amount), str(result.refund.amount)) == ("501", "500")
    assert (minor_unit("JPY"), minor_unit("EUR"), minor_unit("KWD")) == (Decimal(1), Decimal("0.01"), Decimal("0.001"))
    assert is_whole_minor(Decimal("1.230"), "EUR")
    assert not is_whole_minor(Decimal("1.5"), "JPY")


@pytest.mark.parametrize(
    ("paid", "fee", "capped"), [("9.99", "9.99", True), ("10.00", "10.00", False), ("0.00", "0.00", True)]
)
def test_never_more_than_was_paid(paid: str, fee: str, capped: bool) -> None:
    """The cap is the paid amount, which may be nothing."""
    result = compute(whole(Fixed(_eur("10.00"))), replace(KNOWN, paid=_eur(paid)))

    assert isinstance(result, Computed)
    assert (result.fee, result.capped) == (_eur(fee), capped)
    assert result.refund == _eur(Decimal(paid) - Decimal(fee))


STEPS = schedule(
    (None, DayBound(30, inclusive=True), Fixed(_eur("1.00"))),
    (DayBound(30, inclusive=False), DayBound(14, inclusive=False), Fixed(_eur("2.00"))),
    (DayBound(14, inclusive=True), DayBound(1, inclusive=True), Fixed(_eur("3.00"))),
)


@pytest.mark.parametrize(
    ("distance", "position"),
    [(10_000, 1), (31, 1), (30, 1), (29, 2), (15, 2), (14, 3), (13, 3), (1, 3), (0, None), (-1, None)],
)
def test_bounds_hold_what_they_say(distance: int, position: int | None) -> None:
    """Inclusive and exclusive ends, the day before, the day itself and the day after."""
    found = interval_of(STEPS, distance)

    assert (found.position if found else None) == position


@pytest.mark.parametrize(
    ("cancelled_at", "zone", "reference", "distance"),
    [
        (datetime(2024, 2, 28, 12, tzinfo=UTC), "UTC", date(2024, 3, 1), 2),
        (datetime(2023, 2, 28, 12, tzinfo=UTC), "UTC", date(2023, 3, 1), 1),
        (datetime(2026, 1, 31, 12, tzinfo=UTC), "UTC", date(2026, 2, 28), 28),
        (datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC), "UTC", date(2027, 1, 1), 1),
        (datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC), "Europe/Berlin", date(2027, 1, 1), 0),
        (datetime(2026, 3, 29, 0, 59, tzinfo=UTC), "Europe/Berlin", date(2026, 3, 30), 1),
        (datetime(2026, 10, 25, 22, 59, tzinfo=UTC), "Europe/Berlin", date(2026, 10, 26), 1),
        (datetime(2026, 10, 25, 23, 0, tzinfo=UTC), "Europe/Berlin", date(2026, 10, 26), 0),
        (datetime(2026, 6, 1, 10, 30, tzinfo=UTC), "Pacific/Kiritimati", date(2026, 6, 2), 0),
        (datetime(2026, 6, 1, 23, 30, tzinfo=timezone(timedelta(hours=-11))), "Pacific/Niue", date(2026, 6, 2), 1),
    ],
)
def test_calendar_days_in_the_declared_zone(cancelled_at: datetime, zone: str, reference: date, distance: int) -> None:
    """Leap days, ends of months and years, changes of the clock: the date in the zone counts, never 24 hours."""
    known = replace(KNOWN, cancelled_at=cancelled_at, zone=ZoneInfo(zone), dates={ReferenceKind.DEPARTURE: reference})

    result = compute(HALF, known)

    assert isinstance(result, Computed)
    assert result.distance == distance


def test_the_result_carries_its_evidence() -> None:
    """Interval, quotation, place, numbers, source and scope stand in the result and in its account."""
    validation = judge(draft(TWO, EARLY_RULE, LATE_RULE), TWO)
    assert isinstance(validation, Validated)

    result = compute(validation.schedule, KNOWN)

    assert isinstance(result, Computed)
    assert result.source == validation.schedule.source
    assert account(result)[:6] == (
        "refund 60.00 EUR, fee 40.00 EUR, paid 100.00 EUR",
        "cancelled on 2026-06-01, 30 days before 2026-07-01",
        "interval 1 of schedule draft: a fee of 20 % of the price",
        "evidence: terms.txt:1:1 [0,51): '30 days or more before departure: 20 % of the price'",
        "stated there: end 30 day, included; 20 percent",
        "20 % of 200.00 EUR is 40",
    )
    assert account(result)[-len(SUPPORTED_SCOPE) :] == SUPPORTED_SCOPE


def test_a_schedule_in_plain_sentences() -> None:
    """One sentence an interval, with its place; the scope is part of it."""
    lines = explain(STEPS)

    assert lines[:5] == (
        "schedule made, in EUR, counted back from the departure date",
        "cancelled 30 days or more before the departure date: a fee of 1.00 EUR (terms.txt:1:1 [0,5): 'words')",
        (
            "cancelled from 29 to 15 days before the departure date, both included: a fee of 2.00 EUR"
            " (terms.txt:1:1 [0,5): 'words')"
        ),
        (
            "cancelled from 14 to 1 day before the departure date, both included: a fee of 3.00 EUR"
            " (terms.txt:1:1 [0,5): 'words')"
        ),
        "rounded half up to 0.01 EUR; never more than what was paid",
    )
    assert lines[-len(SUPPORTED_SCOPE) :] == SUPPORTED_SCOPE


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (None, 0, "on any day up to the arrival date"),
        (None, 1, "1 day or more before the arrival date"),
        (0, 0, "on the arrival date"),
        (1, 1, "exactly 1 day before the arrival date"),
        (7, 0, "from 7 days before the arrival date to that date, both included"),
    ],
)
def test_days_in_words(first: int | None, last: int, words: str) -> None:
    """Each shape of an interval has its words, with both ends included."""
    start = None if first is None else DayBound(first, inclusive=True)

    assert days_in_words(DayRange(start, DayBound(last, inclusive=True)), "arrival") == words


def test_fees_in_words() -> None:
    """No fee, money with the places of its currency, a share with its base."""
    assert fee_in_words(Fixed(_eur("0"))) == "no fee"
    assert fee_in_words(Fixed(_eur("7"))) == "a fee of 7.00 EUR"
    assert fee_in_words(Percentage(Decimal("62.5"), PercentBase.PAID)) == "a fee of 62.5 % of what was paid"
    assert money(Money(Decimal(7), "JPY")) == "7 JPY"
