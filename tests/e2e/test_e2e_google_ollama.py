"""The official clients of Gemini and Ollama, unmodified but for their base URL: behind the gate as without it.

The strict provider counts calls and responses and checks every signature, so that a history which the gate edited
wrongly is refused by it.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx
import ollama
import pytest
from google import genai

from proxy.demo.identifiers import Identifiers
from proxy.demo.turns import Call, Dialect, Text, Thinking, Turn, always, by_text
from tests.e2e.harness import ALLOW_ALL, DENY_ALL, PARTIAL, REFUSAL, desk, session_header
from tests.e2e.told import NO_READ, NO_WRITE, POLICY, call, turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

TURN = Turn(
    (
        Text("I will look at it — gleich."),
        Call("allowed", '{"order_id": "A1001", "amount": 12.50}'),
        Call("refused", '{"order_id": "A1001", "amount": 900, "note": "über"}'),
    )
)
ALLOWED = ("allowed", {"order_id": "A1001", "amount": 12.5})
REFUSED = ("refused", {"order_id": "A1001", "amount": 900, "note": "über"})
ASKED = "Refund A1001, please."


@asynccontextmanager
async def _gemini(url: str) -> AsyncIterator[genai.Client]:
    with httpx.Client(trust_env=False) as http:
        async with httpx.AsyncClient(trust_env=False) as async_http:
            options = genai.types.HttpOptions(
                base_url=url, headers=session_header(), httpx_client=http, httpx_async_client=async_http
            )
            yield genai.Client(api_key="sk", http_options=options)


_CONFIG = genai.types.GenerateContentConfig(
    tools=[
        genai.types.Tool(
            function_declarations=[genai.types.FunctionDeclaration(name=name) for name in ("allowed", "refused")]
        )
    ]
)


def _read_gemini(chunks: list[Any]) -> Any:
    """Text, calls, the end, tokens in and out, and the whole as the client dumps it."""
    parts = [part for chunk in chunks for part in (chunk.candidates[0].content.parts or [])]
    usage = chunks[-1].usage_metadata
    return (
        "".join(part.text for part in parts if part.text and not part.thought),
        [(part.function_call.name, part.function_call.args) for part in parts if part.function_call],
        [chunk.candidates[0].finish_reason.value for chunk in chunks if chunk.candidates[0].finish_reason],
        (usage.prompt_token_count, usage.candidates_token_count),
        [chunk.model_dump(exclude={"sdk_http_response"}) for chunk in chunks],
    )


async def gemini_sync(url: str) -> Any:
    async with _gemini(url) as client:
        ask = partial(client.models.generate_content, model="gemini-3", contents=ASKED, config=_CONFIG)
        return _read_gemini([await asyncio.to_thread(ask)])


async def gemini_sync_stream(url: str) -> Any:
    async with _gemini(url) as client:
        ask = partial(client.models.generate_content_stream, model="gemini-3", contents=ASKED, config=_CONFIG)
        return _read_gemini(await asyncio.to_thread(lambda: list(ask())))


async def gemini_async(url: str) -> Any:
    async with _gemini(url) as client:
        models = client.aio.models
        return _read_gemini([await models.generate_content(model="gemini-3", contents=ASKED, config=_CONFIG)])


async def gemini_async_stream(url: str) -> Any:
    async with _gemini(url) as client:
        models = client.aio.models
        stream = await models.generate_content_stream(model="gemini-3", contents=ASKED, config=_CONFIG)
        return _read_gemini([chunk async for chunk in stream])


_MESSAGES: Any = [{"role": "user", "content": ASKED}]
_TOOLS: Any = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("allowed", "refused")
]


def _read_ollama(lines: list[Any]) -> Any:
    return (
        "".join(line.message.content or "" for line in lines),
        [
            (each.function.name, dict(each.function.arguments))
            for line in lines
            for each in line.message.tool_calls or ()
        ],
        [line.done_reason for line in lines if line.done],
        (lines[-1].prompt_eval_count, lines[-1].eval_count),
        [line.model_dump() for line in lines],
    )


async def ollama_sync(url: str) -> Any:
    def ask() -> Any:
        with ollama.Client(host=url, headers=session_header(), trust_env=False) as client:
            return _read_ollama([client.chat(model="qwen3", messages=_MESSAGES, tools=_TOOLS)])

    return await asyncio.to_thread(ask)


async def ollama_sync_stream(url: str) -> Any:
    def ask() -> Any:
        with ollama.Client(host=url, headers=session_header(), trust_env=False) as client:
            return _read_ollama(list(client.chat(model="qwen3", messages=_MESSAGES, tools=_TOOLS, stream=True)))

    return await asyncio.to_thread(ask)


async def ollama_async(url: str) -> Any:
    async with ollama.AsyncClient(host=url, headers=session_header(), trust_env=False) as client:
        return _read_ollama([await client.chat(model="qwen3", messages=_MESSAGES, tools=_TOOLS)])


async def ollama_async_stream(url: str) -> Any:
    async with ollama.AsyncClient(host=url, headers=session_header(), trust_env=False) as client:
        stream = await client.chat(model="qwen3", messages=_MESSAGES, tools=_TOOLS, stream=True)
        return _read_ollama([line async for line in stream])


CLIENTS: dict[str, tuple[str, Callable[[str], Awaitable[Any]]]] = {
    "gemini-sync": ("STOP", gemini_sync),
    "gemini-sync-stream": ("STOP", gemini_sync_stream),
    "gemini-async": ("STOP", gemini_async),
    "gemini-async-stream": ("STOP", gemini_async_stream),
    "ollama-sync": ("stop", ollama_sync),
    "ollama-sync-stream": ("stop", ollama_sync_stream),
    "ollama-async": ("stop", ollama_async),
    "ollama-async-stream": ("stop", ollama_async_stream),
}


@pytest.mark.parametrize("client", CLIENTS)
async def test_an_unmodified_client_behind_each_policy(tmp_path: Path, client: str) -> None:
    """Allow-all: equal to the direct answer, ids included. Deny-all: no call, the reply, one plain end, usage kept.

    Partial: the allowed call as it was, and the reply beside it.
    """
    end, ask = CLIENTS[client]
    async with desk(tmp_path / "allow", always(TURN), ALLOW_ALL) as gate:
        direct = await ask(gate.provider_url)
        gate.provider.identifiers = Identifiers()
        assert await ask(gate.url) == direct
        assert direct[:4] == ("I will look at it — gleich.", [ALLOWED, REFUSED], [end], (420, 42))
        assert gate.provider.received[0].body == gate.provider.received[1].body
        assert gate.provider.received[0].target == gate.provider.received[1].target
    for policy, calls, replies in ((DENY_ALL, [], 2), (PARTIAL, [ALLOWED], 1)):
        async with desk(tmp_path / str(replies), always(TURN), policy) as gate:
            said, found, ends, usage, _ = await ask(gate.url)
            assert found == calls
            assert said == "I will look at it — gleich." + f"\n\n{REFUSAL}" * replies
            assert (ends, usage) == ([end], direct[3])


HM = Thinking("hm")
STEPS: dict[str, tuple[Turn, ...]] = {
    "one": (turn(HM, Text("Hello.")),),
    "two": (turn(HM, Text("I look."), call("read_refused", 2)), turn(HM, Text("I may not."))),
    "three": (turn(HM, call("read_refused", 3), call("read_allowed", 3)), turn(HM, Text("One of two."))),
    "four": (turn(HM, call("write_allowed", 4), call("read_refused", 4)), turn(Text("The other of two."))),
    "five": (turn(HM, call("read_refused", 5), call("read_refused", 55)), turn(HM, Text("None."))),
    "six": (turn(HM, call("write_refused", 6)),),
    "seven": (turn(call("read_allowed", 7), call("read_allowed", 7)), turn(Text("Twice the same."))),
    "eight": (turn(HM, call("write_refused", 8), call("write_allowed", 8)), turn(HM, Text("One was written."))),
    "nine": (
        turn(call("write_refused", 9), call("read_refused", 9), call("write_allowed", 9)),
        turn(call("read_allowed", 9)),
        turn(Text("Two were not.")),
    ),
    "ten": (turn(HM, call("read_allowed", 10)), turn(HM, Text("Bye."))),
}
READS = {
    "one": "Hello.",
    "two": "I look.\n\nI may not.",
    "three": "One of two.",
    "four": "The other of two.",
    "five": "None.",
    "six": NO_WRITE,
    "seven": "Twice the same.",
    "eight": f"{NO_WRITE}One was written.",
    "nine": f"{NO_WRITE}Two were not.",
    "ten": "Bye.",
}


async def _gemini_talk(client: genai.Client, *, streamed: bool) -> dict[str, str]:
    """An agent's loop as the documentation shows it: what the model said goes back as it came."""
    types, models = genai.types, client.aio.models
    contents: list[Any] = []
    reads: dict[str, str] = {}
    for words in STEPS:
        contents.append(types.Content(role="user", parts=[types.Part(text=words)]))
        reads[words] = ""
        while contents[-1].role == "user":
            asked: Any = {"model": "gemini-3", "contents": contents, "config": _CONFIG}
            if streamed:
                chunks = [chunk async for chunk in await models.generate_content_stream(**asked)]
            else:
                chunks = [await models.generate_content(**asked)]
            parts: Any = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
            contents.append(types.Content(role="model", parts=parts))
            reads[words] += "".join(part.text for part in parts if part.text and not part.thought)
            answers = [
                types.Part(function_response=types.FunctionResponse(name=name, response={"result": "done"}))
                for name in [part.function_call.name for part in parts if part.function_call]
            ]
            if answers:
                contents.append(types.Content(role="user", parts=answers))
    return reads


