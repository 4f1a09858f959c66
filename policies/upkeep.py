"""What a policy says of the history that goes up: what survives of results, how long they hold, who takes over."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from policies.model import Policy
    from policies.patterns import Pattern

Path: TypeAlias = "tuple[str, ...]"
"""Keys from the top of a document; `[*]` is each item of a list."""


class ResultError(Enum):
    """What kind of error a result is that is none by its form."""

    TRANSIENT = "transient"
    PERMANENT = "permanent"
    VALIDATION = "validation"
    PERMISSION = "permission"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """A result in which `match` occurs anywhere is an error of this kind."""

    match: Pattern
    kind: ResultError


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Of the results of one tool, and of what is read before its calls are passed on.

    `errors`: the tool's own rules, which come before the built-in ones; None where results are taken as they are.
    `reads` and `writes` name things by paths into the arguments, each with the kind of thing that it is.
    `gather` are facts of the tool that a person gets with the case. A call of one that `closes_topic` ends a matter.
    """

    keep: tuple[Path, ...] = ()
    drop: tuple[Path, ...] = ()
    max_bytes: int | None = None
    max_items: int | None = None
    errors: tuple[ErrorRule, ...] | None = None
    fresh_for: timedelta | None = None
    reads: Mapping[str, Path] = field(default_factory=dict)
    writes: Mapping[str, Path] = field(default_factory=dict)
    gather: tuple[str, ...] = ()
    closes_topic: bool = False

    @property
    def prunes(self) -> bool:
        return bool(self.keep or self.drop) or self.max_bytes is not None or self.max_items is not None

    @property
    def is_used(self) -> bool:
        """Whether anything here may change what goes up."""
        return self.prunes or self.errors is not None or self.ages

    @property
    def ages(self) -> bool:
        """Whether its results can go out of date by what is said of it alone, or put others out of date."""
        return self.fresh_for is not None or bool(self.reads or self.writes)


NO_UPKEEP = Upkeep()


class BrokenPairs(Enum):
    """What becomes of a request in which a call has no result, or a result no call."""

    REPAIR = "repair"
    REFUSE = "refuse"


class ServerHeld(Enum):
    """What becomes of a request whose history the provider keeps, where results in it may be out of date."""

    REFUSE = "refuse"
    NOTICE = "notice"  # the newest input says it


@dataclass(frozen=True, slots=True)
class HistoryRules:
    """What holds for the whole conversation. Without `broken_pairs` they go up as they came. `compact_above` is in
    tokens."""

    resume_after: timedelta | None = None
    broken_pairs: BrokenPairs | None = None
    server_held: ServerHeld = ServerHeld.REFUSE
    compact_above: int | None = None

    @property
    def is_used(self) -> bool:
        """Whether anything here needs the conversation to be read."""
        return (self.resume_after, self.broken_pairs, self.compact_above) != (None, None, None)


NO_RULES = HistoryRules()


def ages(policy: Policy) -> bool:
    """Whether any result can go out of date under this policy."""
    return policy.history.resume_after is not None or any(tool.upkeep.ages for tool in policy.tools.values())


def needs_whole(policy: Policy) -> bool:
    """Whether anything of this policy can be done only where the client sends the whole history."""
    return ages(policy) or policy.history.compact_above is not None
