"""Reports about other gates, as tests of this one with a running gate. Each is seen to fail on a pass-through.

The pass-through double relays every byte. A test here states what a client must find; `fails_on_pass_through` runs the
same statement against the double and wants it broken.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import time
import zlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import brotli
import orjson
import pytest
import zstandard
from aiohttp import web

from proxy.demo.serving import serving
from proxy.demo.turns import Call, Delivery, Dialect, Encoding, HttpError, Text, Turn, Verbatim, always
from tests.e2e.client import BOTH, PATHS, WAY_IDS, WAYS, ask, heard, request_body, request_headers
from tests.e2e.harness import DENY_ALL, DESK, desk, order
from tests.e2e.steps import Steps, events_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from pathlib import Path

    from tests.e2e.harness import Desk
    from tests.e2e.steps import Cut

IDS = [dialect.value for dialect in BOTH]
STOPS = {Dialect.ANTHROPIC: "end_turn", Dialect.CHAT: "stop"}


@asynccontextmanager
async def pass_through(gate: Desk, *, collecting: bool = False) -> AsyncIterator[str]:
    """What a proxy without a gate does with the same traffic; `collecting`, one that waits for the whole answer."""

    async def relay(request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        body = await request.read()
        async with gate.session.request(
            request.method, gate.provider_url + request.raw_path, data=body, headers=headers
        ) as got:
            kept = {name: value for name, value in got.headers.items() if name != "Transfer-Encoding"}
            response = web.StreamResponse(status=got.status, headers=kept)
            await response.prepare(request)
            if collecting:
                await response.write(await got.read())
            async for chunk in got.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", relay)
    async with serving(app, shutdown_seconds=0.1) as url:
        yield url


async def fails_on_pass_through(gate: Desk, claim: Callable[[str], Coroutine[Any, Any, None]]) -> None:
    """The claim is broken where nothing gates: a test that cannot fail is none."""
    async with pass_through(gate) as url:
        with pytest.raises(AssertionError):
            await claim(url)


# 1


SPELLINGS = (
    "drop_tables",
    "Drop_Tables",
    "drop-tables",
    "\uff44\uff52\uff4f\uff50_tables",
    "droptables",
    "drop tables",
    "NOTE",
    "no-te",
)


@pytest.mark.parametrize("name", SPELLINGS)
async def test_01_a_guard_that_saw_one_format_only_let_the_call_through_in_the_others(
    tmp_path: Path, name: str
) -> None:
    """One call, two dialects, streamed or not, under any spelling of its name: one and the same verdict."""
    turn = Turn((Call(name, '{"table": "alpha-mark"}'),))
    async with desk(tmp_path, always(turn)) as gate:

        async def claim(url: str) -> None:
            for dialect, streamed in WAYS:
                answer = await ask(gate, dialect, streamed=streamed, url=url)
                assert answer.calls == []
                assert b"alpha-mark" not in answer.body
                assert answer.stop == STOPS[dialect]

        await claim(gate.url)
        records = [each for each in await gate.settled(len(WAYS)) if each["kind"] == "decided"]
        assert len({(each["ruling"], each["reason"]) for each in records}) == 1
        assert len(records) == len(WAYS)
        await fails_on_pass_through(gate, claim)


async def test_01_the_verdict_of_a_call_is_one_in_every_format(tmp_path: Path) -> None:
    """Calls of every kind of outcome get that outcome in each dialect, streamed or not, with one digest."""
    calls = {
        "allow": Call("process_refund", '{"order_id": "A1001", "amount": 12}'),
        "forbid": Call("process_refund", '{"order_id": "A1002", "amount": 12}'),
        "escalate": Call("process_refund", '{"order_id": "A1001", "amount": 847}'),
        "clarify": Call("process_refund", '{"amount": 12}'),
    }
    async with desk(tmp_path, always(Turn(()))) as gate:
        for number, (ruling, call) in enumerate(calls.items(), 1):
            gate.provider.script = always(Turn((call,)))
            for dialect, streamed in WAYS:
                await ask(gate, dialect, streamed=streamed, headers=gate.signed())
            records = await gate.settled(number * len(WAYS))
            last = [each for each in records if each["kind"] == "decided"][-len(WAYS) :]
            assert {each["ruling"] for each in last} == {ruling}
            assert len({(each["reason"], each["argument_digest"]) for each in last}) == 1


# 6


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_06_the_call_was_with_the_agent_before_the_verdict(tmp_path: Path, dialect: Dialect) -> None:
    """As long as the source of facts has not answered, no byte of the call's name or arguments has arrived."""
    turn = Turn((Text("One moment."), Call("process_refund", '{"order_id": "A1001", "amount": 12}')))
    async with desk(tmp_path, always(turn)) as gate:
        seen: list[bytes] = []
        before: list[bytes] = []

        async def slow(_: web.Request) -> web.StreamResponse:
            await asyncio.sleep(0.15)
            before.append(b"".join(seen))
            return web.json_response(order())

        async def claim(url: str) -> None:
            seen.clear()
            before.clear()
            data = request_body(dialect, "x", streamed=True)
            fields = request_headers(dialect, gate.signed())
            async with gate.session.post(url + PATHS[dialect], data=data, headers=fields) as got:
                async for chunk in got.content.iter_any():
                    seen.append(chunk)  # noqa: PERF401 - it is looked at meanwhile
            assert before, "the facts were read"
            assert b"moment" in before[0]
            assert b"process_refund" not in before[0]
            assert b"A1001" not in before[0]
            assert b"process_refund" in b"".join(seen)

        gate.facts.answers = slow
        await claim(gate.url)
        await fails_on_pass_through(gate, claim)


