"""The agent's side: connections are read, each request is handled by a task of its own, and its answer is written.

A client that leaves cancels what is done for it. Requests that come while one is handled wait their turn.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from proxy.http1.heads import HeadError, RequestHeads
from proxy.http1.hub import Hub, MalformedBodyError
from proxy.http1.incoming import Incoming
from proxy.http1.outgoing import Outgoing
from proxy.http1.requests import Reply, Request
from proxy.http1.resting import LINGER_SECONDS, Resting

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

_PLAIN: Final = (("Content-Type", "text/plain; charset=utf-8"),)
_MALFORMED: Final = Reply(400, _PLAIN, b"400: the request is no HTTP/1.1\n")


class ServerConnection(Resting):
    """One connection of a client."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub.keepalive_seconds)
        self._hub, self.date = hub, hub.date
        self._parser = HttpRequestParser(self)
        self._heads = RequestHeads(hub.limits)
        self._head_bytes_max = hub.limits.head_bytes
        self._fields: list[tuple[bytes, bytes]] = []
        self._target = b""
        self._quiet = 0  # bytes that came since a head, a part of a body or an end
        self._incoming: Incoming | None = None
        self._waiting: deque[Request] = deque()
        self._drained: asyncio.Future[None] | None = None
        self._is_deaf = self._is_reading_on = self._is_unread = False  # unread: answers wait, and requests for them
        self.is_full = False
        self.task: asyncio.Task[None] | None = None

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._hub.connections.add(self)
        self._rest()
        if self._hub.is_closing:
            transport.close()

    def connection_lost(self, _exc: Exception | None) -> None:
        self._waiting.clear()
        self._end_incoming(ConnectionResetError)
        self.resume_writing()
        if self.task is not None:
            self.task.cancel()
        self._hub.lost(self)

    def pause_writing(self) -> None:
        self.is_full = True

    def resume_writing(self) -> None:
        self.is_full = False
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        if self._is_unread and not self.transport.is_closing():
            self._is_unread = False
            self._resume()
            self._go_on()

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            return
        self._quiet += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:  # whatever else comes is of another protocol
            self._is_deaf = True
        except HttpParserError:
            self._refuse()
        else:
            if self._quiet > self._head_bytes_max:
                self._refuse()

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self._is_reading_on:
            raise HeadError("nothing more is answered on this connection")
        self._fields = []
        self._target = b""

    def on_url(self, url: bytes) -> None:
        self._target += url
        if len(self._target) > self._hub.limits.field_bytes:
            raise HeadError("the request's line is too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        self._quiet = 0
        parser = self._parser
        version = parser.get_http_version()
        head, coding, length = self._heads.read(self._fields)
        self._fields = []  # trailers may follow
        is_old = version == "1.0"
        if version not in ("1.0", "1.1") or coding not in (None, b"chunked") or (is_old and coding is not None):
            raise HeadError("another version of HTTP, or another coding than chunked")
        method = parser.get_method().decode("ascii")
        keeps = not is_old and parser.should_keep_alive() and not parser.should_upgrade()
        answer = Outgoing(self, is_head=method == "HEAD", is_old=is_old, keeps=keeps)
        self._incoming = incoming = Incoming(self.transport)
        request = Request(method, self._target.decode("utf-8", "surrogateescape"), head, length, incoming, answer)
        if self.task is not None or self._waiting:
            self._waiting.append(request)
            if not self.transport.is_closing():
                self.transport.pause_reading()
        else:
            self._handle(request, answer)

    def on_body(self, data: bytes) -> None:
        self._quiet = 0
        if self._incoming is not None:
            self._incoming.feed(data)

    def on_message_complete(self) -> None:
        self._quiet = 0
        if self._incoming is not None:
            self._incoming.end()
            self._incoming = None
        elif self._is_reading_on:
            self.transport.close()

    # What an answer needs.

    def stays(self) -> bool:
        """Whether another request may come: not where the end of this one is not known yet."""
        return not self._hub.is_closing and self._incoming is None

    async def drain(self) -> None:
        """Wait until the client took what was written to it."""
        assert self._drained is None, "one task writes"
        self._drained = self._loop.create_future()
        try:
            await self._drained
        finally:
            self._drained = None
        if self.transport.is_closing():
            raise ConnectionResetError("the client is gone")

    # What the server asks.

    def let_go(self) -> None:
        """Close it as soon as nothing is done on it."""
        if self.task is None:
            self.transport.close()

    def _handle(self, request: Request, answer: Outgoing) -> None:
        self.deadline = None
        self.task = self._loop.create_task(self._run(request, answer))

    async def _run(self, request: Request, answer: Outgoing) -> None:
        try:
            reply = await self._hub.handle(request)
            if reply is not None:
                await answer.send(reply)
        except ConnectionError:
            answer.abort()
        finally:
            self.task = None
            if not self.transport.is_closing():
                self._next(request, answer)

    def _next(self, request: Request, answer: Outgoing) -> None:
        if not answer.has_ended:  # nobody is to take what was sent for the whole
            self.transport.abort()
        elif self._is_deaf:
            self._close()
        elif not request.content.is_eof():
            self._read_on()
        elif not answer.keeps or self._hub.is_closing:
            self._close()
        elif self.is_full:  # who takes no answers is given no more: they would fill the memory
            self._is_unread = True
            self.transport.pause_reading()
            self._rest()
        else:
            self._go_on()

    def _go_on(self) -> None:
        """With the next request."""
        if self._waiting:
            waiting = self._waiting.popleft()
            self._resume()
            assert isinstance(waiting.answer, Outgoing), "it was made here"
            self._handle(waiting, waiting.answer)
        else:
            self._rest()

    def _resume(self) -> None:
        if not self._waiting:
            self.transport.resume_reading()

    def _read_on(self) -> None:
        """The client is answered and still sends: what comes is thrown away, to its end or for a while."""
        self._is_reading_on = True
        incoming, self._incoming = self._incoming, None
        if incoming is not None:
            incoming.read_nowait()
        self._waiting.clear()
        self._rest(LINGER_SECONDS)

    def _close(self) -> None:
        """Once what was written is sent."""
        if self._is_deaf:  # and may still be sent to
            self._waiting.clear()
            self._resume()
        self._end(listens=self._is_deaf and not self._hub.is_closing)

    def _end_incoming(self, error: Callable[[], Exception]) -> None:
        if self._incoming is not None:
            incoming, self._incoming = self._incoming, None
            incoming.fail(error)

    def _refuse(self) -> None:
        """What came is no HTTP/1.1, or too long a head: whoever reads a body is told, and nothing more is read."""
        self._is_deaf = True
        had_body = self._incoming is not None
        self._end_incoming(MalformedBodyError)
        if self._is_reading_on:
            self.transport.close()
        elif self.task is None and not had_body:
            self.deadline = None
            self.task = self._loop.create_task(self._say_malformed())

    async def _say_malformed(self) -> None:
        try:
            await Outgoing(self, is_head=False, is_old=False, keeps=False).send(_MALFORMED)
        except ConnectionError:
            pass
        finally:
            self.task = None
            self._close()
