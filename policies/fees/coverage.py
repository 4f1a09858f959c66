"""Ends and coverage: bounds in whole days, ends that adjoin a neighbour, and a period without gap or overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.fees.candidate import Bound, Edge, Limit, TimeUnit
from policies.fees.problems import Problem, ProblemKind
from policies.fees.schedule import DayBound, DayRange

if TYPE_CHECKING:
    from policies.fees.candidate import Candidate, CandidateInterval, End

_WEEK = 7
DAYS_MAX = 3660
"""More days before a reference date than any schedule has."""


class _UnresolvedError(Exception):
    def __init__(self, kind: ProblemKind, detail: str) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Covered:
    """The period, and the intervals in the candidate's order, which is that of time."""

    period: DayRange
    intervals: tuple[DayRange, ...]


def resolve(candidate: Candidate) -> Covered | tuple[Problem, ...]:
    """The period and the intervals in days, in the candidate's order, or why they do not cover it."""
    problems: list[Problem] = []
    try:
        period = _period(candidate)
    except _UnresolvedError as error:
        return (Problem(error.kind, "period", error.detail),)
    ranges: list[DayRange] = []
    for index in range(len(candidate.intervals)):
        try:
            ranges.append(_interval(candidate, index, period))
        except _UnresolvedError as error:
            problems.append(_problem(candidate, index, error.kind, error.detail))
    if not problems:
        problems.extend(_coverage(candidate, period, ranges))
    return tuple(problems) or Covered(period, tuple(ranges))


def whole_days(bound: Bound, week_days: int | None) -> int:
    """A bound in days. Raises where it is in weeks without the stated conversion, or no whole number of days."""
    if bound.unit is TimeUnit.WEEK and week_days is None:
        raise _UnresolvedError(ProblemKind.WEEKS_NOT_STATED, f"{bound.number} weeks")
    days = bound.number * (_WEEK if bound.unit is TimeUnit.WEEK else 1)
    if days != days.to_integral_value() or days > DAYS_MAX:
        raise _UnresolvedError(ProblemKind.NOT_WHOLE_DAYS, f"{bound.number} {bound.unit.value}")
    return int(days)


def _period(candidate: Candidate) -> DayRange:
    start, end = candidate.period.start, candidate.period.end
    first = _bound(start.bound, candidate) if isinstance(start, Limit) else None
    last = _bound(end.bound, candidate) if isinstance(end, Limit) else DayBound(0, inclusive=True)
    return _range(first, last)


def _bound(bound: Bound, candidate: Candidate) -> DayBound:
    return DayBound(whole_days(bound, candidate.week_days), bound.inclusive)


def _range(start: DayBound | None, end: DayBound) -> DayRange:
    days = DayRange(start, end)
    if days.first is not None and days.first < days.last:
        raise _UnresolvedError(ProblemKind.EMPTY, f"from {days.first} to {days.last} days before")
    return days


def _interval(candidate: Candidate, index: int, period: DayRange) -> DayRange:
    interval = candidate.intervals[index]
    start: DayBound | None
    if isinstance(interval.start, Bound):
        start = _bound(interval.start, candidate)
    elif interval.start is Edge.PERIOD:
        start = period.start
    else:
        start = _beside(candidate, index - 1, at_end=True)
    if isinstance(interval.end, Bound):
        end = _bound(interval.end, candidate)
    elif interval.end is Edge.PERIOD:
        end = period.end
    else:
        end = _beside(candidate, index + 1, at_end=False)
    return _range(start, end)


def _beside(candidate: Candidate, neighbour: int, *, at_end: bool) -> DayBound:
    """The end that adjoins the neighbour's stated one: the same day, included where the neighbour excludes it."""
    stated: End | None = None
    if 0 <= neighbour < len(candidate.intervals):
        beside: CandidateInterval = candidate.intervals[neighbour]
        stated = beside.end if at_end else beside.start
    if not isinstance(stated, Bound):
        raise _UnresolvedError(ProblemKind.NO_NEIGHBOUR, "start" if at_end else "end")
    bound = _bound(stated, candidate)
    return DayBound(bound.days, not bound.inclusive)


def _coverage(candidate: Candidate, period: DayRange, ranges: list[DayRange]) -> list[Problem]:
    problems: list[Problem] = []
    expected = period.first
    for index, days in enumerate(ranges):
        if days.first != expected:
            is_overlap = days.first is None or (expected is not None and days.first > expected)
            kind = ProblemKind.OVERLAP if is_overlap else ProblemKind.GAP
            detail = f"expected from {_days(expected)}, found from {_days(days.first)}"
            problems.append(_problem(candidate, index, kind, detail))
        expected = days.last - 1
    last = ranges[-1].last
    if last != period.last:
        kind = ProblemKind.OVERLAP if last < period.last else ProblemKind.GAP
        detail = f"expected to {_days(period.last)}, found to {_days(last)}"
        problems.append(_problem(candidate, -1, kind, detail))
    return problems


def _days(days: int | None) -> str:
    return "the booking" if days is None else f"{days} days before"


def _problem(candidate: Candidate, index: int, kind: ProblemKind, detail: str) -> Problem:
    position = index % len(candidate.intervals) + 1
    return Problem(kind, f"interval {position}", detail, candidate.intervals[index].quotation.text)
