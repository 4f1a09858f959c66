"""Turns as Bedrock's messages and bodies, and those as what a client reads; it knows nothing of the product.

A stream is read twice: by botocore, and as agents put blocks together, by the order of the events alone.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from typing import Any

from botocore.eventstream import EventStreamBuffer

from tests import strategies as model


def message(headers: dict[str, str], payload: bytes) -> bytes:
    head = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + len(value.encode()).to_bytes(2, "big") + value.encode()
        for name, value in headers.items()
    )
    start = (16 + len(head) + len(payload)).to_bytes(4, "big") + len(head).to_bytes(4, "big")
    start += zlib.crc32(start).to_bytes(4, "big")
    whole = start + head + payload
    return whole + zlib.crc32(whole).to_bytes(4, "big")


def event(name: str, said: Any) -> bytes:
    payload = said if isinstance(said, bytes) else json.dumps(said, ensure_ascii=False).encode()
    return message({":event-type": name, ":content-type": "application/json", ":message-type": "event"}, payload)


def exception(name: str, text: str) -> bytes:
    payload = json.dumps({"message": text}).encode()
    return message(
        {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}, payload
    )


def events(turn: model.Turn, reason: str | None = None) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [("messageStart", {"role": "assistant", "p": "abc"})]
    for index, part in enumerate(turn.parts):
        start, deltas = _block(part)
        where = {"contentBlockIndex": index, "p": "abcdefgh"[: index % 8]}
        found += [("contentBlockStart", {**where, "start": start})] if start else []
        found += [("contentBlockDelta", {**where, "delta": delta}) for delta in deltas]
        found.append(("contentBlockStop", where))
    found.append(("messageStop", {"stopReason": reason or ("tool_use" if turn.calls else "end_turn")}))
    found.append(("metadata", {"usage": _usage(turn), "metrics": {"latencyMs": 1}}))
    return found


def stream(turn: model.Turn, reason: str | None = None) -> bytes:
    return b"".join(event(name, said) for name, said in events(turn, reason))


def invoke_stream(turn: model.Turn) -> bytes:
    return b"".join(chunk(said) for said in model.anthropic_events(turn))


def chunk(said: Any) -> bytes:
    data = said if isinstance(said, bytes) else json.dumps(said, ensure_ascii=False).encode()
    return event("chunk", {"bytes": base64.b64encode(data).decode(), "p": "abc"})


def body(turn: model.Turn, reason: str | None = None) -> bytes:
    content = []
    for part in turn.parts:
        match part:
            case model.Text(text=text):
                content.append({"text": text})
            case model.Thinking(text=text, signature=signature):
                content.append({"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}})
            case model.ServerTool() | model.ToolUse():
                content.append({"toolUse": {**_call(part), "input": json.loads(part.arguments or "{}")}})
    said = {"output": {"message": {"role": "assistant", "content": content}}}
    stop = reason or ("tool_use" if turn.calls else "end_turn")
    return json.dumps({"metrics": {"latencyMs": 1}, **said, "stopReason": stop, "usage": _usage(turn)}).encode()


def _block(part: model.Part) -> tuple[Any, list[Any]]:
    match part:
        case model.Text(text=text):
            return None, [{"text": piece} for piece in (text[: len(text) // 2], text[len(text) // 2 :])]
        case model.Thinking(text=text, signature=signature):
            return None, [{"reasoningContent": {"text": text}}, {"reasoningContent": {"signature": signature}}]
        case model.ServerTool():
            return {"toolUse": _call(part)}, [{"toolUse": {"input": part.arguments}}]
        case model.ToolUse(pieces=pieces):
            return {"toolUse": _call(part)}, [{"toolUse": {"input": piece}} for piece in pieces]


def _call(part: model.ServerTool | model.ToolUse) -> dict[str, Any]:
    if isinstance(part, model.ServerTool):
        return {"toolUseId": part.id, "name": "nova_grounding", "type": "server_tool_use"}
    return {"toolUseId": part.id, "name": part.name}


def _usage(turn: model.Turn) -> dict[str, int]:
    return {"inputTokens": 5, "outputTokens": turn.output_tokens, "totalTokens": 5 + turn.output_tokens}


@dataclass
class Read:
    """What a client has of an answer."""

    text: str = ""
    calls: list[tuple[str, str, Any]] = field(default_factory=list)  # id, name, arguments
    ids: list[str] = field(default_factory=list)
    reason: str = ""
    usage: dict[str, Any] = field(default_factory=dict)
    indexes: list[int] = field(default_factory=list)
    failed: str = ""


def messages(data: bytes) -> list[tuple[dict[str, Any], bytes]]:
    """By botocore, which checks both checksums."""
    buffer = EventStreamBuffer()
    buffer.add_data(data)
    return [(found.headers, found.payload) for found in buffer]


def read(data: bytes) -> Read:
    """By the order of the events, as agents do: what begins, what is added to it, what ends."""
    found = Read()
    open_call: list[Any] = []
    for headers, payload in messages(data):
        said = json.loads(payload)
        if headers[":message-type"] != "event":
            found.failed = headers[":exception-type"]
            continue
        assert not found.failed
        index = said.get("contentBlockIndex")
        if index is not None and (not found.indexes or found.indexes[-1] != index):
            found.indexes.append(index)
        match headers[":event-type"]:
            case "contentBlockStart" if said["start"].get("toolUse", {}).get("type") != "server_tool_use":
                open_call = [said["start"]["toolUse"]["toolUseId"], said["start"]["toolUse"]["name"], ""]
            case "contentBlockDelta":
                if "text" in said["delta"]:
                    found.text += said["delta"]["text"]
                elif "toolUse" in said["delta"] and open_call:
                    open_call[2] += said["delta"]["toolUse"]["input"]
            case "contentBlockStop" if open_call:
                found.calls.append((open_call[0], open_call[1], json.loads(open_call[2] or "{}")))
                open_call = []
            case "messageStop":
                assert not open_call
                assert not found.reason
                found.reason = said["stopReason"]
            case "metadata":
                assert found.reason
                found.usage = said["usage"]
    return found


def read_body(data: bytes) -> Read:
    said = json.loads(data)
    blocks = said["output"]["message"]["content"]
    calls = [block["toolUse"] for block in blocks if "toolUse" in block]
    return Read(
        "".join(block.get("text", "") for block in blocks),
        [(call["toolUseId"], call["name"], call["input"]) for call in calls if call.get("type") != "server_tool_use"],
        reason=said["stopReason"],
        usage=said["usage"],
    )
