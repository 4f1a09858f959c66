"""One client for each dialect of the registry, on bare HTTP: how it asks, what it reads, how it keeps its history.

A new dialect joins by a class and a row of `MOUTHS`.
"""

from __future__ import annotations

from base64 import b64decode
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import orjson
from botocore.eventstream import EventStreamBuffer

from proxy.demo.provider import Provider
from proxy.demo.responses_provider import ResponsesProvider
from proxy.demo.turns import Asked, Dialect, HttpError, Turn
from tests.e2e.client import events, heard
from tests.e2e.talkers import read_turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from aiohttp import web

    from proxy.demo.provider import Received
    from proxy.demo.turns import Script

Entry = dict[str, Any]
TOOLS = ("read_allowed", "write_allowed", "read_refused", "write_refused", "write_escalated", "write_unclear")
_ON_VERTEX = "/v1/projects/p/locations/global/publishers"


@dataclass(frozen=True, slots=True)
class Called:
    name: str
    arguments: Any
    id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`entries` are what the client keeps of it in its history; `stop` is the dialect's own word."""

    text: str
    calls: tuple[Called, ...]
    stop: str
    entries: tuple[Entry, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Double:
    """The strict provider: the bodies that came up, and the texts of its refusals."""

    app: web.Application
    bodies: Callable[[], list[Any]]
    refused: Callable[[], list[str]]


class Mouth(Protocol):
    """`stops` are the words for an end, and for an end with calls. `binds`: a call that runs keeps one beside it, that
    code refused, in the history, since the provider signed the first for all."""

    stops: ClassVar[tuple[str, str]]
    binds: ClassVar[bool]

    def double(self, script: Script) -> AbstractAsyncContextManager[Double]: ...

    def path(self, streamed: bool) -> str: ...

    def body(self, history: Sequence[Entry], streamed: bool) -> Entry: ...

    def read(self, data: bytes, streamed: bool) -> Answer: ...

    def words(self, text: str) -> Entry: ...

    def results(self, calls: Sequence[Called], text: str) -> list[Entry]: ...


@asynccontextmanager
async def _provider(script: Script) -> AsyncIterator[Double]:
    provider = Provider(script)
    app = provider.app()
    yield _double(app, provider.received)


def _double(app: web.Application, received: list[Received]) -> Double:
    return Double(
        app,
        lambda: [orjson.loads(one.body) for one in received],
        lambda: [one.refused for one in received if one.refused],
    )


class Anthropic:
    stops: ClassVar = ("end_turn", "tool_use")
    binds: ClassVar = False
    dialect = Dialect.ANTHROPIC

    def double(self, script: Script) -> AbstractAsyncContextManager[Double]:
        return _provider(script)

    def path(self, streamed: bool) -> str:
        return "/v1/messages"

    def body(self, history: Sequence[Entry], streamed: bool) -> Entry:
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in TOOLS]
        head = {"model": "scripted", "max_tokens": 1000, "stream": streamed}
        return head | {"messages": list(history), "tools": tools}

    def read(self, data: bytes, streamed: bool) -> Answer:
        kind = "text/event-stream" if streamed else "application/json"
        found = heard(self.dialect, 200, {"content-type": kind}, data)
        message = read_turn(self.dialect, data, streamed=streamed)
        assert message is not None, data
        assert found.whole, data
        calls = tuple(Called(one.name, one.arguments, one.id) for one in found.calls)
        return Answer(found.text, calls, str(found.stop), (message,))

    def words(self, text: str) -> Entry:
        return {"role": "user", "content": text}

    def results(self, calls: Sequence[Called], text: str) -> list[Entry]:
        blocks = [{"type": "tool_result", "tool_use_id": one.id, "content": text} for one in calls]
        return [{"role": "user", "content": blocks}]


