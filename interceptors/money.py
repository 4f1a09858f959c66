"""Records of money: what an allowed call holds, and what became of it. They share the receipt of the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from interceptors.kinds import Kind, MoneyState, SettlementCause

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What is held under one limit."""

    limit: str
    amount: str  # `60.00 USD`, or a plain number


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """The allowed call of this receipt holds `held` until it is settled, in `settle_by` at the latest.

    `again`: the reservation was made for an earlier call of the same intent, and holds nothing more. `injected` is the
    digest of the arguments that leave where a key was put into them, else empty.
    """

    kind: ClassVar[Kind] = Kind.RESERVED

    receipt: str
    time: datetime
    reservation: str
    held: tuple[Held, ...]
    settle_by: datetime
    again: bool = False
    injected: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of the call, and why. `result` is the digest of what came back, empty without one.

    `reservation` is what it held, and `state` that of the reservation from now on; a call that reserves nothing has
    none, and `state` is its own. `by` and `reason` are those of a person who resolved it.
    """

    kind: ClassVar[Kind] = Kind.SETTLED

    receipt: str
    time: datetime
    reservation: str
    state: MoneyState
    cause: SettlementCause
    result: str = ""
    by: str = ""
    reason: str = ""
    subject: str = ""
