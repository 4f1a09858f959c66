"""Each limit of an exchange, reached: the turn ends by code, in a form that its client reads, with a record."""

from __future__ import annotations

import asyncio
import io
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import orjson
import pytest

from proxy.demo.turns import Call, Delivery, Dialect, Text, Turn, always
from tests.e2e.client import BOTH, PATHS, WAY_IDS, WAYS, ask, request_body, request_headers
from tests.e2e.harness import ALLOW_ALL, desk
from tests.e2e.steps import Steps, events_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.harness import Desk
    from tests.e2e.steps import Cut

IDS = [dialect.value for dialect in BOTH]
STOPS = {Dialect.ANTHROPIC: "end_turn", Dialect.CHAT: "stop"}
TURN = Turn((Text("I note it."), Call("note", '{"text": "alpha-mark, of some length"}'), Call("ping", "{}")))


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_an_exchange_that_lasts_too_long_is_ended_at_every_event(tmp_path: Path, dialect: Dialect) -> None:
    """A provider that falls silent, wherever: at `exchange_ms_max` the turn ends; no open call leaves."""
    events = events_of(dialect, TURN)
    places, _limits = range(1, len(events), 3), {"exchange_ms_max": 1000}
    gone_on = asyncio.Event()

    def silent_at(place: int) -> Steps:
        async def before(number: int) -> Cut | None:
            if number == place:
                await gone_on.wait()
            return None

        return Steps(events, before)

    async def one(gate: Desk, place: int) -> None:
        began = time.monotonic()
        answer = await ask(gate, dialect)
        assert time.monotonic() - began < 10
        assert answer.status == 200
        has_call = any(name in b"".join(events[:place]) for name in (b'"note"', b'"ping"'))
        records = await gate.settled()
        decided = {each["call_id"]: each for each in records if each["kind"] == "decided"}
        for call in answer.calls:
            assert decided[call.id]["ruling"] == "allow"
        if has_call:
            assert answer.whole, place
            assert decided
            assert answer.calls or "hold_limit" in {each["reason"] for each in decided.values()}
        assert gate.lines()[0]["outcome"] == "limit"

    async with AsyncExitStack() as stack:
        gates = [
            await stack.enter_async_context(
                desk(
                    tmp_path / str(place),
                    always(TURN),
                    upstream=silent_at(place).app(),
                    limits={"exchange_ms_max": 1000},
                )
            )
            for place in places
        ]
        await asyncio.gather(*(one(gate, place) for gate, place in zip(gates, places, strict=True)))


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_a_provider_that_does_not_answer_is_a_504(tmp_path: Path, dialect: Dialect) -> None:
    """No head, or no body, within `exchange_ms_max`: the dialect's error, a record, and no hang."""
    limits = {"exchange_ms_max": 1000}
    async with desk(tmp_path, always(TURN, Delivery(delay_seconds=20)), limits=limits) as gate:
        began = time.monotonic()
        for answer in await asyncio.gather(*(ask(gate, dialect, streamed=streamed) for streamed in (True, False))):
            assert (answer.status, answer.calls) == (504, [])
            assert answer.error is not None
        assert time.monotonic() - began < 10
        assert [each["kind"] for each in await gate.records()] == ["refused"] * 2


