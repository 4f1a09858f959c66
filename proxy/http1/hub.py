"""What the connections of a server share."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from proxy.http1.heads import HeadLimits
    from proxy.http1.requests import Reply, Request
    from proxy.http1.serving import ServerConnection


class MalformedBodyError(ValueError):
    """A body whose framing is broken."""


class Hub:
    """`date` gives the field of that name, with its line's end."""

    def __init__(
        self,
        handle: Callable[[Request], Awaitable[Reply | None]],
        limits: HeadLimits,
        date: Callable[[], str],
        *,
        keepalive_seconds: float,
    ) -> None:
        self.handle, self.limits, self.date = handle, limits, date
        self.keepalive_seconds = keepalive_seconds
        self.connections: set[ServerConnection] = set()
        self.ending: set[asyncio.Task[None]] = set()  # of connections that were lost
        self.is_closing = False
        self._change = asyncio.Event()

    def lost(self, connection: ServerConnection) -> None:
        """It is gone; what was done for it ends by and by."""
        self.connections.discard(connection)
        if (task := connection.task) is not None:
            self.ending.add(task)
            task.add_done_callback(self.ending.discard)
        self._change.set()

    async def emptied(self) -> None:
        """Wait until every connection is gone."""
        while self.connections:
            self._change.clear()
            await self._change.wait()
