"""Responses with the official SDK against a provider that stores its answers: refusals of every kind, all histories.

The provider refuses what the real one refuses: a call without its output, an output without its call, reasoning apart
from what follows it, an id that it does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Block, Call, Text
from tests.e2e.harness import session_header
from tests.e2e.responding import HM, agent, call, kept, results, turn, ways
from tests.e2e.told import NO_READ, NO_WRITE

if TYPE_CHECKING:
    from pathlib import Path


@ways
@kept
async def test_a_refusal_by_code_ends_the_turn_and_the_talk_goes_on(
    tmp_path: Path, streamed: bool, history: str
) -> None:
    """The reply stands in the call's place; the next request is one that the provider takes. Where it keeps its own
    turn, the hidden call has its output there; where the client keeps it, it stands as the client saw it."""
    turns = turn(HM, Text("I try."), call("write_refused")), turn(HM, Text("Anything else?")), turn(Text("Bye."))
    async with agent(tmp_path, streamed, history, *turns) as one:
        assert await one.say("Pay") == f"I try.{NO_WRITE}"
        assert await one.say("Well") == "Anything else?"
        assert await one.say("Thanks") == "Bye."
        assert one.provider.refused == []
        assert one.ran == []
        seen = one.provider.contexts[-1]
        owed = [value["reason"] for value in results(seen)]
        assert owed == (["no_write"] if history in ("by_id", "conversation") else [])
        assert (NO_WRITE.encode() in orjson.dumps(seen)) or history in ("by_id", "conversation")


@ways
@kept
async def test_a_refusal_to_the_model_goes_on_in_one_turn(tmp_path: Path, streamed: bool, history: str) -> None:
    """The model hears the refusal; the client reads one answer under the first id; later requests hold both legs."""
    turns = turn(HM, Text("I look."), call("read_refused")), turn(HM, Text("I may not.")), turn(HM, Text("Bye."))
    async with agent(tmp_path, streamed, history, *turns) as one:
        assert await one.say("Look") == "I look.I may not."
        assert await one.say("Thanks") == "Bye."
        assert one.provider.refused == []
        assert len(one.provider.received) == 3
        assert [value["reason"] for value in results(one.provider.contexts[1])] == ["no_read"]
        seen = one.provider.contexts[2]
        assert [value["reason"] for value in results(seen)] == ["no_read"]
        kinds = [item.get("type", "message") for item in seen]
        assert kinds[-7:] == [
            "reasoning",
            "message",
            "function_call",
            "function_call_output",
            "reasoning",
            "message",
            "message",
        ]


@ways
@kept
async def test_a_refusal_beside_a_call_that_runs(tmp_path: Path, streamed: bool, history: str) -> None:
    """The allowed call runs; the model hears of the other with its result, or, after `code`, the client reads it."""
    pair = turn(HM, call("read_refused"), call("write_allowed", 2)), turn(HM, Text("One of two."))
    mixed = turn(HM, call("write_refused", 3), call("read_allowed", 4)), turn(Text("The other."))
    async with agent(tmp_path, streamed, history, *pair, *mixed, turn(Text("Bye."))) as one:
        assert await one.say("Both") == "One of two."
        assert one.ran == ["write_allowed"]
        assert [value["reason"] for value in results(one.provider.contexts[1])] == ["no_read"]
        assert await one.say("Again") == f"{NO_WRITE}The other."
        assert one.ran == ["write_allowed", "read_allowed"]
        assert await one.say("Thanks") == "Bye."
        assert one.provider.refused == []


@ways
@kept
async def test_rounds_end_and_the_same_call_ends_the_turn(tmp_path: Path, streamed: bool, history: str) -> None:
    """Two rounds with the model at most: then the reply of the first refusal; what is owed is given next time."""
    again = turn(HM, call("read_refused")), turn(HM, call("read_refused", 2)), turn(HM, call("read_refused", 3))
    async with agent(tmp_path, streamed, history, *again, turn(Text("Bye."))) as one:
        assert NO_READ in await one.say("Look")
        assert await one.say("Thanks") == "Bye."
        assert one.provider.refused == []
        assert one.ran == []


@ways
async def test_the_ids_and_numbers_of_a_merged_turn(tmp_path: Path, streamed: bool) -> None:
    """The first id, the last input, the sum of the output; a forced choice is lifted, the bound is what is left."""
    turns = turn(Text("A."), call("read_refused")), turn(Text("B."))
    forced: Any = {"type": "function", "name": "read_refused"}
    async with agent(tmp_path, streamed, "by_id", *turns, tool_choice=forced, max_output_tokens=1000) as one:
        response = await one.ask([{"role": "user", "content": "x"}])
        first, last = one.provider.issued.stored
        assert response.id == first
        assert response.usage.output_tokens == 84
        assert response.usage.total_tokens == 420 + 84
        second = one.provider.received[1]
        assert (second["tool_choice"], second["max_output_tokens"]) == ("auto", 1000 - 42)
        assert [item.type for item in response.output] == ["message", "message"]
        assert last != first


BUILT_IN: dict[str, dict[str, Any]] = {
    "local_shell_call": {"action": {"type": "exec", "command": ["ls"], "env": {}}},
    "shell_call": {"action": {"commands": ["ls"], "max_output_length": None, "timeout_ms": None}},
    "apply_patch_call": {"operation": {"type": "delete_file", "path": "a.txt"}},
    "computer_call": {"action": {"type": "click", "button": "left", "x": 1, "y": 2}, "pending_safety_checks": []},
    "tool_search_call": {"arguments": {"q": "refund"}, "execution": "client"},
}


@ways
@pytest.mark.parametrize("kind", [*BUILT_IN, "custom_tool_call", "mcp_approval_request"])
@pytest.mark.parametrize("refusal", ["code", "model"])
async def test_each_kind_of_call_gets_its_kind_of_result(
    tmp_path: Path, streamed: bool, kind: str, refusal: str
) -> None:
    """Refused by code or to the model, the stored call is answered by what its type asks for; a request of an MCP
    server for approval is denied."""
    part: Any
    if kind == "custom_tool_call":
        part = Call("edit", "some text", custom=True)
    elif kind == "mcp_approval_request":
        whole = {"type": kind, "server_label": "crm", "name": "pay", "arguments": "{}"}
        part = Block(whole, whole)
    else:
        whole = {"type": kind, "status": "completed", **BUILT_IN[kind]}
        part = Block(whole, whole)
    policy = f"language: 1\npolicy: none\ndefaults: {{on_refusal: {refusal}}}\nsession: {{customer_id: {{jwt: sub}}}}\n"
    turns = [turn(HM, part), turn(Text("No."))]
    async with agent(tmp_path, streamed, "by_id", *turns, policy=policy) as one:
        response = await one.ask([{"role": "user", "content": "x"}])
        assert [item.type for item in response.output if item.type != "reasoning"] == ["message"]
        if refusal == "code":
            await one.ask([{"role": "user", "content": "y"}])
        assert one.provider.refused == []
        seen = one.provider.contexts[-1]
        (answer,) = [item for item in seen if str(item.get("type")).endswith(("_output", "_response"))]
        expected = {
            "custom_tool_call": "custom_tool_call_output",
            "mcp_approval_request": "mcp_approval_response",
            "tool_search_call": "tool_search_output",
        }.get(kind, f"{kind}_output")
        assert answer["type"] == expected
        assert answer.get("approve", False) is False
        assert b"unknown_tool" in orjson.dumps(seen)


@ways
async def test_a_compaction_gets_the_hidden_turns_back(tmp_path: Path, streamed: bool) -> None:
    """`/responses/compact` sees what the model saw; what it gives back goes on without them."""
    turns = turn(HM, Text("I look."), call("read_refused")), turn(HM, Text("I may not.")), turn(Text("Bye."))
    async with agent(tmp_path, streamed, "replay", *turns) as one:
        await one.say("Look")
        body = {"model": "m", "input": one.items}
        headers = session_header() | {"authorization": "Bearer sk-test"}
        async with one.desk.session.post(f"{one.desk.url}/v1/responses/compact", json=body, headers=headers) as got:
            compacted = await got.json(content_type=None)
        assert [value["reason"] for value in results(one.provider.contexts[-1])] == ["no_read"]
        one.items = compacted["output"]
        assert await one.say("Thanks") == "Bye."
        assert one.provider.refused == []


async def test_what_is_not_served_says_why(tmp_path: Path) -> None:
    """Background answers, stored answers and WebSockets would go past the gate: each is refused with what to do."""
    async with agent(tmp_path, False, "replay") as one:
        headers = session_header() | {"authorization": "Bearer sk-test"}
        url = f"{one.desk.url}/v1/responses"
        async with one.desk.session.post(
            url, json={"model": "m", "input": "x", "background": True}, headers=headers
        ) as got:
            assert (got.status, "background" in await got.text()) == (400, True)
        stored = ("a stored response holds its calls", "go on with 'previous_response_id'")
        for method, path, words in (
            ("GET", "/resp_1", stored),
            ("GET", "/resp_1?stream=true&starting_after=3", stored),
            ("POST", "/resp_1/cancel", stored),
            ("GET", "/resp_1/input_items", stored),
            ("DELETE", "/resp_1", ("several at the provider", "send 'store: false'")),
        ):
            async with one.desk.session.request(method, url + path, headers=headers) as got:
                assert got.status == 404
                said = await got.text()
                assert all(each in said for each in words)
        upgrade = headers | {"upgrade": "websocket", "connection": "upgrade"}
        async with one.desk.session.get(url, headers=upgrade) as got:
            assert got.status == 426
        async with one.desk.session.post(f"{url}/input_tokens", json={"input": "x"}, headers=headers) as got:
            assert (await got.json(content_type=None))["object"] == "response.input_tokens"
        assert one.provider.received == []


BUILT_IN_RULES = """
language: 1
policy: built-in
session: {customer_id: {jwt: sub}}
reasons: {no_path: {category: policy, reply: {en: "Not there."}}}
tools:
  apply_patch_call:
    effect: write
    rules:
      - forbid: no_path
        unless: args.path == "notes.md"
  crm/lookup: {effect: read}
  mcp/crm/pay: {effect: write}
