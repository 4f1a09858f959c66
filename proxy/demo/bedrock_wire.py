"""A turn in the grammar of Bedrock: Converse's events and body, and Claude's own events in chunks (InvokeModel)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

import orjson

from proxy.demo import anthropic_wire
from proxy.demo.anthropic_wire import UNSIGNED, fragments
from proxy.demo.eventstream import event, exception
from proxy.demo.turns import Call, Document, HttpError, Stop, Text, Thinking, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from proxy.demo.identifiers import Identifiers
    from proxy.demo.turns import Part

STOPS: Final = {
    Stop.END: "end_turn",
    Stop.CALLS: "tool_use",
    Stop.LENGTH: "max_tokens",
    Stop.STOP_SEQUENCE: "stop_sequence",
    Stop.REFUSAL: "content_filtered",
    Stop.LEGACY_CALL: "tool_use",
}
_PADDING: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def converse_events(turn: Turn, fragment_chars: int) -> list[bytes]:
    """The messages of a streamed turn. Only a call has a start; the usage comes behind the end."""
    said: list[tuple[str, bytes]] = [("messageStart", orjson.dumps({"role": "assistant"}))]
    for index, part in enumerate(turn.parts):
        said += _block(index, part, fragment_chars)
    said.append(("messageStop", orjson.dumps({"stopReason": STOPS[turn.stop_of(turn.parts)]})))
    said.append(("metadata", orjson.dumps({"metrics": {"latencyMs": 5}, "usage": _usage(turn)})))
    return [event(name, _padded(payload, number)) for number, (name, payload) in enumerate(said, 3)]


def converse_body(turn: Turn) -> bytes:
    """The answer that is not streamed; a script's argument text stands in it as it is."""
    blocks = b",".join(_whole(turn.parts))
    stop = orjson.dumps(STOPS[turn.stop_of(turn.parts)])
    return (
        b'{"metrics":{"latencyMs":5},"output":{"message":{"content":['
        + blocks
        + b'],"role":"assistant"}},"stopReason":'
        + stop
        + b',"usage":'
        + orjson.dumps(_usage(turn))
        + b"}"
    )


def converse_message(turn: Turn) -> Document:
    """The assistant message, as a client reads it."""
    return {"role": "assistant", "content": [orjson.loads(block) for block in _whole(turn.parts)]}


def invoke_events(turn: Turn, model: str, identifiers: Identifiers, fragment_chars: int) -> list[bytes]:
    """Claude's own events, each in the bytes of a chunk; the last one says what the invocation took."""
    documents = [
        orjson.loads(frame.partition(b"data: ")[2])
        for frame in anthropic_wire.events(turn, model, identifiers, fragment_chars)
    ]
    counted = {"inputTokenCount": turn.counted.input_tokens, "outputTokenCount": turn.counted.output_tokens}
    documents[-1]["amazon-bedrock-invocationMetrics"] = {**counted, "invocationLatency": 5, "firstByteLatency": 2}
    return [chunk(orjson.dumps(document), number) for number, document in enumerate(documents, 3)]


def chunk(document: bytes, number: int = 7) -> bytes:
    return event("chunk", _padded(orjson.dumps({"bytes": base64.b64encode(document).decode()}), number))


def error_body(error: HttpError) -> bytes:
    return orjson.dumps({"message": error.message})


def error_event() -> bytes:
    return exception("throttlingException", b'{"message":"Too many requests, please wait before trying again."}')


def _padded(payload: bytes, number: int) -> bytes:
    """The provider hides how long its events are."""
    return payload[:-1] + b',"p":"' + _PADDING[: number * 7 % 61 + 1].encode() + b'"}'


def _usage(turn: Turn) -> Document:
    counted = turn.counted
    total = counted.input_tokens + counted.output_tokens
    return {"inputTokens": counted.input_tokens, "outputTokens": counted.output_tokens, "totalTokens": total}


def _block(index: int, part: Part, fragment_chars: int) -> Iterator[tuple[str, bytes]]:
    where = {"contentBlockIndex": index}
    if isinstance(part, Call):
        start = {"toolUse": {"toolUseId": part.id, "name": part.name}}
        yield "contentBlockStart", orjson.dumps({**where, "start": start})
    for delta in _deltas(part, fragment_chars):
        yield "contentBlockDelta", orjson.dumps({**where, "delta": delta})
    yield "contentBlockStop", orjson.dumps(where)


def _deltas(part: Part, fragment_chars: int) -> Iterator[Document]:
    match part:
        case Text(text):
            yield from ({"text": piece} for piece in fragments(text, fragment_chars))
        case Thinking(_, signature, redacted=True):
            yield {"reasoningContent": {"redactedContent": _bytes(signature)}}
        case Thinking(text, signature):
            yield from ({"reasoningContent": {"text": piece}} for piece in fragments(text, fragment_chars))
            yield {"reasoningContent": {"signature": signature or UNSIGNED}}
        case Call():
            yield from ({"toolUse": {"input": piece}} for piece in fragments(part.arguments, fragment_chars))
        case _:
            yield from part.deltas


def _whole(parts: Sequence[Part]) -> Iterator[bytes]:
    for part in parts:
        match part:
            case Text(text):
                yield orjson.dumps({"text": text})
            case Thinking(_, signature, redacted=True):
                yield orjson.dumps({"reasoningContent": {"redactedContent": _bytes(signature)}})
            case Thinking(text, signature):
                said = {"text": text, "signature": signature or UNSIGNED}
                yield orjson.dumps({"reasoningContent": {"reasoningText": said}})
            case Call():
                value = orjson.Fragment((part.arguments or "{}").encode())
                yield orjson.dumps({"toolUse": {"toolUseId": part.id, "name": part.name, "input": value}})
            case _:
                yield orjson.dumps(part.whole)


def _bytes(data: str) -> str:
    return base64.b64encode((data or UNSIGNED).encode()).decode()
