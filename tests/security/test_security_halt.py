"""A halt that comes while a call is held: nothing that was judged before it leaves after it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from tests.e2e.harness import desk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.harness import Desk

POLICY = """
language: 1
policy: halting
reasons:
  nope: {category: policy, reply: {en: "No."}}
tools:
  good: {effect: write}
  bad: {effect: read, rules: [{forbid: nope}]}
"""


def event(value: dict[str, Any]) -> bytes:
    return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()


def call(index: int, name: str) -> bytes:
    block = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
    start = {"type": "content_block_start", "index": index, "content_block": block}
    return event(start) + event({"type": "content_block_stop", "index": index})


MESSAGE = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": {"input_tokens": 1}}
START = event({"type": "message_start", "message": MESSAGE})
END = event({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}})
END += event({"type": "message_stop"})
HELD_ALONE = call(0, "good")  # it waits to be certain
HELD_BEHIND = call(0, "bad") + call(1, "good") + call(2, "bad")  # it waits for how the first one leaves


async def answer(folder: Path, calls: bytes, act: Callable[[Desk], Any], end: bytes = END) -> tuple[str, list[str]]:
    """What the client reads where `act` comes between the calls and the end, and the kinds of the records."""
    acted = asyncio.Event()

    async def respond(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(START + calls)
        await asyncio.wait_for(acted.wait(), 5)
        await response.write(end)
        await response.write_eof()
        return response

    app = web.Application()
    app.router.add_post("/v1/messages", respond)
    async with desk(folder, lambda _: (), POLICY, upstream=app) as gate:
        body = {"model": "m", "max_tokens": 5, "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        async with gate.session.post(f"{gate.url}/v1/messages", json=body) as response:
            await response.content.readuntil(b"message_start")
            await asyncio.sleep(0.2)
            await act(gate)
            acted.set()
            text = (await response.read()).decode()
        records = await gate.settled()
        return text, [record["kind"] for record in records]


async def operator(gate: Desk) -> None:
    await gate.store.halt(by="anna", reason="stop", at=gate.services.judge.clock())


async def policy(gate: Desk) -> None:
    gate.policy.write_text(POLICY.replace("policy: halting", "policy: halting\nmode: halt"))


async def nobody(_: Desk) -> None:
    pass


@pytest.mark.parametrize("calls", [HELD_ALONE, HELD_BEHIND], ids=["alone", "behind a refusal"])
async def test_without_a_halt_the_call_leaves(tmp_path: Path, calls: bytes) -> None:
    """The tests beside this one can fail."""
    text, kinds = await answer(tmp_path / "gate", calls, nobody)
    assert '"good"' in text
    assert "released" in kinds


@pytest.mark.parametrize("calls", [HELD_ALONE, HELD_BEHIND], ids=["alone", "behind a refusal"])
@pytest.mark.parametrize("halt", [operator, policy])
async def test_a_halt_between_the_verdict_and_the_socket_holds_the_call_back(
    tmp_path: Path, calls: bytes, halt: Callable[[Desk], Any]
) -> None:
    """Either halt, whether the call waits to be certain or behind a refusal that the model is to hear."""
    text, kinds = await answer(tmp_path / "gate", calls, halt)
    assert '"good"' not in text
    assert "released" not in kinds


async def test_a_stream_that_ends_without_its_mark_leaves_no_call_without_an_outcome(tmp_path: Path) -> None:
    """A refusal that waits for the end of the leg waits for the end of the stream only."""
    text, kinds = await answer(tmp_path / "gate", call(0, "bad") + call(1, "good"), nobody, end=b"")
    assert "No." in text
    assert '"good"' not in text
    assert kinds.count("decided") == 2
