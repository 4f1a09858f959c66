"""Work beside the serving of requests, which ends with it and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine


@asynccontextmanager
async def meanwhile(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Runs until the body ends, and is then cancelled and waited for; what it raised before is raised there."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
