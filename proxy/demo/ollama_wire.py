"""A turn in the grammar of Ollama's `/api/chat`, and what its server refuses of a history (it checks shapes alone)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from proxy.demo.anthropic_wire import fragments
from proxy.demo.turns import Asked, Call, Dialect, Document, HttpError, Stop, Text, Thinking, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from proxy.demo.turns import Part

STREAM_TYPE: Final = "application/x-ndjson"
CREATED: Final = "2026-11-30T10:00:00.000000Z"
_ROLES: Final = frozenset({"system", "user", "assistant", "tool"})


def lines(turn: Turn, model: str, fragment_chars: int) -> list[bytes]:
    """The lines of a streamed turn: each call in one of its own, and one that is done behind all."""
    said = [_line(model, piece) for piece in _pieces(turn.parts, fragment_chars)]
    return [line + b"\n" for line in (*said, _line(model, b'"content":""', _end(turn)))]


def body(turn: Turn, model: str) -> bytes:
    """The answer that is not streamed."""
    return _line(model, _whole(turn), _end(turn))


def message(turn: Turn) -> Document:
    """The assistant message, as a client reads it."""
    found: Document = orjson.loads(b'{"role":"assistant",' + _whole(turn) + b"}")
    return found


def refusal(body: Document) -> HttpError | None:
    """What Go's decoder and the server say, or None."""
    text = next(_faults(body), None)
    return None if text is None else HttpError(400, "", text)


def asked(body: Document) -> Asked:
    """A request as the script sees it."""
    user_text, rounds = "", 0
    results: list[str] = []
    for each in body.get("messages") or ():
        match each["role"]:
            case "assistant":
                rounds += 1
            case "user":
                user_text, results, rounds = each.get("content") or "", [], 0
            case "tool":
                results.append(each.get("content") or "")
    streamed = body.get("stream") is not False
    return Asked(Dialect.OLLAMA, body, str(body["model"]), streamed, user_text, tuple(results), rounds)


def _faults(body: Document) -> Iterator[str]:
    if not body.get("model"):
        yield "model is required"
    for each in body.get("messages") or ():
        if each.get("role") not in _ROLES:
            yield f"invalid role: {each.get('role')}"
        if not isinstance(each.get("content", ""), str):
            yield "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string"
        for call in each.get("tool_calls") or ():
            if not isinstance(call.get("function", {}).get("arguments"), dict):
                yield (
                    "json: cannot unmarshal string into Go struct field "
                    "ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments"
                )


def _line(model: str, said: bytes, end: bytes = b'"done":false') -> bytes:
    head = b'{"model":' + orjson.dumps(model) + b',"created_at":"' + CREATED.encode() + b'","message":'
    return head + b'{"role":"assistant",' + said + b"}," + end + b"}"


def _end(turn: Turn) -> bytes:
    counted = turn.counted
    fields: dict[str, Any] = {
        "done": True,
        "done_reason": "length" if turn.stop is Stop.LENGTH else "stop",
        "total_duration": 1_000_000,
        "load_duration": 1_000,
        "prompt_eval_count": counted.input_tokens,
        "prompt_eval_duration": 2_000,
        "eval_count": counted.output_tokens,
        "eval_duration": 3_000,
    }
    return orjson.dumps(fields)[1:-1]


def _pieces(parts: Sequence[Part], fragment_chars: int) -> Iterator[bytes]:
    for part in parts:
        match part:
            case Text(text):
                yield from (b'"content":' + orjson.dumps(piece) for piece in fragments(text, fragment_chars))
            case Thinking(text):
                for piece in fragments(text, fragment_chars):
                    yield b'"content":"","thinking":' + orjson.dumps(piece)
            case Call():
                yield b'"content":"","tool_calls":[' + _call(part) + b"]"
            case _:
                continue


def _whole(turn: Turn) -> bytes:
    text = "".join(part.text for part in turn.parts if isinstance(part, Text))
    thought = "".join(part.text for part in turn.parts if isinstance(part, Thinking))
    calls = [_call(part) for part in turn.parts if isinstance(part, Call)]
    said = b'"content":' + orjson.dumps(text)
    said += b',"thinking":' + orjson.dumps(thought) if thought else b""
    return said + (b',"tool_calls":[' + b",".join(calls) + b"]" if calls else b"")


def _call(call: Call) -> bytes:
    """A script's argument text stands in it as it is."""
    return (
        b'{"function":{"name":' + orjson.dumps(call.name) + b',"arguments":' + (call.arguments or "{}").encode() + b"}}"
    )
