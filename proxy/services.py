"""What every exchange of the process shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proxy.connected import Connected
    from proxy.conversation import Conversations
    from proxy.history.keeper import Histories
    from proxy.judge import Judge
    from proxy.ledger.keeper import Ledger
    from proxy.logs import Logs
    from proxy.metrics import Metrics
    from proxy.policy_source import PolicySource
    from proxy.settings import Settings
    from proxy.store import Store
    from proxy.upstream import Upstream


@dataclass(frozen=True, slots=True)
class Services:
    """Made by the composition root, passed down, never replaced."""

    settings: Settings
    connected: Connected
    policy: PolicySource
    judge: Judge
    store: Store
    ledger: Ledger
    conversations: Conversations
    histories: Histories
    upstream: Upstream
    logs: Logs
    metrics: Metrics
    tenant_key: bytes


@dataclass(slots=True)
class Room:
    """The bytes that open exchanges hold, against `bytes_in_flight_max`."""

    limit: int
    held: int = 0

    def fits(self, size: int) -> bool:
        return self.held + size <= self.limit


class Holding:
    """Keeps the room's account of what one exchange holds."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._held = 0

    def grow(self, held: int) -> bool:
        """At least so much from here on; False, and nothing changed, where there is no room."""
        more = held - self._held
        if more <= 0:
            return True
        if not self._room.fits(more):
            return False
        self._room.held += more
        self._held = held
        return True

    def now(self, held: int) -> bool:
        """Whether there is room for as much as it holds now; it counts in either case."""
        room = self._room
        room.held += held - self._held
        self._held = held
        return room.held <= room.limit
