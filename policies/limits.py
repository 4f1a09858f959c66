"""What a tool's calls may add up to, and what may be done once (DESIGN 7 and 8).

What counts against a limit is kept under what it *measures*, for whom: neither its place in the file nor its bound,
window or reason is part of that, so that an edit of these never begins a count anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from policies.expressions import Expression
    from policies.model import Origin, Policy, Ruling


class Measure(Enum):
    """What of a call is bounded."""

    SUM = "sum"  # amounts of all calls, added up
    COUNT = "count"  # the number of calls
    VALUE = "value"  # the amount of this call alone: a ceiling, which keeps no count


class Calendar(Enum):
    """Windows that begin on a calendar, in the policy's `time_zone`."""

    DAY = "day"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Limit:
    """Answers `ruling` where this call would take what it measures past `maximum`. `id` is `refund.limits[0]`.

    `amount` is None of a count, where each call is one. `window` is None where all calls ever made count.
    `fact_counts`: what a fact has counted already of the same money, its own and others'.
    """

    id: str
    ruling: Ruling  # FORBID or ESCALATE
    reason: str
    measure: Measure
    amount: Expression | None
    per: tuple[Expression, ...]
    window: timedelta | Calendar | None
    maximum: Expression
    fact_counts: Expression | None
    origin: Origin

    @property
    def expressions(self) -> Iterator[Expression]:
        """All that it evaluates."""
        yield from (one for one in (self.amount, self.maximum, self.fact_counts) if one is not None)
        yield from self.per


@dataclass(frozen=True, slots=True)
class OncePer:
    """One execution for each combination of `values`; with `within`, one in that time."""

    id: str
    ruling: Ruling  # FORBID or ESCALATE
    reason: str
    values: tuple[Expression, ...]
    within: timedelta | None
    origin: Origin

    @property
    def expressions(self) -> Iterator[Expression]:
        """All that it evaluates."""
        yield from self.values


def counted(policy: Policy) -> Iterator[Limit | OncePer]:
    """The limits of a policy that keep a count, each once, in the order of the file."""
    tools = (policy.unknown_tool, *policy.tools.values())
    found: dict[str, Limit | OncePer] = {}
    for tool in tools:
        found |= {limit.id: limit for limit in tool.limits if limit.measure is not Measure.VALUE}
        if tool.once_per is not None:
            found[tool.once_per.id] = tool.once_per
    yield from found.values()
