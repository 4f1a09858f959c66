"""A schedule and a result in plain sentences, each with the place it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from policies.fees.engine import SUPPORTED_SCOPE
from policies.fees.minor import minor_unit
from policies.fees.schedule import Fixed, Percentage

if TYPE_CHECKING:
    from policies.fees.engine import Computed
    from policies.fees.schedule import DayRange, Interval, Schedule, ScheduledFee
    from policies.values import Money


def explain(schedule: Schedule) -> tuple[str, ...]:
    """The whole schedule, an interval a sentence, and the scope of what is computed."""
    name = schedule.reference.value
    lines = [f"schedule {schedule.id}, in {schedule.currency}, counted back from the {name} date"]
    lines.extend(
        f"cancelled {days_in_words(interval.days, name)}: {fee_in_words(interval.fee)} ({_evidence(interval)})"
        for interval in schedule.intervals
    )
    lines.append(
        f"rounded half up to {minor_unit(schedule.currency)} {schedule.currency}; never more than what was paid"
    )
    lines.append("outside of these days no amount is computed")
    return (*lines, *SUPPORTED_SCOPE)


def days_in_words(days: DayRange, reference: str) -> str:
    """An interval's days: "30 days or more before the departure date"."""
    first, last = days.first, days.last
    if first is None and last == 0:
        return f"on any day up to the {reference} date"
    if first is None:
        return f"{_count(last)} or more before the {reference} date"
    if last == 0 == first:
        return f"on the {reference} date"
    if first == last:
        return f"exactly {_count(first)} before the {reference} date"
    if last == 0:
        return f"from {_count(first)} before the {reference} date to that date, both included"
    return f"from {first} to {_count(last)} before the {reference} date, both included"


def fee_in_words(fee: ScheduledFee) -> str:
    match fee:
        case Fixed() if not fee.amount.amount:
            return "no fee"
        case Fixed():
            return f"a fee of {money(fee.amount)}"
        case Percentage():
            return f"a fee of {fee.percent} % of {'the price' if fee.of.value == 'price' else 'what was paid'}"
        case _:
            assert_never(fee)


def account(result: Computed) -> tuple[str, ...]:
    """How an amount came about, number by number, and the scope."""
    interval = result.interval
    lines = [
        f"refund {money(result.refund)}, fee {money(result.fee)}, paid {money(result.paid)}",
        f"cancelled on {result.cancelled_on}, {_count(result.distance)} before {result.reference_date}",
        f"interval {interval.position} of schedule {result.schedule}: {fee_in_words(interval.fee)}",
        f"evidence: {_evidence(interval)}",
        f"stated there: {'; '.join(interval.stated)}",
    ]
    if isinstance(interval.fee, Percentage):
        lines.append(f"{interval.fee.percent} % of {money(result.base)} is {result.exact.normalize():f}")
    if result.capped:
        lines.append("the fee was capped at what was paid")
    lines.append(f"source text sha256 {result.source}")
    return (*lines, *result.scope)


def money(amount: Money) -> str:
    """An amount with the places of its minor unit."""
    return f"{amount.amount.quantize(minor_unit(amount.currency)):f} {amount.currency}"


def _count(days: int) -> str:
    return "1 day" if days == 1 else f"{days} days"


def _evidence(interval: Interval) -> str:
    quoted = " ".join(interval.quoted.text.split())
    return f"{interval.quoted.place}: {quoted!r}"
