"""Ends and coverage, by the day: limits of the period, ends that adjoin, days that nobody or two intervals hold."""

from __future__ import annotations

from typing import Any

import pytest

from policies.fees import read_candidate
from policies.fees.coverage import DAYS_MAX, Covered, resolve
from policies.fees.schedule import DayBound, DayRange
from tests.policies.fees.drafts import ADJOINING, PERIOD, day, draft, percent, quote

TEXT = "words"


def _resolve(*ends: tuple[Any, Any], start: Any = "booking", end: Any = "reference_date", **more: Any) -> Any:
    """The ranges as (first, last), or the problems as "interval 1 GAP"."""
    rules = [(first, last, percent(1), TEXT) for first, last in ends]
    limits = [
        {"bound": limit, "quotation": quote(TEXT, TEXT)} if isinstance(limit, dict) else limit for limit in (start, end)
    ]
    candidate = read_candidate(draft(TEXT, *rules, period={"start": limits[0], "end": limits[1]}, **more))
    found = resolve(candidate)
    if isinstance(found, Covered):
        return [(days.first, days.last) for days in found.intervals]
    return [f"{problem.subject} {problem.kind.name}" for problem in found]


def excl(number: int) -> dict[str, Any]:
    return day(number, inclusive=False)


@pytest.mark.parametrize(
    ("ends", "limits", "found"),
    [
        ([(PERIOD, PERIOD)], {}, [(None, 0)]),
        ([(PERIOD, day(0))], {}, [(None, 0)]),
        ([(PERIOD, excl(0))], {}, ["interval 1 GAP"]),
        ([(PERIOD, PERIOD)], {"start": day(30), "end": day(2)}, [(30, 2)]),
        ([(PERIOD, PERIOD)], {"start": excl(30), "end": excl(2)}, [(29, 3)]),
        ([(day(30), day(2))], {"start": day(30), "end": day(2)}, [(30, 2)]),
        ([(day(29), PERIOD)], {"start": day(30)}, ["interval 1 GAP"]),
        ([(day(31), PERIOD)], {"start": day(30)}, ["interval 1 OVERLAP"]),
        ([(PERIOD, day(1))], {"end": day(2)}, ["interval 1 OVERLAP"]),
        ([(PERIOD, day(3))], {"end": day(2)}, ["interval 1 GAP"]),
        ([(PERIOD, PERIOD)], {"start": day(2), "end": day(2)}, [(2, 2)]),
        ([(PERIOD, PERIOD)], {"start": day(1), "end": day(2)}, ["period EMPTY"]),
        ([(PERIOD, PERIOD)], {"start": day(1, unit="week")}, ["period WEEKS_NOT_STATED"]),
        ([(PERIOD, day(8)), (day(7), PERIOD)], {}, [(None, 8), (7, 0)]),
        ([(PERIOD, day(8)), (excl(8), PERIOD)], {}, [(None, 8), (7, 0)]),
        ([(PERIOD, excl(8)), (day(8), PERIOD)], {}, [(None, 9), (8, 0)]),
        ([(PERIOD, day(8)), (excl(7), PERIOD)], {}, ["interval 2 GAP"]),
        ([(PERIOD, day(8)), (day(8), PERIOD)], {}, ["interval 2 OVERLAP"]),
        ([(PERIOD, excl(8)), (excl(8), PERIOD)], {}, ["interval 2 GAP"]),
        ([(PERIOD, day(8)), (PERIOD, PERIOD)], {}, ["interval 2 OVERLAP"]),
        ([(PERIOD, PERIOD), (day(8), PERIOD)], {}, ["interval 2 OVERLAP"]),
        ([(PERIOD, day(8)), (ADJOINING, PERIOD)], {}, [(None, 8), (7, 0)]),
        ([(PERIOD, excl(8)), (ADJOINING, PERIOD)], {}, [(None, 9), (8, 0)]),
        ([(PERIOD, ADJOINING), (day(8), PERIOD)], {}, [(None, 9), (8, 0)]),
        ([(PERIOD, ADJOINING), (excl(8), PERIOD)], {}, [(None, 8), (7, 0)]),
        ([(PERIOD, day(9)), (ADJOINING, ADJOINING), (day(3), PERIOD)], {}, [(None, 9), (8, 4), (3, 0)]),
        ([(PERIOD, ADJOINING), (ADJOINING, PERIOD)], {}, ["interval 1 NO_NEIGHBOUR", "interval 2 NO_NEIGHBOUR"]),
        ([(PERIOD, day(9)), (ADJOINING, ADJOINING)], {}, ["interval 2 NO_NEIGHBOUR"]),
        ([(ADJOINING, day(9)), (day(8), PERIOD)], {}, ["interval 1 NO_NEIGHBOUR"]),
        ([(PERIOD, day(9)), (day(8), day(9)), (day(8), PERIOD)], {}, ["interval 2 EMPTY"]),
        ([(PERIOD, day(9)), (day(8), day(8)), (day(7), PERIOD)], {}, [(None, 9), (8, 8), (7, 0)]),
        ([(PERIOD, day(2, unit="week")), (day(13), PERIOD)], {"week_days": 7}, [(None, 14), (13, 0)]),
        ([(PERIOD, day("1.5"))], {}, ["interval 1 NOT_WHOLE_DAYS"]),
        ([(PERIOD, day("2.0")), (day(1), PERIOD)], {}, [(None, 2), (1, 0)]),
        ([(PERIOD, day(DAYS_MAX)), (ADJOINING, PERIOD)], {}, [(None, DAYS_MAX), (DAYS_MAX - 1, 0)]),
        (
            [(PERIOD, day(DAYS_MAX + 1)), (ADJOINING, PERIOD)],
            {},
            ["interval 1 NOT_WHOLE_DAYS", "interval 2 NOT_WHOLE_DAYS"],
        ),
    ],
)
def test_each_day_once(ends: Any, limits: Any, found: Any) -> None:
    """Intervals and period are resolved to whole days; a day twice, a day missing, an end without ground is told."""
    assert _resolve(*ends, **limits) == found


@pytest.mark.parametrize(
    ("start", "end", "held"),
    [
        (DayBound(5, inclusive=True), DayBound(3, inclusive=True), [3, 4, 5]),
        (DayBound(5, inclusive=False), DayBound(3, inclusive=True), [3, 4]),
        (DayBound(5, inclusive=True), DayBound(3, inclusive=False), [4, 5]),
        (DayBound(5, inclusive=False), DayBound(3, inclusive=False), [4]),
        (None, DayBound(5, inclusive=True), [5, 6, 7, 8]),
        (None, DayBound(5, inclusive=False), [6, 7, 8]),
    ],
)
def test_a_range_holds_its_days(start: DayBound | None, end: DayBound, held: list[int]) -> None:
    """What a range holds, and its first and last day, are one and the same."""
    days = DayRange(start, end)

    assert [distance for distance in range(-1, 9) if days.holds(distance)] == held
    assert days.last == held[0]
    assert days.first == (None if start is None else held[-1])