class AnthropicOnVertex(Anthropic):
    """The path names the model and the stream."""

    def path(self, streamed: bool) -> str:
        way = "streamRawPredict" if streamed else "rawPredict"
        return f"{_ON_VERTEX}/anthropic/models/claude-sonnet-5-5:{way}"

    def body(self, history: Sequence[Entry], streamed: bool) -> Entry:
        body = super().body(history, streamed) | {"anthropic_version": "vertex-2023-10-16"}
        del body["model"]
        return body if streamed else {key: value for key, value in body.items() if key != "stream"}


class Chat(Anthropic):
    stops: ClassVar = ("stop", "tool_calls")
    dialect = Dialect.CHAT

    def path(self, streamed: bool) -> str:
        return "/v1/chat/completions"

    def body(self, history: Sequence[Entry], streamed: bool) -> Entry:
        tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in TOOLS]
        return {"model": "scripted", "stream": streamed, "messages": list(history), "tools": tools}

    def results(self, calls: Sequence[Called], text: str) -> list[Entry]:
        return [{"role": "tool", "tool_call_id": one.id, "content": text} for one in calls]


class Ollama:
    stops: ClassVar = ("stop", "stop")
    binds: ClassVar = False

    def double(self, script: Script) -> AbstractAsyncContextManager[Double]:
        return _provider(script)

    def path(self, streamed: bool) -> str:
        return "/api/chat"

    def body(self, history: Sequence[Entry], streamed: bool) -> Entry:
        return Chat().body(history, streamed)

    def read(self, data: bytes, streamed: bool) -> Answer:
        lines = [orjson.loads(line) for line in data.split(b"\n") if line]
        assert streamed or len(lines) == 1
        assert lines[-1]["done"] is True, data
        said = [line["message"] for line in lines]
        functions = [one["function"] for message in said for one in message.get("tool_calls") or ()]
        message: Entry = {"role": "assistant", "content": "".join(one.get("content") or "" for one in said)}
        if functions:
            message["tool_calls"] = [{"function": one} for one in functions]
        calls = tuple(Called(one["name"], one["arguments"], "") for one in functions)
        return Answer(message["content"], calls, lines[-1]["done_reason"], (message,))

    def words(self, text: str) -> Entry:
        return {"role": "user", "content": text}

    def results(self, calls: Sequence[Called], text: str) -> list[Entry]:
        return [{"role": "tool", "tool_name": one.name, "content": text} for one in calls]


class Gemini:
    stops: ClassVar = ("STOP", "STOP")
    binds: ClassVar = True

    def double(self, script: Script) -> AbstractAsyncContextManager[Double]:
        return _provider(script)

    def path(self, streamed: bool) -> str:
        return "/v1beta/models/gemini-3:" + ("streamGenerateContent?alt=sse" if streamed else "generateContent")

    def body(self, history: Sequence[Entry], streamed: bool) -> Entry:
        return {"contents": list(history), "tools": [{"functionDeclarations": [{"name": name} for name in TOOLS]}]}

    def read(self, data: bytes, streamed: bool) -> Answer:
        chunks = events(data) if streamed else [orjson.loads(data)]
        candidates = [chunk["candidates"][0] for chunk in chunks]
        parts = [part for one in candidates for part in one.get("content", {}).get("parts") or ()]
        (stop,) = [one["finishReason"] for one in candidates if one.get("finishReason")]
        made = [part["functionCall"] for part in parts if "functionCall" in part]
        calls = tuple(Called(one["name"], one.get("args") or {}, one.get("id", "")) for one in made)
        text = "".join(part["text"] for part in parts if "text" in part and not part.get("thought"))
        return Answer(text, calls, stop, ({"role": "model", "parts": parts},))

    def words(self, text: str) -> Entry:
        return {"role": "user", "parts": [{"text": text}]}

    def results(self, calls: Sequence[Called], text: str) -> list[Entry]:
        parts = [{"functionResponse": {"name": one.name, "response": {"result": text}}} for one in calls]
        return [{"role": "user", "parts": parts}]


class GeminiOnVertex(Gemini):
    def path(self, streamed: bool) -> str:
        way = "streamGenerateContent?alt=sse" if streamed else "generateContent"
        return f"{_ON_VERTEX}/google/models/gemini-3:{way}"


