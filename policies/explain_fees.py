"""The fee schedule of a tool in plain English: what its amount must be, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.expressions import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.fee_schedules import FeeSchedule
    from policies.model import Policy


def fee_lines(policy: Policy, declared: FeeSchedule, outcome: str) -> Iterator[str]:
    """`outcome` is how the policy answers a wrong amount: `Refused (wrong_amount)`."""
    from policies.fees import explain  # noqa: PLC0415 - slow to import; who loaded the schedule has it

    zone = declared.zone or policy.time_zone
    told = {
        "what was paid": sentence(declared.paid, policy.constants),
        f"the {declared.schedule.reference.value} date": sentence(declared.reference, policy.constants),
        "the time of the cancellation": sentence(declared.cancelled_at, policy.constants),
    }
    if declared.price is not None:
        told["the price"] = sentence(declared.price, policy.constants)
    amount = f"args.{declared.amount}"
    if declared.injects:
        yield f"  Whatever the model writes, {amount} is the refund that its fee schedule gives; that amount leaves."
        yield f"  {outcome} where that is no amount that the tool takes."
    else:
        yield f"  {outcome} where {amount} is not the refund that its fee schedule gives."
    inputs = ", ".join(f"{name} is {value}" for name, value in told.items())
    yield f"  There {inputs}; days are counted in {zone.key if zone is not None else 'UTC'}."
    yield from (f"    - {line}" for line in explain(declared.schedule))
    yield "  Where one of these is missing, or the schedule gives no amount: passed to a person."
