"""The provider's double: answers a request from the table of exchanges, by its header `x-bench`. Raw, to be cheap."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import uvloop

from benchmarks.cells import BEFORE, EXCHANGES

if TYPE_CHECKING:
    from benchmarks.exchanges import Answer

HEAD_END = b"\r\n\r\n"


class _Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while request := self._next():
            self._answer((EXCHANGES.get(request) or BEFORE[request]).answer)

    def _next(self) -> str:
        """The name of the next whole request, which is taken off; empty where there is none yet."""
        end = self._received.find(HEAD_END)
        if end < 0:
            return ""
        fields = {}
        for line in self._received[:end].split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            fields[bytes(name).lower()] = bytes(value).strip()
        start = end + len(HEAD_END)
        if fields.get(b"transfer-encoding", b"").lower() == b"chunked":
            last = self._received.find(b"0\r\n\r\n", start)
            size = last + 5 - start if last >= 0 else len(self._received) + 1
        else:
            size = int(fields.get(b"content-length", b"0"))
        if len(self._received) < start + size:
            return ""
        del self._received[: start + size]
        return fields[b"x-bench"].decode()

    def _answer(self, answer: Answer) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {answer.content_type}\r\n"
        if not answer.streamed:
            self._transport.write(f"{head}content-length: {len(answer.body)}\r\n\r\n".encode() + answer.body)
            return
        head += "transfer-encoding: chunked\r\n\r\n"
        loop = asyncio.get_running_loop()

        def send(place: int) -> None:
            if self._transport.is_closing():
                return
            if place == len(answer.parts):
                self._transport.write(b"0\r\n\r\n")
                return
            part = answer.parts[place]
            self._transport.write((head.encode() if not place else b"") + b"%x\r\n%b\r\n" % (len(part), part))
            loop.call_later(answer.seconds_between, send, place + 1)

        loop.call_later(answer.seconds_before, send, 0)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(f"listening on http://127.0.0.1:{port}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve())
