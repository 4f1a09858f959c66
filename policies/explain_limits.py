"""The limits of a tool in plain English, and what becomes of what its calls hold."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from policies.expressions import sentence
from policies.limits import Calendar, Measure
from policies.spelling import duration_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.expressions import Expression
    from policies.limits import Limit, OncePer
    from policies.model import Policy, Tool


def limit_sentence(policy: Policy, limit: Limit) -> str:
    """`where the sum of args.amount for each session.customer_id on one day would be more than 1000.00 USD`."""
    bound = _told(policy, limit.maximum)
    if limit.measure is Measure.VALUE and limit.amount is not None:
        return f"where {_told(policy, limit.amount)} is more than {bound}"
    what = "the number of calls" if limit.amount is None else f"the sum of {_told(policy, limit.amount)} of all calls"
    per = f" for one {_all(policy, limit.per)}" if limit.per else ""
    said = f"where {what}{per}{_window(policy, limit)} would be more than {bound}"
    if limit.fact_counts is not None:
        said += f", with what {_told(policy, limit.fact_counts)} has counted already"
    return said


def once_sentence(policy: Policy, once: OncePer) -> str:
    """`where a call with the same args.order_id was executed in the last 24h`."""
    since = "before" if once.within is None else f"in the last {duration_text(once.within)}"
    return f"where a call with the same {_all(policy, once.values)} was executed {since}"


def settlement_lines(policy: Policy, tool: Tool) -> Iterator[str]:
    """What settles what a call of the tool holds; nothing where it holds nothing."""
    if not tool.reserves:
        return
    yield "  An allowed call counts at once. It counts no more where"
    if tool.not_executed_when is None:
        yield "    nothing that comes back says so, only where a person resolves it or it never left the gate."
    else:
        when = sentence(tool.not_executed_when, policy.constants)
        yield f"    {when}, a person resolves it, or it never left the gate."
    yield f"  Without a result within {duration_text(tool.settle_within)} its outcome is unknown, and it counts."
    if tool.once_per is not None:
        yield "  While the outcome of a call is open, the same call is refused (pending_reconciliation)" + (
            f", but for one that holds the same: it is made again with the key of the first in {tool.inject}."
            if tool.inject is not None
            else "."
        )


def _window(policy: Policy, limit: Limit) -> str:
    match limit.window:
        case timedelta():
            return f" in any {duration_text(limit.window)}"
        case Calendar():
            zone = policy.time_zone.key if policy.time_zone is not None else "UTC"
            return f" in one {limit.window.value} ({zone})"
        case None:
            return ", ever,"


def _told(policy: Policy, expression: Expression) -> str:
    return sentence(expression, policy.constants)


def _all(policy: Policy, expressions: tuple[Expression, ...]) -> str:
    return " and ".join(_told(policy, one) for one in expressions)
