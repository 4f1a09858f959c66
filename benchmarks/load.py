"""The clients: kept connections, one request after another on each, every answer compared with what was sent."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from benchmarks.processes import BenchmarkError
from benchmarks.talks import Talks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.exchanges import Exchange

ANSWER_SECONDS_MAX = 60.0
STREAM_BYTES_MAX = 1 << 24
SHOWN = 200


async def drive(
    host: str, exchanges: Sequence[Exchange], requests: int, connections: int, talks: Talks | None = None
) -> list[float]:
    """Send `requests`, the exchanges in turn, on `connections` at a time. The seconds to each body's first byte. The
    conversations go on with `talks`; what stands ahead of one is sent where it begins.

    Raises:
        BenchmarkError: an answer that is not, byte for byte, what the upstream sent; nothing may be measured then.
    """
    waits: list[float] = []
    led = Talks() if talks is None else talks
    left = iter(range(requests))
    address, _, port = host.partition(":")

    async def work(connection: int) -> None:
        reader, writer = await asyncio.open_connection(address, int(port), limit=STREAM_BYTES_MAX)
        try:
            for number in left:
                one = exchanges[number % len(exchanges)]
                talk, begins = led.at(one, connection)
                if begins and (ahead := talk.opening(host)) is not None:
                    writer.write(ahead)
                    await _any_answer(reader)
                request = talk.next(host)
                started = time.perf_counter()
                writer.write(request)
                async with asyncio.timeout(ANSWER_SECONDS_MAX):
                    waits.append(await _read(reader, one) - started)
        finally:
            writer.close()

    try:
        async with asyncio.TaskGroup() as group:
            for connection in range(min(connections, requests)):
                group.create_task(work(connection))
    except ExceptionGroup as failed:
        raise BenchmarkError(f"{host}: {failed.exceptions[0]}") from failed
    return waits


async def _any_answer(reader: asyncio.StreamReader) -> None:
    """Take an answer, whatever it is."""
    async with asyncio.timeout(ANSWER_SECONDS_MAX):
        length = _length((await reader.readuntil(b"\r\n\r\n")).lower())
        await reader.readexactly(length or 0)


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
