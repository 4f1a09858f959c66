"""The bytes of one message's body, as they come, for one reader."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_PAUSE_BYTES: Final = 512 * 1024
"""More than this is not kept for a reader that does not come: the sender is made to wait."""

_SMALL_BYTES_MAX: Final = 4096


class Incoming:
    """Fed by its connection. What arrived before a failure is read before the failure is raised."""

    __slots__ = ("_ended", "_error", "_is_paused", "_parts", "_size", "_transport", "_waiter")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._parts: list[bytes] = []
        self._size = 0
        self._ended = False
        self._error: Callable[[], Exception] | None = None
        self._is_paused = False
        self._waiter: asyncio.Future[None] | None = None

    def feed(self, data: bytes) -> None:
        """A part of the body came."""
        self._parts.append(data)
        self._size += len(data)
        if self._size > _PAUSE_BYTES and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        if self._waiter is not None:
            self._wake()

    def end(self) -> None:
        """The body is whole."""
        self._ended = True
        self._resume()
        self._wake()

    def fail(self, error: Callable[[], Exception]) -> None:
        """No more will come, and it is not whole; nothing where it had ended before."""
        if not self._ended and self._error is None:
            self._error = error
            self._wake()

    def is_eof(self) -> bool:
        """Whether all of it came, read or not."""
        return self._ended

    def read_nowait(self) -> bytes:
        """What came so far and was not read."""
        parts = self._parts
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        self.take()
        return data

    def take(self) -> list[bytes]:
        """What came so far and was not read, as it came: of megabytes, each copy costs."""
        parts, self._parts = self._parts, []
        self._size = 0
        self._resume()
        return parts

    async def readany(self) -> bytes:
        """What came, as soon as there is anything; empty at the end.

        Raises:
            OSError, ValueError: the connection was lost, or what came on it is no HTTP.
        """
        if not self._parts:
            await self.some()
        return self.read_nowait()

    async def arrives(self, seconds: float) -> bool:
        """Wait until anything came, the end or a failure included, but no longer than this; whether it did."""
        if not (self._parts or self._ended or self._error is not None):
            timer = asyncio.get_running_loop().call_later(seconds, self._wake)
            try:
                await self._next()
            finally:
                timer.cancel()
        return bool(self._parts) or self._ended or self._error is not None

    async def some(self) -> bool:
        """Wait until anything came; False at the end. Raises as `readany` does."""
        while not self._parts:
            if self._ended:
                return False
            if self._error is not None:
                raise self._error()
            await self._next()
        return True

    def _next(self) -> asyncio.Future[None]:
        """Done with the next wake."""
        assert self._waiter is None or self._waiter.done(), "a body has one reader"
        self._waiter = asyncio.get_running_loop().create_future()
        return self._waiter

    def _resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            if not self._transport.is_closing():
                self._transport.resume_reading()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class Whole:
    """The parts of a body, on their way to be one. Large ones are copied at the end alone; small ones, which kept each
    by itself take twenty times their bytes, are put together as they come."""

    __slots__ = ("_parts", "size")

    def __init__(self) -> None:
        self._parts: list[bytes | bytearray] = []
        self.size = 0

    def add(self, part: bytes) -> None:
        self.size += len(part)
        if len(part) > _SMALL_BYTES_MAX:
            self._parts.append(part)
        elif self._parts and isinstance(self._parts[-1], bytearray):
            self._parts[-1] += part
        else:
            self._parts.append(bytearray(part))

    def joined(self) -> bytes:
        return b"".join(self._parts)
