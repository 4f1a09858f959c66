"""What is kept too long is removed, while the gate runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from proxy.clock import utc_now
from proxy.ledger.vault import LedgerError
from proxy.logs import Event, Logs
from proxy.store import StoreError

if TYPE_CHECKING:
    from proxy.ledger.keeper import Ledger
    from proxy.settings import Retain
    from proxy.store import Store

EVERY_SECONDS = 3600.0


async def end_retentions(retain: Retain, store: Store, ledger: Ledger, logs: Logs) -> None:
    """Ends retentions now and every hour; what fails is told, and tried again."""
    while True:
        now = utc_now()
        try:
            await store.retain(receipts_before=now - retain.receipts, payloads_before=now - retain.payloads, at=now)
            await asyncio.to_thread(ledger.expire)
            logs.event(Event.RETAINED)
        except StoreError:
            logs.event(Event.STORE_FAILED)
        except LedgerError:
            logs.event(Event.LEDGER_FAILED)
        await asyncio.sleep(EVERY_SECONDS)
