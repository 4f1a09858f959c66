"""What the gate asks of its caller, in the imperative. The caller carries the commands out in their order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.turn_memory import Remembered
    from proxy.wire.events import Breach, Content, Key


class Limit(Enum):
    """A bound of G12 that ends the turn. The value is the name of its setting."""

    HELD_BYTES = "held_bytes_max"
    HOLD = "hold_ms_max"
    EXCHANGE = "exchange_ms_max"
    IN_FLIGHT = "bytes_in_flight_max"


class Write(NamedTuple):
    """Send these bytes; `calls` are those whose answer leaves with them."""

    data: bytes
    calls: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True)
class Decide:
    """Judge these calls, and texts beside them, together, then say `decided`."""

    calls: Mapping[Key, Content]


@dataclass(frozen=True, slots=True)
class RefuseTogether:
    """These calls were allowed, and one beside them was not: refuse them too, then say `decided`."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """Write the decisions on these calls down, durably, then say `recorded`."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """Something the provider executed itself went by."""

    observed: str


@dataclass(frozen=True, slots=True)
class Continue:
    """Ask upstream again, with `messages` behind those that went up; then say `next_leg`, or `leg_failed`."""

    messages: tuple[bytes, ...]
    output_tokens: int  # that the turn has used


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep what is hidden in this turn, durably, before its end is written."""

    turn: Remembered


@dataclass(frozen=True, slots=True)
class EndAtLimit:
    """A limit was reached: these calls are refused for it. Answer with `decided`, then `recorded`; the turn ends."""

    limit: Limit
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """The stream cannot be mediated any further: send `data` and end. `keys` are calls that will not be delivered."""

    breach: Breach
    data: bytes
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Abandon:
    """These calls of a leg that failed will not be delivered; the turn goes on to its end."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """Nothing more will come: upstream may be closed."""


Command: TypeAlias = (
    "Write | Decide | RefuseTogether | Record | Note | Continue | Remember | EndAtLimit | Break | Abandon | Finish"
)
"""All commands there are."""
