"""One connection to a provider: one request at a time, its answer's head read whole, its body as it comes."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from proxy.http1.answers import Answer, UpstreamLostError
from proxy.http1.heads import HeadError, HeadLimits, read_fields
from proxy.http1.incoming import Incoming

if TYPE_CHECKING:
    from collections.abc import Callable

# A larger body is written in parts: one write of it would keep the loop from everything else.
_WHOLE_BYTES_MAX: Final = 1024 * 1024
_PART_BYTES: Final = 1024 * 1024
_INTERIM_MAX: Final = 32
_BODILESS: Final = frozenset({204, 304})


class Connection(asyncio.Protocol):
    """`freed` is called when it may serve another request, `lost` once when it is gone."""

    def __init__(
        self, limits: HeadLimits, freed: Callable[[Connection], None], lost: Callable[[Connection], None]
    ) -> None:
        self._limits, self._freed, self._lost = limits, freed, lost
        self._head_bytes_max = limits.head_bytes
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._drained: asyncio.Future[None] | None = None
        self._is_full = False
        self.idle_since = 0.0
        self._start("", is_asked=False)

    def _start(self, method: str, *, is_asked: bool) -> None:
        self._parser = HttpResponseParser(self)
        self._fields: list[tuple[bytes, bytes]] = []
        self._method = method
        self._interims = 0
        self._is_sent = True
        self._quiet = 0  # bytes that came since a head, a part of a body or an end
        self._is_asked = is_asked
        self._has_begun = False  # a byte of the answer came
        self._reads_to_end = False  # the body ends with the connection
        self._answer: asyncio.Future[Answer] | None = None
        self._body: Incoming | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(self, method: str, head: bytes, body: bytes, *, seconds: float) -> Answer:
        """Sends a request and waits for the head of its answer.

        Raises:
            UpstreamLostError: no whole head came, or one that is no HTTP; `has_begun` says whether any of it came.
            TimeoutError: it did not come within `seconds`.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            raise UpstreamLostError("the connection was lost")
        self._start(method, is_asked=True)
        answer: asyncio.Future[Answer] = self._loop.create_future()
        self._answer = answer
        timer = self._loop.call_later(seconds, self._expire, answer)
        try:
            if len(body) <= _WHOLE_BYTES_MAX:
                transport.write(head + body if body else head)
            else:
                await self._in_parts(transport, head, body)
            return await answer
        except BaseException:
            if self._answer is answer:  # else it came whole, and the connection serves another request already
                self.abort()
            raise
        finally:
            timer.cancel()

    def _expire(self, answer: asyncio.Future[Answer]) -> None:
        if not answer.done():
            answer.set_exception(TimeoutError())
            self._go_on()

    @property
    def has_begun(self) -> bool:
        """Whether any of the answer to the last request came."""
        return self._has_begun

    async def _in_parts(self, transport: asyncio.Transport, head: bytes, body: bytes) -> None:
        """An answer that comes before all is sent is an answer; the rest is not sent then."""
        answer = self._answer
        assert answer is not None
        self._is_sent = False
        transport.write(head)
        view = memoryview(body)
        for start in range(0, len(view), _PART_BYTES):
            if answer.done():
                return
            transport.write(view[start : start + _PART_BYTES])
            await self._drain()
        self._is_sent = True

    async def _drain(self) -> None:
        if not self._is_full:
            await asyncio.sleep(0)
            return
        self._drained = self._loop.create_future()
        try:
            await self._drained
        finally:
            self._drained = None

    def leave(self, body: Incoming) -> None:
        """The reader of `body` wants no more of it."""
        if self._body is body:
            self.abort()

    def abort(self) -> None:
        """Close at once."""
        self._settle("the connection was given up")
        if self._transport is not None:
            self._transport.abort()

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._go_on()

    def _go_on(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def data_received(self, data: bytes) -> None:
        if not self._is_asked:  # nothing was asked: whatever this is, it answers nothing
            self.abort()
            return
        self._has_begun = True
        self._quiet += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._settle("what came is no HTTP/1.1")
            self.abort()
        else:
            if self._quiet > self._head_bytes_max:
                self._settle("a header field is too long")
                self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        body = self._body
        if body is not None and self._reads_to_end and exc is None:
            self._body = None
            body.end()
        self._settle("the connection was lost")
        self._go_on()
        self._lost(self)

    # What the parser calls.

    def on_message_begin(self) -> None:
        if not self._is_asked:
            raise HeadError("more than one answer came")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        self._quiet = 0
        status, version = self._parser.get_status_code(), self._parser.get_http_version()
        raw, coding, length = read_fields(self._fields, self._limits)
        self._fields = []  # trailers may follow
        # No other coding was asked for, and an old provider has none: it could mean the end of the connection.
        if version not in ("1.0", "1.1") or coding not in (None, b"chunked") or (version == "1.0" and coding):
            raise HeadError("another version of HTTP, or another coding than chunked")
        if status < 200:
            self._interims += 1
            if status < 100 or status == 101 or coding or length or self._interims > _INTERIM_MAX:
                raise HeadError("not an answer, or one before it that has a body")
            return
        body = self._body = Incoming(self._open_transport())
        is_bodiless = self._method == "HEAD" or status in _BODILESS
        self._reads_to_end = not is_bodiless and coding is None and length is None
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(Answer(status, raw, length, body, self))
        self._go_on()  # whoever still sends is to see that it came
        if self._method == "HEAD":  # what its head says of a body is of another answer's
            self._end_body()
            self.abort()

    def on_body(self, data: bytes) -> None:
        self._quiet = 0
        if self._body is not None:
            self._body.feed(data)

    def on_message_complete(self) -> None:
        self._quiet = 0
        if self._body is None:
            return  # an interim answer was read; the next is waited for
        self._end_body()
        if self._is_sent and self._parser.should_keep_alive() and self.is_open:
            self._freed(self)
        else:
            self.abort()  # what it did not take of a request would keep an orderly end waiting, for ever if it likes

    def _end_body(self) -> None:
        body, self._body = self._body, None
        self._is_asked = False
        if body is not None:
            body.end()

    def _open_transport(self) -> asyncio.Transport:
        assert self._transport is not None, "it was connected"
        return self._transport

    def _settle(self, problem: str) -> None:
        """Whoever waits on this connection hears that nothing more will come."""
        lost = partial(UpstreamLostError, problem)
        self._is_asked = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(lost())
        if self._body is not None:
            body, self._body = self._body, None
            body.fail(lost)
