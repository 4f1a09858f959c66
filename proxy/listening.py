"""The two listeners of a gate, from their start to an orderly end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiohttp import web

from proxy.accepting import OrderlySite
from proxy.http1.heads import HeadLimits
from proxy.http1.server import Server
from proxy.settings import Address

if TYPE_CHECKING:
    from proxy.listener import Listener
    from proxy.settings import Settings

_KEEPALIVE_SECONDS: Final = 75


class Agents:
    """The agents' listener. Routes are matched by `routes`, exactly, and nothing stands before it.

    `Expect: 100-continue` is answered only by the response: nothing is promised before the head was looked at.
    """

    def __init__(self, listener: Listener, settings: Settings) -> None:
        limits = settings.limits
        heads = HeadLimits(limits.header_bytes_max, limits.headers_max)
        self._server = Server(listener.handle, heads, keepalive_seconds=_KEEPALIVE_SECONDS)
        self._drain_seconds = limits.drain_ms_max / 1000
        self.address = settings.listen

    async def start(self) -> None:
        port = await self._server.start(self.address.host, self.address.port)
        self.address = Address(self.address.host, port)

    async def stop(self) -> None:
        """Refuse new connections, let open exchanges end within the drain limit, then close."""
        await self._server.close(self._drain_seconds)


class Admin:
    """The admin listener."""

    def __init__(self, app: web.Application, settings: Settings) -> None:
        self._runner = _admin_runner(app, settings)
        self.address = settings.admin.listen

    async def start(self) -> None:
        await self._runner.setup()
        await OrderlySite(self._runner, self.address.host, self.address.port).start()
        self.address = Address(self.address.host, self._runner.addresses[0][1])

    async def stop(self) -> None:
        await self._runner.cleanup()


def _admin_runner(app: web.Application, settings: Settings) -> web.BaseRunner:
    limits = settings.limits
    return web.AppRunner(
        app,
        handle_signals=False,
        shutdown_timeout=limits.drain_ms_max / 1000,
        access_log=None,
        handler_cancellation=True,
        auto_decompress=False,
        keepalive_timeout=_KEEPALIVE_SECONDS,
        max_line_size=limits.header_bytes_max,
        max_field_size=limits.header_bytes_max,
        max_headers=limits.headers_max,
    )
