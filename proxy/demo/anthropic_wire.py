"""A turn in the grammar of Anthropic Messages: the events of a stream, the body, errors.

The grammar is the provider's own (platform.claude.com, streaming): `event:` names equal `data.type`, indexes are
dense, the first argument fragment is empty, usage of `message_delta` is cumulative, and white space may
stand before the last brace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo import meaning
from proxy.demo.identifiers import Identifiers
from proxy.demo.turns import Block, Call, Document, HttpError, Stop, Text, Thinking, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy.demo.turns import Part

STREAM_TYPE = "text/event-stream; charset=utf-8"
UNSIGNED = "EpADCokBCA8YAipAc2NyaXB0ZWQ="  # of thinking that no provider has signed
PING = b'event: ping\ndata: {"type": "ping"}\n\n'

_STOPS = {
    Stop.END: "end_turn",
    Stop.CALLS: "tool_use",
    Stop.LENGTH: "max_tokens",
    Stop.STOP_SEQUENCE: "stop_sequence",
    Stop.REFUSAL: "refusal",
    Stop.LEGACY_CALL: "tool_use",
}


def frame(document: Document, padding: int = 0) -> bytes:
    """One server-sent event, with the provider's white space before the last brace."""
    text = orjson.dumps(document)
    name = str(document["type"]).encode()
    return b"event: " + name + b"\ndata: " + text[:-1] + b" " * padding + b"}\n\n"


def events(
    turn: Turn,
    model: str,
    identifiers: Identifiers,
    fragment_chars: int,
    transformations: list[Document] | None = None,
) -> list[bytes]:
    """The frames of a streamed turn, in order. `transformations` of its input are told at the start."""
    documents = [_message_start(turn, model, identifiers, transformations)]
    for index, part in enumerate(turn.parts):
        documents += _block(index, part, identifiers, fragment_chars)
    stop = turn.stop_of(turn.parts)
    delta = {"stop_reason": _STOPS[stop], "stop_sequence": _stop_sequence(stop), "stop_details": _stop_details(stop)}
    documents.append({"type": "message_delta", "delta": delta, "usage": _cumulative_usage(turn)})
    documents.append({"type": "message_stop"})
    return [frame(document, number * 7 % 16) for number, document in enumerate(documents, 3)]


def body(turn: Turn, model: str, identifiers: Identifiers, transformations: list[Document] | None = None) -> bytes:
    """The answer that is not streamed."""
    stop = turn.stop_of(turn.parts)
    message = _message(model, identifiers.next("msg_01", 22), transformations)
    message["content"] = [_whole(part, identifiers) for part in turn.parts]
    message |= {"stop_reason": _STOPS[stop], "stop_sequence": _stop_sequence(stop)}
    message |= {"stop_details": _stop_details(stop), "usage": _usage(turn, turn.counted.output_tokens)}
    return orjson.dumps(message)


def content(turn: Turn) -> list[Document]:
    """The blocks of a turn as a client reads them, its calls' inputs parsed; an input that is no JSON stays a text."""
    blocks = []
    for part in turn.parts:
        match part:
            case Call():
                value = meaning.arguments(part.arguments or part.start_input)
                blocks.append(_call_block(part, part.id, value))
            case _:
                blocks.append(_whole(part, Identifiers()))
    return blocks


def error_body(error: HttpError, request_id: str) -> bytes:
    document = {"type": "error", "error": {"type": error.type, "message": error.message}, "request_id": request_id}
    return orjson.dumps(document)


def error_event() -> bytes:
    """The error that ends a stream whose status was 200 already."""
    return frame({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})


def _message(model: str, identifier: str, transformations: list[Document] | None) -> Document:
    told: Document = {} if transformations is None else {"input_transformations": transformations}
    return {
        "model": model,
        "id": identifier,
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        **told,
    }


def _message_start(
    turn: Turn, model: str, identifiers: Identifiers, transformations: list[Document] | None
) -> Document:
    message = _message(model, identifiers.next("msg_01", 22), transformations)
    message["usage"] = _usage(turn, min(turn.counted.output_tokens, 2))
    return {"type": "message_start", "message": message}


def _usage(turn: Turn, output_tokens: int) -> Document:
    return {
        "input_tokens": turn.counted.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output_tokens,
        "service_tier": "standard",
        "inference_geo": "global",
    }


def _cumulative_usage(turn: Turn) -> Document:
    return {
        "input_tokens": turn.counted.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": turn.counted.output_tokens,
    }


def _stop_sequence(stop: Stop) -> str | None:
    return "STOP" if stop is Stop.STOP_SEQUENCE else None


def _stop_details(stop: Stop) -> Document | None:
    return {"type": "refusal", "category": None, "explanation": None} if stop is Stop.REFUSAL else None


def _block(index: int, part: Part, identifiers: Identifiers, fragment_chars: int) -> Iterator[Document]:
    start, deltas = _started(part, identifiers, fragment_chars)
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _started(part: Part, identifiers: Identifiers, fragment_chars: int) -> tuple[Document, list[Document]]:
    """The block as its start event states it, and its deltas."""
    match part:
        case Text(text):
            deltas = [{"type": "text_delta", "text": piece} for piece in fragments(text, fragment_chars)]
            return {"type": "text", "text": ""}, deltas
        case Thinking(_, signature, redacted=True):
            return {"type": "redacted_thinking", "data": signature or UNSIGNED}, []
        case Thinking(text, signature):
            pieces = list(fragments(text, fragment_chars)) or [""]
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
            deltas.append({"type": "signature_delta", "signature": signature or UNSIGNED})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case Call():
            deltas = [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in ("", *fragments(part.arguments, fragment_chars))
                if part.arguments
            ]
            return _tool_use(part, identifiers, part.start_input or "{}"), deltas
        case Block():
            return part.start, list(part.deltas)


def _whole(part: Part, identifiers: Identifiers) -> Document:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(_, signature, redacted=True):
            return {"type": "redacted_thinking", "data": signature or UNSIGNED}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature or UNSIGNED}
        case Call():
            return _tool_use(part, identifiers, part.arguments or part.start_input or "{}")
        case Block():
            return part.whole


def _tool_use(call: Call, identifiers: Identifiers, raw_input: str) -> Document:
    return _call_block(call, call.id or identifiers.next("toolu_01", 22), orjson.Fragment(raw_input))


def _call_block(call: Call, identifier: str, value: Any) -> Document:
    return {"type": "tool_use", "id": identifier, "name": call.name, "input": value, "caller": {"type": "direct"}}


def fragments(text: str, chars: int) -> Iterator[str]:
    for start in range(0, len(text), max(chars, 1)):
        yield text[start : start + max(chars, 1)]
