"""A listening socket that lets go of nothing that it has taken."""

from __future__ import annotations

import asyncio

from aiohttp import web

_STEPS = 3
"""Of the loop, from a connection that was accepted to its protocol, which can close it."""


async def hand_over_accepted(server: asyncio.AbstractServer | None) -> None:
    """What was accepted just now is handed over before the server closes: asyncio would fail to, and leave the
    connection open, with a client that waits for an answer on it."""
    if isinstance(server, asyncio.Server):
        loop = asyncio.get_running_loop()
        for sock in server.sockets:
            loop.remove_reader(sock.fileno())
        for _ in range(_STEPS):
            await asyncio.sleep(0)


class OrderlySite(web.TCPSite):
    """One that lets go of nothing."""

    async def stop(self) -> None:
        await hand_over_accepted(self._server)
        await super().stop()
