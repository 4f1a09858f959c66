"""What runs beside the serving of requests ends with it, and is heard of where it fails."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from proxy.background import meanwhile


async def test_it_ends_with_the_body_and_says_nothing() -> None:
    """When the body is left the work has ended, and no loop tells of an exception that nobody took."""
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0)
            ended.append("work")

    async with meanwhile(work(), work()):
        await asyncio.sleep(0)
    gc.collect()

    assert (ended, told) == (["work", "work"], [])


async def test_what_it_raised_is_raised_at_the_end() -> None:
    """A failure of the work is no silence."""

    async def work() -> None:
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        async with meanwhile(work()):
            await asyncio.sleep(0)
