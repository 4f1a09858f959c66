"""The courier ends when it is told to, whatever it hears at that moment."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any, cast

from proxy.courier import Courier
from proxy.limits import Limits


class _Nothing:
    """A store in which nothing waits to be told."""

    async def take_message(self, **_: Any) -> None:
        return None


async def test_it_ends_though_it_is_woken_at_that_moment() -> None:
    """A case that is opened while the gate stops does not keep the gate from stopping."""
    nothing = cast("Any", None)
    courier = Courier(
        store=cast("Any", _Nothing()),
        sender=nothing,
        target=None,
        delivery=nothing,
        limits=Limits(),
        clock=lambda: datetime(2026, 11, 30, tzinfo=UTC),
        logs=nothing,
        failed=lambda: None,
    )
    running = asyncio.create_task(courier.run())
    for _ in range(5):  # until it sleeps
        await asyncio.sleep(0)
    courier.wake()
    running.cancel()
    done, _ = await asyncio.wait([running], timeout=5)
    running.cancel()
    assert done == {running}
