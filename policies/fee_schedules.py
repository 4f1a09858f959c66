"""The fee schedule of a tool after loading: which amount a call must have, and on which facts it is computed.

The schedule itself was held against its text at load (`policies.fees`). What it knows of a cancellation are facts,
signed fields of the session and the clock, never an argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from policies.values import DATE, INTEGER, SAFE_STRING, Type, money_type, record_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

    from policies.expressions import Expression
    from policies.fees.schedule import Schedule
    from policies.model import Origin, Ruling

ROOT: Final = "fee_schedule"
"""What rules, limits and replies of the tool read of a computed amount: `fee_schedule.refund`."""


@dataclass(frozen=True, slots=True)
class FeeSchedule:
    """The argument `amount` must be the refund that `schedule` gives. `id` is `cancel_booking.fee_schedule`.

    `reference` is the date that days are counted back from. `injects`: the right amount leaves, whatever the model
    wrote; `ruling` and `reason` then answer only where that amount is none that the argument accepts, such as zero.
    """

    id: str
    schedule: Schedule
    amount: str
    paid: Expression
    price: Expression | None
    reference: Expression
    cancelled_at: Expression
    zone: ZoneInfo | None  # None: the time zone of the policy
    ruling: Ruling  # FORBID or ESCALATE
    reason: str
    injects: bool
    origin: Origin

    @property
    def expressions(self) -> Iterator[Expression]:
        """All that it evaluates."""
        yield from (self.paid, self.reference, self.cancelled_at)
        if self.price is not None:
            yield self.price

    @property
    def facts(self) -> frozenset[str]:
        """The facts that it reads."""
        return frozenset(path[0] for one in self.expressions for path in one.paths) - {"session", "constants"}


def root_type(currency: str | None) -> Type:
    """The type of `fee_schedule` in expressions. Without a currency: of a schedule that could not be read."""
    money = money_type(currency)
    return record_of(
        {
            "refund": money,
            "fee": money,
            "paid": money,
            "days": INTEGER,
            "interval": INTEGER,
            "cancelled_on": DATE,
            "reference_date": DATE,
            "quotation": SAFE_STRING,
            "place": SAFE_STRING,
        }
    )
