"""The memory of the real process: bounded with many streams open, and the same after many exchanges.

`CALLGATE_SOAK=1` runs the full ten thousand exchanges; without it as many as a build can spend.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import aiohttp
import psutil

from proxy.demo.provider import Provider
from proxy.demo.serving import serving
from proxy.demo.turns import Call, Delivery, Dialect, Reply, Text, Turn
from tests.e2e.client import PATHS, request_body, request_headers
from tests.e2e.harness import process, write_config

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.demo.turns import Asked

IS_SOAK = os.environ.get("CALLGATE_SOAK") == "1"
FIRST, MORE = (1_000, 9_000) if IS_SOAK else (400, 800)
STREAMS = 200
PEAK_BYTES_MAX = 300 * 1024 * 1024
POLICY = "language: 1\npolicy: plain\ntools:\n  note: {effect: write}\n"
CONCURRENT = 20


def script(asked: Asked) -> Reply:
    """A slow turn of 20 KB in the held call for those that say so, else a small one; half of both is refused."""
    number, _, kind = asked.user_text.partition(" ")
    name = "note" if int(number) % 2 else "drop_tables"
    if kind == "slow":
        call = Call(name, '{"text": "' + "x" * 20_000 + '"}')
        return Reply(Turn((Text("One moment."), call)), Delivery(fragment_chars=500, pause_seconds=0.02))
    return Reply(Turn((Text("Done."), Call(name, '{"text": "alpha"}'))), Delivery(fragment_chars=200))


async def test_the_memory_of_the_process_is_bounded_and_does_not_grow(tmp_path: Path) -> None:
    """Below 300 MB with 200 streams that hold; after many exchanges within 10 % of what it was after the first ones."""
    provider = Provider(script)
    async with (
        serving(provider.app(), shutdown_seconds=0.1) as url,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
    ):
        config = write_config(tmp_path / "gate", url, POLICY)
        async with process(tmp_path / "gate", config, {}) as gate:
            watched = psutil.Process(gate.process.pid)

            async def one(number: int, kind: str) -> None:
                dialect = Dialect.ANTHROPIC if number % 4 < 2 else Dialect.CHAT
                data = request_body(dialect, f"{number} {kind}", streamed=number % 3 != 0)
                async with session.post(gate.url + PATHS[dialect], data=data, headers=request_headers(dialect)) as got:
                    assert got.status == 200
                    body = await got.read()
                    assert (b"drop_tables" in body) is False

            peak = 0
            streams = asyncio.gather(*(one(number, "slow") for number in range(STREAMS)))
            while not streams.done():
                peak = max(peak, watched.memory_info().rss)
                await asyncio.sleep(0.05)
            await streams
            assert peak < PEAK_BYTES_MAX, f"{peak / 2**20:.0f} MB"

            async def many(count: int) -> int:
                numbers = iter(range(count))

                async def work() -> None:
                    for number in numbers:
                        await one(number, "quick")
                        provider.received.clear()

                await asyncio.gather(*(work() for _ in range(CONCURRENT)))
                return int(watched.memory_info().rss)

            after_first = await many(FIRST)
            after_all = await many(MORE)
            grown = after_all / after_first
            assert grown < 1.10, f"{after_first / 2**20:.1f} MB, then {after_all / 2**20:.1f} MB"
            print(f"peak {peak / 2**20:.0f} MB, {after_first / 2**20:.1f} MB, {after_all / 2**20:.1f} MB")