class Responses:
    """The client keeps the history. `previous_response_id` is `stored`'s, whose history are the newest words alone."""

    stops: ClassVar = ("completed", "completed")
    binds: ClassVar = False

    def double(self, script: Script) -> AbstractAsyncContextManager[Double]:
        return _responses(script)

    def path(self, streamed: bool) -> str:
        return "/v1/responses"

    def body(self, history: Sequence[Entry], streamed: bool) -> Entry:
        tools = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in TOOLS]
        return {"model": "scripted", "stream": streamed, "input": list(history), "tools": tools}

    def read(self, data: bytes, streamed: bool) -> Answer:
        response = orjson.loads(data) if not streamed else _completed(events(data))
        output = response["output"]
        parts = [part for item in output if item["type"] == "message" for part in item["content"]]
        made = [item for item in output if item["type"] == "function_call"]
        calls = tuple(Called(one["name"], orjson.loads(one["arguments"]), one["call_id"]) for one in made)
        text = "".join(part["text"] for part in parts)
        return Answer(text, calls, response["status"], tuple(output), response["id"])

    def words(self, text: str) -> Entry:
        return {"role": "user", "content": text}

    def results(self, calls: Sequence[Called], text: str) -> list[Entry]:
        return [{"type": "function_call_output", "call_id": one.id, "output": text} for one in calls]


def _completed(found: list[Any]) -> Any:
    """The response that a stream states at its end, which must be what its events told (PEERS.md 34)."""
    assert [one["sequence_number"] for one in found] == list(range(len(found)))
    response = found[-1]["response"]
    assert found[-1]["type"] == f"response.{response['status']}"
    done = [one["item"] for one in found if one["type"] == "response.output_item.done"]
    assert response["output"] == done
    return response


def asked_of_items(context: Sequence[Entry]) -> Asked:
    """What the model sees of items, as a script takes it."""
    words, rounds, said = "", 0, False
    for item in context:
        is_own = item.get("role") == "assistant" or item.get("type", "").endswith(("_call", "reasoning"))
        rounds, said = rounds + (is_own and not said), is_own
        if item.get("role") == "user":
            words, rounds = item["content"], 0
    return Asked(Dialect.RESPONSES, {"input": list(context)}, "scripted", False, words, (), rounds)


@asynccontextmanager
async def _responses(script: Script) -> AsyncIterator[Double]:
    def answered(context: list[Entry]) -> Turn | HttpError:
        answer = script(asked_of_items(context)).answer
        assert isinstance(answer, Turn | HttpError)
        return answer

    provider = ResponsesProvider(answered)
    yield Double(provider.app(), lambda: list(provider.received), lambda: provider.refused)


_CLAUDE = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0"


def _messages(data: bytes) -> list[tuple[str, Any]]:
    """The events of an event stream by their names, both checksums checked by AWS's own reader; a rest fails."""
    buffer = EventStreamBuffer()
    buffer.add_data(data)
    found, size = [], 0
    for message in buffer:
        assert message.headers[":message-type"] == "event", message.payload
        found.append((message.headers[":event-type"], orjson.loads(message.payload)))
        size += message.prelude.total_length
    assert size == len(data), "a message was cut off"
    return found


