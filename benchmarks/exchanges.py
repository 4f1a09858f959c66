"""The traffic of the cells: requests as bytes, and what the upstream double answers to each."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

STREAM_EVENTS = 76
SECONDS_BETWEEN_EVENTS = 0.001  # so that each event is a read of its own on both sides, as tokens are
TEXT = "the order was delivered on monday and the customer asks whether it can be sent back without its box"
WORDS = tuple(TEXT.split(" "))
ARGUMENTS = {"order_id": "A1001", "amount": 120.5, "reason": "damaged"}

POLICY = """\
language: 1
policy: bench
unknown_tools: allow
reasons:
  over_limit: {category: escalated}
  wrong_reason: {category: policy}
constants: {self_service: 500.00 USD}
tools:
  lookup_order: {effect: read}
  peek: {effect: read, rules: [{forbid: wrong_reason}]}
  process_refund:
    effect: write
    arguments:
      order_id: {pattern: '[A-Z][0-9]{4}'}
      amount: {money: USD, unit: major}
      reason: {one_of: [damaged, wrong_item, not_as_described]}
    rules:
      - escalate: over_limit
        when: args.amount > constants.self_service
      - forbid: wrong_reason
        when: args.reason == "not_as_described" and args.amount > 100.00 USD
"""


class Dialect(Enum):
    ANTHROPIC = "anthropic"
    OPENAI = "openai"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the upstream sends: in one part with its length, or as events with pauses between them."""

    content_type: str
    parts: tuple[bytes, ...]
    streamed: bool
    seconds_before: float = 0.0
    seconds_between: float = 0.0

    @property
    def body(self) -> bytes:
        return b"".join(self.parts)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request, ready to send, and the name under which the upstream knows its answer.

    Where it `grows`, its history has a turn more with each request of a conversation, and each connection has a
    conversation of its own (`talks`). `before` is sent once ahead of it: what the gate makes of its answer is not
    compared. `told` is what the gate's log line of it must say then, and never says otherwise.
    """

    name: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    answer: Answer
    before: Exchange | None = None
    told: bytes = b""
    grows: bool = False

    def request(self, host: str, body: bytes) -> bytes:
        """The request's bytes with this body, for a server at `host` (`127.0.0.1:8080`)."""
        fields = [("host", host), *self.headers, ("x-bench", self.name), ("content-length", str(len(body)))]
        head = "".join(f"{name}: {value}\r\n" for name, value in fields)
        return f"POST {self.path} HTTP/1.1\r\n{head}\r\n".encode() + body


_TOOLS = (
    ("lookup_order", "Look an order up.", {"order_id": {"type": "string"}}),
    (
        "process_refund",
        "Refund an amount.",
        {"order_id": {"type": "string"}, "amount": {"type": "number"}, "reason": {"type": "string"}},
    ),
)


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _words(count: int, start: int = 0) -> str:
    return " ".join(WORDS[(start + index) % len(WORDS)] for index in range(count))


