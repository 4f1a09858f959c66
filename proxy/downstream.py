"""The client's side of an exchange: the head, the bytes, the end, and the loss of whoever reads them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from proxy.http1.requests import Reply
from proxy.wire.dialect import error_headers

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from proxy.headers import Pairs
    from proxy.http1.requests import Answering
    from proxy.wire.dialect import Dialect, Fault


class ClientLostError(Exception):
    """The client went away while it was written to."""


class NoBodyError(Exception):
    """A body that is not there to be judged: too large, too late, or without room for it."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


def error_reply(dialect: Dialect, fault: Fault, message: str, more: Pairs = ()) -> Reply:
    """An error of ours as a whole answer, in the dialect."""
    fields = (("Content-Type", "application/json"), *more, *error_headers(dialect, fault).items())
    return Reply(fault.value, fields, dialect.error(fault, message))


class Downstream:
    """One response. Bytes are put (`put`) and leave together (`flush`), one write for each read of upstream."""

    def __init__(self, answer: Answering, dialect: Dialect, *, streamed: bool) -> None:
        self._answer = answer
        self._dialect = dialect
        self._streamed = streamed
        self._out: list[bytes] = []
        self.bytes = 0

    @property
    def has_begun(self) -> bool:
        """Whether anything of it is out."""
        return self._answer.has_begun

    @property
    def has_more(self) -> bool:
        """Whether anything was put since the last flush."""
        return bool(self._out)

    def put(self, data: bytes) -> None:
        self._out.append(data)

    async def begin(self, status: int, headers: Pairs) -> None:
        """Send the head of a stream. Raises `ClientLostError`."""
        await self._writing(self._answer.begin(status, headers))

    async def flush(self) -> bool:
        """Write what was put, at once; whether there was anything. Raises `ClientLostError`."""
        if not self._out:
            return False
        data = self._out[0] if len(self._out) == 1 else b"".join(self._out)
        self._out.clear()
        if data:
            try:
                await self._answer.write(data)
            except ConnectionError:
                raise ClientLostError from None
            self.bytes += len(data)
        return True

    async def write(self, data: bytes) -> None:
        """Write past what was put. Raises `ClientLostError`."""
        await self._writing(self._answer.write(data))
        self.bytes += len(data)

    async def end(self) -> None:
        """End a stream. Raises `ClientLostError`."""
        await self._writing(self._answer.end())

    async def send(self, status: int, headers: Pairs) -> None:
        """Send what was put as one body. Raises `ClientLostError`."""
        data = b"".join(self._out)
        self._out.clear()
        await self._writing(self._answer.send(Reply(status, headers, data)))
        self.bytes += len(data)

    async def fail(self, fault: Fault, message: str) -> None:
        """Say an error of ours in the dialect; where the head is out, in the stream, which then ends."""
        self._out.clear()
        with suppress(ClientLostError):
            if not self._answer.has_begun:
                await self._writing(self._answer.send(error_reply(self._dialect, fault, message)))
                return
            if self._streamed:
                await self.write(self._dialect.writer(streamed=True).broken(f"callgate: {message}"))
            await self.end()

    @staticmethod
    async def _writing(work: Awaitable[object]) -> None:
        try:
            await work
        except ConnectionError:
            raise ClientLostError from None