async def _ollama_talk(client: ollama.AsyncClient, *, streamed: bool) -> dict[str, str]:
    messages: list[Any] = []
    reads: dict[str, str] = {}
    for words in STEPS:
        messages.append({"role": "user", "content": words})
        reads[words] = ""
        while messages[-1]["role"] != "assistant":
            if streamed:
                lines = [line async for line in await client.chat(model="qwen3", messages=messages, stream=True)]
            else:
                lines = [await client.chat(model="qwen3", messages=messages)]
            calls = [each for line in lines for each in line.message.tool_calls or ()]
            text = "".join(line.message.content or "" for line in lines)
            messages.append({"role": "assistant", "content": text, "tool_calls": calls})
            reads[words] += text
            messages += [{"role": "tool", "tool_name": each.function.name, "content": "done"} for each in calls]
    return reads


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("dialect", [Dialect.GEMINI, Dialect.OLLAMA])
async def test_a_talk_with_refusals_of_every_kind(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """Hidden, told, merged and answered by code: the customer reads what is said, and the provider refuses nothing.

    The signature of a first call that the client never saw is back in its place with each later request.
    """
    async with desk(tmp_path, by_text(STEPS), POLICY) as gate:
        if dialect is Dialect.GEMINI:
            async with _gemini(gate.url) as google:
                reads = await _gemini_talk(google, streamed=streamed)
        else:
            async with ollama.AsyncClient(host=gate.url, headers=session_header(), trust_env=False) as client:
                reads = await _ollama_talk(client, streamed=streamed)
        assert reads == READS
        assert [one.refused for one in gate.provider.received if one.refused] == []
        last = gate.provider.received[-1].body
        assert last.count(b"read_refused") == 12
        assert last.count(b"write_refused") == (4 if dialect is Dialect.GEMINI else 0)
    assert NO_READ not in READS.values()
