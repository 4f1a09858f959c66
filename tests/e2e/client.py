"""A client of both dialects on bare HTTP: what it asks for, and what an unmodified SDK would make of the answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo.turns import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import aiohttp

    from tests.e2e.harness import Desk

BOTH = (Dialect.ANTHROPIC, Dialect.CHAT)
WAYS = tuple((dialect, streamed) for dialect in BOTH for streamed in (True, False))
WAY_IDS = [f"{dialect.value}-{'stream' if streamed else 'body'}" for dialect, streamed in WAYS]
PATHS = {Dialect.ANTHROPIC: "/v1/messages", Dialect.CHAT: "/v1/chat/completions"}
TIMEOUT_SECONDS = 15.0
_OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class Proposed:
    """A call as a client reads it. `arguments` is what it would run with."""

    name: str
    arguments: Any
    id: str


@dataclass(slots=True)
class Heard:
    """`stop` is the dialect's own word; `whole` says that the answer ended as its dialect wants it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    text: str = ""
    calls: list[Proposed] = field(default_factory=list)
    stop: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    whole: bool = False


def request_headers(dialect: Dialect, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    own = {"content-type": "application/json"}
    if dialect is Dialect.ANTHROPIC:
        own |= {"x-api-key": "sk-test", "anthropic-version": "2023-06-01"}
    else:
        own |= {"authorization": "Bearer sk-test"}
    return own | dict(extra or {})


def request_body(dialect: Dialect, text: str, *, streamed: bool, tools: Sequence[str] = ()) -> bytes:
    body: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": text}], "stream": streamed}
    if dialect is Dialect.ANTHROPIC:
        body["max_tokens"] = 1024
        declared: list[Any] = [{"name": name, "input_schema": _OBJECT} for name in tools]
    else:
        if streamed:
            body["stream_options"] = {"include_usage": True}
        declared = [{"type": "function", "function": {"name": name, "parameters": _OBJECT}} for name in tools]
    return orjson.dumps(body | ({"tools": declared} if declared else {}))


async def ask(
    desk: Desk,
    dialect: Dialect,
    text: str = "hello",
    *,
    streamed: bool = True,
    headers: Mapping[str, str] | None = None,
    url: str | None = None,
    tools: Sequence[str] = (),
) -> Heard:
    """One exchange, whole, within a bound."""
    body = request_body(dialect, text, streamed=streamed, tools=tools)
    async with (
        asyncio.timeout(TIMEOUT_SECONDS),
        desk.session.post(
            (url or desk.url) + PATHS[dialect], data=body, headers=request_headers(dialect, headers)
        ) as response,
    ):
        data = await _all(response)
        return heard(dialect, response.status, dict(response.headers), data)


async def _all(response: aiohttp.ClientResponse) -> bytes:
    return await response.read()


def heard(dialect: Dialect, status: int, headers: Mapping[str, str], body: bytes) -> Heard:
    """An answer read as a client reads it."""
    found = Heard(status, {name.lower(): value for name, value in headers.items()}, body)
    if not found.headers.get("content-type", "").startswith("text/event-stream"):
        document = orjson.loads(body) if body else {}
        if "error" in document:
            found.error = document["error"]
        elif dialect is Dialect.ANTHROPIC:
            _anthropic_body(document, found)
        else:
            _chat_body(document, found)
        return found
    for event in events(body):
        if event == "[DONE]":
            found.whole = True
        elif "error" in event:
            found.error = event["error"]
        elif dialect is Dialect.CHAT:
            _chat_chunk(event, found)
    if dialect is Dialect.ANTHROPIC:
        _anthropic_stream(body, found)
    else:
        found.calls = [
            Proposed(call.name, orjson.loads(call.arguments), call.id)  # a chunk's texts joined are one document
            for call in found.calls
            if found.whole
        ]
    return found


def events(body: bytes) -> list[Any]:
    """The data of each event, parsed; `[DONE]` as it is. Comments are left out; a broken frame raises."""
    found: list[Any] = []
    for block in body.replace(b"\r\n", b"\n").split(b"\n\n"):
        data = [line[5:].strip() for line in block.split(b"\n") if line.startswith(b"data:")]
        if data:
            text = b"\n".join(data)
            found.append("[DONE]" if text == b"[DONE]" else orjson.loads(text))
    return found


def _anthropic_body(document: dict[str, Any], found: Heard) -> None:
    for block in document["content"]:
        if block["type"] == "text":
            found.text += block["text"]
        elif block["type"] == "tool_use":
            found.calls.append(Proposed(block["name"], block["input"], block["id"]))
    found.stop, found.usage, found.whole = document["stop_reason"], document["usage"], True


def _anthropic_stream(body: bytes, found: Heard) -> None:
    """Raises for what the SDKs trip over: a gap in the indexes, a block that is not open, an event after the end."""
    blocks: dict[int, dict[str, Any]] = {}
    is_open: set[int] = set()
    for event in events(body):
        assert not found.whole, "an event after message_stop"
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(blocks), "indexes are dense"
                blocks[event["index"]] = dict(event["content_block"]) | {"json": ""}
                is_open.add(event["index"])
            case "content_block_delta":
                assert event["index"] in is_open
                block, delta = blocks[event["index"]], event["delta"]
                block["json"] += delta.get("partial_json", "")
                block["text"] = block.get("text", "") + delta.get("text", "")
            case "content_block_stop":
                is_open.remove(event["index"])
            case "message_start":
                found.usage = dict(event["message"]["usage"])
            case "message_delta":
                assert not is_open, "every block was closed"
                found.stop = event["delta"]["stop_reason"]
                found.usage |= event.get("usage") or {}
            case "message_stop":
                found.whole = True
    for index, block in blocks.items():
        if block["type"] == "text":
            found.text += block["text"]
        elif block["type"] == "tool_use" and index not in is_open:
            found.calls.append(Proposed(block["name"], orjson.loads(block["json"] or "{}"), block["id"]))


def _chat_body(document: dict[str, Any], found: Heard) -> None:
    choice = document["choices"][0]
    message = choice["message"]
    found.text = message.get("content") or ""
    for call in message.get("tool_calls") or ():
        inner = call["function"]
        found.calls.append(Proposed(inner["name"], orjson.loads(inner["arguments"]), call["id"]))
    found.stop, found.usage, found.whole = choice["finish_reason"], document["usage"], True


def _chat_chunk(event: dict[str, Any], found: Heard) -> None:
    found.usage = event.get("usage") or found.usage
    for choice in event["choices"]:
        delta = choice["delta"]
        found.text += delta.get("content") or ""
        for call in delta.get("tool_calls") or ():
            if call["index"] == len(found.calls):
                found.calls.append(Proposed(call["function"]["name"], "", call["id"]))
            assert call["index"] < len(found.calls), "indexes are dense"
            before = found.calls[call["index"]]
            text = before.arguments + (call["function"].get("arguments") or "")
            found.calls[call["index"]] = Proposed(before.name, text, before.id)
        found.stop = choice["finish_reason"] or found.stop
