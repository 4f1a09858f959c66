"""One approval, two gates as operators run them: two processes on one state folder."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import aiohttp
import orjson
from aiohttp import web

from proxy.demo.turns import Dialect
from tests.e2e.client import PATHS, request_body, request_headers
from tests.e2e.harness import command, process, serving, write_config

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """
language: 1
policy: two-gates
reasons: {over_limit: {category: escalated}}
constants: {self_service: 500.00 USD}
tools:
  process_refund:
    arguments: {order_id: {pattern: '[A-Z][0-9]{4}'}, amount: {money: USD, unit: major}}
    rules: [{escalate: over_limit, when: args.amount > constants.self_service}]
"""
CALL = {"type": "tool_use", "id": "toolu_1", "name": "process_refund", "input": {"order_id": "A1001", "amount": 847}}
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [CALL]}
MESSAGE |= {"stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}


def _provider() -> web.Application:
    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=orjson.dumps(MESSAGE), content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    return app


async def _ask(session: aiohttp.ClientSession, url: str) -> int:
    """How many calls the agent was given."""
    data, fields = request_body(Dialect.ANTHROPIC, "Refund A1001.", streamed=False), request_headers(Dialect.ANTHROPIC)
    async with session.post(url + PATHS[Dialect.ANTHROPIC], data=data, headers=fields) as got:
        assert got.status == 200
        blocks = (await got.json())["content"]
    return sum(block["type"] == "tool_use" for block in blocks)


async def _cli(*words: str) -> str:
    child = await asyncio.create_subprocess_exec(*command(*words), stdout=asyncio.subprocess.PIPE)
    said, _ = await child.communicate()
    assert child.returncode == 0
    return said.decode()


async def test_an_approval_runs_once_on_two_processes(tmp_path: Path) -> None:
    """Twelve agents make the approved call at once, on two gates of one state folder: exactly one runs it."""
    async with serving(_provider()) as provider, aiohttp.ClientSession() as session:
        config = write_config(tmp_path / "gate", provider, POLICY)
        async with process(tmp_path / "gate", config, {}) as one, process(tmp_path / "gate", config, {}) as two:
            assert [await _ask(session, each.url) for each in (one, two)] == [0, 0]
            state = str(one.state)
            listed = await _cli("escalations", "list", "--state", state, "--status", "open", "--json")
            (case,) = [json.loads(line) for line in listed.splitlines()]
            await _cli("escalations", "approve", case["id"], "--reason", "the parcel was lost", "--state", state)
            given = await asyncio.gather(*(_ask(session, each.url) for each in (one, two) * 6))
            assert sum(given) == 1
            assert [await _ask(session, each.url) for each in (one, two)] == [0, 0]
