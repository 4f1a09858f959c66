"""A signed case that changes within a conversation: the narrower of both holds, and a write is for a person."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Call, Dialect, Text
from proxy.session_header import JwtAlgorithm, JwtKey, sign_session
from tests.e2e.client import PATHS, heard, request_headers
from tests.e2e.harness import SESSION_HEADER, SESSION_KEY, Desk, desk
from tests.e2e.told import Steps, turn

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """
language: 1
policy: cases
session: {id: {jwt: sub}, case: {jwt: case}}
tools:
  look: {effect: read, arguments: {n: {type: integer}}}
  pay: {effect: write, arguments: {n: {type: integer}}}
cases:
  case: session.case
  cells:
    late: {pay: {value: args.n, max: 9}, look: {value: args.n, max: 9}}
    lost: {pay: {value: args.n, max: 9}, look: {value: args.n, max: 3}}
"""


async def ask(
    running: Desk, tool: str, case: str, *, opening: str = "Hello", customer: str = "ada", name: str = ""
) -> list[str]:
    """The reasons against the call that the model makes; empty where it goes out."""
    running.provider.script = Steps([turn(Call(tool, '{"n": 5}')), turn(Text("Done."))])
    claims = {"sub": customer, "case": case, "exp": int(time.time()) + 600}
    signed = {SESSION_HEADER: sign_session(claims, JwtKey(JwtAlgorithm.HS256, SESSION_KEY))}
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": opening}], "prompt_cache_key": name}
    before = len(await running.records())
    async with running.session.post(
        running.url + PATHS[Dialect.CHAT],
        data=orjson.dumps({key: value for key, value in body.items() if value}),
        headers=request_headers(Dialect.CHAT, signed | {"authorization": "Bearer sk-test"}),
    ) as response:
        found = heard(Dialect.CHAT, response.status, dict(response.headers), await response.read())
    assert found.status == 200
    decided = [each for each in (await running.records())[before:] if each["kind"] == "decided"]
    return [f"{each['ruling']} {each['reason']}".strip() for each in decided]


@pytest.mark.parametrize("name", ["", "talk-1"])
async def test_a_signed_case_that_changes_narrows(tmp_path: Path, name: str) -> None:
    """While it stays the cell holds; from the change on a write is for a person, and a read is held to both cells."""
    async with desk(tmp_path, Steps([turn(Text("Hi."))]), POLICY) as running:
        assert await ask(running, "pay", "late", name=name) == ["allow"]
        assert await ask(running, "look", "late", name=name) == ["allow"]
        assert await ask(running, "pay", "lost", name=name) == ["escalate case_changed"]
        assert await ask(running, "look", "late", name=name) == ["escalate above_limit"], "the limit of the other cell"
        assert await ask(running, "pay", "late", name=name) == ["escalate case_changed"], "it does not change back"


async def test_another_conversation_is_not_narrowed(tmp_path: Path) -> None:
    """Of another customer, another name, or another opening; a word that no cell has is not remembered."""
    async with desk(tmp_path, Steps([turn(Text("Hi."))]), POLICY) as running:
        assert await ask(running, "pay", "lost") == ["allow"]
        assert await ask(running, "pay", "late", customer="bob") == ["allow"]
        assert await ask(running, "pay", "late", name="talk-2") == ["allow"]
        assert await ask(running, "pay", "late", opening="Good morning") == ["allow"]
        assert await ask(running, "pay", "made up", name="talk-3") == ["escalate no_cell"]
        assert await ask(running, "pay", "late", name="talk-3") == ["allow"]