def _anthropic_history(body_bytes: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Where is my order A1001? " + _words(20)}]
    size = len(_compact(messages))
    while size < body_bytes:
        number = len(messages)
        call = {"type": "tool_use", "id": f"toolu_{number:06}", "name": "lookup_order", "input": {"order_id": "A1001"}}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": _words(80, number)}
        turn: list[dict[str, Any]] = [
            {"role": "assistant", "content": [{"type": "text", "text": _words(20, number)}, call]},
            {"role": "user", "content": [result]},
        ]
        size += len(_compact(turn)) - 1
        messages += turn
    return messages


def _openai_history(body_bytes: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Where is my order A1001? " + _words(20)}]
    size = len(_compact(messages))
    while size < body_bytes:
        number = len(messages)
        function = {"name": "lookup_order", "arguments": '{"order_id":"A1001"}'}
        call = {"id": f"call_{number:06}", "type": "function", "function": function}
        turn: list[dict[str, Any]] = [
            {"role": "assistant", "content": _words(20, number), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": _words(80, number)},
        ]
        size += len(_compact(turn)) - 1
        messages += turn
    return messages


def _anthropic_request(body_bytes: int, streamed: bool) -> dict[str, Any]:
    tools = [{"name": name, "description": about, "input_schema": _schema(of)} for name, about, of in _TOOLS]
    return {
        "model": "claude-bench",
        "max_tokens": 1024,
        "stream": streamed,
        "system": _words(40),
        "tools": tools,
        "messages": _anthropic_history(max(0, body_bytes - 900)),
    }


def _openai_request(body_bytes: int, streamed: bool) -> dict[str, Any]:
    tools = [
        {"type": "function", "function": {"name": name, "description": about, "parameters": _schema(of)}}
        for name, about, of in _TOOLS
    ]
    return {
        "model": "gpt-bench",
        "stream": streamed,
        "tools": tools,
        "messages": _openai_history(max(0, body_bytes - 900)),
    }


def _anthropic_json(call: bool) -> bytes:
    content: list[dict[str, Any]] = [{"type": "text", "text": _words(60)}]
    if call:
        content.append({"type": "tool_use", "id": "toolu_bench", "name": "process_refund", "input": ARGUMENTS})
    return _compact(
        {
            "id": "msg_bench",
            "type": "message",
            "role": "assistant",
            "model": "claude-bench",
            "content": content,
            "stop_reason": "tool_use" if call else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 300, "output_tokens": 80},
        }
    )


def _openai_json(call: bool) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": _words(60), "refusal": None}
    if call:
        function = {"name": "process_refund", "arguments": json.dumps(ARGUMENTS)}
        message["tool_calls"] = [{"id": "call_bench", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls" if call else "stop"}
    return _compact(
        {
            "id": "chatcmpl-bench",
            "object": "chat.completion",
            "created": 1780000000,
            "model": "gpt-bench",
            "choices": [choice],
            "usage": {"prompt_tokens": 300, "completion_tokens": 80, "total_tokens": 380},
        }
    )


def _pieces(text: str, count: int) -> list[str]:
    return [text[len(text) * index // count : len(text) * (index + 1) // count] for index in range(count)]


def _anthropic_event(value: dict[str, Any]) -> bytes:
    return f"event: {value['type']}\n".encode() + b"data: " + _compact(value) + b"\n\n"


def _anthropic_stream(call: bool) -> tuple[bytes, ...]:
    message: dict[str, Any] = {
        "id": "msg_bench",
        "type": "message",
        "role": "assistant",
        "model": "claude-bench",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 300, "output_tokens": 1},
    }
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    last: list[dict[str, Any]] = [
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 80}},
        {"type": "message_stop"},
    ]
    block: list[dict[str, Any]] = []
    if call:
        start = {"type": "tool_use", "id": "toolu_bench", "name": "process_refund", "input": {}}
        block.append({"type": "content_block_start", "index": 1, "content_block": start})
        for piece in _pieces(json.dumps(ARGUMENTS), 20):
            delta = {"type": "input_json_delta", "partial_json": piece}
            block.append({"type": "content_block_delta", "index": 1, "delta": delta})
        block.append({"type": "content_block_stop", "index": 1})
    first: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
    ]
    texts = STREAM_EVENTS - len(first) - 1 - len(block) - len(last)
    deltas: list[dict[str, Any]] = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": f"{_words(3, index)} "}}
        for index in range(texts)
    ]
    events = [*first, *deltas, {"type": "content_block_stop", "index": 0}, *block, *last]
    return tuple(map(_anthropic_event, events))


def _openai_stream(call: bool) -> tuple[bytes, ...]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        head = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1780000000, "model": "gpt-bench"}
        return b"data: " + _compact({**head, "choices": [choice]}) + b"\n\n"

    first = [chunk({"role": "assistant", "content": ""})]
    calls: list[bytes] = []
    if call:
        opened = {"index": 0, "id": "call_bench", "type": "function"}
        function = {"name": "process_refund", "arguments": ""}
        calls.append(chunk({"tool_calls": [{**opened, "function": function}]}))
        deltas = ({"index": 0, "function": {"arguments": piece}} for piece in _pieces(json.dumps(ARGUMENTS), 20))
        calls.extend(chunk({"tool_calls": [delta]}) for delta in deltas)
    last = [chunk({}, "tool_calls" if call else "stop"), b"data: [DONE]\n\n"]
    texts = STREAM_EVENTS - len(first) - len(calls) - len(last)
    return (*first, *(chunk({"content": f"{_words(3, index)} "}) for index in range(texts)), *calls, *last)


