"""Records of what operators and the house itself did: they are about no customer, and live as long as their chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from interceptors.kinds import ErasureCause, Kind

if TYPE_CHECKING:
    from datetime import datetime


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
