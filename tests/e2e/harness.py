"""A gate as `serve` builds it, in this process, between a scripted provider and a scripted source of facts.

The gate's parts come from `proxy.app`, so that a test sees its wiring and not a copy of it. Nothing here decides.
"""

from __future__ import annotations

import asyncio
import functools
import io
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import aiohttp
import orjson
from aiohttp import web

from interceptors.pipeline import Pipeline
from proxy import app as product
from proxy import policy_source
from proxy.config import Flags, load_settings
from proxy.connected import connect_settings
from proxy.demo.gate_process import command
from proxy.demo.provider import Provider
from proxy.demo.serving import serving
from proxy.environment import Environment
from proxy.logs import Logs
from proxy.session_header import HmacKey, JwtAlgorithm, JwtKey, sign_session
from proxy.store import open_store
from proxy.store.connections import connect as connect_database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping

    from interceptors.case import Interceptor
    from proxy.demo.turns import Script
    from proxy.listener import Listener, Services
    from proxy.settings import Address
    from proxy.store import Store
    from proxy.store.connections import Connect

SESSION_KEY = "a-key-of-the-application-which-is-long-enough"
SESSION_HEADER = "x-callgate-session"
CUSTOMER = "cus_ada"
OTHER_CUSTOMER = "cus_bob"

DESK = """
language: 1
policy: desk
time_zone: UTC
session:
  customer_id: {jwt: sub}
constants: {window_days: 14, self_service: 500.00 USD}
reasons:
  not_yours: {category: permission, reply: {en: "I can only help with your own orders."}}
  order_not_found: {category: validation, reply: {en: "I cannot find that order."}}
  outside_window:
    category: policy
    reply: {en: "Delivered {days_since(order.delivered_at)} days ago; the window is {constants.window_days} days."}
  over_limit: {category: escalated, reply: {en: "A refund of {args.amount} needs a colleague."}}
  unknown_tool: {reply: {en: "I have no such tool."}}
facts:
  order:
    key: {pattern: '[A-Z][0-9]{4}'}
    http: "${FACTS_URL}/orders/{key}"
    timeout: 2s
    missing: {forbid: order_not_found}
    fields:
      customer_id: {at: customer.id, type: string}
      delivered_at: {timestamp: iso}
      paid: {money: USD, unit: minor}
tools:
  ping: {effect: read}
  note: {effect: write}
  lookup_order:
    effect: read
    facts: {order: args.order_id}
    arguments: {order_id: {pattern: '[A-Z][0-9]{4}'}}
    rules:
      - forbid: not_yours
        unless: order.customer_id == session.customer_id
  process_refund:
    effect: write
    facts: {order: args.order_id}
    arguments:
      order_id: {pattern: '[A-Z][0-9]{4}'}
      amount: {money: USD, unit: major}
    rules:
      - escalate: over_limit
        when: args.amount > constants.self_service
      - forbid: not_yours
        unless: order.customer_id == session.customer_id
      - forbid: outside_window
        unless: days_since(order.delivered_at) <= constants.window_days
    escalation: {recommended_action: "Approve the refund of {args.amount} for order {args.order_id}."}
"""
ALLOW_ALL = "language: 1\npolicy: allow-all\nunknown_tools: allow\n"
REFUSAL = "I am not able to do that."
DENY_ALL = f'language: 1\npolicy: deny-all\nreasons:\n  unknown_tool: {{reply: {{en: "{REFUSAL}"}}}}\n'
PARTIAL = f"""
language: 1
policy: partial
reasons:
  unknown_tool: {{reply: {{en: "{REFUSAL}"}}}}
tools:
  allowed: {{effect: write}}
"""


def order(customer: str = CUSTOMER, *, days_ago: int = 2, paid: int = 90_000) -> dict[str, Any]:
    """An order as the source of facts shows it."""
    delivered = datetime.now(UTC) - timedelta(days=days_ago)
    return {"id": "?", "customer": {"id": customer}, "delivered_at": delivered.isoformat(), "paid": paid}


@dataclass(slots=True)
class FactsServer:
    """`asked` holds the path of every request; `answers` replaces the usual answer."""

    orders: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {
            "A1001": order(),
            "A1002": order(days_ago=47),
            "B2001": order(OTHER_CUSTOMER),
        }
    )
    answers: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None
    asked: list[str] = field(default_factory=list)

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        if self.answers is not None:
            return await self.answers(request)
        found = self.orders.get(request.path.rpartition("/")[2])
        return web.json_response({"error": "none"}, status=404) if found is None else web.json_response(found)


