"""The fee of one cancellation. Pure: a schedule and what is known, to an amount with its evidence, or what is missing.

The day distance is the number of calendar days from the date of the cancellation, in the declared zone, to the
reference date. The fee is rounded half up to the currency's minor unit, then capped at the paid amount; the refund is
the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from policies.fees.candidate import PercentBase, ReferenceKind
from policies.fees.minor import is_whole_minor, minor_unit
from policies.fees.schedule import Fixed
from policies.values import Money

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime, tzinfo

    from policies.fees.schedule import Interval, Schedule, ScheduledFee

_EXACT = Context(prec=60, traps=[Inexact])
_ROUNDING = Context(prec=60)
AMOUNT_MAX = Decimal(10) ** 15

SUPPORTED_SCOPE = (
    "days are calendar days from the date of the cancellation, in the declared zone, to the reference date",
    "a day is in an interval where its bounds, with their inclusivity, hold it; a week is seven days where so stated",
    "one fixed or percentage fee for the whole booking; percentages of the price or of what was paid, as quoted",
    "the fee is rounded half up to the currency's minor unit, and is never more than what was paid",
    "the refund is what was paid less the fee",
    (
        "not supported: business days, hours, months, time zones of departure, partial cancellations, fees per person"
        " or night, coupons, promotions, fees of several parts, the greater of two fees, no-shows, conditions"
    ),
)


class Input(Enum):
    """What a computation needs; the value is what people call it."""

    PAID = "paid amount"
    PRICE = "price"
    CANCELLED_AT = "cancellation time"
    ZONE = "time zone of the cancellation"
    DEPARTURE = "departure date"
    ARRIVAL = "arrival date"
    EVENT = "event date"


class Cause(Enum):
    MISSING = "is missing"
    NO_OFFSET = "has no offset"
    OTHER_CURRENCY = "is in another currency than the schedule"
    NO_AMOUNT = "is no amount of whole minor units from zero up"
    OUTSIDE_PERIOD = "is outside the period of the schedule"


_REFERENCE_INPUTS = {
    ReferenceKind.DEPARTURE: Input.DEPARTURE,
    ReferenceKind.ARRIVAL: Input.ARRIVAL,
    ReferenceKind.EVENT: Input.EVENT,
}


@dataclass(frozen=True, slots=True)
class Cancellation:
    """What is known of a cancellation. `dates` are calendar dates at the place of the reference, by their kind."""

    paid: Money | None = None
    price: Money | None = None
    cancelled_at: datetime | None = None
    zone: tzinfo | None = None
    dates: Mapping[ReferenceKind, date] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Blocked:
    """No amount can be computed; `input` is what has to be supplied or looked at."""

    input: Input
    cause: Cause
    detail: str = ""

    def __str__(self) -> str:
        return f"the {self.input.value} {self.cause.value}{f': {self.detail}' if self.detail else ''}"


@dataclass(frozen=True, slots=True)
class Computed:
    """`refund` + `fee` is `paid`. `interval` holds the quotation and its place; the other fields are what was used."""

    schedule: str
    source: str  # SHA-256 hex of the source text
    paid: Money
    fee: Money
    refund: Money
    interval: Interval
    distance: int  # days before the reference date
    cancelled_on: date
    reference_date: date
    base: Money  # what the fee was taken of
    exact: Decimal  # the fee before rounding and cap
    capped: bool
    scope: tuple[str, ...] = SUPPORTED_SCOPE


Result: TypeAlias = "Computed | Blocked"


def compute(schedule: Schedule, cancellation: Cancellation) -> Result:
    """The fee and refund of one cancellation, or the first input that is missing or unusable."""
    known = _known(schedule, cancellation)
    if isinstance(known, Blocked):
        return known
    paid, cancelled_on, reference_date = known
    distance = (reference_date - cancelled_on).days
    interval = interval_of(schedule, distance)
    if interval is None:
        return Blocked(Input.CANCELLED_AT, Cause.OUTSIDE_PERIOD, f"{distance} days before the reference date")
    base = _base(schedule, interval.fee, cancellation, paid)
    if isinstance(base, Blocked):
        return base
    exact = _exact_fee(interval.fee, base)
    rounded = exact.quantize(minor_unit(schedule.currency), rounding=ROUND_HALF_UP, context=_ROUNDING)
    fee = min(rounded, paid.amount)
    return Computed(
        schedule=schedule.id,
        source=schedule.source,
        paid=paid,
        fee=Money(fee, schedule.currency),
        refund=Money(_EXACT.subtract(paid.amount, fee), schedule.currency),
        interval=interval,
        distance=distance,
        cancelled_on=cancelled_on,
        reference_date=reference_date,
        base=base,
        exact=exact,
        capped=rounded > paid.amount,
    )


def interval_of(schedule: Schedule, distance: int) -> Interval | None:
    """The interval that holds a day of the period; None outside the period."""
    if not schedule.period.holds(distance):
        return None
    return next((interval for interval in schedule.intervals if interval.days.holds(distance)), None)


def _known(schedule: Schedule, cancellation: Cancellation) -> tuple[Money, date, date] | Blocked:
    reference_date = cancellation.dates.get(schedule.reference)
    cancelled_at, zone, paid = cancellation.cancelled_at, cancellation.zone, cancellation.paid
    if reference_date is None:
        return Blocked(_REFERENCE_INPUTS[schedule.reference], Cause.MISSING)
    if cancelled_at is None or cancelled_at.utcoffset() is None:
        return Blocked(Input.CANCELLED_AT, Cause.MISSING if cancelled_at is None else Cause.NO_OFFSET)
    if zone is None:
        return Blocked(Input.ZONE, Cause.MISSING)
    if paid is None:
        return Blocked(Input.PAID, Cause.MISSING)
    unusable = _unusable(paid, Input.PAID, schedule.currency)
    return unusable or (paid, cancelled_at.astimezone(zone).date(), reference_date)


def _unusable(money: Money, name: Input, currency: str) -> Blocked | None:
    if money.currency != currency:
        return Blocked(name, Cause.OTHER_CURRENCY, f"{money.currency}, not {currency}")
    if not money.amount.is_finite() or not 0 <= money.amount < AMOUNT_MAX or not is_whole_minor(money.amount, currency):
        return Blocked(name, Cause.NO_AMOUNT)
    return None


def _base(schedule: Schedule, fee: ScheduledFee, cancellation: Cancellation, paid: Money) -> Money | Blocked:
    if isinstance(fee, Fixed):
        return fee.amount
    if fee.of is PercentBase.PAID:
        return paid
    if cancellation.price is None:
        return Blocked(Input.PRICE, Cause.MISSING)
    return _unusable(cancellation.price, Input.PRICE, schedule.currency) or cancellation.price


def _exact_fee(fee: ScheduledFee, base: Money) -> Decimal:
    if isinstance(fee, Fixed):
        return base.amount
    return _EXACT.scaleb(_EXACT.multiply(base.amount, fee.percent), -2)
