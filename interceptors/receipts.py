"""What is recorded: one frozen type for each kind of record. It knows no store, no chain, no clock and no randomness.

Records are immutable; those that share a receipt id are the life of one thing: `decided`, then what left the socket.
Those of each call are structures made in C: a frozen dataclass of so many fields takes longer to make than to write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NotRequired, TypeAlias, TypedDict, Unpack

import msgspec

from interceptors.answered import Answered
from interceptors.edits import Edit, Edited
from interceptors.handoffs import HandedOff
from interceptors.kinds import AbortCause, ErasureCause, Kind, MoneyState, Remark, SettlementCause
from interceptors.money import Held, Reserved, Settled
from interceptors.operations import Erased, Halted, PolicyChanged, Pruned, Resumed, Span
from interceptors.remarks import Remarked

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from interceptors.calls import Json, Proposer
    from interceptors.decisions import Decision, FactRead, Verdict
    from policies.model import Category, Mode, Ruling


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A call was decided. Durable before the first byte of the call, or of what stands in its place, leaves.

    `time` is aware, as in every record. `subject` is a keyed digest, empty where the exchange has none. `arguments`
    are redacted. `latencies` are in ms by hop. `result` is what the agent is to get in place of the call, empty for an
    allow. `escalation` is the id of the case that was opened or found.
    """

    kind: ClassVar[Kind] = Kind.DECIDED

    receipt: str
    time: datetime
    exchange: str
    turn: int
    position: int
    tenant: str
    identity: str | None
    subject: str
    proposer: Proposer
    dialect: str
    model: str
    tool: str
    is_write: bool
    call_id: str
    argument_digest: str
    arguments: Json
    policy: str
    revision: str
    mode: Mode
    verdicts: tuple[Verdict, ...]
    facts: tuple[FactRead, ...]
    ruling: Ruling
    reason: str
    category: Category | None
    latencies: Mapping[str, int] = msgspec.field(default_factory=dict)
    result: str = ""
    escalation: str = ""


class Released(msgspec.Struct, frozen=True, kw_only=True):
    """The call went out to the agent. `verbatim`: in the provider's own bytes, else in the canonical form."""

    kind: ClassVar[Kind] = Kind.RELEASED

    receipt: str
    time: datetime
    exchange: str
    subject: str = ""
    verbatim: bool = True
    latencies: Mapping[str, int] = msgspec.field(default_factory=dict)


class Substituted(msgspec.Struct, frozen=True, kw_only=True):
    """The agent got `result` in place of the call."""

    kind: ClassVar[Kind] = Kind.SUBSTITUTED

    receipt: str
    time: datetime
    exchange: str
    result: str
    subject: str = ""
    latencies: Mapping[str, int] = msgspec.field(default_factory=dict)


class Aborted(msgspec.Struct, frozen=True, kw_only=True):
    """Neither the call nor a substitute went out whole. `detail` holds no argument."""

    kind: ClassVar[Kind] = Kind.ABORTED

    receipt: str
    time: datetime
    exchange: str
    cause: AbortCause
    detail: str = ""
    subject: str = ""
    latencies: Mapping[str, int] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unexamined:
    """A route that the configuration passes through. `path` is without its query, which may hold a key."""

    kind: ClassVar[Kind] = Kind.UNEXAMINED

    receipt: str
    time: datetime
    exchange: str
    tenant: str
    method: str
    path: str
    upstream: str
    identity: str | None = None
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A tool that the provider executes was seen, and could not be gated.

    `where` is `request`, `stripped` for one that was taken out of the request, or `response`.
    """

    kind: ClassVar[Kind] = Kind.OBSERVED

    receipt: str
    time: datetime
    exchange: str
    tenant: str
    dialect: str
    model: str
    tool: str
    where: str
    identity: str | None = None
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A request was refused before it went up. `status` is the HTTP status of the answer."""

    kind: ClassVar[Kind] = Kind.REFUSED

    receipt: str
    time: datetime
    exchange: str
    tenant: str
    dialect: str
    status: int
    reason: str
    detail: str = ""
    identity: str | None = None
    subject: str = ""


__all__ = [
    "AbortCause",
    "Aborted",
    "Answered",
    "Circumstances",
    "Decided",
    "Edit",
    "Edited",
    "Erased",
    "ErasureCause",
    "Halted",
    "HandedOff",
    "Held",
    "Kind",
    "MoneyState",
    "Observed",
    "PolicyChanged",
    "Pruned",
    "Record",
    "Refused",
    "Released",
    "Remark",
    "Remarked",
    "Reserved",
    "Resumed",
    "Settled",
    "SettlementCause",
    "Span",
    "Substituted",
    "Unexamined",
    "decided_record",
    "subject_of",
]

Record: TypeAlias = (
    "Decided | Released | Substituted | Aborted | Unexamined | Observed | Remarked | Refused"
    " | PolicyChanged | Halted | Resumed | Erased | Pruned | Reserved | Settled | Edited | Answered | HandedOff"
)


def subject_of(record: Record) -> str:
    """The keyed digest of the subject that the record is about, empty where it is about none."""
    subject: str = getattr(record, "subject", "")  # only those of operators have none
    return subject


class Circumstances(TypedDict):
    """What the edge knows of a decided call and its decision does not (see `Decided` for the shapes)."""

    receipt: str
    time: datetime
    exchange: str
    turn: int
    position: int
    tenant: str
    identity: str | None
    subject: str
    proposer: Proposer
    dialect: str
    model: str
    call_id: str
    mode: Mode
    latencies: Mapping[str, int]
    result: NotRequired[str]


def decided_record(decision: Decision, **circumstances: Unpack[Circumstances]) -> Decided:
    """The record of `decision`. The store adds the id of the case that it opens or finds."""
    return Decided(
        tool=decision.tool,
        is_write=decision.is_write,
        argument_digest=decision.digest,
        arguments=decision.arguments,
        policy=decision.policy,
        revision=decision.revision,
        verdicts=decision.verdicts,
        facts=decision.facts,
        ruling=decision.ruling,
        reason=decision.reason,
        category=decision.category,
        **circumstances,
    )
