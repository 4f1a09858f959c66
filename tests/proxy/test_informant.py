"""What decisions wait for is fetched once, and only where a decision waits for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from interceptors.history import EMPTY, Author, History, Said
from proxy.informant import Informant
from proxy.judge import Judgment, Scene
from proxy.store import Store, open_store
from tests.interceptors.builders import context
from tests.proxy.money_desk import _call, open_desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await asyncio.to_thread(open_store, tmp_path / "state") as opened:
        yield opened


def reasons(judgments: Sequence[Judgment]) -> list[str]:
    return [judgment.decision.reason or "allow" for judgment in judgments]


async def test_a_conversation_is_read_when_a_question_would_be_asked(store: Store) -> None:
    """The judge fetches a history that nobody has read, once, and only for a call that would be asked about."""
    desk = await open_desk(store)
    reads: list[int] = []

    async def read() -> History:
        reads.append(1)
        question = "I need some more information before I can do this. Could you check the details with me?"
        return History(tuple(Said(Author.ASSISTANT, question, turn) for turn in (1, 3)))

    scene = Scene(
        "ex_1", "anthropic", "m", "t", None, "", {"sub": "c1"}, history=History(is_read=False), read_history=read
    )
    calls: dict[Any, Any] = {0: _call('{"order_id":"A1"}', 0), 1: _call('{"amount":1}', 1)}
    judged = await desk.judge.decide({0: _call('{"order_id":"A1","amount":1}', 0)}, scene)
    assert (reasons(list(judged.values())), reads) == (["allow"], [])
    judged = await desk.judge.decide(calls, scene)
    assert (reasons(list(judged.values())), reads) == (["asked_in_vain", "asked_in_vain"], [1])


async def test_nothing_is_fetched_for_what_is_decided(store: Store) -> None:
    """No answer that waits: no facts, no snapshot, no conversation."""
    desk = await open_desk(store)
    informant = Informant(desk.judge.facts, store, desk.revision, None)
    basis = await informant.inform({}, {}, context())
    assert (basis.facts, basis.usages, basis.context.history) == ({}, {}, EMPTY)
