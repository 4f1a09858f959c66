"""The client that speaks to providers: no cookies, redirects, decompression or proxy, and nothing is rewritten."""

from __future__ import annotations

import asyncio
import socket
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import aiohappyeyeballs

from proxy.http1.answers import Answer, UpstreamLostError
from proxy.http1.connection import Connection
from proxy.http1.heads import HeadError, HeadLimits, head_bytes

if TYPE_CHECKING:
    from proxy.headers import Pairs

# Providers and the load balancers before them close an idle connection after 60 s or more. A request on a connection
# that is being closed fails, and a POST must not be sent twice.
_KEEPALIVE_SECONDS: Final = 15
_CONNECTIONS_MAX: Final = 1024
_EYEBALLS_SECONDS: Final = 0.25
"""RFC 8305, 5: between one address and the next."""
_SENT_TWICE: Final = frozenset({"GET", "HEAD"})
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a provider is. `authority` is what `Host` says."""

    host: str
    port: int
    is_tls: bool
    authority: str


class Client:
    """One for the process; made and closed on its loop."""

    def __init__(self, limits: HeadLimits, *, connect_seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._connect_seconds = connect_seconds
        self._idle: dict[Origin, list[Connection]] = {}
        self._origins: dict[Connection, Origin] = {}
        self._opening = 0
        self._room: asyncio.Event = asyncio.Event()
        self._tls: ssl.SSLContext | None = None

    async def request(
        self, method: str, origin: Origin, path: str, fields: Pairs, body: bytes | None, *, seconds: float
    ) -> Answer:
        """Sends a request and waits for the head of its answer. `path` is as it stands in the request's line.

        Nothing is sent again but a GET or HEAD whose idle connection the provider had just closed.

        Raises:
            UpstreamLostError, OSError: the connection or the answer's head failed.
            TimeoutError: no connection within `connect_seconds`, or no head within `seconds`.
        """
        deadline = self._loop.time() + seconds
        length = "" if body is None and method in _WITHOUT_BODY else f"Content-Length: {len(body or b'')}\r\n"
        try:
            head = head_bytes(f"{method} {path} HTTP/1.1\r\nHost: {origin.authority}", fields, length)
        except HeadError as error:
            raise UpstreamLostError(str(error)) from None
        while True:
            connection = self._kept(origin)
            is_kept = connection is not None
            if connection is None:
                connection = await self._connect(origin, seconds)
            left = deadline - self._loop.time()
            try:
                return await connection.exchange(method, head, body or b"", seconds=left)
            except UpstreamLostError:
                if not is_kept or connection.has_begun or method not in _SENT_TWICE:
                    raise

    async def close(self) -> None:
        """Close every connection, whatever is still on it."""
        self._idle.clear()
        for connection in list(self._origins):
            connection.abort()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def _kept(self, origin: Origin) -> Connection | None:
        """The connection that was used last: the others may grow old and be closed."""
        idle = self._idle.get(origin)
        oldest = self._loop.time() - _KEEPALIVE_SECONDS
        while idle:
            connection = idle.pop()
            if connection.is_open and connection.idle_since > oldest:
                return connection
            connection.abort()
        return None

    def _freed(self, connection: Connection) -> None:
        connection.idle_since = now = self._loop.time()
        idle = self._idle.setdefault(self._origins[connection], [])
        while idle and idle[0].idle_since <= now - _KEEPALIVE_SECONDS:
            idle.pop(0).abort()
        idle.append(connection)
        self._room.set()  # for whoever waits for one: an idle connection makes room

    def _lost(self, connection: Connection) -> None:
        origin = self._origins.pop(connection, None)
        idle = self._idle.get(origin) if origin is not None else None
        if idle and connection in idle:
            idle.remove(connection)
        self._room.set()

    async def _connect(self, origin: Origin, seconds: float) -> Connection:
        async with asyncio.timeout(min(self._connect_seconds, seconds)):
            while len(self._origins) + self._opening >= _CONNECTIONS_MAX:
                if (oldest := next((idle[0] for idle in self._idle.values() if idle), None)) is not None:
                    oldest.abort()
                self._room.clear()
                await self._room.wait()
            self._opening += 1
            try:
                return await self._opened(origin)
            finally:
                self._opening -= 1
                self._room.set()

    async def _opened(self, origin: Origin) -> Connection:
        loop = self._loop
        found = await loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
        context = await self._context() if origin.is_tls else None
        delay = _EYEBALLS_SECONDS
        sock = await aiohappyeyeballs.start_connection(found, happy_eyeballs_delay=delay, interleave=1, loop=loop)
        connection = Connection(self._limits, self._freed, self._lost)
        self._origins[connection] = origin
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            name = origin.host if context else None
            await loop.create_connection(lambda: connection, sock=sock, ssl=context, server_hostname=name)
        except BaseException:
            self._origins.pop(connection, None)
            sock.close()
            raise
        return connection

    async def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            context = await asyncio.to_thread(ssl.create_default_context)
            context.set_alpn_protocols(["http/1.1"])
            self._tls = context
        return self._tls
