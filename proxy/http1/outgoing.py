"""The one answer to one request, as bytes on its connection."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Protocol

from proxy.http1.heads import HeadError, head_bytes

if TYPE_CHECKING:
    import asyncio

    from proxy.headers import Pairs
    from proxy.http1.requests import Reply

_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}
_BODILESS: Final = frozenset({204, 304})
_UNREAD_BYTES_MAX: Final = 64 * 1024
_JOINED_BYTES_MAX: Final = 64 * 1024
"""Larger bytes are not copied to stand in one write with their head."""


class Link(Protocol):
    """What an answer needs of its connection."""

    transport: asyncio.Transport
    is_full: bool

    def date(self) -> str: ...

    def stays(self) -> bool: ...

    async def drain(self) -> None: ...


class Outgoing:
    """`keeps` says that the client could ask again on this connection, `is_old` that it speaks HTTP/1.0."""

    __slots__ = ("_is_chunked", "_is_head", "_is_old", "_left", "_link", "_unread", "has_begun", "has_ended", "keeps")

    def __init__(self, link: Link, *, is_head: bool, is_old: bool, keeps: bool) -> None:
        self._link = link
        self._is_head, self._is_old = is_head, is_old
        self._is_chunked = False
        self._unread = 0  # bytes that were written since it was looked whether the client reads
        self._left: int | None = None  # of the length that was stated
        self.keeps = keeps
        self.has_begun = self.has_ended = False

    async def send(self, reply: Reply) -> None:
        """A whole answer, in one write where it is short."""
        body = b"" if self._is_head or reply.status in _BODILESS else reply.body
        head = self._head(reply.status, reply.fields, len(reply.body))
        self._open()
        self.has_ended = True
        if len(body) <= _JOINED_BYTES_MAX:
            self._link.transport.write(head + body)
        else:
            self._link.transport.write(head)
            self._link.transport.write(body)

    async def begin(self, status: int, fields: Pairs, *, length: int | None = None) -> None:
        """The head of an answer whose body comes by and by, of `length` bytes where that is known."""
        head = self._head(status, fields, length)
        self._open()
        self._link.transport.write(head)

    async def write(self, data: bytes) -> None:
        """A part of the body, in one write. Who writes much waits for a client that reads slowly; the last words of an
        answer do not."""
        transport = self._transport()
        if not data or self._is_head:
            return
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                raise HeadError("more came than was stated")
        if self._is_chunked:
            transport.write(b"%x\r\n%b\r\n" % (len(data), data))
        else:
            transport.write(data)
        self._unread += len(data)
        if self._unread > _UNREAD_BYTES_MAX:
            self._unread = 0
            if self._link.is_full:
                await self._link.drain()

    async def end(self) -> None:
        """The body is whole. One that is shorter than was stated ends the connection instead."""
        transport = self._transport()
        if self._left:
            transport.abort()
            return
        self.has_ended = True
        if self._is_chunked:
            transport.write(b"0\r\n\r\n")

    def abort(self) -> None:
        """End the connection, so that nobody takes what was sent for the whole."""
        self._link.transport.abort()

    def _open(self) -> None:
        assert not self.has_begun, "a request has one answer"
        self._transport()
        self.has_begun = True

    def _transport(self) -> asyncio.Transport:
        transport = self._link.transport
        if transport.is_closing():
            raise ConnectionResetError("the client is gone")
        return transport

    def _head(self, status: int, fields: Pairs, length: int | None) -> bytes:
        more = ""
        if status in _BODILESS:
            self._left = 0
        elif length is not None:
            self._left = None if self._is_head else length
            more = f"Content-Length: {length}\r\n"
        elif self._is_old:
            self.keeps = False  # the end of the connection is the end of the body
        elif not self._is_head:
            self._is_chunked = True
            more = "Transfer-Encoding: chunked\r\n"
        for name, _ in fields:
            if len(name) == 4 and name.lower() == "date":
                break
        else:
            more += self._link.date()
        if not (self.keeps and self._link.stays()):
            self.keeps = False
            more += "Connection: close\r\n"
        return head_bytes(f"HTTP/1.1 {status} {_PHRASES.get(status, '')}", fields, more)
