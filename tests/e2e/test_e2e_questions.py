"""A request of an MCP server for approval: what is approved is what the server runs, so nothing can be put into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from proxy.demo.turns import Block
from tests.e2e.test_e2e_responses import agent, turn

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """
language: 1
policy: questions
reasons: {twice: {category: policy}}
session: {customer_id: {jwt: sub}}
tools:
  mcp/crm/pay:
    effect: write
    arguments: {order: {type: string}, key: {type: string, optional: true}}
    limits: [{forbid: twice, once_per: [args.order], within: 24h}]
    inject: %s
"""


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("injects", [True, False], ids=["key", "no-key"])
async def test_an_approval_into_which_the_gate_would_write_is_refused(
    tmp_path: Path, streamed: bool, injects: bool
) -> None:
    """The key of the intent would not reach the server: approved, other arguments would run than were judged."""
    whole = {"type": "mcp_approval_request", "server_label": "crm", "name": "pay", "arguments": '{"order": "A1"}'}
    policy = POLICY % "key" if injects else POLICY.replace("    inject: %s\n", "")
    async with agent(tmp_path, streamed, "by_id", turn(Block(whole, whole)), policy=policy, tools=[]) as one:
        response = await one.ask([{"role": "user", "content": "x"}])
        assert [item.type for item in response.output] == ["message" if injects else "mcp_approval_request"]
        records = await one.desk.settled(1)
        (decided,) = [record for record in records if record["kind"] == "decided"]
        assert decided["ruling"] == ("allow" if not injects else "forbid"), decided