"""


@ways
async def test_a_policy_names_built_in_and_namespaced_tools(tmp_path: Path, streamed: bool) -> None:
    """Rules read a patch's path; a function of a namespace and an approval of an MCP tool are found by both names."""

    def patch(path: str) -> Block:
        operation = {"type": "update_file", "path": path, "diff": "@@"}
        whole = {"type": "apply_patch_call", "status": "completed", "operation": operation}
        return Block(whole, whole)

    lookup = {"type": "function_call", "name": "lookup", "namespace": "crm", "status": "completed", "arguments": "{}"}
    approval = {"type": "mcp_approval_request", "server_label": "crm", "name": "pay", "arguments": "{}"}
    parts = patch("notes.md"), patch("/etc/passwd"), Block(lookup, lookup), Block(approval, approval)
    other = {**approval, "name": "drop"}
    turns = [turn(*parts, Block(other, other))]
    async with agent(tmp_path, streamed, "by_id", *turns, policy=BUILT_IN_RULES, tools=[]) as one:
        response = await one.ask([{"role": "user", "content": "x"}])
        kinds = [item.type for item in response.output]
        assert kinds == ["apply_patch_call", "message", "function_call", "mcp_approval_request", "message"]
        assert response.output[0].operation.path == "notes.md"
        assert "/etc/passwd" not in response.model_dump_json()
        assert response.output[3].name == "pay"
        records = await one.desk.settled(1)
        decided = [record["tool"] for record in records if record["kind"] == "decided"]
        assert decided == ["apply_patch_call", "apply_patch_call", "crm/lookup", "mcp/crm/pay", "mcp/crm/drop"]
