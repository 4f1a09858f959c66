"""A gate that ends leaves no connection behind, whenever it came."""

from __future__ import annotations

import asyncio
import gc
import warnings
from contextlib import suppress

from aiohttp import web

from proxy.accepting import OrderlySite


async def _hello(_: web.BaseRequest) -> web.Response:
    return web.Response(text="hello")


async def stopped_at_each_step(kind: type[web.TCPSite]) -> list[str]:
    """Clients connect, and the server is told to stop at one step of the loop after the other; what was left open."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for steps in range(12):
            runner = web.ServerRunner(web.Server(_hello), handle_signals=False, shutdown_timeout=1)
            await runner.setup()
            site = kind(runner, "127.0.0.1", 0)
            await site.start()
            _, port = runner.addresses[0][:2]
            opening = asyncio.ensure_future(asyncio.open_connection("127.0.0.1", port))
            for _ in range(steps):
                await asyncio.sleep(0)
            await runner.cleanup()
            try:
                reader, writer = await opening
            except OSError:
                continue
            with suppress(ConnectionError):
                assert await reader.read() == b""  # it is closed, or never was accepted
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)
        await asyncio.to_thread(gc.collect)
    return [str(each.message) for each in found if "unclosed" in str(each.message)]


async def test_a_connection_that_comes_as_it_ends_is_closed() -> None:
    """At whatever step of the loop it came; asyncio's own way would let a client of one of them wait for ever."""
    async with asyncio.timeout(60):
        assert await stopped_at_each_step(OrderlySite) == []
