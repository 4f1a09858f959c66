"""A call of a toolset's member that a client runs as a tool of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from tests.e2e.harness import desk

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """
language: 1
policy: toolsets
unknown_tools: allow
reasons:
  nope: {category: policy, reply: {en: "No."}}
tools:
  refund: {effect: write, rules: [{forbid: nope}]}
  desk/note: {effect: write}
"""


async def released(folder: Path, block: dict[str, Any], declared: list[str]) -> bool:
    content = [{"type": "tool_use", "id": "toolu_1", "input": {}, **block}]
    body = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content}

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({**body, "stop_reason": "tool_use"})

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    async with desk(folder, lambda _: (), POLICY, upstream=app) as gate:
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in declared]
        request = {"model": "m", "max_tokens": 5, "tools": tools, "messages": [{"role": "user", "content": "hi"}]}
        async with gate.session.post(f"{gate.url}/v1/messages", json=request) as response:
            got = await response.json(content_type=None)
            return bool(got["content"][0]["type"] == "tool_use")


@pytest.mark.parametrize("declared", [[], ["refund"]])
async def test_a_toolset_does_not_make_a_governed_tool_an_unknown_one(tmp_path: Path, declared: list[str]) -> None:
    """Clients find a tool by `name` and ignore a `toolset_name` that they do not know."""
    assert not await released(tmp_path / "gate", {"name": "refund", "toolset_name": "x"}, declared)


async def test_a_toolset_that_the_policy_allows_does_not_cover_a_tool_of_the_request(tmp_path: Path) -> None:
    """`desk/note` is allowed; a client that has a tool `note` would run that one."""
    assert not await released(tmp_path / "gate", {"name": "note", "toolset_name": "desk"}, ["note"])


async def test_a_member_of_a_toolset_passes_where_no_tool_has_its_name(tmp_path: Path) -> None:
    """As `computer/left_click` does."""
    assert await released(tmp_path / "gate", {"name": "note", "toolset_name": "desk"}, ["refund"])
