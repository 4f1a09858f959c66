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
