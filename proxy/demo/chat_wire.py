"""A turn in the grammar of OpenAI Chat Completions: the chunks of a stream, the body, errors.

The grammar is the provider's own: `data:` lines only, one id, time and model on every chunk, the first fragment of a
call carries id, type and name and an empty argument text, choices interleave, `[DONE]`
ends; bodies are indented by two.
"""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo.anthropic_wire import fragments
from proxy.demo.turns import Block, Call, Document, HttpError, Stop, Text, Thinking, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from proxy.demo.identifiers import Identifiers
    from proxy.demo.turns import Part

STREAM_TYPE = "text/event-stream; charset=utf-8"
PING = b": ping\n\n"
DONE = b"data: [DONE]\n\n"
CREATED = 1_796_040_000

_STOPS = {
    Stop.END: "stop",
    Stop.CALLS: "tool_calls",
    Stop.LENGTH: "length",
    Stop.STOP_SEQUENCE: "stop",
    Stop.REFUSAL: "content_filter",
    Stop.LEGACY_CALL: "function_call",
}


def events(
    turn: Turn, model: str, identifiers: Identifiers, fragment_chars: int, *, include_usage: bool
) -> list[bytes]:
    """The frames of a streamed turn, in order, `[DONE]` included. The chunks of several choices interleave."""
    envelope = _envelope(identifiers.next("chatcmpl-", 29), "chat.completion.chunk", model)
    lanes = [
        list(_choice_chunks(number, parts, turn.stop_of(parts), identifiers, fragment_chars))
        for number, parts in enumerate(turn.choices)
    ]
    choices = [choice for choice in chain.from_iterable(zip_longest(*lanes)) if choice is not None]
    usage: Document = {"usage": None} if include_usage else {}
    documents = [envelope | {"choices": [choice]} | usage for choice in choices]
    if include_usage:
        documents.append(envelope | {"choices": [], "usage": _usage(turn)})
    sent = [
        _frame(document | {"obfuscation": identifiers.next("", 1 + n % 13)}) for n, document in enumerate(documents)
    ]
    return [*sent, DONE]


def body(turn: Turn, model: str, identifiers: Identifiers) -> bytes:
    """The answer that is not streamed."""
    document = _envelope(identifiers.next("chatcmpl-", 29), "chat.completion", model)
    document["choices"] = [
        {
            "index": number,
            "message": _message(parts, turn.stop_of(parts), identifiers),
            "logprobs": None,
            "finish_reason": _STOPS[turn.stop_of(parts)],
        }
        for number, parts in enumerate(turn.choices)
    ]
    document["usage"] = _usage(turn)
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def error_body(error: HttpError) -> bytes:
    fields = {"message": error.message, "type": error.type, "param": error.param, "code": error.code}
    return orjson.dumps({"error": fields}, option=orjson.OPT_INDENT_2)


def error_event() -> bytes:
    """The error that ends a stream whose status was 200 already."""
    message = "The server had an error while processing your request. Sorry about that!"
    return _frame({"error": {"message": message, "type": "server_error", "param": None, "code": None}})


def _frame(document: Document) -> bytes:
    return b"data: " + orjson.dumps(document) + b"\n\n"


def _envelope(identifier: str, kind: str, model: str) -> Document:
    return {
        "id": identifier,
        "object": kind,
        "created": CREATED,
        "model": model,
        "service_tier": "default",
        "system_fingerprint": "fp_5cr1p7ed00",
    }


def _usage(turn: Turn) -> Document:
    counted = turn.usage
    return {
        "prompt_tokens": counted.input_tokens,
        "completion_tokens": counted.output_tokens,
        "total_tokens": counted.input_tokens + counted.output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _choice_chunks(
    number: int, parts: Sequence[Part], stop: Stop, identifiers: Identifiers, fragment_chars: int
) -> Iterator[Document]:
    calls = _calls(parts)
    opening = {"role": "assistant", "content": None if calls and not _text(parts) else "", "refusal": None}
    yield _choice(number, opening)
    for piece in fragments(_text(parts), fragment_chars):
        yield _choice(number, {"content": piece})
    for index, call in enumerate(calls):
        if stop is Stop.LEGACY_CALL:
            yield from (_choice(number, delta) for delta in _legacy_deltas(call, fragment_chars))
        else:
            yield from (_choice(number, delta) for delta in _call_deltas(index, call, identifiers, fragment_chars))
    yield _choice(number, {}, _STOPS[stop])


def _choice(number: int, delta: Document, finish_reason: str | None = None) -> Document:
    return {"index": number, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def _call_deltas(index: int, call: Call, identifiers: Identifiers, fragment_chars: int) -> Iterator[Document]:
    kind, text_key = ("custom", "input") if call.custom else ("function", "arguments")
    first = {
        "index": index,
        "id": _identifier(call, identifiers),
        "type": kind,
        kind: {"name": call.name, text_key: ""},
    }
    yield {"tool_calls": [first]}
    for piece in fragments(call.arguments, fragment_chars):
        yield {"tool_calls": [{"index": index, kind: {text_key: piece}}]}


def _legacy_deltas(call: Call, fragment_chars: int) -> Iterator[Document]:
    yield {"function_call": {"name": call.name, "arguments": ""}}
    for piece in fragments(call.arguments, fragment_chars):
        yield {"function_call": {"arguments": piece}}


def _message(parts: Sequence[Part], stop: Stop, identifiers: Identifiers) -> Document:
    calls = _calls(parts)
    message: dict[str, Any] = {"role": "assistant", "content": _text(parts) or (None if calls else "")}
    if calls and stop is Stop.LEGACY_CALL:
        message["function_call"] = {"name": calls[0].name, "arguments": calls[0].arguments}
    elif calls:
        message["tool_calls"] = [_whole(call, identifiers) for call in calls]
    return message | {"refusal": None, "annotations": []}


def _whole(call: Call, identifiers: Identifiers) -> Document:
    if call.custom:
        inner = {"custom": {"name": call.name, "input": call.arguments}}
    else:
        inner = {"function": {"name": call.name, "arguments": call.arguments}}
    return {"id": _identifier(call, identifiers), "type": "custom" if call.custom else "function", **inner}


def _identifier(call: Call, identifiers: Identifiers) -> str:
    return call.id or identifiers.next("call_", 24)


def _calls(parts: Sequence[Part]) -> list[Call]:
    return [part for part in parts if isinstance(part, Call)]


def _text(parts: Sequence[Part]) -> str:
    """Chat has one content and no thinking; blocks of the other dialect have no place in it."""
    texts = []
    for part in parts:
        match part:
            case Text(text):
                texts.append(text)
            case Thinking() | Call():
                pass
            case Block():
                raise ValueError(f"chat completions has no block of type {part.start.get('type')!r}")
    return "".join(texts)
