"""Part of the composition root: what decides calls, what keeps of them, and who carries them to others."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proxy.clock import utc_now
from proxy.courier import Courier
from proxy.delivery import Delivery
from proxy.facts_reader import FactsReader
from proxy.history.keeper import Histories
from proxy.history.receipts import Receipts
from proxy.judge import Judge
from proxy.ledger.edits import EditVault
from proxy.ledger.keeper import Ledger
from proxy.ledger.materials import Materials
from proxy.ledger.notes import NoteVault
from proxy.ledger.vault import Vault
from proxy.logs import Event
from proxy.webhooks import Sender

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from proxy.connected import Connected
    from proxy.logs import Logs
    from proxy.metrics import Metrics
    from proxy.outcomes import Outcomes
    from proxy.policy_source import PolicySource
    from proxy.settings import Settings
    from proxy.store import Store


@dataclass(frozen=True, slots=True)
class Deciders:
    """One of each for the process."""

    judge: Judge
    ledger: Ledger
    histories: Histories
    courier: Courier


@dataclass(frozen=True, slots=True)
class Ground:
    """What they stand on."""

    store: Store
    policy: PolicySource
    outcomes: Outcomes
    logs: Logs
    metrics: Metrics


async def make_deciders(stack: AsyncExitStack, settings: Settings, connected: Connected, ground: Ground) -> Deciders:
    """They end with the stack. Raises `LedgerError`, `OSError`."""
    store, logs, metrics = ground.store, ground.logs, ground.metrics
    facts = FactsReader(settings.limits, utc_now, metrics.fact_read)
    stack.push_async_callback(facts.close)
    vault = await asyncio.to_thread(Vault, settings.state, settings.retain.ledger.total_seconds())
    stack.callback(vault.close)

    def failed(problem: str) -> None:
        metrics.ledger_failed()
        logs.event(Event.LEDGER_FAILED, error=problem)

    materials = Materials(vault, utc_now)
    judge = Judge(
        ground.policy,
        facts,
        store,
        ground.outcomes,
        utc_now,
        settings.limits.hold_ms_max,
        injects=True,
        tells=connected.cases is not None,
        materials=materials,
    )
    sender = Sender(settings.limits)
    stack.push_async_callback(sender.close)
    courier = Courier(
        store=store,
        sender=sender,
        target=connected.cases,
        delivery=Delivery(judge, sender, connected.calls, materials),
        limits=settings.limits,
        clock=utc_now,
        logs=logs,
        failed=metrics.store_failed,
    )
    histories = Histories(EditVault(vault), utc_now, Receipts(store, NoteVault(vault)))
    return Deciders(judge, Ledger(vault, utc_now, failed), histories, courier)