# 9


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_09_a_text_only_stream_was_collected_and_emitted_anew(tmp_path: Path, dialect: Dialect) -> None:
    """Text is byte-identical to the provider's, and its first byte arrives while the provider is still writing."""
    turn = Turn((Text("A long answer in many small pieces, none of which is a call. " * 3),))
    steps = Steps(events_of(dialect, turn))
    async with desk(tmp_path, always(turn), DENY_ALL, upstream=steps.app()) as gate:
        arrived = asyncio.Event()

        late: list[int] = []

        async def before(number: int) -> Cut | None:
            if number > 2 and not late:
                try:
                    async with asyncio.timeout(1):
                        await arrived.wait()  # the provider goes on only when the client has read
                except TimeoutError:
                    late.append(number)
                arrived.clear()
            return None

        async def claim(url: str) -> None:
            late.clear()
            arrived.clear()
            data = request_body(dialect, "x", streamed=True)
            got_bytes = b""
            async with (
                asyncio.timeout(10),
                gate.session.post(url + PATHS[dialect], data=data, headers=request_headers(dialect)) as got,
            ):
                async for chunk in got.content.iter_any():
                    got_bytes += chunk
                    arrived.set()
            assert got_bytes == b"".join(steps.events)
            assert late == []

        steps.before = before
        await claim(gate.url)
        async with pass_through(gate, collecting=True) as url:
            with pytest.raises(AssertionError):
                await claim(url)


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_09_text_before_a_call_waited_for_the_call(tmp_path: Path, dialect: Dialect) -> None:
    """The text before a call is with the client while the call is still being written; the call is not."""
    turn = Turn((Text("First the text."), Call("ping", '{"text": "alpha-mark, of some length"}')))
    steps = Steps(events_of(dialect, turn))
    last_text = max(number for number, event in enumerate(steps.events) if b"xt." in event)
    async with desk(tmp_path, always(turn), upstream=steps.app()) as gate:
        read = asyncio.Event()

        async def before(number: int) -> Cut | None:
            if number == last_text + 3:
                async with asyncio.timeout(3):
                    await read.wait()
            return None

        steps.before = before
        data = request_body(dialect, "x", streamed=True)
        seen = b""
        async with (
            asyncio.timeout(10),
            gate.session.post(gate.url + PATHS[dialect], data=data, headers=request_headers(dialect)) as got,
        ):
            async for chunk in got.content.iter_any():
                seen += chunk
                if b"xt." in seen and not read.is_set():
                    assert b"ping" not in seen
                    read.set()
        assert seen == b"".join(steps.events)


# 11


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_11_a_deny_was_ignored_and_an_ask_overrode_a_deny(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """Deny over escalate over allow, whatever the order of the rules, and in no hands of the agent's."""
    rules = (
        "      - escalate: over_limit\n        when: args.amount > 500.00 USD\n",
        "      - forbid: outside_window\n        when: args.amount > 100.00 USD\n",
    )
    head = DESK[: DESK.index("      - escalate: over_limit")]
    turn = Turn((Call("process_refund", '{"order_id": "A1001", "amount": 847}'),))
    for number, order_of in enumerate((rules, rules[::-1])):
        policy = head + "".join(order_of)
        async with desk(tmp_path / str(number), always(turn), policy) as gate:

            async def claim(url: str, gate: Desk = gate) -> None:
                answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed(), url=url)
                assert answer.calls == []

            await claim(gate.url)
            decided = (await gate.settled())[0]
            assert (decided["ruling"], decided["reason"]) == ("forbid", "outside_window")
            fired = {verdict["reason"] for verdict in decided["verdicts"] if verdict["ruling"] != "allow"}
            assert fired == {"outside_window", "over_limit"}
            await fails_on_pass_through(gate, claim)


