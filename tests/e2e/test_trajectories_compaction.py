"""A long session of real agents' runs, two matters resolved and one open: most of it goes, and what is open stays."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Call, Dialect, Text, Turn
from tests.e2e.client import PATHS, request_headers
from tests.e2e.told import told

if TYPE_CHECKING:
    from tests.e2e.told import Told

RUNS = Path(__file__).parents[3] / "shared" / "trajectories" / "tau_retail.open.jsonl.gz"
RESOLVED, OPEN = (0, 31), 4  # runs, by their place in the file
TURNS = 48  # of the user, the model and its tools
POLICY = """
language: 1
policy: retail
compact_above: 4000
unknown_tools: allow
session: {customer_id: {jwt: sub}}
tools:
%s
"""
READS = ("find_user_id_by_name_zip", "find_user_id_by_email", "get_order_details", "get_user_details")
READS += ("get_product_details", "list_all_product_types", "calculate", "think")
WRITES = ("exchange_delivered_order_items", "return_delivered_order_items", "modify_pending_order_items")


def session() -> list[dict[str, Any]]:
    """Two runs up to the answer behind their last write, and so much of a third one that all are so many turns."""
    if not RUNS.is_file():
        pytest.skip(f"{RUNS} is not there")
    lines = gzip.decompress(RUNS.read_bytes()).split(b"\n")
    runs = [orjson.loads(lines[number])["messages"] for number in (*RESOLVED, OPEN)]
    first, second = (run[: _settled(run)] for run in runs[: len(RESOLVED)])
    found = [*first, *second[1:]]
    rest = TURNS + 1 - len(found)  # without the system's own
    return [*found, *runs[-1][1 : 1 + rest]]


def _settled(run: list[dict[str, Any]]) -> int:
    """Behind the answer that follows the last write."""
    written = {
        call["id"] for each in run for call in each.get("tool_calls") or () if call["function"]["name"] in WRITES
    }
    last = max(place for place, each in enumerate(run) if each.get("tool_call_id") in written)
    return next(place for place in range(last, len(run)) if _is_said(run[place])) + 1


def _is_said(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and not message.get("tool_calls")


def turn(message: dict[str, Any]) -> Turn:
    """What the model said then."""
    text = [Text(message["content"])] if (message.get("content") or "").strip() else []
    calls = [Call(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls") or ()]
    return Turn((*text, *calls), usage=None)


async def live(one: Told, messages: list[dict[str, Any]]) -> None:
    """The client sends what the user and the tools said, whenever it is the model's turn."""
    for number, message in enumerate(messages):
        match message["role"]:
            case "assistant":
                await one.ask()
            case "tool":
                answered = [each for each in one.talk.messages if each.get("tool_call_id")]
                asked = [call["id"] for each in one.talk.messages for call in each.get("tool_calls") or ()]
                one.talk.messages.append(
                    {"role": "tool", "tool_call_id": asked[len(answered)], "content": message["content"]}
                )
            case _:
                one.talk.messages.append({"role": message["role"], "content": message["content"]})
        assert one.desk.provider.received[-1:] == [] or one.desk.provider.received[-1].refused == "", number


async def counted(one: Told, body: bytes) -> int:
    """The tokens of a request, as the provider counts them."""
    url = one.desk.provider_url + PATHS[Dialect.CHAT]
    headers = request_headers(Dialect.CHAT, {"authorization": "Bearer sk-test"})
    async with one.desk.session.post(url, data=body, headers=headers) as response:
        found: int = orjson.loads(await response.read())["usage"]["prompt_tokens"]
    return found


async def test_two_resolved_matters_are_most_of_a_session(tmp_path: Path) -> None:
    """At most 40 % of its tokens, as the provider counts them, with a restart in between; what is open stays."""
    messages = await asyncio.to_thread(session)
    assert len(messages) == TURNS + 1
    half = next(place for place in range(len(messages) // 2, len(messages)) if messages[place]["role"] == "user")
    kinds = [f"  {name}: {{effect: read}}" for name in READS] + [f"  {name}: {{effect: write}}" for name in WRITES]
    policy = POLICY % "\n".join(kinds)
    replies = [turn(each) for each in messages if each["role"] == "assistant"]
    async with told(tmp_path, (Dialect.CHAT, False), *replies, policy=policy) as one:
        one.talk.messages.clear()
        await live(one, messages[:half])
        held = list(one.talk.messages)
    left = [turn(each) for each in messages[half:] if each["role"] == "assistant"]
    async with told(tmp_path, (Dialect.CHAT, False), *left, turn({"content": "x"}), policy=policy) as one:
        one.talk.messages = held
        await live(one, messages[half:])
        if messages[-1]["role"] == "assistant":
            one.talk.say("And?")
        await one.ask(take=False)
        sent = one.sent[-1]
        whole, left_over = await counted(one, one.talk.body()), await counted(one, sent)
        up = orjson.loads(sent)["messages"]
        summaries = [each for each in up if str(each["content"]).startswith("<system-reminder>")]
        assert len(summaries) == 2
        assert all("executed, receipt rc_" in each["content"] for each in summaries)
        assert up[0] == one.talk.messages[0]
        is_open = one.talk.messages[-len(up) + 5 :]
        assert len(is_open) == 7
        assert sent.count(orjson.dumps(is_open)[1:]) == 1
        assert left_over <= 0.4 * whole, (left_over, whole)
        assert [each.refused for each in one.desk.provider.received if each.refused] == []
