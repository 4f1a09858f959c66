"""The provider gone at every event, the client gone at every event: a record, and never a call that was not judged."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from proxy.demo.turns import Call, Delivery, Dialect, Reply, Text, Turn, always
from tests.e2e.client import BOTH, PATHS, ask, request_body, request_headers
from tests.e2e.harness import desk
from tests.e2e.steps import Cut, Steps, events_of

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from proxy.demo.turns import Asked
    from tests.e2e.harness import Desk

# `first` and `third` are allowed; the argument of each carries a mark of its own.
TURN = Turn(
    (
        Text("Let me look at that for you."),
        Call("note", '{"text": "alpha-mark, of some length"}'),
        Call("drop_tables", '{"text": "bravo-mark, of some length"}'),
        Call("ping", '{"text": "delta-mark, of some length"}'),
    )
)
MARKS = {"note": b"alpha-mark", "drop_tables": b"bravo-mark", "ping": b"delta-mark"}


def check(calls: list[Any], body: bytes, records: list[dict[str, Any]]) -> None:
    """Every call in the client's hands was decided as allowed and told as released; no other's argument is there."""
    decided = {each["call_id"]: each for each in records if each["kind"] == "decided" and each["call_id"]}
    for call in calls:
        assert decided[call.id]["ruling"] == "allow", call
    for name, mark in MARKS.items():
        if mark[:6] in body:
            assert any(each["tool"] == name and each["ruling"] == "allow" for each in decided.values()), name
    assert MARKS["drop_tables"] not in body


@pytest.mark.parametrize("how", Cut, ids=[cut.name.lower() for cut in Cut])
@pytest.mark.parametrize("dialect", BOTH, ids=[dialect.value for dialect in BOTH])
async def test_the_provider_is_gone_at_every_event(tmp_path: Path, dialect: Dialect, how: Cut) -> None:
    """For every event: the answer ends within its bound, undamaged where it stands, and each call has a record.

    A loss is told in the dialect. An open call is never delivered, whatever had come of it.
    """
    steps = Steps(events_of(dialect, TURN))
    async with desk(tmp_path, always(TURN), upstream=steps.app()) as gate:
        for number in range(len(steps.events) + 1):

            async def before(at: int, number: int = number) -> Cut | None:
                return how if at == number else None

            steps.before = before
            answer = await ask(gate, dialect)
            records = await gate.settled(number + 1)
            check(answer.calls, answer.body, records)
            if answer.status == 200 and number < len(steps.events) and how is not Cut.END:
                assert answer.error is not None, number
            if answer.status != 200:
                assert answer.error is not None
        assert steps.asked == number + 1


@pytest.mark.parametrize("dialect", BOTH, ids=[dialect.value for dialect in BOTH])
async def test_a_whole_answer_is_lost_at_every_event_of_a_body(tmp_path: Path, dialect: Dialect) -> None:
    """A body that is cut is no answer: an error in the dialect's shape, and no call."""
    for how in (Cut.LOST, Cut.RESET):
        steps = Steps([b'{"id": "x", ', b'"content": []'], headers={"Content-Type": "application/json"})
        async with desk(tmp_path / how.name, always(TURN), upstream=steps.app()) as gate:
            for streamed in (True, False):
                for number in range(3):

                    async def before(at: int, number: int = number, how: Cut = how) -> Cut | None:
                        return how if at == number else None

                    steps.before = before
                    answer = await ask(gate, dialect, streamed=streamed)
                    assert answer.status == 502, (streamed, number, answer.body)
                    assert answer.error is not None
            await gate.settled(6)


@pytest.mark.parametrize("dialect", BOTH, ids=[dialect.value for dialect in BOTH])
async def test_the_client_is_gone_at_every_event(tmp_path: Path, dialect: Dialect) -> None:
    """For every event: the exchange ends in a log line and a record for each call that was read."""
    steps = Steps(events_of(dialect, TURN))
    async with desk(tmp_path, always(TURN), upstream=steps.app()) as gate:
        for number in range(len(steps.events) + 1):
            reached, left = asyncio.Event(), asyncio.Event()

            async def before(
                at: int, number: int = number, reached: asyncio.Event = reached, left: asyncio.Event = left
            ) -> Cut | None:
                if at == number:
                    reached.set()
                    await left.wait()
                return None

            steps.before = before
            async with asyncio.timeout(10):
                writer = await _asking(gate, dialect)
                await reached.wait()
                writer.transport.abort()
                records = await gate.settled(number + 1)
            left.set()
            assert gate.lines()[-1]["outcome"] == "client_lost", number
            released = [each for each in records if each["kind"] == "released"]
            decided = {each["receipt"]: each for each in records if each["kind"] == "decided"}
            assert all(decided[each["receipt"]]["ruling"] == "allow" for each in released)


@pytest.mark.parametrize("dialect", BOTH, ids=[dialect.value for dialect in BOTH])
async def test_the_client_is_gone_before_the_provider_answers(tmp_path: Path, dialect: Dialect) -> None:
    """The exchange ends at once, its line says why, and nothing is kept for it."""
    asked = asyncio.Event()

    def script(_: Asked) -> Reply:
        asked.set()
        return Reply(TURN, Delivery(delay_seconds=5))

    async with desk(tmp_path, script) as gate:
        writer = await _asking(gate, dialect)
        async with asyncio.timeout(3):
            await asked.wait()
            writer.transport.abort()
            assert await gate.settled() == []
        (line,) = gate.lines()
        assert line["outcome"] == "client_lost"
        assert gate.listener._room.held == 0


async def _asking(gate: Desk, dialect: Dialect) -> asyncio.StreamWriter:
    address = urlsplit(gate.url)
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    body = request_body(dialect, "hello", streamed=True)
    fields = request_headers(dialect, {"host": address.netloc, "content-length": str(len(body))})
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    writer.write(f"POST {PATHS[dialect]} HTTP/1.1\r\n{head}\r\n".encode() + body)
    await writer.drain()
    return writer
