"""Two gates on one state folder before the strict provider: they restart, lose their ledger, and forget subjects."""

from __future__ import annotations

import asyncio
import functools
import io
from collections import Counter, defaultdict
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import aiohttp
import re2

from proxy import app as product
from proxy.config import Flags, load_settings
from proxy.connected import connect_settings
from proxy.demo.provider import Provider, Received
from proxy.demo.serving import serving
from proxy.environment import Environment
from proxy.store import open_store
from tests.e2e.harness import SESSION_KEY, Running, _Started, write_config

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncIterator
    from pathlib import Path

    from aiohttp import web

    from proxy.demo.turns import Script

_NAMED = re2.compile(rb'"(?:user_id|user)":"(\d+)\.\d+"')


class Log(list[Received]):
    """What the provider received, also by conversation."""

    def __init__(self) -> None:
        super().__init__()
        self.by_family: dict[int, list[int]] = defaultdict(list)

    def append(self, item: Received) -> None:
        found = _NAMED.search(item.body)
        if found:
            self.by_family[int(found.group(1))].append(len(self))
        super().append(item)


@dataclass(slots=True)
class Gate:
    url: str
    admin: str
    running: Running
    number: int


@dataclass(slots=True)
class World:
    """`gates` are those that take requests now; `births` counts those that were ever started."""

    folder: Path
    config: Path
    provider: Provider
    log: Log
    session: aiohttp.ClientSession
    gates: list[Gate] = field(default_factory=list)
    births: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    losses: int = 0
    _open: asyncio.Event = field(default_factory=asyncio.Event)
    _busy: int = 0

    async def gate(self, dice: random.Random) -> Gate:
        """One that takes requests."""
        while not self.gates:
            await self._open.wait()
        return dice.choice(self.gates)

    async def start(self) -> None:
        environment = Environment({"SESSION_KEY": SESSION_KEY}.get, lambda path: (_ for _ in ()).throw(OSError(path)))
        settings = await asyncio.to_thread(load_settings, Flags(config=self.config))
        settings = replace(settings, limits=replace(settings.limits, drain_ms_max=5_000))
        connected = connect_settings(settings, environment)
        store = await asyncio.to_thread(functools.partial(open_store, settings.state))
        started = _Started(io.BytesIO())
        running = await started.run(product._run(settings, connected, store, environment))
        admin, agents = started.addresses
        self.gates.append(Gate(f"http://{agents}", f"http://{admin}", running, self.births))
        self.births += 1
        self._open.set()

    async def stop(self, gate: Gate) -> None:
        self.gates.remove(gate)
        if not self.gates:
            self._open.clear()
        await gate.running.stop()

    async def restart(self, dice: random.Random) -> None:
        """One of the gates ends, and another one begins."""
        await self.stop(dice.choice(self.gates))
        await self.start()

    async def lose(self) -> None:
        """All gates end, the ledger's files are gone, and as many gates begin."""
        for gate in list(self.gates):
            await self.stop(gate)
        for path in (self.folder / "state").glob("ledger.db*"):
            path.unlink()
        self.losses += 1
        for _ in range(2):
            await self.start()

    async def erase(self, subject: str, dice: random.Random) -> None:
        gate = await self.gate(dice)
        token = (self.folder / "state" / "admin.token").read_text().strip()
        headers = {"authorization": f"Bearer {token}"}
        async with self.session.post(f"{gate.admin}/erase", json={"subject": subject}, headers=headers) as response:
            assert response.status == 200, await response.text()


@asynccontextmanager
async def world(
    folder: Path,
    script: Script,
    policy: str,
    limits: dict[str, int] | None = None,
    upstream: web.Application | None = None,
) -> AsyncIterator[World]:
    """Two gates while the block lasts. `upstream` stands in for the provider."""
    log = Log()
    provider = Provider(script, received=log)
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serving(upstream or provider.app(), shutdown_seconds=0.1))
        config = await asyncio.to_thread(functools.partial(write_config, folder, url, policy, limits=limits))
        session = await stack.enter_async_context(
            aiohttp.ClientSession(auto_decompress=False, connector=aiohttp.TCPConnector(limit=0))
        )
        made = World(folder, config, provider, log, session)
        stack.push_async_callback(_stop_all, made)
        for _ in range(2):
            await made.start()
        yield made


async def _stop_all(made: World) -> None:
    for gate in list(made.gates):
        await made.stop(gate)


def names(found: Any) -> str:
    """A count table, a line each."""
    return "\n".join(f"  {key:28} {value}" for key, value in sorted(found.items()))
