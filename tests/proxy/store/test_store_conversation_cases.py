"""The signed cases of a conversation: kept for a day since it last had each, and nobody else's."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from proxy.store import open_store
from proxy.store.conversation_cases import KEPT_FOR, note, seen
from tests.proxy.store.samples import NOW

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from proxy.store import Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await asyncio.to_thread(open_store, tmp_path / "state") as opened:
        yield opened


async def test_each_is_kept_for_a_day(store: Store) -> None:
    """Since it was last noted; what is too old says nothing and goes with the next one that is noted."""
    first, second = NOW, NOW + timedelta(hours=20)
    await store.write(lambda each: note(each.connection, "talk", "late", first))
    await store.write(lambda each: note(each.connection, "talk", "lost", second))
    await store.write(lambda each: note(each.connection, "other", "late", second))
    assert await store.look(lambda each: seen(each, "talk", second)) == {"late": first, "lost": second}
    after = first + KEPT_FOR + timedelta(seconds=1)
    assert await store.look(lambda each: seen(each, "talk", after)) == {"lost": second}
    await store.write(lambda each: note(each.connection, "talk", "lost", after))
    left = await store.look(
        lambda each: each.execute("SELECT name, word FROM conversation_cases ORDER BY name").fetchall()
    )
    assert left == [("other", "late"), ("talk", "lost")]
