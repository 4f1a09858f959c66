"""What is recorded: one frozen type for each kind of record. It knows no store, no chain, no clock and no randomness.

Records are immutable; those that share a receipt id are the life of one thing: `decided`, then what left the socket.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from interceptors.calls import Json, Proposer
    from interceptors.decisions import Decision, FactRead, Verdict
    from policies.model import Category, Mode, Ruling


class Kind(Enum):
    """What a record says. The value stands in the chain: it never changes."""

    DECIDED = "decided"
    RELEASED = "released"
    SUBSTITUTED = "substituted"
    ABORTED = "aborted"
    UNEXAMINED = "unexamined"
    OBSERVED = "observed"
    REFUSED = "refused"
    POLICY = "policy"
    HALTED = "halted"
    RESUMED = "resumed"
    ERASED = "erased"
    PRUNED = "pruned"

    @property
    def is_outcome(self) -> bool:
        """Whether it tells what left the socket, and so follows a `decided` of the same receipt."""
        return self in (Kind.RELEASED, Kind.SUBSTITUTED, Kind.ABORTED)

    @property
    def is_administrative(self) -> bool:
        """Whether it tells what operators did. Its payload is about no customer and lives as long as its record."""
        return self in (Kind.POLICY, Kind.HALTED, Kind.RESUMED, Kind.ERASED, Kind.PRUNED)


class AbortCause(Enum):
    """Why a decided call reached neither release nor substitution."""

    CLIENT_LOST = "the client went away"
    UPSTREAM_LOST = "the upstream went away"
    CONFLICT = "the stream changed a call that was complete"
    BROKEN = "the stream could not be read"
    LIMIT = "a limit was reached"
    HALTED = "the operator's halt came first"
    CANCELLED = "the exchange was cancelled"
    DRAINING = "the gate was shutting down"
    INTERNAL = "the gate failed"


class ErasureCause(Enum):
    SUBJECT = "subject"
    RETENTION = "retention"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
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
    latencies: Mapping[str, int] = field(default_factory=dict)
    result: str = ""
    escalation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The call went out to the agent. `verbatim`: in the provider's own bytes, else in the canonical form."""

    kind: ClassVar[Kind] = Kind.RELEASED

    receipt: str
    time: datetime
    exchange: str
    subject: str = ""
    verbatim: bool = True
    latencies: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Substituted:
    """The agent got `result` in place of the call."""

    kind: ClassVar[Kind] = Kind.SUBSTITUTED

    receipt: str
    time: datetime
    exchange: str
    result: str
    subject: str = ""
    latencies: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aborted:
    """Neither the call nor a substitute went out whole. `detail` holds no argument."""

    kind: ClassVar[Kind] = Kind.ABORTED

    receipt: str
    time: datetime
    exchange: str
    cause: AbortCause
    detail: str = ""
    subject: str = ""
    latencies: Mapping[str, int] = field(default_factory=dict)


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
    """A tool that the provider executes was seen, and could not be gated. `where` is `request` or the wire's type."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChanged:
    """Another revision decides from `time` on; `previous` is empty at the start of the process."""

    kind: ClassVar[Kind] = Kind.POLICY

    receipt: str
    time: datetime
    policy: str
    revision: str
    previous: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Halted:
    kind: ClassVar[Kind] = Kind.HALTED

    receipt: str
    time: datetime
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    kind: ClassVar[Kind] = Kind.RESUMED

    receipt: str
    time: datetime
    by: str


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Records `first` to `last`, both included, of one writer's chain."""

    writer: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """The payloads and salts of `spans` were deleted; their records stay in the chain."""

    kind: ClassVar[Kind] = Kind.ERASED

    receipt: str
    time: datetime
    by: str
    cause: ErasureCause
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """The records of `spans`, each the oldest of its chain, were removed at the end of their retention."""

    kind: ClassVar[Kind] = Kind.PRUNED

    receipt: str
    time: datetime
    by: str
    spans: tuple[Span, ...]


Record: TypeAlias = (
    "Decided | Released | Substituted | Aborted | Unexamined | Observed | Refused"
    " | PolicyChanged | Halted | Resumed | Erased | Pruned"
)


def subject_of(record: Record) -> str:
    """The keyed digest of the subject that the record is about, empty where it is about none."""
    if isinstance(record, PolicyChanged | Halted | Resumed | Erased | Pruned):
        return ""
    return record.subject


def decided_record(
    decision: Decision,
    *,
    receipt: str,
    time: datetime,
    exchange: str,
    turn: int,
    position: int,
    tenant: str,
    identity: str | None,
    subject: str,
    proposer: Proposer,
    dialect: str,
    model: str,
    call_id: str,
    mode: Mode,
    latencies: Mapping[str, int],
    result: str = "",
) -> Decided:
    """The record of `decision`, with what the edge knows and a decision does not (see `Decided` for the shapes)."""
    return Decided(
        receipt=receipt,
        time=time,
        exchange=exchange,
        turn=turn,
        position=position,
        tenant=tenant,
        identity=identity,
        subject=subject,
        proposer=proposer,
        dialect=dialect,
        model=model,
        tool=decision.tool,
        is_write=decision.is_write,
        call_id=call_id,
        argument_digest=decision.digest,
        arguments=decision.arguments,
        policy=decision.policy,
        revision=decision.revision,
        mode=mode,
        verdicts=decision.verdicts,
        facts=decision.facts,
        ruling=decision.ruling,
        reason=decision.reason,
        category=decision.category,
        latencies=latencies,
        result=result,
    )
