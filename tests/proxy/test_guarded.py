"""The one place of an exchange that catches everything."""

from __future__ import annotations

import asyncio

import pytest

from proxy.exchange import guarded


async def _raises(error: BaseException) -> str:
    raise error


@pytest.mark.parametrize("error", [ValueError("x"), OSError(), RecursionError(), AssertionError()])
async def test_whatever_breaks_is_answered(error: Exception) -> None:
    """By the caller's own answer, which is told what it was."""
    told: list[Exception] = []

    async def broke(what: Exception) -> str:
        told.append(what)
        return "said"

    assert await guarded(_raises(error), broke) == "said"
    assert told == [error]


async def test_a_cancellation_is_not_swallowed() -> None:
    """Whoever cancels an exchange must see it end."""

    async def broke(_: Exception) -> str:
        raise AssertionError("not for this")

    with pytest.raises(asyncio.CancelledError):
        await guarded(_raises(asyncio.CancelledError()), broke)
