"""A turn in the grammar of OpenAI Chat Completions: the chunks of a stream, the body, errors.

The grammar is the provider's own: `data:` lines only, one id, time and model on every chunk, the first fragment of a
call carries id, type and name and an empty argument text, choices interleave, `[DONE]`
ends; bodies are indented by two.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo import meaning
from proxy.demo.anthropic_wire import fragments
from proxy.demo.content_filter import filtered_body, filtered_chunks
from proxy.demo.identifiers import Identifiers
from proxy.demo.servers import OPENAI, Indexes
from proxy.demo.signatures import call_signature
from proxy.demo.turns import Block, Call, Document, HttpError, Stop, Text, Thinking, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from proxy.demo.servers import ChatServer
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
    turn: Turn,
    model: str,
    identifiers: Identifiers,
    fragment_chars: int,
    *,
    include_usage: bool,
    server: ChatServer = OPENAI,
) -> list[bytes]:
    """The frames of a streamed turn, in order, `[DONE]` included. The chunks of several choices interleave."""
    envelope = _envelope(identifiers.next("chatcmpl-", 29), "chat.completion.chunk", model)
    writer = _Writer(server, identifiers, fragment_chars)
    lanes = [
        list(writer.choice_chunks(number, parts, turn.stop_of(parts))) for number, parts in enumerate(turn.choices)
    ]
    choices = [choice for choice in chain.from_iterable(zip_longest(*lanes)) if choice is not None]
    usage: Document = {"usage": None} if include_usage else {}
    documents = [envelope | {"choices": [choice]} | usage for choice in choices]
    if include_usage:
        documents.append(envelope | {"choices": [], "usage": _usage(turn)})
    if server.filters:
        documents = filtered_chunks(documents)
    sent = [
        _frame(document | {"obfuscation": identifiers.next("", 1 + n % 13)}) for n, document in enumerate(documents)
    ]
    return [*sent, DONE]


def body(turn: Turn, model: str, identifiers: Identifiers, server: ChatServer = OPENAI) -> bytes:
    """The answer that is not streamed."""
    document = _envelope(identifiers.next("chatcmpl-", 29), "chat.completion", model)
    writer = _Writer(server, identifiers)
    document["choices"] = [
        {
            "index": number,
            "message": writer.message(parts, turn.stop_of(parts)),
            "logprobs": None,
            "finish_reason": writer.finish(turn.stop_of(parts)),
        }
        for number, parts in enumerate(turn.choices)
    ]
    document["usage"] = _usage(turn)
    if server.filters:
        document = filtered_body(document)
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def message(turn: Turn, server: ChatServer = OPENAI) -> Document:
    """The assistant message of choice 0, as a client reads it."""
    return _Writer(server, Identifiers()).message(turn.parts, turn.stop_of(turn.parts))


def new_id(identifiers: Identifiers, server: ChatServer = OPENAI) -> str:
    """An id for a call, as that server makes them."""
    return identifiers.next("", 9) if server.nine_char_ids else identifiers.next("call_", 24)


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
    counted = turn.counted
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


def _choice(number: int, delta: Document, finish_reason: str | None = None) -> Document:
    return {"index": number, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


@dataclass(frozen=True, slots=True)
class _Writer:
    """Choices as one server writes them."""

    server: ChatServer
    identifiers: Identifiers
    fragment_chars: int = 0

    def choice_chunks(self, number: int, parts: Sequence[Part], stop: Stop) -> Iterator[Document]:
        calls = _calls(parts)
        opening = {"role": "assistant", "content": None if calls and not _text(parts) else "", "refusal": None}
        if self.server.reasoning:
            opening["reasoning_content"] = ""
        yield _choice(number, opening)
        for piece in fragments(_reasoning(parts), self.fragment_chars) if self.server.reasoning else ():
            yield _choice(number, {"reasoning_content": piece})
        for piece in fragments(_text(parts), self.fragment_chars):
            yield _choice(number, {"content": piece})
        for index, call in enumerate(calls):
            deltas = self._legacy_deltas(call) if stop is Stop.LEGACY_CALL else self._call_deltas(index, call)
            yield from (_choice(number, delta) for delta in deltas)
        yield _choice(number, {}, self.finish(stop))

    def finish(self, stop: Stop) -> str:
        return _STOPS[Stop.END if self.server.finish_stop and stop is Stop.CALLS else stop]

    def message(self, parts: Sequence[Part], stop: Stop) -> Document:
        calls = _calls(parts)
        message: dict[str, Any] = {"role": "assistant", "content": _text(parts) or (None if calls else "")}
        if self.server.reasoning:
            message["reasoning_content"] = _reasoning(parts)
        if calls and stop is Stop.LEGACY_CALL:
            message["function_call"] = {"name": calls[0].name, "arguments": calls[0].arguments}
        elif calls:
            message["tool_calls"] = [self._whole(place, call) for place, call in enumerate(calls)]
        return message | {"refusal": None, "annotations": []}

    def _call_deltas(self, index: int, call: Call) -> Iterator[Document]:
        whole = self._whole(index, call)
        kind = str(whole["type"])
        text_key = "input" if call.custom else "arguments"
        place = {Indexes.DENSE: {"index": index}, Indexes.ZERO: {"index": 0}, Indexes.NONE: {}}[self.server.indexes]
        extra = {"extra_content": whole.pop("extra_content")} if "extra_content" in whole else {}
        first = extra if not self.server.signature_apart else {}
        if self.server.whole_calls:
            yield {"tool_calls": [{**place, **whole, **first}]}
        else:
            yield {"tool_calls": [{**place, **whole, kind: {"name": call.name, text_key: ""}, **first}]}
            for piece in fragments(call.arguments, self.fragment_chars):
                yield {"tool_calls": [{**place, kind: {text_key: piece}}]}
        if extra and self.server.signature_apart:
            yield {"tool_calls": [{**place, **extra}]}

    def _legacy_deltas(self, call: Call) -> Iterator[Document]:
        yield {"function_call": {"name": call.name, "arguments": ""}}
        for piece in fragments(call.arguments, self.fragment_chars):
            yield {"function_call": {"arguments": piece}}

    def _whole(self, place: int, call: Call) -> Document:
        identifier = call.id or new_id(self.identifiers, self.server)
        if call.custom:
            return {"id": identifier, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
        arguments: Any = call.arguments
        if self.server.object_arguments:
            arguments = meaning.plain(meaning.arguments(call.arguments))
        whole = {"id": identifier, "type": "function", "function": {"name": call.name, "arguments": arguments}}
        if self.server.signed_calls and place == 0:
            whole["extra_content"] = {"google": {"thought_signature": call_signature(call.name, call.arguments)}}
        return whole


def _calls(parts: Sequence[Part]) -> list[Call]:
    return [part for part in parts if isinstance(part, Call)]


def _reasoning(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Thinking) and not part.redacted)


def _text(parts: Sequence[Part]) -> str:
    """Chat has one content, and its thinking elsewhere; blocks of the other dialect have no place in it."""
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