class Converse:
    """Streamed blocks are put together by their indexes; a message holds nothing but its role and its content."""

    stops: ClassVar = ("end_turn", "tool_use")
    binds: ClassVar = False

    def double(self, script: Script) -> AbstractAsyncContextManager[Double]:
        return _provider(script)

    def path(self, streamed: bool) -> str:
        return f"{_CLAUDE}/{'converse-stream' if streamed else 'converse'}"

    def body(self, history: Sequence[Entry], streamed: bool) -> Entry:
        tools = [{"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in TOOLS]
        return {"messages": list(history), "toolConfig": {"tools": tools}}

    def read(self, data: bytes, streamed: bool) -> Answer:
        if streamed:
            content, stop = _converse_stream(_messages(data))
        else:
            document = orjson.loads(data)
            content, stop = document["output"]["message"]["content"], document["stopReason"]
        made = [block["toolUse"] for block in content if "toolUse" in block]
        calls = tuple(Called(one["name"], one["input"], one["toolUseId"]) for one in made)
        text = "".join(block["text"] for block in content if "text" in block)
        return Answer(text, calls, stop, ({"role": "assistant", "content": content},))

    def words(self, text: str) -> Entry:
        return {"role": "user", "content": [{"text": text}]}

    def results(self, calls: Sequence[Called], text: str) -> list[Entry]:
        blocks = [{"toolResult": {"toolUseId": one.id, "content": [{"text": text}]}} for one in calls]
        return [{"role": "user", "content": blocks}]


def _converse_stream(found: list[tuple[str, Any]]) -> tuple[list[Entry], str]:
    """The blocks and the reason of the stop. Indexes are dense, every block is closed, and the usage comes last."""
    assert [name for name, _ in found[:1] + found[-2:]] == ["messageStart", "messageStop", "metadata"]
    blocks: list[Entry] = []
    closed = 0
    for name, event in found[1:-2]:
        index = event["contentBlockIndex"]
        assert index == closed, "one block is open at a time"
        if index == len(blocks):
            blocks.append({})
        match name:
            case "contentBlockStart":
                assert blocks[index] == {}
                blocks[index] = {"toolUse": event["start"]["toolUse"] | {"input": ""}}
            case "contentBlockDelta":
                _add_delta(blocks[index], event["delta"])
            case "contentBlockStop":
                closed += 1
            case _:
                raise AssertionError(name)
    assert closed == len(blocks), "every block was closed"
    for block in blocks:
        if "toolUse" in block:
            block["toolUse"]["input"] = orjson.loads(block["toolUse"]["input"] or "{}")
    return blocks, found[-2][1]["stopReason"]


def _add_delta(block: Entry, delta: Entry) -> None:
    match delta:
        case {"text": text}:
            block["text"] = block.get("text", "") + text
        case {"toolUse": {"input": text}}:
            block["toolUse"]["input"] += text
        case {"reasoningContent": {"redactedContent": data}}:
            block["reasoningContent"] = {"redactedContent": data}
        case {"reasoningContent": {**said}}:
            whole = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})["reasoningText"]
            for name, value in said.items():
                whole[name] = whole.get(name, "") + value
        case _:
            raise AssertionError(delta)


class ClaudeInvoked(Anthropic):
    """InvokeModel: the path names the model and the stream, and each event of Claude's stands in a chunk."""

    def path(self, streamed: bool) -> str:
        return f"{_CLAUDE}/{'invoke-with-response-stream' if streamed else 'invoke'}"

    def body(self, history: Sequence[Entry], streamed: bool) -> Entry:
        body = super().body(history, streamed) | {"anthropic_version": "bedrock-2023-05-31"}
        return {key: value for key, value in body.items() if key not in ("model", "stream")}

    def read(self, data: bytes, streamed: bool) -> Answer:
        if not streamed:
            return super().read(data, streamed)
        return super().read(chunks_of(data), streamed)


def chunks_of(data: bytes) -> bytes:
    """Claude's own stream out of the chunks."""
    found = _messages(data)
    assert {name for name, _ in found} == {"chunk"}
    return b"".join(b"data: " + b64decode(one["bytes"]) + b"\n\n" for _, one in found)


MOUTHS: dict[str, Mouth] = {
    "anthropic-messages": Anthropic(),
    "anthropic-vertex": AnthropicOnVertex(),
    "openai-chat": Chat(),
    "openai-responses": Responses(),
    "gemini-generate": Gemini(),
    "gemini-vertex": GeminiOnVertex(),
    "ollama-chat": Ollama(),
    "bedrock-converse": Converse(),
    "bedrock-invoke": ClaudeInvoked(),
}
"""By the name of the dialect."""
