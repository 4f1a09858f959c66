"""The composition root: everything that a running gate is made of is made here, once, and passed down."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, TypeVar

from interceptors.receipts import PolicyChanged
from proxy.admin.access import Persons, first_owner, remove_address, write_address
from proxy.admin.app import Collaborators, admin_app
from proxy.admin.decide import Deciding
from proxy.approvals import Approvals
from proxy.background import meanwhile
from proxy.clock import utc_now
from proxy.connected import Connected, check_together, connect_settings
from proxy.console.app import add_console
from proxy.conversation import Conversations
from proxy.deciders import Ground, make_deciders
from proxy.environment import Environment, process_environment
from proxy.expiry import expire_held
from proxy.identity import tenant_key
from proxy.listener import Listener
from proxy.listening import Admin, Agents
from proxy.logs import Event, Logs, capture_libraries
from proxy.metrics import Metrics
from proxy.outcomes import Outcomes
from proxy.policy_source import PolicySource, Revision, revision_loader
from proxy.policy_texts import keep_texts
from proxy.retention import end_retentions
from proxy.services import Services
from proxy.settling import Settling
from proxy.signed_cases import SignedCases
from proxy.store import Entry, Store, new_receipt_id, open_store
from proxy.upstream import Upstream

if TYPE_CHECKING:
    from collections.abc import Callable

    from proxy.courier import Courier
    from proxy.settings import Settings

_LOG_LINGER_SECONDS = 0.05


def serve(settings: Settings) -> None:
    """Run the gate until SIGTERM or SIGINT, then drain.

    Raises:
        ConfigError, PolicyUnusableError, SecretError, StateFolderError, StoreError, LedgerError, AdminFileError,
        OSError: it cannot start; the message says what to change.
    """
    environment = process_environment()
    connected = connect_settings(settings, environment)
    store = open_store(settings.state)
    if sys.platform == "win32":
        asyncio.run(_run(settings, connected, store, environment))
        return
    import uvloop  # noqa: PLC0415 - there is none on the other platform

    uvloop.run(_run(settings, connected, store, environment))


async def _run(settings: Settings, connected: Connected, store: Store, environment: Environment) -> None:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(store)
        metrics = Metrics()
        logs = Logs(sys.stderr.buffer, broken=metrics.log_failed, linger_seconds=_LOG_LINGER_SECONDS)
        capture_libraries(logs)
        key = await asyncio.to_thread(tenant_key, settings.state)
        policy = _policy(settings, environment, key, store=store, logs=logs, metrics=metrics)
        await policy.start()
        upstream = Upstream(settings.limits)
        stack.push_async_callback(upstream.close)
        outcomes, settling = _written_behind(stack, store, metrics)
        made = await make_deciders(stack, settings, connected, Ground(store, policy, outcomes, logs, metrics))
        talks = Conversations(store, settling, SignedCases(store, utc_now))
        said = (made.judge, store, made.ledger, talks, made.histories)
        services = Services(settings, connected, policy, *said, upstream, logs, metrics, key)
        listener = Listener(services)
        stopping = _stop_signal()
        admin = await _start_admin(stack, settings, connected, services, made.courier, lambda: listener.is_draining)
        agents = await _start(stack, Agents(listener, settings))
        gc.collect()
        gc.freeze()  # what serves all requests need not be walked again and again: a whole collection halts the loop
        sweeps = (
            end_retentions(settings.retain, store, made.ledger, logs),
            expire_held(store, utc_now, metrics.store_failed),
            made.courier.run(),
        )
        async with meanwhile(*sweeps):
            logs.event(Event.STARTED, listener="agent", address=str(agents.address), policy=_name(policy))
            sys.stdout.write(f"listening on http://{agents.address}\n")
            sys.stdout.flush()
            await stopping.wait()
            listener.is_draining = True
            logs.event(Event.DRAINING, listener="agent")
            await agents.stop()
            await admin.stop()
        await outcomes.close()
        await settling.close()
        _last_words(store, logs)


def _written_behind(stack: AsyncExitStack, store: Store, metrics: Metrics) -> tuple[Outcomes, Settling]:
    """What is written down later than it happens; it must end before the store does."""
    outcomes = Outcomes(store, metrics.store_failed)
    settling = Settling(store, outcomes, utc_now, metrics.store_failed)
    stack.push_async_callback(outcomes.close)
    stack.push_async_callback(settling.close)
    return outcomes, settling


def _last_words(store: Store, logs: Logs) -> None:
    head = store.head  # behind everything that this process writes
    logs.event(Event.CHAIN_HEAD, writer=head.writer, seq=head.seq, hash=head.hash)
    logs.event(Event.STOPPED)


def _policy(
    settings: Settings, environment: Environment, key: bytes, *, store: Store, logs: Logs, metrics: Metrics
) -> PolicySource:
    previous = ""

    async def changed(revision: Revision) -> None:
        nonlocal previous
        now = utc_now()
        name, number = revision.policy.name, revision.policy.revision
        receipt = new_receipt_id(now)
        change = PolicyChanged(receipt=receipt, time=now, policy=name, revision=number, previous=previous)
        await store.commit([Entry(change)])
        await keep_texts(store, settings.policy, revision.policy, now)
        owner = revision.policy.owner
        logs.event(Event.POLICY_CHANGED, policy=name, revision=number, owner=owner, receipt=receipt)
        previous = number

    def failed(problem: str) -> None:
        metrics.policy_failed()
        logs.event(Event.POLICY_BROKEN, error=problem)

    load = revision_loader(settings.policy, environment, key, lambda policy: check_together(settings, policy))
    return PolicySource(settings.policy, load, changed=changed, failed=failed, monotonic=time.monotonic)


def _name(policy: PolicySource) -> str:
    return policy.last().revision.policy.name


Listening = TypeVar("Listening", Agents, Admin)


async def _start(stack: AsyncExitStack, listening: Listening) -> Listening:
    stack.push_async_callback(listening.stop)
    await listening.start()
    return listening


async def _start_admin(
    stack: AsyncExitStack,
    settings: Settings,
    connected: Connected,
    services: Services,
    courier: Courier,
    is_draining: Callable[[], bool],
) -> Admin:
    persons = connected.persons or (await asyncio.to_thread(first_owner, settings.state),)
    collaborators = Collaborators(
        persons=Persons(persons),
        approvals=Approvals(services.store, services.policy, utc_now, services.logs, lambda _: courier.wake()),
        store=services.store,
        ledger=services.ledger,
        policy=services.policy,
        metrics=services.metrics,
        logs=services.logs,
        clock=utc_now,
        is_draining=is_draining,
        deciding=Deciding(
            services.judge, connected.session, services.tenant_key, settings.limits.decide_per_minute_max
        ),
    )
    app = admin_app(collaborators)
    add_console(app, collaborators)
    site = await _start(stack, Admin(app, settings))
    await asyncio.to_thread(write_address, settings.state, site.address)
    stack.push_async_callback(asyncio.to_thread, remove_address, settings.state, site.address)
    return site


def _stop_signal() -> asyncio.Event:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    return stopping