_ROUTES: dict[Dialect, tuple[str, tuple[tuple[str, str], ...]]] = {
    Dialect.ANTHROPIC: ("/v1/messages", (("x-api-key", "sk-bench"), ("anthropic-version", "2023-06-01"))),
    Dialect.OPENAI: ("/v1/chat/completions", (("authorization", "Bearer sk-bench"),)),
}
_REQUESTS: dict[Dialect, Callable[[int, bool], dict[str, Any]]] = {
    Dialect.ANTHROPIC: _anthropic_request,
    Dialect.OPENAI: _openai_request,
}
_BODIES: dict[Dialect, Callable[[bool], bytes]] = {Dialect.ANTHROPIC: _anthropic_json, Dialect.OPENAI: _openai_json}
_STREAMS: dict[Dialect, Callable[[bool], tuple[bytes, ...]]] = {
    Dialect.ANTHROPIC: _anthropic_stream,
    Dialect.OPENAI: _openai_stream,
}


def exchange(
    name: str,
    dialect: Dialect,
    *,
    streamed: bool,
    call: bool,
    body_bytes: int = 2048,
    seconds_before: float = 0.0,
    grows: bool = False,
) -> Exchange:
    """An exchange of about `body_bytes` of request, answered with or without one call of `process_refund`."""
    path, credential = _ROUTES[dialect]
    parts = _STREAMS[dialect](call) if streamed else (_BODIES[dialect](call),)
    kind = "text/event-stream; charset=utf-8" if streamed else "application/json"
    answer = Answer(kind, parts, streamed, seconds_before, SECONDS_BETWEEN_EVENTS if streamed else 0.0)
    headers = (*credential, ("content-type", "application/json"), ("accept", "application/json"))
    return Exchange(name, path, headers, _compact(_REQUESTS[dialect](body_bytes, streamed)), answer, grows=grows)


def hidden_exchange(name: str, body_bytes: int) -> Exchange:
    """A request of a conversation whose first turn hides a call that was refused; `before` is that turn."""
    plain = exchange(name, Dialect.ANTHROPIC, streamed=False, call=False, body_bytes=body_bytes, grows=True)
    request = json.loads(plain.body)
    opening = request["messages"][0]
    calls = [
        {"type": "tool_use", "id": f"toolu_{tool}", "name": tool, "input": {"order_id": "A1001"}}
        for tool in ("peek", "lookup_order")
    ]
    turn = {**json.loads(_anthropic_json(call=False)), "content": calls, "stop_reason": "tool_use"}
    first = Exchange(
        f"{name}, its first turn",
        plain.path,
        plain.headers,
        _compact({**request, "messages": [opening]}),
        Answer("application/json", (_compact(turn),), streamed=False),
    )
    result = {"type": "tool_result", "tool_use_id": "toolu_lookup_order", "content": _words(20)}
    shown = [{"role": "assistant", "content": calls[1:]}, {"role": "user", "content": [result]}]
    body = _compact({**request, "messages": [opening, *shown, *request["messages"][1:]]})
    return replace(plain, body=body, before=first, told=b'"restored":1')
