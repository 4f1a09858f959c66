"""The client's side of an exchange: the head, the bytes, the end, and the loss of whoever reads them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from proxy.wire.dialect import error_headers

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from proxy.headers import Pairs
    from proxy.wire.dialect import Dialect, Fault


class ClientLostError(Exception):
    """The client went away while it was written to."""


class NoBodyError(Exception):
    """A body that is not there to be judged: too large, too late, or without room for it."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


class Downstream:
    """One response. Bytes are put (`put`) and leave together (`flush`), one write for each read of upstream."""

    def __init__(self, request: web.BaseRequest, dialect: Dialect, *, streamed: bool) -> None:
        self._request = request
        self._dialect = dialect
        self._streamed = streamed
        self._out: list[bytes] = []
        self.response: web.StreamResponse | None = None
        self.bytes = 0

    def put(self, data: bytes) -> None:
        self._out.append(data)

    async def begin(self, status: int, headers: Pairs) -> None:
        """Send the head of a stream. Raises `ClientLostError`."""
        response = self.response = web.StreamResponse(status=status)
        response.headers.extend(headers)
        await self._writing(response.prepare(self._request))

    async def flush(self) -> bool:
        """Write what was put, at once; whether there was anything. Raises `ClientLostError`."""
        if not self._out:
            return False
        data = b"".join(self._out)
        self._out.clear()
        if data:
            await self.write(data)
        return True

    async def write(self, data: bytes) -> None:
        """Write past what was put. Raises `ClientLostError`."""
        assert self.response is not None
        await self._writing(self.response.write(data))
        self.bytes += len(data)

    async def end(self) -> None:
        """End a stream. Raises `ClientLostError`."""
        assert self.response is not None
        await self._writing(self.response.write_eof())

    async def send(self, status: int, headers: Pairs) -> None:
        """Send what was put as one body. Raises `ClientLostError`."""
        data = b"".join(self._out)
        self._out.clear()
        await self._whole(web.Response(status=status, body=data, headers=CIMultiDict(headers)))
        self.bytes += len(data)

    async def fail(self, fault: Fault, message: str) -> None:
        """Say an error of ours in the dialect; where the head is out, in the stream, which then ends."""
        self._out.clear()
        with suppress(ClientLostError):
            if self.response is None or not self.response.prepared:
                body = self._dialect.error(fault, message)
                fields = error_headers(self._dialect, fault)
                await self._whole(
                    web.Response(status=fault.value, body=body, content_type="application/json", headers=fields)
                )
                return
            if self._streamed:
                await self.write(self._dialect.writer(streamed=True).broken(f"callgate: {message}"))
            await self.end()

    async def _whole(self, response: web.Response) -> None:
        self.response = response
        await self._writing(response.prepare(self._request))
        await self._writing(response.write_eof())

    @staticmethod
    async def _writing(work: Awaitable[object]) -> None:
        try:
            await work
        except (ConnectionError, aiohttp.ClientConnectionResetError):
            raise ClientLostError from None
