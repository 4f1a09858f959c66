"""The clients: kept connections, one request after another on each, every answer compared with what was sent."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from benchmarks.processes import BenchmarkError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.exchanges import Exchange

ANSWER_SECONDS_MAX = 60.0
STREAM_BYTES_MAX = 1 << 24
SHOWN = 200


async def drive(
    host: str, exchanges: Sequence[Exchange], requests: int, connections: int, *, begins: bool = False
) -> list[float]:
    """Send `requests`, the exchanges in turn, on `connections` at a time. The seconds to each body's first byte. What
    stands ahead of an exchange is sent where it `begins`: once for a server, as in a conversation.

    Raises:
        BenchmarkError: an answer that is not, byte for byte, what the upstream sent; nothing may be measured then.
    """
    waits: list[float] = []
    raw = {one.name: one.request(host) for one in exchanges}
    left = iter(range(requests))

    address, _, port = host.partition(":")
    for ahead in [one.before for one in exchanges if begins and one.before is not None]:
        await _prepare(address, int(port), ahead.request(host))

    async def work() -> None:
        reader, writer = await asyncio.open_connection(address, int(port), limit=STREAM_BYTES_MAX)
        try:
            for number in left:
                one = exchanges[number % len(exchanges)]
                writer.write(raw[one.name])
                started = time.perf_counter()
                async with asyncio.timeout(ANSWER_SECONDS_MAX):
                    waits.append(await _read(reader, one) - started)
        finally:
            writer.close()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(connections, requests)):
                group.create_task(work())
    except ExceptionGroup as failed:
        raise BenchmarkError(f"{host}: {failed.exceptions[0]}") from failed
    return waits


async def _prepare(address: str, port: int, request: bytes) -> None:
    """Send one request and take its answer, whatever it is."""
    reader, writer = await asyncio.open_connection(address, port, limit=STREAM_BYTES_MAX)
    try:
        writer.write(request)
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            length = _length((await reader.readuntil(b"\r\n\r\n")).lower())
            await reader.readexactly(length or 0)
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader, one: Exchange) -> float:
    """Read one answer; when its body began, by `time.perf_counter`."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = _length(head)
    if length is None:
        size = int(await reader.readuntil(b"\r\n"), 16)
        began = time.perf_counter()
        body = bytearray()
        while size:
            body += (await reader.readexactly(size + 2))[:-2]
            size = int(await reader.readuntil(b"\r\n"), 16)
        await reader.readexactly(2)
    else:
        body = bytearray(await reader.readexactly(min(length, 1)))
        began = time.perf_counter()
        body += await reader.readexactly(max(length - 1, 0))
    if not head.startswith(b"http/1.1 200") or body != one.answer.body:
        raise BenchmarkError(
            f"{one.name}: another answer than the upstream's: {head[:SHOWN]!r} {bytes(body[:SHOWN])!r}"
        )
    return began


def _length(head: bytes) -> int | None:
    for line in head.split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return None
