"""A store in a folder of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from proxy.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
async def store(state: Path) -> AsyncIterator[Store]:
    async with await asyncio.to_thread(open_store, state) as opened:
        yield opened
