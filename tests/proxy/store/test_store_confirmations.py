"""Questions that wait for a yes, through the judge and the store: one yes lets one call out, whoever else asks."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from interceptors.history import Author, History, Said
from interceptors.pipeline import Pipeline
from policies import load_policy_text
from proxy.judge import Judgment, Scene
from proxy.policy_source import Revision
from proxy.store import Store, open_store
from tests.proxy.money_desk import OVER_PAID, POLICY, Desk, _call, open_desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

CONFIRM = "    confirm: user"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await asyncio.to_thread(open_store, tmp_path / "state") as opened:
        yield opened


async def propose(desk: Desk, *amounts: int, history: Sequence[Said] = (), **about: Any) -> list[Judgment]:
    """One turn behind this history, a second after the last one."""
    desk.later(seconds=1)
    scene = replace(
        Scene("ex_1", "anthropic", "m", "t", None, "", {"sub": "c1"}), history=History(tuple(history)), **about
    )
    calls: dict[Any, Any] = {
        position: _call(f'{{"order_id":"A1","amount":{amount}}}', position) for position, amount in enumerate(amounts)
    }
    judged = await desk.judge.record(await desk.judge.decide(calls, scene), scene)
    return list(judged.values())


def reasons(judgments: Sequence[Judgment]) -> list[str]:
    return [judgment.decision.reason or "allow" for judgment in judgments]


def yes_to(judgment: Judgment, text: str = "yes") -> tuple[Said, Said]:
    return Said(Author.ASSISTANT, judgment.decision.reply, 1), Said(Author.USER, text, 2)


async def waiting(desk: Desk) -> int:
    def count(connection: Any) -> int:
        return int(connection.execute("SELECT count(*) FROM confirmations").fetchone()[0])

    return await desk.store.read(lambda reader: count(reader._connection))


async def desk_without_limits(store: Store) -> Desk:
    """A call of it holds nothing, so that nothing but the yes is looked at again in the transaction."""
    text = POLICY % ("", CONFIRM)
    kept = [
        line for line in text.split("\n") if not line.strip().startswith(("limits:", "result:", "not_ex", "settle"))
    ]
    policy = await asyncio.to_thread(load_policy_text, "\n".join(kept))
    return Desk(store, Revision(policy, Pipeline(policy), {}, {}))


@pytest.mark.parametrize("with_limits", [False, True])
async def test_one_yes_lets_one_call_out(store: Store, with_limits: bool) -> None:
    """Asked, confirmed, run; the same history again, however often, asks anew."""
    desk = await open_desk(store, (OVER_PAID,), CONFIRM) if with_limits else await desk_without_limits(store)
    [asked] = await propose(desk, 20)
    assert asked.decision.reason == "confirm"
    assert await waiting(desk) == 1
    history = yes_to(asked)
    assert reasons(await propose(desk, 20, history=history)) == ["allow"]
    assert await waiting(desk) == 0
    for _ in range(3):
        assert reasons(await propose(desk, 20, history=history)) == ["confirm"]


@pytest.mark.parametrize("with_limits", [False, True])
async def test_many_at_once_on_one_yes(store: Store, with_limits: bool) -> None:
    """Ten requests with the same yes, decided on the same snapshot: one call leaves, the others are asked about."""
    desk = await open_desk(store, (OVER_PAID,), CONFIRM) if with_limits else await desk_without_limits(store)
    [asked] = await propose(desk, 5)
    history = yes_to(asked)
    found = await asyncio.gather(*(propose(desk, 5, history=history) for _ in range(10)))
    assert sorted(reason for judgments in found for reason in reasons(judgments)) == ["allow", *["confirm"] * 9]
    assert await desk.held() == (500 if with_limits else 0)
    [fresh] = await propose(desk, 5)
    assert reasons(await propose(desk, 5, 5, history=yes_to(fresh))) == ["allow", "confirm"]


async def test_the_decision_in_the_transaction_still_has_the_yes(store: Store) -> None:
    """More was used meanwhile: the call is decided anew, on the same yes, and may leave if it still fits."""
    desk = await open_desk(store, (OVER_PAID,), CONFIRM)
    [first], [second] = await propose(desk, 30), await propose(desk, 60)
    both = (*yes_to(first)[:1], Said(Author.ASSISTANT, second.decision.reply, 1), Said(Author.USER, "yes", 2))
    assert reasons(await propose(desk, 30, 60, history=both)) == ["allow", "allow"]
    [third], [fourth] = await propose(desk, 10), await propose(desk, 9)
    both = (*yes_to(third)[:1], Said(Author.ASSISTANT, fourth.decision.reply, 1), Said(Author.USER, "yes", 2))
    assert reasons(await propose(desk, 10, 9, history=both)) == ["allow", "over_paid"]


async def test_the_question_expires(store: Store) -> None:
    """After a quarter of an hour the yes is late, and the next question sweeps the old ones away."""
    desk = await open_desk(store, (OVER_PAID,), CONFIRM)
    [asked] = await propose(desk, 20)
    desk.later(minutes=14)
    [again] = await propose(desk, 20, history=yes_to(asked, "no"))
    assert again.decision.reason == "confirm"
    desk.later(minutes=14)
    assert reasons(await propose(desk, 20, history=yes_to(again))) == ["allow"]
    [late], _ = await propose(desk, 21), await propose(desk, 22)
    desk.later(minutes=14, seconds=58)
    assert reasons(await propose(desk, 21, history=yes_to(late))) == ["confirm"]
    assert await waiting(desk) == 2, "the question about 22 may still be answered"
    desk.later(minutes=16)
    await propose(desk, 23)
    assert await waiting(desk) == 1


async def test_the_store_keeps_no_word_of_the_question(store: Store) -> None:
    """A row is a keyed digest and a time."""
    desk = await open_desk(store, (OVER_PAID,), CONFIRM)
    await propose(desk, 20)

    def rows(connection: Any) -> list[tuple[str, str]]:
        return list(connection.execute("SELECT name, asked_at FROM confirmations"))

    [(name, _)] = await store.read(lambda reader: rows(reader._connection))
    assert "refund" not in name
    assert "A1" not in name


async def test_retention_forgets_what_nobody_can_answer(store: Store) -> None:
    """Also where no other question is ever asked."""
    desk = await open_desk(store, (OVER_PAID,), CONFIRM)
    await propose(desk, 20)
    long_ago = desk.now - timedelta(days=1)
    await store.retain(receipts_before=long_ago, payloads_before=long_ago, at=desk.now + timedelta(minutes=14))
    assert await waiting(desk) == 1
    await store.retain(receipts_before=long_ago, payloads_before=long_ago, at=desk.now + timedelta(minutes=16))
    assert await waiting(desk) == 0