async def test_a_body_that_never_ends_is_a_504(tmp_path: Path) -> None:
    """A body that is not streamed and drips on is given up at the same limit, also where a stream was asked for."""

    async def before(number: int) -> Cut | None:
        await asyncio.sleep(0.2)
        return None

    for content, streamed in (("application/json", False), ("application/json", True)):
        steps = Steps([b" "] * 100, before, headers={"Content-Type": content})
        limits = {"exchange_ms_max": 1000}
        async with desk(tmp_path / str(streamed), always(TURN), upstream=steps.app(), limits=limits) as gate:
            began = time.monotonic()
            answer = await ask(gate, Dialect.CHAT, streamed=streamed)
            assert time.monotonic() - began < 10
            assert answer.status == 504
            assert answer.error is not None


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_a_turn_that_holds_too_much_is_ended(tmp_path: Path, dialect: Dialect) -> None:
    """A call larger than `held_bytes_max` is refused while it is written; the turn is whole, and upstream is let go."""
    turn = Turn((Text("I note it."), Call("note", '{"text": "' + "alpha-mark " * 40_000 + '"}')))
    async with desk(tmp_path, always(turn, Delivery(fragment_chars=2000)), limits={"held_bytes_max": 65_536}) as gate:
        answer = await ask(gate, dialect)
        assert (answer.calls, answer.whole, answer.stop) == ([], True, STOPS[dialect])
        assert answer.text.startswith("I note it.")
        assert b"alpha-mark" not in answer.body
        records = await gate.settled()
        assert [each["kind"] for each in records] == ["decided", "substituted"]
        assert records[0]["reason"] == "hold_limit"
        assert gate.lines()[0]["outcome"] == "limit"


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_earlier_calls_stand_when_a_later_one_is_too_large(tmp_path: Path, dialect: Dialect) -> None:
    """What was complete and allowed before the limit may leave; what was open may not."""
    turn = Turn((Call("ping", "{}"), Call("note", '{"text": "' + "alpha-mark " * 40_000 + '"}')))
    async with desk(tmp_path, always(turn, Delivery(fragment_chars=2000)), limits={"held_bytes_max": 65_536}) as gate:
        answer = await ask(gate, dialect)
        assert answer.whole
        assert [call.name for call in answer.calls] in ([], ["ping"])
        assert b"alpha-mark" not in answer.body
        records = await gate.settled()
        assert "hold_limit" in {each["reason"] for each in records if each["kind"] == "decided"}


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_a_gate_that_is_full_says_so(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """Above `bytes_in_flight_max` a new request is the dialect's overload error; with room again it is served."""
    limits = {"bytes_in_flight_max": 16 * 1024 * 1024}
    async with desk(tmp_path, always(TURN, Delivery(delay_seconds=0.4)), ALLOW_ALL, limits=limits) as gate:
        large = request_body(dialect, "x" * 12_000_000, streamed=streamed)
        fields = request_headers(dialect)

        async def ask_large() -> int:
            async with gate.session.post(gate.url + PATHS[dialect], data=io.BytesIO(large), headers=fields) as got:
                await got.read()
                return got.status

        first = asyncio.ensure_future(ask_large())
        await asyncio.sleep(0.2)
        async with gate.session.post(gate.url + PATHS[dialect], data=io.BytesIO(large), headers=fields) as got:
            error = orjson.loads(await got.read())["error"]
            assert got.status == 503
            if dialect is Dialect.ANTHROPIC:
                assert error["type"] == "overloaded_error"
        assert await first == 200
        assert await ask_large() == 200


async def test_what_is_held_counts_as_in_flight(tmp_path: Path) -> None:
    """Bodies of unknown length and answers that are held take room, too: many of them cannot fill the memory."""
    limits = {"bytes_in_flight_max": 16 * 1024 * 1024}
    async with desk(tmp_path, always(TURN, Delivery(delay_seconds=0.4)), ALLOW_ALL, limits=limits) as gate:
        large = request_body(Dialect.CHAT, "x" * 6_000_000, streamed=True)

        async def parts() -> object:
            for start in range(0, len(large), 1_000_000):
                yield large[start : start + 1_000_000]

        async def ask_chunked() -> int:
            fields = request_headers(Dialect.CHAT)
            async with gate.session.post(gate.url + PATHS[Dialect.CHAT], data=parts(), headers=fields) as got:
                await got.read()
                return got.status

        found = await asyncio.gather(*(ask_chunked() for _ in range(6)))
        assert 200 in found
        assert 503 in found
        assert gate.listener._room.held == 0


async def test_a_body_that_is_too_large_is_a_413(tmp_path: Path) -> None:
    """With its length stated or not, in the dialect's shape; nothing goes up."""
    async with desk(tmp_path, always(TURN), ALLOW_ALL, limits={"request_bytes_max": 100_000}) as gate:
        large = request_body(Dialect.CHAT, "x" * 200_000, streamed=True)

        async def parts() -> object:
            yield large

        for data in (large, parts()):
            fields = request_headers(Dialect.CHAT)
            async with gate.session.post(gate.url + PATHS[Dialect.CHAT], data=data, headers=fields) as got:
                assert got.status == 413
                assert "error" in orjson.loads(await got.read())
        assert gate.provider.received == []


async def test_an_answer_that_is_too_large_is_a_502(tmp_path: Path) -> None:
    """Past `response_bytes_max` a body is given up, in the dialect's shape, and what it held is gone."""
    turn = Turn((Call("note", '{"text": "' + "alpha-mark " * 40_000 + '"}'),))
    async with desk(tmp_path, always(turn), limits={"response_bytes_max": 100_000}) as gate:
        for dialect in BOTH:
            answer = await ask(gate, dialect, streamed=False)
            assert (answer.status, answer.calls) == (502, [])
            assert b"alpha-mark" not in answer.body


async def test_a_request_that_does_not_arrive_is_given_up(tmp_path: Path) -> None:
    """A body that drips in for longer than `exchange_ms_max` is a 400, and what it took is free again."""

    async def drips() -> object:
        while True:
            yield b" "
            await asyncio.sleep(0.05)

    async with desk(tmp_path, always(TURN), ALLOW_ALL, limits={"exchange_ms_max": 1000}) as gate:
        began = time.monotonic()
        fields = request_headers(Dialect.CHAT)
        async with gate.session.post(gate.url + PATHS[Dialect.CHAT], data=drips(), headers=fields) as got:
            assert got.status == 400
        assert time.monotonic() - began < 10
        assert gate.listener._room.held == 0
