"""How long a connection on which nothing is done stays open."""

from __future__ import annotations

import asyncio
from typing import Final

LINGER_SECONDS: Final = 10
"""How long a client that was answered may go on sending: one that is cut off meanwhile never reads its answer."""


class Resting(asyncio.Protocol):
    """`deadline`, of the loop's clock, is None while something is done."""

    transport: asyncio.Transport

    def __init__(self, keepalive_seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._keepalive_seconds = keepalive_seconds
        self.deadline: float | None = None
        self._unsent = 0  # bytes that waited for the client as its time began

    def _rest(self, seconds: float | None = None) -> None:
        """Nothing is done from now on; `seconds` are the keep-alive's where nothing else is said."""
        self.deadline = self._loop.time() + (self._keepalive_seconds if seconds is None else seconds)
        self._unsent = self.transport.get_write_buffer_size()

    def _end(self, *, listens: bool) -> None:
        """Once what was written is sent; where it `listens`, once the client is done as well."""
        self._rest(LINGER_SECONDS if listens else None)
        if listens and self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def eof_received(self) -> None:
        """The client is gone, or does as if it were. Whether it takes what was written for it is looked at."""
        self._rest()

    def end_if_overdue(self, now: float) -> None:
        """A client that still reads, if slowly, is not cut off."""
        if self.deadline is None or now < self.deadline:
            return
        if 0 < self.transport.get_write_buffer_size() < self._unsent:
            self._rest()
        else:
            self.transport.abort()
