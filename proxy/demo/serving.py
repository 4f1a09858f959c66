"""Run an aiohttp application on a free port of the loopback interface, for as long as a block lasts."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def serving(app: web.Application, *, shutdown_seconds: float = 1.0) -> AsyncIterator[str]:
    """Yield the base URL, without a slash at its end. Bodies reach the handlers as they came, encoded ones too."""
    runner = web.AppRunner(app, access_log=None, auto_decompress=False, shutdown_timeout=shutdown_seconds)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()
