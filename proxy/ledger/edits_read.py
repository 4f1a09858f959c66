"""Decisions about histories that were read from the ledger before, in bounded memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

Value = TypeVar("Value")
READ_BYTES_MAX = 32 * 1024 * 1024
"""Of decisions that are remembered, of all conversations."""
_OVERHEAD = 400  # of one in memory


class DecisionsRead(Generic[Value]):
    """Decisions that were read before, which never change; of what was erased or has expired nothing is remembered."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, bytes], tuple[Value, int]] = OrderedDict()
        self._bytes = 0
        self._generation = 0
        self._lock = threading.Lock()

    def keep_up(self, generation: int) -> None:
        """Forget everything where something was removed."""
        with self._lock:
            if generation != self._generation:
                self._known.clear()
                self._bytes, self._generation = 0, generation

    def among(self, tenant: str, places: Iterable[bytes]) -> tuple[dict[bytes, Value], list[bytes]]:
        """What is known of these places, and those of which nothing is."""
        found: dict[bytes, Value] = {}
        unknown: list[bytes] = []
        with self._lock:
            for place in places:
                known = self._known.get((tenant, place))
                if known is None:
                    unknown.append(place)
                else:
                    found[place] = known[0]
                    self._known.move_to_end((tenant, place))
        return found, unknown

    def add(self, tenant: str, place: bytes, decision: Value, size: int) -> None:
        with self._lock:
            if (tenant, place) not in self._known:
                self._known[tenant, place] = decision, size
                self._bytes += size + _OVERHEAD
            while self._bytes > READ_BYTES_MAX:
                _, (_, removed) = self._known.popitem(last=False)
                self._bytes -= removed + _OVERHEAD
