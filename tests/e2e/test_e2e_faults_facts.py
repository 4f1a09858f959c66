"""The source of facts slow, down, lying or leading elsewhere: a refusal with its reason, within its bound."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from aiohttp import web

from proxy.demo.turns import Call, Dialect, Text, Turn, always
from tests.e2e.client import ask
from tests.e2e.harness import CUSTOMER, DESK, desk, order

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

REFUND = Turn((Text("One moment."), Call("process_refund", '{"order_id": "A1001", "amount": 12}')))


def _gives(status: int = 200, body: bytes = b"{}", **headers: str) -> Callable[[web.Request], Awaitable[Any]]:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, body=body, headers={"Content-Type": "application/json", **headers})

    return answer


def _with(**fields: object) -> Callable[[web.Request], Awaitable[Any]]:
    return _gives(body=orjson.dumps(order() | fields))


async def _lost(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def _cut(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "500"})
    await response.prepare(request)
    await response.write(b'{"id": ')
    assert request.transport is not None
    request.transport.close()
    return response


async def _silent(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(20)
    return web.Response()


async def _drips(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.02)


UNAVAILABLE, INCOMPLETE = ("forbid", "facts_unavailable"), ("escalate", "facts_incomplete")
FAULTS: dict[str, tuple[Callable[[web.Request], Awaitable[Any]], tuple[str, str]]] = {
    "404": (_gives(404), ("forbid", "order_not_found")),
    "410": (_gives(410), ("forbid", "order_not_found")),
    "401": (_gives(401), UNAVAILABLE),
    "500": (_gives(500), UNAVAILABLE),
    "503": (_gives(503), UNAVAILABLE),
    "204": (_gives(204, b""), UNAVAILABLE),
    "redirect": (_gives(302, b"", Location="/orders/B2001"), UNAVAILABLE),
    "redirect to itself": (_gives(307, b"", Location="/orders/A1001"), UNAVAILABLE),
    "connection lost": (_lost, UNAVAILABLE),
    "body cut": (_cut, UNAVAILABLE),
    "silent": (_silent, UNAVAILABLE),
    "dripping": (_drips, UNAVAILABLE),
    "no JSON": (_gives(body=b"<html>"), UNAVAILABLE),
    "empty": (_gives(body=b""), UNAVAILABLE),
    "half JSON": (_gives(body=b'{"id": '), UNAVAILABLE),
    "two documents": (_gives(body=b"{}{}"), UNAVAILABLE),
    "a key twice": (_gives(body=orjson.dumps(order())[:-1] + b',"paid":1}'), UNAVAILABLE),
    "NaN": (_gives(body=b'{"paid": NaN}'), UNAVAILABLE),
    "a list": (_gives(body=b"[]"), UNAVAILABLE),
    "huge": (_gives(body=b'{"x": "' + b"x" * 2_000_000 + b'"}'), UNAVAILABLE),
    "encoded": (_gives(**{"Content-Encoding": "gzip"}), UNAVAILABLE),
    "deep": (_gives(body=b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}"), UNAVAILABLE),
    "no field": (_gives(), INCOMPLETE),
    "null": (_with(delivered_at=None), INCOMPLETE),
    "a date that is none": (_with(delivered_at="yesterday"), INCOMPLETE),
    "a date without its offset": (_with(delivered_at="2026-01-01T00:00:00"), INCOMPLETE),
    "a date in the future": (_with(delivered_at="2999-01-01T00:00:00Z"), INCOMPLETE),
    "another type of owner": (_with(customer={"id": 7}), INCOMPLETE),
    "an owner that is a list": (_with(customer=[CUSTOMER]), INCOMPLETE),
}


async def test_a_source_that_fails_or_lies_refuses(tmp_path: Path) -> None:
    """Each fault has its outcome, nothing is released, and the text before the call is not lost."""
    policy = DESK.replace("timeout: 2s", "timeout: 1s")
    async with desk(tmp_path, always(REFUND), policy, limits={"fact_failures_max": 1000}) as gate:
        for number, (name, (fault, expected)) in enumerate(FAULTS.items(), 1):
            gate.facts.answers = fault
            began = time.monotonic()
            answer = await ask(gate, Dialect.ANTHROPIC, headers=gate.signed())
            assert time.monotonic() - began < 10, name
            assert answer.calls == [], name
            assert answer.text.startswith("One moment."), name
            assert (answer.whole, answer.stop) == (True, "end_turn"), name
            records = await gate.settled(number)
            decided = [each for each in records if each["kind"] == "decided"][-1]
            assert (decided["ruling"], decided["reason"]) == expected, name
            assert records[-1]["kind"] == "substituted", name
        assert set(gate.facts.asked) == {"/orders/A1001"}, "a redirect is not followed"
        gate.facts.answers = None
        answer = await ask(gate, Dialect.ANTHROPIC, headers=gate.signed())
        assert [call.name for call in answer.calls] == ["process_refund"]


async def test_no_source_at_all_refuses(tmp_path: Path) -> None:
    """Nobody listens at the source's address."""
    policy = DESK.replace("${FACTS_URL}", "http://127.0.0.1:9")
    async with desk(tmp_path, always(REFUND), policy) as gate:
        answer = await ask(gate, Dialect.CHAT, headers=gate.signed())
        assert answer.calls == []
        assert (await gate.settled())[0]["reason"] == "facts_unavailable"


async def test_a_source_that_keeps_failing_is_left_alone(tmp_path: Path) -> None:
    """After `fact_failures_max` failures it is not asked; after the cool-down one read tries it again."""
    limits = {"fact_failures_max": 2, "fact_cool_down_ms": 400}
    async with desk(tmp_path, always(REFUND), limits=limits) as gate:
        gate.facts.answers = _gives(500)
        for _ in range(4):
            assert (await ask(gate, Dialect.CHAT, headers=gate.signed())).calls == []
        assert len(gate.facts.asked) == 2
        gate.facts.answers = None
        await asyncio.sleep(0.45)
        assert (await ask(gate, Dialect.CHAT, headers=gate.signed())).calls != []


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
async def test_the_hold_has_a_limit_of_its_own(tmp_path: Path, streamed: bool) -> None:
    """A source that the policy gives more time than `hold_ms_max` ends the hold as transient, in a whole answer."""
    async with desk(tmp_path, always(REFUND), limits={"hold_ms_max": 200}) as gate:
        gate.facts.answers = _silent
        began = time.monotonic()
        answer = await ask(gate, Dialect.CHAT, streamed=streamed, headers=gate.signed())
        assert time.monotonic() - began < 10
        assert (answer.calls, answer.stop, answer.whole) == ([], "stop", True)
        assert (await gate.settled())[0]["reason"] == "hold_limit"
