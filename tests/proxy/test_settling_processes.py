"""Two workers of one folder settle what came back, whichever of them released the call and whichever hears of it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from interceptors.kinds import MoneyState
from policies import load_policy_text
from proxy.conversation import Conversations
from proxy.ledger.keeper import Prepared
from proxy.outcomes import Outcomes
from proxy.settling import Settling
from proxy.signed_cases import SignedCases
from proxy.store import Entry, ReleaseDraft, Store, open_store
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from tests.proxy.store.samples import decided

POLICY = load_policy_text("language: 1\npolicy: p\ntools: {t: {effect: read}}\n")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
IDS = st.sampled_from(["c1", "c2", "c3"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["release", "result", "result", "settle", "restart"]), st.integers(0, 1), IDS),
    max_size=16,
)


def request(call: str) -> tuple[bytes, bytes]:
    """A body that ends with the result of a call, and its messages."""
    messages = orjson.dumps(
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": call, "name": "t", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "ok"}]},
        ]
    )
    return b'{"messages":' + messages + b"}", messages


def digest_of(call: str) -> str:
    said, _ = ANTHROPIC_MESSAGES.continuation.transcript(request(call)[0]).newest()
    assert said is not None
    return said.calls[0].digest


class Worker:
    """One process's part in it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.now = NOW
        self.settling = Settling(store, Outcomes(store, lambda: None), lambda: self.now, lambda: None)
        self._conversations = Conversations(store, self.settling, SignedCases(store, lambda: self.now))

    @classmethod
    async def started(cls, state: Path) -> Worker:
        return cls(await asyncio.to_thread(open_store, state))

    async def ended(self) -> None:
        await self.settling.close()
        await self.store.close()

    async def release(self, receipt: str, call: str) -> None:
        draft = ReleaseDraft(
            receipt=receipt,
            tenant="a",
            call_id=call,
            tool="t",
            argument_digest=digest_of(call),
            subject="",
            time=self.now,
        )
        await self.store.commit([Entry(decided(receipt), release=draft)])

    async def hear(self, call: str) -> None:
        body, messages = request(call)
        await self._conversations.hear(ANTHROPIC_MESSAGES, Prepared(body, body), POLICY, "a", "", messages=messages)


async def live(state: Path, steps: list[tuple[str, int, str]]) -> None:
    workers = [await Worker.started(state) for _ in range(2)]
    newest: dict[str, str] = {}
    answered: set[str] = set()
    for (what, number, call), place in zip(steps, count(), strict=False):
        worker = workers[number]
        worker.now = NOW + place * timedelta(seconds=1)
        match what:
            case "release":
                newest[call] = f"rc_{place:026}"
                await worker.release(newest[call], call)
            case "result":
                await worker.hear(call)
                answered |= {newest[call]} if call in newest else set()
            case "settle":
                await worker.settling.close()
            case _:
                await worker.ended()
                workers[number] = await Worker.started(state)
    for worker in workers:
        await worker.settling.close()
    rows = await workers[0].store.released_calls("a", ["c1", "c2", "c3"])
    settled = {row.receipt: row.state for each in rows.values() for row in each}
    for worker in workers:
        await worker.ended()
    assert {receipt: settled[receipt] for receipt in answered} == dict.fromkeys(answered, MoneyState.EXECUTED)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_every_result_of_a_released_call_is_settled(steps: list[tuple[str, int, str]]) -> None:
    """Results that come before their id's call was released, ids that come again, restarts: none of it hides the result
    of a released call from being settled."""
    with TemporaryDirectory() as folder:
        asyncio.run(live(Path(folder) / "state", steps))


def test_what_no_process_released_waits_for_nothing() -> None:
    """The second time, such a result asks nothing of the store and leaves nothing to do."""
    with TemporaryDirectory() as folder:
        asyncio.run(strange(Path(folder) / "state"))


async def strange(state: Path) -> None:
    worker = await Worker.started(state)
    await worker.hear("c1")
    assert _is_waiting(worker)
    await worker.settling.close()
    await worker.hear("c1")
    assert not _is_waiting(worker)
    await worker.release("rc_00000000000000000000000001", "c1")
    await worker.hear("c1")
    assert _is_waiting(worker)
    await worker.ended()


def _is_waiting(worker: Worker) -> bool:
    return bool(cast("list[object]", worker.settling._waiting))
