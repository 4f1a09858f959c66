"""Ten turns with the official SDKs, refusals of every kind, and both gates gone in the middle of it.

What goes up is compared byte for byte: the prefix of each request is the request before it, which is what prompt
caches live on.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import orjson
import pytest

from policies.model import Category
from policies.system_reasons import DEFAULT_REPLIES
from proxy.demo.turns import Dialect, Text, Thinking, Turn, by_text
from tests.e2e.extending import Rules, Seen
from tests.e2e.harness import session_header
from tests.e2e.told import NO_READ, NO_WRITE, POLICY, call, turn
from tests.e2e.worlds import World, world

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path


REPEATED = DEFAULT_REPLIES[Category.POLICY]
RULES = Rules(
    frozenset({"read_allowed", "write_allowed"}),
    frozenset({"read_refused"}),
    frozenset(),
    (NO_READ, NO_WRITE, REPEATED),
    REPEATED,
)
TOOLS = ("read_allowed", "write_allowed", "read_refused", "write_refused")
HM = Thinking("hm")
SAME = turn(HM, call("read_refused", 99))
STEPS: dict[str, tuple[Turn, ...]] = {
    "one": (turn(HM, Text("Hello.")),),
    "two": (turn(HM, Text("I look."), call("read_refused", 2)), turn(HM, Text("I may not."))),
    "three": (turn(HM, call("read_refused", 3), call("read_allowed", 3)), turn(HM, Text("One of two."))),
    "four": (turn(HM, call("write_allowed", 4), call("read_refused", 4)), turn(Text("The other of two."))),
    "five": (turn(HM, call("read_refused", 5), HM, call("read_refused", 55)), turn(HM, Text("None."))),
    "six": (turn(HM, call("write_refused", 6)),),
    "seven": (SAME, turn(HM, Text("Not that."))),
    "eight": (SAME, turn(HM, Text("Still not."))),
    "nine": (SAME, turn(Text("never said"))),
    "ten": (turn(HM, call("read_allowed", 10)), turn(HM, Text("Bye."))),
}
READS = {
    "one": "Hello.",
    "two": "I look.I may not.",
    "three": "One of two.",
    "four": "The other of two.",
    "five": "None.",
    "six": NO_WRITE,
    "seven": "Not that.",
    "eight": "Still not.",
    "nine": REPEATED,
    "ten": "Bye.",
}


async def _anthropic(made: World, streamed: bool, between: Callable[[str], Awaitable[None]]) -> dict[str, str]:
    """The talk as an agent loop holds it; what the customer reads after each of their words."""
    messages: list[Any] = []
    reads: dict[str, str] = {}
    tools: list[Any] = [{"name": name, "input_schema": {"type": "object"}} for name in TOOLS]
    for words in STEPS:
        messages.append({"role": "user", "content": words})
        reads[words] = ""
        while messages[-1]["role"] == "user":
            async with anthropic.AsyncAnthropic(
                base_url=made.gates[0].url,
                api_key="sk-test",
                max_retries=0,
                default_headers=session_header(),
                http_client=anthropic.DefaultAsyncHttpxClient(trust_env=False),
            ) as client:
                asked: dict[str, Any] = {"model": "m", "max_tokens": 9000, "messages": messages, "tools": tools}
                if streamed:
                    async with client.messages.stream(**asked) as stream:
                        message = await stream.get_final_message()
                else:
                    message = await client.messages.create(**asked)
            messages.append({"role": "assistant", "content": message.content})
            reads[words] += "".join(block.text for block in message.content if block.type == "text")
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": "done"}
                for block in message.content
                if block.type == "tool_use"
            ]
            assert message.stop_reason == ("tool_use" if results else "end_turn")
            if results:
                messages.append({"role": "user", "content": results})
        await between(words)
    return reads


async def _openai(made: World, streamed: bool, between: Callable[[str], Awaitable[None]]) -> dict[str, str]:
    messages: list[Any] = []
    reads: dict[str, str] = {}
    tools: list[Any] = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        for name in TOOLS
    ]
    for words in STEPS:
        messages.append({"role": "user", "content": words})
        reads[words] = ""
        while messages[-1]["role"] != "assistant":
            async with openai.AsyncOpenAI(
                base_url=f"{made.gates[0].url}/v1",
                api_key="sk-test",
                max_retries=0,
                default_headers=session_header(),
                http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
            ) as client:
                if streamed:
                    async with client.chat.completions.stream(model="m", messages=messages, tools=tools) as stream:
                        choice = (await stream.get_final_completion()).choices[0]
                else:
                    completion = await client.chat.completions.create(model="m", messages=messages, tools=tools)
                    choice = completion.choices[0]
            message = choice.message
            calls = message.tool_calls or []
            kept: dict[str, Any] = {"role": "assistant", "content": message.content}
            if calls:
                kept["tool_calls"] = [
                    {
                        "id": one.id,
                        "type": "function",
                        "function": {"name": one.function.name, "arguments": one.function.arguments},
                    }
                    for one in calls
                ]
            messages.append(kept)
            reads[words] += message.content or ""
            assert choice.finish_reason == ("tool_calls" if calls else "stop")
            messages += [{"role": "tool", "tool_call_id": one.id, "content": "done"} for one in calls]
        await between(words)
    return reads


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.CHAT])
async def test_ten_turns_and_a_restart(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """The customer reads what they should, no request is refused, and each extends the one before it to the byte."""
    dice = random.Random(1)

    async def between(words: str) -> None:
        if words in ("five", "eight"):
            await made.restart(dice)
            await made.restart(dice)
            made.gates.reverse()

    script = by_text(STEPS)
    async with world(tmp_path, script, POLICY) as made:
        talk = _anthropic if dialect is Dialect.ANTHROPIC else _openai
        reads = await talk(made, streamed, between)
        received = list(made.log)
    assert {words: text.replace("\n\n", "") for words, text in reads.items()} == READS
    assert [one.refused for one in received if one.refused] == []
    seen = Seen(dialect, RULES, exact=True, thinking=True)
    for one in received:
        wrong = seen.problems(one.body) if seen.requests else []
        assert wrong == []
        seen.add(one)
    told = [orjson.loads(one.body)["messages"] for one in received][-1]
    given = orjson.dumps(told).decode()
    assert given.count("no_read") == 7
    assert given.count("It was refused before") == 1