@dataclass(slots=True)
class Desk:
    """A running gate and what stands around it."""

    url: str
    admin: str
    provider: Provider
    provider_url: str
    facts: FactsServer
    services: Services
    listener: Listener
    policy: Path
    state: Path
    log: io.BytesIO
    gate: Running
    session: aiohttp.ClientSession

    @property
    def store(self) -> Store:
        return self.services.store

    def signed(self, customer: str = CUSTOMER) -> dict[str, str]:
        """The header by which the application says for whom it asks."""
        return session_header(customer)

    def lines(self) -> list[dict[str, Any]]:
        """The lines of the log about exchanges."""
        found = [orjson.loads(line) for line in self.log.getvalue().split(b"\n") if line]
        return [line for line in found if line.get("event") == "exchange"]

    async def records(self) -> list[dict[str, Any]]:
        """Every record of the store, oldest first, with its payload; the changes of policy left out."""

        def read(reader: Any) -> list[dict[str, Any]]:
            return [
                {"kind": sealed.kind, "receipt": sealed.receipt, **orjson.loads(sealed.payload or b"{}")}
                for sealed in reader.records()
                if sealed.kind != "policy"
            ]

        return await self.store.read(read)

    async def settled(self, count: int = 1, *, within: float = 3.0) -> list[dict[str, Any]]:
        """The records, once every decision has its outcome and `count` exchanges have their log line."""
        deadline = time.monotonic() + within
        while True:
            records = await self.records()
            decided = {each["receipt"] for each in records if each["kind"] == "decided"}
            told = {each["receipt"] for each in records if each["kind"] in ("released", "substituted", "aborted")}
            if decided <= told and len(self.lines()) >= count:
                return records
            if time.monotonic() > deadline:
                raise AssertionError(f"not settled: {len(self.lines())} lines; {[r['kind'] for r in records]}")
            await asyncio.sleep(0.01)


def session_header(customer: str = CUSTOMER) -> dict[str, str]:
    claims = {"sub": customer, "exp": int(time.time()) + 600}
    return {SESSION_HEADER: sign_session(claims, JwtKey(JwtAlgorithm.HS256, SESSION_KEY))}


def hmac_header(claims: Mapping[str, str | int], key: str = SESSION_KEY) -> dict[str, str]:
    return {SESSION_HEADER: sign_session(claims, HmacKey(key))}


def write_config(
    folder: Path,
    provider: str,
    policy: str,
    *,
    limits: Mapping[str, int] | None = None,
    session: str = "jwt: {algorithm: HS256, key: '${SESSION_KEY}'}",
    key: str | None = None,
    extra: str = "",
    policy_path: str = "policy.yaml",
) -> Path:
    """`policy.yaml` and `callgate.yaml` in `folder`, which nobody else can write; the path of the second."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    upstream = f"{{url: '{provider}'" + ("" if key is None else f", key: '{key}'") + "}"
    rows = "".join(f"  {name}: {value}\n" for name, value in (limits or {}).items())
    (folder / "callgate.yaml").write_text(
        "listen: 127.0.0.1:0\n"
        f"upstreams: {{anthropic: {upstream}, openai: {upstream}, gemini: {upstream}, ollama: {upstream}, "
        f"bedrock: {upstream}, vertex: {upstream}}}\n"
        f"session_header: {{name: {SESSION_HEADER}, {session}}}\n"
        f"policy: {policy_path}\nstate: state\n" + (f"limits:\n{rows}" if rows else "") + extra,
        encoding="utf-8",
    )
    for path in folder.iterdir():
        if path.is_file():
            path.chmod(0o600)
    return folder / "callgate.yaml"


@dataclass(slots=True)
class Running:
    """`serve` as a task. `stop` is what a signal does; it returns when the gate has drained."""

    stopping: asyncio.Event
    task: asyncio.Task[None]

    async def stop(self) -> None:
        self.stopping.set()
        async with asyncio.timeout(40):
            await self.task


@dataclass(slots=True)
class _Started:
    """Runs the product's own composition root and keeps what it makes; only the signal and the log are ours."""

    log: io.BytesIO
    addresses: list[Address] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, serve: Coroutine[Any, Any, None]) -> Running:
        start, listener = product._start, product.Listener

        async def recorded(*args: Any) -> Any:
            site = await start(*args)
            self.addresses.append(site.address)
            if len(self.addresses) == 2:
                self.ready.set()
            return site

        def made(*args: Any) -> Listener:
            self.listeners.append(listener(*args))
            return self.listeners[-1]

        with patch.multiple(
            product,
            _start=recorded,
            Listener=made,
            Logs=lambda _, *, broken, **_rest: Logs(self.log, broken=broken),  # each line at once
            capture_libraries=lambda _: None,
            _stop_signal=lambda: self.stopping,
        ):
            task = asyncio.ensure_future(serve)
            ready = asyncio.ensure_future(self.ready.wait())
            try:
                await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                ready.cancel()
            if task.done():
                task.result()
        return Running(self.stopping, task)


