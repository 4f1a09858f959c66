"""Work beside the serving of requests, which ends with it and leaves nothing behind."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine


@asynccontextmanager
async def meanwhile(*work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """All of it runs until the body ends, and is then cancelled and waited for; what one raised is raised there."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for error in ended:
        if error is not None and not isinstance(error, asyncio.CancelledError):
            raise error
