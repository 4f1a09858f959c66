"""A second, different result of the same call: a record, whatever it says, and never money back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from interceptors.kinds import MoneyState
from proxy.store import Settlement, open_store
from tests.proxy.money_desk import Desk, open_desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with await asyncio.to_thread(open_store, tmp_path / "state") as store:
        yield await open_desk(store)


async def settled(desk: Desk) -> list[dict[str, Any]]:
    """The `settled` records, oldest first."""
    return await desk.store.read(
        lambda reader: [orjson.loads(one.payload or b"{}") for one in reader.records() if one.kind == "settled"]
    )


async def say(desk: Desk, receipt: str, state: MoneyState, result: str) -> int:
    return await desk.store.settle([Settlement(receipt, state, result)], at=desk.now)


async def test_the_same_result_again_is_nothing(desk: Desk) -> None:
    """Clients send their history with every request."""
    (judged,) = await desk.turn("10.00")
    assert [await say(desk, judged.receipt, MoneyState.EXECUTED, "a") for _ in range(3)] == [1, 0, 0]
    assert [one["cause"] for one in await settled(desk)] == ["result"]


@pytest.mark.parametrize(
    ("first", "second", "after"),
    [
        (MoneyState.EXECUTED, MoneyState.NOT_EXECUTED, "executed"),
        (MoneyState.EXECUTED, MoneyState.UNKNOWN, "executed"),
        (MoneyState.EXECUTED, MoneyState.EXECUTED, "executed"),
        (MoneyState.UNKNOWN, MoneyState.NOT_EXECUTED, "unknown"),
        (MoneyState.UNKNOWN, MoneyState.EXECUTED, "executed"),
        (MoneyState.NOT_EXECUTED, MoneyState.EXECUTED, "not_executed"),
    ],
)
async def test_another_result_is_a_conflict(desk: Desk, first: MoneyState, second: MoneyState, after: str) -> None:
    """It may say that money was spent; it frees none, and it is in the record with its own digest."""
    (judged,) = await desk.turn("10.00")
    await say(desk, judged.receipt, first, "a")
    before = await desk.held()
    await say(desk, judged.receipt, second, "b")
    assert await desk.states() == [after]
    assert await desk.held() == before
    newest = (await settled(desk))[-1]
    assert newest["cause"] == "another result of the same call says otherwise"
    assert (newest["state"], newest["result"]) == (after, "b")


async def test_a_late_result_is_no_conflict(desk: Desk) -> None:
    """What was only counted as unknown because nothing came is settled by the first result that comes."""
    (judged,) = await desk.turn("10.00")
    desk.later(hours=1)
    await desk.store.expire(at=desk.now)
    assert await desk.states() == ["unknown"]
    await say(desk, judged.receipt, MoneyState.NOT_EXECUTED, "a")
    assert await desk.states() == ["not_executed"]
    assert [one["cause"] for one in await settled(desk)] == ["no result within settle_within", "result"]
