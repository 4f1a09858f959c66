"""Outcomes that wait to be written down: what left the socket is told after the fact, and never holds up what follows.

They go to the store with the next decision, or a moment later by themselves. A process that is killed in between leaves
decisions without an outcome, which is what a reader must take them for: it is not known whether they arrived.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from proxy.store import Entry, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interceptors.receipts import Record
    from proxy.store import Store

DELAY_SECONDS = 0.02
RETRY_SECONDS = 1.0
WAITING_MAX = 100_000
"""Beyond it the oldest are let go: a store that is down for long must not take the memory too."""


class Outcomes:
    """One for the process, on its loop. `failed` is told each failure of the store."""

    def __init__(self, store: Store, failed: Callable[[], None]) -> None:
        self._store = store
        self._failed = failed
        self._waiting: list[Record] = []
        self._due = 0.0  # when the oldest that wait are written at the latest, by the loop's clock
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    def add(self, records: Sequence[Record]) -> None:
        """To be written soon."""
        if not records:
            return
        if not self._waiting:
            self._due = asyncio.get_running_loop().time() + DELAY_SECONDS
        self._waiting.extend(records)
        del self._waiting[:-WAITING_MAX]
        self._schedule(DELAY_SECONDS)

    def take(self) -> list[Record]:
        """All that wait, for a caller that writes now; what cannot be written is to be added again."""
        taken, self._waiting = self._waiting, []
        return taken

    async def close(self) -> None:
        """Write what is left."""
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await self._writing
        await self.write()

    def _schedule(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._begin)

    def _begin(self) -> None:
        self._timer = None
        if not self._waiting:
            return
        left = self._due - asyncio.get_running_loop().time()
        if left > DELAY_SECONDS / 10:  # those that the timer was for went with a decision, and these may as well
            self._schedule(left)
        elif self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self.write())
        else:
            self._schedule(DELAY_SECONDS)

    async def write(self) -> None:
        """Write what waits, ahead of all that is asked of the store from now on. What fails waits again."""
        if not (records := self.take()):
            return
        try:
            await self._store.commit([Entry(record) for record in records])
        except StoreError:
            self._failed()
            self._waiting[:0] = records
            if self._store.is_usable:
                self._schedule(RETRY_SECONDS)
