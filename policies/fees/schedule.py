"""A schedule after validation: every end resolved, every number with the place it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from decimal import Decimal

    from policies.fees.candidate import PercentBase, ReferenceKind, RoundingRule
    from policies.fees.text import Place
    from policies.values import Money


@dataclass(frozen=True, slots=True)
class DayBound:
    """An end in whole days before the reference date."""

    days: int
    inclusive: bool


@dataclass(frozen=True, slots=True)
class DayRange:
    """Days before the reference date; `start` is the larger number, None for any day since the booking."""

    start: DayBound | None
    end: DayBound

    def holds(self, distance: int) -> bool:
        return (self.start is None or _reaches(self.start, distance)) and _reaches_down(self.end, distance)

    @property
    def first(self) -> int | None:
        """The largest distance held, None for no bound."""
        return None if self.start is None else self.start.days - (not self.start.inclusive)

    @property
    def last(self) -> int:
        """The smallest distance held."""
        return self.end.days + (not self.end.inclusive)


def _reaches(start: DayBound, distance: int) -> bool:
    return distance <= start.days if start.inclusive else distance < start.days


def _reaches_down(end: DayBound, distance: int) -> bool:
    return distance >= end.days if end.inclusive else distance > end.days


@dataclass(frozen=True, slots=True)
class Fixed:
    amount: Money


@dataclass(frozen=True, slots=True)
class Percentage:
    percent: Decimal
    of: PercentBase


ScheduledFee: TypeAlias = "Fixed | Percentage"


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words of the source, as they stand there, and their place."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Interval:
    """`position` counts from 1. `stated` are the (number, unit) pairs that the quotation was found to hold."""

    position: int
    days: DayRange
    fee: ScheduledFee
    quoted: Quoted
    stated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """`source` is the SHA-256 hex of the source text in UTF-8. The intervals are in order of time."""

    id: str
    currency: str
    reference: ReferenceKind
    rounding: RoundingRule
    period: DayRange
    intervals: tuple[Interval, ...]
    source: str

    @property
    def reads_price(self) -> bool:
        """Whether any fee is a share of the price."""
        return any(isinstance(one.fee, Percentage) and one.fee.of.value == "price" for one in self.intervals)
