"""Counts as unknown what had no result in time, and closes cases whose time is over. A decision needs no sweep: held
and unknown count the same, and an approval that is too old approves nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from proxy.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from proxy.clock import Clock
    from proxy.store import Store

EVERY_SECONDS = 30.0


async def expire_held(store: Store, clock: Clock, failed: Callable[[], None], every: float = EVERY_SECONDS) -> None:
    """Look now and every so often, until it is cancelled; `failed` is told each failure of the store."""
    while True:
        try:
            await store.expire(at=clock())
            await store.expire_cases(at=clock())
        except StoreError:
            failed()
        await asyncio.sleep(every)