# 32


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_32_a_compressed_request_was_not_read(tmp_path: Path, dialect: Dialect, encoding: str) -> None:
    """A compressed request is read, judged by what it declares, and sent up as plain bytes of the same meaning."""
    data = request_body(dialect, "grüezi", streamed=True)
    async with desk(tmp_path, always(Turn((Call("drop_tables", "{}"),)))) as gate:

        async def claim(url: str) -> None:
            fields = request_headers(dialect, {"content-encoding": encoding})
            async with gate.session.post(url + PATHS[dialect], data=ENCODINGS[encoding](data), headers=fields) as got:
                answer = heard(dialect, got.status, dict(got.headers), await got.read())
            assert answer.calls == []
            assert answer.whole
            sent = gate.provider.received[-1]
            assert sent.body == data
            assert sent.header("content-encoding") is None
            assert sent.header("content-length") == str(len(data))

        await claim(gate.url)
        await fails_on_pass_through(gate, claim)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_32_a_compressed_bomb(tmp_path: Path, encoding: str) -> None:
    """A body that grows past `request_decoded_bytes_max` is a 413 in the dialect's shape; nothing goes up."""
    bomb = ENCODINGS[encoding](b'{"x": "' + b"a" * 20_000_000 + b'"}')
    limits = {"request_decoded_bytes_max": 1_000_000}
    async with desk(tmp_path, always(Turn((Text("x"),))), limits=limits) as gate:
        for dialect in BOTH:
            fields = request_headers(dialect, {"content-encoding": encoding})
            async with gate.session.post(gate.url + PATHS[dialect], data=bomb, headers=fields) as got:
                assert got.status == 413
                assert "error" in orjson.loads(await got.read())
            for wrong in (b"no such encoding", ENCODINGS[encoding](b"{}")[:-3]):
                async with gate.session.post(gate.url + PATHS[dialect], data=wrong, headers=fields) as got:
                    assert got.status == 400
        fields = request_headers(Dialect.CHAT, {"content-encoding": "compress"})
        async with gate.session.post(gate.url + PATHS[Dialect.CHAT], data=b"x", headers=fields) as got:
            assert got.status == 400
        assert gate.provider.received == []


@pytest.mark.parametrize("encoding", Encoding, ids=[each.value for each in Encoding])
@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_32_a_compressed_response_was_passed_verbatim(
    tmp_path: Path, dialect: Dialect, streamed: bool, encoding: Encoding
) -> None:
    """A provider that compresses although it was told not to gets a 502: nothing undecoded is passed on."""
    turn = Turn((Call("drop_tables", "{}"),))
    async with desk(tmp_path, always(turn, Delivery(encoding=encoding))) as gate:

        async def claim(url: str) -> None:
            data = request_body(dialect, "x", streamed=streamed)
            fields = request_headers(dialect, {"accept-encoding": "gzip, br"})
            async with gate.session.post(url + PATHS[dialect], data=data, headers=fields) as got:
                assert got.status == 502
                assert "content-encoding" not in got.headers
                assert "error" in orjson.loads(await got.read())
            assert gate.provider.received[-1].header("accept-encoding") == "identity"

        await claim(gate.url)
        assert [each["kind"] for each in await gate.records()] == ["refused"]
        await fails_on_pass_through(gate, claim)


@pytest.mark.parametrize("status", [400, 401, 404, 413, 429, 500, 529])
@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_32_error_bodies_arrived_broken(tmp_path: Path, dialect: Dialect, status: int) -> None:
    """An error of the provider's arrives byte for byte, with its headers, and with no header about an encoding."""
    headers = {"retry-after": "7", "x-should-retry": "true"}
    error = HttpError(status, "some_error", "ünïcode and \u2028 all", headers=headers)
    async with desk(tmp_path, always(error), DENY_ALL) as gate:
        for streamed in (True, False):
            answer = await ask(gate, dialect, streamed=streamed)
            direct = await ask(gate, dialect, streamed=streamed, url=gate.provider_url)
            assert answer.status == direct.status == status
            assert "content-encoding" not in answer.headers
            assert answer.headers.get("content-length") in (None, str(len(answer.body)))
            assert answer.headers["retry-after"] == "7"
            drop = b"request_id"
            assert answer.body.partition(drop)[0] == direct.body.partition(drop)[0]


