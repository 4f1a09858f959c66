"""What records can say, and why some were made: closed sets whose values stand in stored records."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """What a record says. The value stands in the chain: it never changes."""

    DECIDED = "decided"
    RELEASED = "released"
    SUBSTITUTED = "substituted"
    ABORTED = "aborted"
    UNEXAMINED = "unexamined"
    OBSERVED = "observed"
    REMARKED = "remarked"
    REFUSED = "refused"
    POLICY = "policy"
    HALTED = "halted"
    RESUMED = "resumed"
    ERASED = "erased"
    PRUNED = "pruned"
    RESERVED = "reserved"
    SETTLED = "settled"
    EDITED = "edited"
    ANSWERED = "answered"
    HANDED_OFF = "handed_off"

    __hash__ = object.__hash__  # each member is one object; an enum's own hash is a function of the interpreter

    @property
    def is_outcome(self) -> bool:
        """Whether it tells what left the socket, and so follows a `decided`, or a `handed_off`, of the same receipt."""
        return self in (Kind.RELEASED, Kind.SUBSTITUTED, Kind.ABORTED)

    @property
    def is_opening(self) -> bool:
        """Whether it begins something: what follows it under the same receipt is no line of a list."""
        return not self.is_outcome and self not in (Kind.RESERVED, Kind.SETTLED, Kind.ANSWERED)

    @property
    def is_administrative(self) -> bool:
        """Whether it tells what operators did. Its payload is about no customer and lives as long as its record."""
        return self in _ADMINISTRATIVE


_ADMINISTRATIVE = frozenset({Kind.POLICY, Kind.HALTED, Kind.RESUMED, Kind.ERASED, Kind.PRUNED})


class Remark(Enum):
    """What was found in the text of a turn."""

    TEXT_CALL = "text_call"  # it is written in the shape of a call
    FALSE_CLAIM = "false_claim"  # it says that something was done, and no such call was released
    TOO_LONG = "too_long"  # it waited, and a limit came first


class AbortCause(Enum):
    """Why a decided call reached neither release nor substitution."""

    CLIENT_LOST = "the client went away"
    UPSTREAM_LOST = "the upstream went away"
    CONFLICT = "the stream changed a call that was complete"
    BROKEN = "the stream could not be read"
    LIMIT = "a limit was reached"
    HALTED = "the operator's halt came first"
    ANSWERED = "people answered while it waited, so it was decided anew"
    NOT_HANDED_OVER = "the agent's escalation tool may not be called so, and the refusal stands"
    CANCELLED = "the exchange was cancelled"
    DRAINING = "the gate was shutting down"
    INTERNAL = "the gate failed"


class MoneyState(Enum):
    """What became of money that was reserved (DESIGN 8). All but NOT_EXECUTED count against every cap."""

    HELD = "held"
    EXECUTED = "executed"
    NOT_EXECUTED = "not_executed"
    UNKNOWN = "unknown"

    @property
    def is_final(self) -> bool:
        """Whether nothing that comes later changes it."""
        return self in (MoneyState.EXECUTED, MoneyState.NOT_EXECUTED)


class SettlementCause(Enum):
    """What settled it."""

    RESULT = "result"
    EXPIRED = "no result within settle_within"
    ABORTED = "aborted before a byte of the call left"
    PERSON = "a person resolved it"
    CONFLICT = "another result of the same call says otherwise"


class ErasureCause(Enum):
    SUBJECT = "subject"
    RETENTION = "retention"
