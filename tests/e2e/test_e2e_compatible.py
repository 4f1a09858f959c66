"""Servers that speak Chat Completions in their own way (WIRE.md 2), each behind a gate that it was named to by
configuration: calls in all their spellings are judged, and what goes back up is what that server demands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai
import orjson
import pytest

from proxy.demo.provider import Provider
from proxy.demo.servers import DEEPSEEK, GEMINI, MISTRAL, OLLAMA, OPENAI, ChatServer, Indexes
from proxy.demo.turns import Reply, Text, Thinking
from tests.e2e.harness import desk, session_header
from tests.e2e.told import NO_READ, NO_WRITE, POLICY, call, turn

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.demo.turns import Asked

SERVERS = {
    "openai": OPENAI,
    "deepseek": DEEPSEEK,
    "gemini": GEMINI,
    "gemini-apart": ChatServer(signed_calls=True, signature_apart=True, indexes=Indexes.NONE, finish_stop=True),
    "mistral": MISTRAL,
    "ollama-litellm": OLLAMA,
    "vllm": ChatServer(id_chars_max=None, finish_stop=True),
    "groq": ChatServer(whole_calls=True),
    "xai": ChatServer(whole_calls=True, finish_stop=True),
    "dynamo": ChatServer(indexes=Indexes.ZERO, whole_calls=True),
    "openrouter": ChatServer(id_chars_max=None, reasoning=True),
}
TURNS = (
    turn(Thinking("hm"), Text("I look."), call("read_refused"), call("write_allowed")),
    turn(Thinking("hm"), Text("One of two.")),
    turn(Thinking("hm"), call("read_refused", 2)),
    turn(Text("I may not.")),
    turn(Thinking("hm"), call("write_refused", 3)),
    turn(Text("Bye.")),
    turn(Thinking("hm"), call("read_allowed", 4), call("write_allowed", 5)),
    turn(Text("Both.")),
)


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("name", SERVERS)
async def test_a_talk_with_a_server_of_its_own_kind(tmp_path: Path, name: str, streamed: bool) -> None:
    """An allowed call runs with its arguments, refusals go to the model and to the customer, and no request of the talk
    is one that this server refuses: ids of nine, reasoning and signatures that come back, counts of results."""
    left = list(TURNS)

    def script(_: Asked) -> Reply:
        return Reply(left.pop(0))

    provider = Provider(script, chat=SERVERS[name])
    async with desk(tmp_path, script, POLICY, upstream=provider.app()) as running:
        client = openai.AsyncOpenAI(
            base_url=f"{running.url}/openai/v1",  # by the upstream's name, as any server is reached
            api_key="sk-test",
            max_retries=0,
            default_headers=session_header(),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
        )
        async with client:
            messages: list[Any] = []
            ran: list[tuple[str, Any]] = []
            read = [await _say(client, messages, ran, words, streamed) for words in ("a", "b", "c", "d", "e")]
    texts = [text.replace("\n\n", "") for text in read]
    assert texts == ["I look.One of two.", "I may not.", NO_WRITE, "Bye.", "Both."]
    assert ran == [("write_allowed", {"n": 1}), ("read_allowed", {"n": 4}), ("write_allowed", {"n": 5})]
    assert [one.refused for one in provider.received if one.refused] == []
    told = b"".join(one.body for one in provider.received)
    assert told.count(NO_READ.encode()) > 1


async def _say(
    client: openai.AsyncOpenAI, messages: list[Any], ran: list[tuple[str, Any]], words: str, streamed: bool
) -> str:
    messages.append({"role": "user", "content": words})
    read = ""
    while messages[-1]["role"] != "assistant":
        asked: dict[str, Any] = {"model": "m", "messages": messages}
        if streamed:
            async with client.chat.completions.stream(**asked) as stream:
                choice: Any = (await stream.get_final_completion()).choices[0]
        else:
            choice = (await client.chat.completions.create(**asked)).choices[0]
        message = choice.message.model_dump(exclude_none=True, mode="json")
        message.pop("parsed", None)
        for one in message.get("tool_calls", ()):
            one.pop("index", None)
            one["function"].pop("parsed_arguments", None)
        messages.append(message)
        read += message.get("content") or ""
        for one in message.get("tool_calls", ()):
            arguments = one["function"]["arguments"]
            ran.append((one["function"]["name"], orjson.loads(arguments) if isinstance(arguments, str) else arguments))
            messages.append({"role": "tool", "tool_call_id": one["id"], "content": "done"})
    return read