async def test_32_a_compressed_error_is_as_it_came(tmp_path: Path) -> None:
    """A 4xx that is compressed all the same keeps body and header together: either both arrive, or neither."""
    body = gzip.compress(b'{"error": {"message": "compressed"}}')
    answer = Verbatim(body, "application/json", status=400, headers={"Content-Encoding": "gzip"})
    async with desk(tmp_path, always(answer), DENY_ALL) as gate:
        data = request_body(Dialect.CHAT, "x", streamed=False)
        fields = request_headers(Dialect.CHAT)
        async with gate.session.post(gate.url + PATHS[Dialect.CHAT], data=data, headers=fields) as got:
            raw = await got.read()
            if got.headers.get("content-encoding") == "gzip":
                raw = gzip.decompress(raw)
            assert "error" in orjson.loads(raw)


# 33


async def _longest_silence(gate: Desk, dialect: Dialect) -> tuple[float, list[bytes]]:
    """The longest time in which the client heard nothing, and what it heard."""

    async def slow(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(2.5)
        return web.json_response(order())

    gate.facts.answers = slow
    data, fields = request_body(dialect, "x", streamed=True), request_headers(dialect, gate.signed())
    times, chunks = [time.monotonic()], []
    async with gate.session.post(gate.url + PATHS[dialect], data=data, headers=fields) as got:
        async for chunk in got.content.iter_any():
            times.append(time.monotonic())
            chunks.append(chunk)
    return max(later - earlier for earlier, later in itertools.pairwise(times)), chunks


HELD = Turn((Text("One moment."), Call("process_refund", '{"order_id": "A1001", "amount": 12}')))
PATIENT = DESK.replace("timeout: 2s", "timeout: 9s")


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_33_a_held_call_looked_like_a_dead_connection(tmp_path: Path, dialect: Dialect) -> None:
    """While a call is held the client hears something at least every `keepalive_ms`, and never inside an event.

    A gate that only holds, here one whose interval is longer than the hold, is silent for as long as that takes.
    """
    async with (
        desk(tmp_path / "own", always(HELD), PATIENT, limits={"keepalive_ms": 1000}) as gate,
        desk(tmp_path / "silent", always(HELD), PATIENT, limits={"keepalive_ms": 60_000}) as silent,
    ):
        (silence, chunks), (broken, _) = await asyncio.gather(
            _longest_silence(gate, dialect), _longest_silence(silent, dialect)
        )
        assert silence < 1.5
        assert broken > 1.5
        answer = heard(dialect, 200, {"content-type": "text/event-stream"}, b"".join(chunks))
        assert [call.arguments for call in answer.calls] == [{"order_id": "A1001", "amount": 12}]
        kept = b"event: ping\n" if dialect is Dialect.ANTHROPIC else b": keep-alive\n\n"
        assert b"".join(chunks).count(kept) >= 2
        for chunk in chunks[:-1]:
            assert chunk.endswith(b"\n\n"), "nothing is written inside an event"


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_33_a_call_that_the_model_writes_slowly_looked_like_a_dead_connection(
    tmp_path: Path, dialect: Dialect
) -> None:
    """The same while the provider is in the middle of a call, and in the middle of an event."""
    turn = Turn((Text("One moment."), Call("ping", '{"text": "alpha-mark, of some length"}')))
    steps = Steps([])
    whole = events_of(dialect, turn)
    held = next(number for number, event in enumerate(whole) if b"pha-mark" in event)
    steps.events = [*whole[:held], whole[held][:20], whole[held][20:], *whole[held + 1 :]]
    async with desk(tmp_path, always(turn), upstream=steps.app(), limits={"keepalive_ms": 1000}) as gate:

        async def before(number: int) -> Cut | None:
            if number == held + 1:
                await asyncio.sleep(1.5)
            return None

        steps.before = before
        answer = await ask(gate, dialect)
        kept = b'event: ping\ndata: {"type": "ping"}\n\n' if dialect is Dialect.ANTHROPIC else b": keep-alive\n\n"
        assert answer.body.count(kept) == 1
        assert answer.body.replace(kept, b"") == b"".join(whole)


async def test_33_a_hold_outlived_its_client(tmp_path: Path) -> None:
    """A client that goes away while its call is held ends the exchange at once, with a record, and no keep-alive."""
    turn = Turn((Call("process_refund", '{"order_id": "A1001", "amount": 12}'),))
    policy = DESK.replace("timeout: 2s", "timeout: 9s")
    async with desk(tmp_path, always(turn), policy) as gate:
        asked = asyncio.Event()

        async def silent(_: web.Request) -> web.StreamResponse:
            asked.set()
            await asyncio.sleep(8)
            return web.json_response(order())

        gate.facts.answers = silent
        asking = asyncio.ensure_future(ask(gate, Dialect.CHAT, headers=gate.signed()))
        await asked.wait()
        began = time.monotonic()
        asking.cancel()
        records = await gate.settled()
        assert time.monotonic() - began < 6
        assert [each["kind"] for each in records] == ["decided", "aborted"]
        assert gate.lines()[0]["outcome"] == "client_lost"