@asynccontextmanager
async def desk(
    folder: Path,
    script: Script,
    policy: str = DESK,
    *,
    limits: Mapping[str, int] | None = None,
    connect: Connect = connect_database,
    busy_timeout_ms: int = 5_000,
    interceptors: tuple[Interceptor, ...] | None = None,
    session: str = "jwt: {algorithm: HS256, key: '${SESSION_KEY}'}",
    key: str | None = None,
    extra: str = "",
    policy_path: str = "policy.yaml",
    upstream: web.Application | None = None,
) -> AsyncIterator[Desk]:
    """A gate while the block lasts.

    `interceptors` replaces those of the pipeline, `connect` opens the store, `upstream` stands in for the provider.
    """
    provider, facts = Provider(script), FactsServer()
    async with AsyncExitStack() as stack:
        provider_url = await stack.enter_async_context(serving(upstream or provider.app(), shutdown_seconds=0.1))
        facts_url = await stack.enter_async_context(serving(facts.app(), shutdown_seconds=0.1))
        config = await asyncio.to_thread(
            write_config,
            folder,
            provider_url,
            policy,
            limits=limits,
            session=session,
            key=key,
            extra=extra,
            policy_path=policy_path,
        )
        values = {"FACTS_URL": facts_url, "SESSION_KEY": SESSION_KEY}
        environment = Environment(values.get, lambda path: (_ for _ in ()).throw(OSError(path)))
        settings = await asyncio.to_thread(load_settings, Flags(config=config))
        settings = replace(settings, limits=replace(settings.limits, drain_ms_max=500))
        connected = connect_settings(settings, environment)
        store = await asyncio.to_thread(
            lambda: open_store(settings.state, connect=connect, busy_timeout_ms=busy_timeout_ms)
        )
        log = io.BytesIO()
        if interceptors is not None:
            own = functools.partial(Pipeline, interceptors=interceptors)
            stack.enter_context(patch.object(policy_source, "Pipeline", own))
        started = _Started(log)
        gate = await started.run(product._run(settings, connected, store, environment))
        stack.push_async_callback(gate.stop)
        admin, agents = started.addresses
        (listener,) = started.listeners
        session_ = await stack.enter_async_context(
            aiohttp.ClientSession(auto_decompress=False, connector=aiohttp.TCPConnector(limit=0))
        )
        yield Desk(
            url=f"http://{agents}",
            admin=f"http://{admin}",
            provider=provider,
            provider_url=provider_url,
            facts=facts,
            services=listener._with,
            gate=gate,
            listener=listener,
            policy=folder / policy_path,
            state=settings.state,
            log=log,
            session=session_,
        )


@dataclass(slots=True)
class Process:
    """`callgate serve` as an operator runs it."""

    url: str
    admin: str
    state: Path
    process: asyncio.subprocess.Process
    log: Path

    async def ended(self) -> int:
        """Wait for its end; the exit code."""
        async with asyncio.timeout(20):
            return await self.process.wait()

    def events(self) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.log.read_bytes().split(b"\n") if line]


@asynccontextmanager
async def process(folder: Path, config: Path, values: Mapping[str, str]) -> AsyncIterator[Process]:
    """The real command, until the block ends; it is killed where it does not end by itself."""
    log = folder / "serve.log"
    # The gate of this checkout, whichever one is installed.
    checkout = str(Path(product.__file__).parents[1])
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": checkout, "SESSION_KEY": SESSION_KEY, **values}
    with log.open("wb") as sink:
        child = await asyncio.create_subprocess_exec(
            *command("serve", "--config", str(config)), stdout=asyncio.subprocess.PIPE, stderr=sink, env=environment
        )
    try:
        assert child.stdout is not None
        async with asyncio.timeout(20):
            line = (await child.stdout.readline()).decode()
        assert line.startswith("listening on "), log.read_text()
        admin = await asyncio.to_thread((folder / "state" / "admin.address").read_text)
        yield Process(line.split()[-1], f"http://{admin.strip()}", folder / "state", child, log)
    finally:
        if child.returncode is None:
            child.kill()
        await child.communicate()
