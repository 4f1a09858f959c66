"""What is handed to the store, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from interceptors.chain import Head
    from interceptors.kinds import MoneyState
    from interceptors.obligations import Reserve, VoidGrant
    from interceptors.receipts import Held, Record
    from interceptors.usage import Usages
    from proxy.store.cases import EscalationDraft
    from proxy.store.handoffs import Handed, HandoffDraft


class ReleaseDraft(msgspec.Struct, frozen=True, kw_only=True):
    """An allowed call, to be found again by what comes back for it. `argument_digest`: of what is to leave."""

    receipt: str
    tenant: str
    call_id: str
    tool: str
    argument_digest: str
    subject: str  # a keyed digest, or empty
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserving:
    """What an allowed call holds, as the reservation `id` of the policy `policy`.

    Where what the decision rests on is no longer so, `anew` gives the entry of the decision on what is so now, and that
    entry is written instead. It is called by the thread that writes, perhaps more than once, and waits for nothing.
    `injected` is the digest of the arguments with the key of the intent, empty where none is put into them.
    """

    id: str
    policy: str
    obligation: Reserve
    anew: Callable[[Usages], Entry]
    injected: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """The question `name`, asked at `at`; it takes the place of an earlier one of that name."""

    name: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirming:
    """An allowed call that rests on a yes to the question `name`, asked at `asked_at`: the yes is taken, once.

    Where it is gone by now, `anew` gives the entry that is written instead, under the law of `Reserving.anew`.
    """

    name: str
    asked_at: datetime
    anew: Callable[[], Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Granting:
    """An allowed call that rests on an approval of people: it is used up, once, under the law of `Confirming`."""

    name: str
    grant: str
    escalation: str
    at: datetime
    anew: Callable[[], Entry]


class Entry(msgspec.Struct, frozen=True):
    """One record to write. While the operator's halt is in force `when_halted`, if given, is written in its place.

    A function gives it where making it each time would cost: the writing thread calls it, if the halt is in force.
    `escalation` opens a case, or finds it, in the same transaction; `release` notes an allowed call, and `reserving`,
    which goes with it, what the call holds; `confirming` takes the yes that it needs, and `asking` is the question
    that a refused one waits for; `granting` uses up an approval, and `voiding` takes one back. `when_full` is written
    where the escalation would open one case too many. None of them where `when_halted` was written. `handoff` goes with
    the record of a customer who asked for a person.
    """

    record: Record
    when_halted: Record | Callable[[], Record] | None = None
    escalation: EscalationDraft | None = None
    release: ReleaseDraft | None = None
    reserving: Reserving | None = None
    confirming: Confirming | None = None
    asking: Asking | None = None
    granting: Granting | None = None
    voiding: VoidGrant | None = None
    when_full: Callable[[], Record] | None = None
    handoff: HandoffDraft | None = None


class Committed(msgspec.Struct, frozen=True):
    """On the disk. `halted`: `when_halted` was written, so the decision it stands for is the one that holds.

    `anew`: the entry of another decision was written, on what was used by then. `reservation` is what the call holds.
    `full`: `when_full` was written. `handed` is what is answered to a customer who asked for a person.
    """

    head: Head
    halted: bool = False
    escalation_id: str | None = None
    anew: bool = False
    reservation: str | None = None
    full: bool = False
    handed: Handed | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """What came back says this of the call that was released under `receipt`; `result` is its digest."""

    receipt: str
    state: MoneyState
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """As stored. Times are UTC texts; `receipt` is that of the first call that it was handed out to."""

    id: str
    policy: str
    tool: str
    held: tuple[Held, ...]
    receipt: str
    time: str
    state: MoneyState
    settled_at: str | None
    settle_by: str


@dataclass(frozen=True, slots=True)
class ReleasedCall:
    """A call that was allowed and not aborted.

    `state` is what became of it: held at first where it reserved something, else None until its result comes. `result`
    is the digest of the newest result, empty without one; `subject` a digest of the customer.
    """

    receipt: str
    call_id: str
    tool: str
    argument_digest: str
    time: datetime
    reservation: str | None
    state: MoneyState | None
    result: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Halt:
    """The operator's halt. `at` is UTC text."""

    by: str
    reason: str
    at: str
    receipt: str


@dataclass(frozen=True, slots=True)
class Erasure:
    """`scrubbed`: no copy is left in the write-ahead log. If not (a reader was at work), one stays a while longer."""

    receipt: str | None  # None where there was nothing to erase
    records: int
    escalations: int
    scrubbed: bool = True


@dataclass(frozen=True, slots=True)
class Retained:
    """What the end of a retention removed."""

    payloads: int
    escalations: int
    records: int
