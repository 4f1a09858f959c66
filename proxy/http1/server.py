"""A listening socket and its connections, from its start to an orderly end."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from email.utils import format_datetime
from time import monotonic
from typing import TYPE_CHECKING, Final

from proxy.accepting import hand_over_accepted
from proxy.clock import utc_now
from proxy.http1.hub import Hub
from proxy.http1.serving import ServerConnection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from proxy.http1.heads import HeadLimits
    from proxy.http1.requests import Reply, Request

_LOOK_SECONDS: Final = 2
"""How often connections are looked at whose time may be over."""


class Server:
    """Serves one address. `start`, then `close`; both on its loop."""

    def __init__(
        self,
        handle: Callable[[Request], Awaitable[Reply | None]],
        limits: HeadLimits,
        *,
        keepalive_seconds: float,
    ) -> None:
        self._hub = Hub(handle, limits, _Date().field, keepalive_seconds=keepalive_seconds)
        self._server: asyncio.Server | None = None
        self._look: asyncio.TimerHandle | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; the port that it listens on.

        Raises:
            OSError: the address cannot be had.
        """
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: ServerConnection(self._hub), host, port, backlog=128)
        self._look = loop.call_later(_LOOK_SECONDS, self._close_overdue)
        name = self._server.sockets[0].getsockname()
        return int(name[1])

    async def close(self, drain_seconds: float) -> None:
        """Take no more connections, let what is being answered end, and reach its client, within the limit; then close
        all."""
        if self._hub.is_closing:
            return
        self._hub.is_closing = True
        if self._look is not None:
            self._look.cancel()
        if self._server is not None:
            await hand_over_accepted(self._server)
            self._server.close()
        for connection in list(self._hub.connections):
            connection.let_go()
        with suppress(TimeoutError):
            async with asyncio.timeout(drain_seconds):
                await self._hub.emptied()
        late = [connection.task for connection in self._hub.connections if connection.task is not None]
        for task in late:
            task.cancel()
        await asyncio.gather(*late, *self._hub.ending, return_exceptions=True)
        for connection in list(self._hub.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def _close_overdue(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection in list(self._hub.connections):
            connection.end_if_overdue(now)
        self._look = loop.call_later(_LOOK_SECONDS, self._close_overdue)


class _Date:
    """The field of that name, made once a second at most."""

    def __init__(self) -> None:
        self._field, self._made = "", float("-inf")

    def field(self) -> str:
        now = monotonic()
        if now - self._made >= 1:
            self._field, self._made = f"Date: {format_datetime(utc_now(), usegmt=True)}\r\n", now
        return self._field
