"""The store failing at every operation, the disk full, the halt thrown at every hop: no receipt, no release."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from proxy.clock import utc_now
from proxy.demo.turns import Call, Dialect, Text, Turn, always
from proxy.judge import Judge
from proxy.store import Store, StoreError
from proxy.store.transaction import Transaction
from tests.e2e.client import BOTH, WAY_IDS, WAYS, ask
from tests.e2e.harness import DESK, desk, order
from tests.e2e.steps import Steps, events_of
from tests.proxy.store.samples import Faults

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.e2e.client import Heard
    from tests.e2e.harness import Desk
    from tests.e2e.steps import Cut

NOTE = Call("note", '{"text": "alpha-mark"}')
TURN = Turn((Text("I note it."), NOTE))
STOPS = {Dialect.ANTHROPIC: "end_turn", Dialect.CHAT: "stop"}


async def _released(gate: Desk, answers: list[Heard]) -> None:
    """Every call in a client's hands has its durable decision to allow it, and the chain is whole."""
    records = await gate.records()
    allowed = {each["call_id"] for each in records if each["kind"] == "decided" and each["ruling"] == "allow"}
    for answer in answers:
        for call in answer.calls:
            assert call.id in allowed
        if b"alpha-mark" in answer.body:
            assert answer.calls
    assert (await gate.store.read(lambda reader: reader.verify())).findings == ()


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from there on"])
@pytest.mark.parametrize("dialect", BOTH, ids=[dialect.value for dialect in BOTH])
async def test_the_store_fails_at_its_nth_operation(tmp_path: Path, dialect: Dialect, lasting: bool) -> None:
    """For every n: the answer is whole, what left has its receipt, and calls go out again when the store is back."""
    faults = Faults()
    refused = 0
    async with desk(tmp_path, always(TURN), connect=faults.connect, busy_timeout_ms=100) as gate:
        await ask(gate, dialect)
        await gate.settled()
        for number in range(1, 40):
            faults.count, faults.fail_at = 0, number
            faults.fail_all_from = number if lasting else 0
            answer = await ask(gate, dialect)
            was_hit = faults.hit != ""
            faults.fail_at, faults.fail_all_from, faults.hit = 0, 0, ""
            assert answer.text.startswith("I note it."), number
            assert answer.whole, number
            if not answer.calls:
                refused += 1
                assert answer.stop == STOPS[dialect]
            await _released(gate, [answer])
            again = await ask(gate, dialect)
            assert [call.name for call in again.calls] == ["note"], number
            if not was_hit:
                break
        else:
            raise AssertionError("the loop never passed the last operation")
        assert refused > 3


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_a_full_disk_refuses_what_needs_a_receipt(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """A call is refused as long as its receipt has no room; text goes on; with room again calls go out."""
    faults = Faults()
    faults.error = lambda: sqlite3.OperationalError("database or disk is full")
    async with desk(tmp_path, always(TURN), connect=faults.connect) as gate:
        faults.also = ("INSERT",)
        answer = await ask(gate, dialect, streamed=streamed)
        assert (answer.calls, answer.whole, answer.stop) == ([], True, STOPS[dialect])
        assert answer.text.startswith("I note it.")
        assert answer.usage
        assert gate.lines()[0]["verdicts"] == ["note:forbid:store_unavailable"]
        faults.also = ()
        assert (await ask(gate, dialect, streamed=streamed)).calls != []


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_a_raise_in_the_receipts_transaction(
    tmp_path: Path, dialect: Dialect, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong while the receipt is written, the call does not leave."""

    def raising(*_: object) -> Any:
        raise StoreError("no")

    async with desk(tmp_path, always(TURN)) as gate:
        with monkeypatch.context() as patched:
            patched.setattr(Transaction, "write", raising)
            answer = await ask(gate, dialect, streamed=streamed)
        assert answer.calls == []
        assert b"alpha-mark" not in answer.body
        assert (await ask(gate, dialect, streamed=streamed)).calls != []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("dialect", BOTH, ids=[dialect.value for dialect in BOTH])
async def test_a_bug_in_the_receipts_transaction(
    tmp_path: Path, dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody expects ends the writing thread: that call and all that follow are refused, and `/readyz` says so."""

    def raising(*_: object) -> Any:
        raise RuntimeError("no")

    async with desk(tmp_path, always(TURN)) as gate:
        with monkeypatch.context() as patched:
            patched.setattr(Transaction, "write", raising)
            answer = await ask(gate, dialect)
            assert (answer.calls, answer.whole) == ([], True)
        assert (await ask(gate, dialect)).calls == []
        async with gate.session.get(gate.admin + "/readyz") as ready:
            assert ready.status == 503


@pytest.mark.parametrize("dialect", BOTH, ids=[dialect.value for dialect in BOTH])
async def test_a_store_that_breaks_for_good_lets_nothing_out(tmp_path: Path, dialect: Dialect) -> None:
    """A store that was closed under the gate: text flows, calls are refused, requests that need a receipt are 503."""
    async with desk(tmp_path, always(TURN), extra="pass_through: [POST /v1/embeddings]\n") as gate:
        await gate.store.close()
        answer = await ask(gate, dialect)
        assert (answer.calls, answer.whole) == ([], True)
        async with gate.session.get(gate.admin + "/readyz") as ready:
            assert ready.status == 503
        async with gate.session.post(gate.url + "/v1/embeddings", headers={"authorization": "Bearer x"}) as passed:
            assert passed.status == 503
        assert len(gate.provider.received) == 1


async def test_a_policy_edit_while_the_store_is_down_is_no_way_round(tmp_path: Path) -> None:
    """The change of a policy needs a receipt of its own: until it has one, no call is judged by either revision."""
    faults = Faults()
    async with desk(tmp_path, always(TURN), connect=faults.connect) as gate:
        for streamed in (True, False):
            faults.also = ("INSERT",)
            text = gate.policy.read_text() + f"# edited {streamed}\n"
            await asyncio.to_thread(gate.policy.write_text, text)
            answer = await ask(gate, Dialect.CHAT, streamed=streamed)
            assert answer.calls == []
            assert answer.status in (200, 503)
            assert answer.error is not None or answer.whole
            faults.also = ()
            assert (await ask(gate, Dialect.CHAT, streamed=streamed)).calls != []


async def test_a_policy_edit_in_mid_stream_while_the_store_is_down(tmp_path: Path) -> None:
    """The same between a request's admission and its call: the turn ends whole, or by an error, and never by a hang."""
    faults = Faults()
    for dialect in BOTH:
        steps = Steps(events_of(dialect, TURN))
        async with desk(tmp_path / dialect.value, always(TURN), connect=faults.connect, upstream=steps.app()) as gate:

            async def before(number: int, gate: Desk = gate) -> Cut | None:
                if number == 2:
                    faults.also = ("INSERT",)
                    await asyncio.to_thread(gate.policy.write_text, DESK + "# edited\n")
                return None

            steps.before = before
            answer = await ask(gate, dialect)
            faults.also = ()
            assert answer.calls == []
            assert answer.whole or answer.error is not None
            assert b"alpha-mark" not in answer.body


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_a_client_that_leaves_while_the_receipt_is_written(
    tmp_path: Path, dialect: Dialect, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision that was being written is the call's only one, and its receipt says that it was aborted."""
    writing = asyncio.Event()
    commit = Store.commit

    async def slow(store: Store, entries: Any) -> Any:
        if any(entry.when_halted for entry in entries):
            writing.set()
            done = await commit(store, entries)
            await asyncio.sleep(0.3)
            return done
        return await commit(store, entries)

    async with desk(tmp_path, always(TURN)) as gate:
        monkeypatch.setattr(Store, "commit", slow)
        asking = asyncio.ensure_future(ask(gate, dialect, streamed=streamed))
        await writing.wait()
        asking.cancel()
        records = await gate.settled()
        assert [(each["kind"], each.get("ruling")) for each in records] == [("decided", "allow"), ("aborted", None)]
        assert records[0]["receipt"] == records[1]["receipt"]
        assert gate.lines()[0]["outcome"] == "client_lost"
        assert gate.lines()[0]["receipts"] == [records[0]["receipt"]]


# -- halt


async def _halted(gate: Desk, answer: Heard, kinds: list[str]) -> None:
    assert answer.calls == []
    assert answer.whole
    records = [each for each in await gate.settled() if each["kind"] not in ("halted", "resumed")]
    assert [each["kind"] for each in records] == kinds
    assert (records[0]["ruling"], records[0]["reason"], records[0]["mode"]) == ("forbid", "halted", "halt")


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_a_halt_before_the_decision(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """Every write is refused, a read is not; a resume lifts it."""
    turn = Turn((NOTE, Call("ping", "{}")))
    async with desk(tmp_path, always(turn)) as gate:
        await gate.store.halt(by="anna", reason="test", at=utc_now())
        answer = await ask(gate, dialect, streamed=streamed)
        assert [call.name for call in answer.calls] == ["ping"]
        await gate.store.resume(by="anna", at=utc_now())
        answer = await ask(gate, dialect, streamed=streamed)
        assert [call.name for call in answer.calls] == ["note", "ping"]


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_a_halt_while_facts_are_read(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """The facts say yes, and the halt that was thrown while they were asked says no."""
    turn = Turn((Call("process_refund", '{"order_id": "A1001", "amount": 12}'),))
    async with desk(tmp_path, always(turn)) as gate:

        async def halting(_: web.Request) -> web.StreamResponse:
            await gate.store.halt(by="anna", reason="test", at=utc_now())
            return web.json_response(order())

        gate.facts.answers = halting
        answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed())
        await _halted(gate, answer, ["decided", "substituted"])


@pytest.mark.parametrize("hop", ["decided", "committing"])
@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_a_halt_between_the_decision_and_its_receipt(
    tmp_path: Path, dialect: Dialect, streamed: bool, hop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that was allowed and is not yet written down is refused by the transaction that writes it."""
    async with desk(tmp_path, always(TURN)) as gate:
        record, commit = Judge.record, Store.commit

        async def recording(judge: Judge, judgments: Mapping[Any, Any], *rest: Any) -> Any:
            assert all(judgment.is_allowed for judgment in judgments.values())
            await gate.store.halt(by="anna", reason="test", at=utc_now())
            return await record(judge, judgments, *rest)

        async def committing(store: Store, entries: Any) -> Any:
            if any(entry.when_halted for entry in entries):
                await gate.store.halt(by="anna", reason="test", at=utc_now())
            return await commit(store, entries)

        if hop == "decided":
            monkeypatch.setattr(Judge, "record", recording)
        else:
            monkeypatch.setattr(Store, "commit", committing)
        answer = await ask(gate, dialect, streamed=streamed)
        assert b"alpha-mark" not in answer.body
        await _halted(gate, answer, ["decided", "substituted"])


@pytest.mark.parametrize("dialect", BOTH, ids=[dialect.value for dialect in BOTH])
async def test_a_halt_at_every_event_of_a_stream(tmp_path: Path, dialect: Dialect) -> None:
    """For every event: a write that had not left when the halt was thrown does not leave any more.

    In Anthropic's dialect a call is judged at its block's stop and leaves with what follows: a halt in between counts.
    """
    turn = Turn((Text("I note it."), NOTE, Text("And that.") if dialect is Dialect.ANTHROPIC else NOTE))
    steps = Steps(events_of(dialect, turn))
    delivered = 0
    async with desk(tmp_path, always(turn), upstream=steps.app()) as gate:
        for number in range(len(steps.events) + 1):

            async def before(at: int, number: int = number) -> Cut | None:
                if at == number:
                    await asyncio.sleep(0.03)  # mostly, what was sent has been read by now
                    await gate.store.halt(by="anna", reason="test", at=utc_now())
                return None

            steps.before = before
            answer = await ask(gate, dialect)
            records = await gate.settled(number + 1)
            await gate.store.resume(by="anna", at=utc_now())
            assert answer.whole
            kinds = [each["kind"] for each in records]
            last = len(kinds) - 1 - kinds[::-1].index("halted")
            after = [each for each in records[last:] if each["kind"] == "decided"]
            assert not [each for each in after if each["ruling"] == "allow"], number
            own = [each for each in records if each.get("exchange") == gate.lines()[-1]["exchange"]]
            allowed = [each for each in own if each["kind"] == "decided" and each["ruling"] == "allow"]
            assert [call.id for call in answer.calls] == [each["call_id"] for each in allowed], number
            delivered += bool(answer.calls)
    assert 0 < delivered < len(steps.events)
