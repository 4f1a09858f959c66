"""Model turns in a neutral vocabulary, rendered to the bytes of each dialect by code that knows nothing of the product.

What must never leak is drawn from an alphabet of its own: arguments are made of `Zq...` words, ids of `..._Zq...`.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

TOOLS = ("lookup_order", "process_refund", "send_mail")


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    text: str
    signature: str


@dataclass(frozen=True, slots=True)
class ServerTool:
    """The provider runs it."""

    id: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The client runs it. `pieces` joined are the arguments, or the free text of a custom call."""

    id: str
    name: str
    pieces: tuple[str, ...]
    freeform: bool = False

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


Part: TypeAlias = "Text | Thinking | ServerTool | ToolUse"


@dataclass(frozen=True, slots=True)
class Turn:
    """`order` seeds the interleaving of what may stand in any order."""

    parts: tuple[Part, ...]
    output_tokens: int = 9
    order: int = 0

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolUse))


class Quirk(Enum):
    """How real servers frame a Chat stream otherwise than OpenAI."""

    NO_INDEX = auto()
    ALL_AT_ZERO = auto()
    NAME_REPEATED = auto()
    ARGUMENTS_AS_OBJECT = auto()
    EMPTY_FINISH = auto()
    ID_LATE = auto()


# --- strategies

_word = st.text("abcdefghij", min_size=8, max_size=12).map("Zq".__add__)
_prose = st.text(st.sampled_from('klmnop .\n"\\é€😀\u2028\u2029\u0085\x7f'), max_size=20)
_values = st.recursive(
    _word | st.integers(10**9, 10**12) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_word, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def _pieces(draw: st.DrawFn, text: str) -> tuple[str, ...]:
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return tuple(text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True))


@st.composite
def tool_uses(draw: st.DrawFn, number: int, *, freeform: bool = False) -> ToolUse:
    name = draw(st.sampled_from(TOOLS))
    call_id = f"call_{draw(_word)}{number}"
    if freeform and draw(st.booleans()):
        return ToolUse(call_id, name, draw(_pieces(draw(_word) + draw(_prose))), freeform=True)
    value = draw(st.dictionaries(_word, _values, max_size=3))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    return ToolUse(call_id, name, draw(_pieces(text)))


@st.composite
def turns(draw: st.DrawFn, *, server_tools: bool = True, freeform: bool = False, calls_max: int = 3) -> Turn:
    parts: list[Part] = []
    if draw(st.booleans()):
        parts.append(Thinking(draw(_prose), "sig"))
    for number in range(draw(st.integers(0, calls_max))):
        if draw(st.booleans()):
            parts.append(Text("t" + draw(_prose)))
        if server_tools and draw(st.integers(0, 4)) == 0:
            parts.append(ServerTool(f"srvtoolu_s{number}", '{"query": "weather"}'))
        parts.append(draw(tool_uses(number, freeform=freeform)))
    if not parts or draw(st.booleans()):
        parts.append(Text("t" + draw(_prose)))
    return Turn(tuple(parts), draw(st.integers(0, 99)), draw(st.integers(0, 999)))


endings = st.sampled_from([b"\n", b"\r\n", b"\r"])
cut_places = st.lists(st.integers(0, 5000), max_size=12)


@st.composite
def mutations(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes damaged: cut, doubled, swapped, overwritten."""
    for _ in range(draw(st.integers(1, 3))):
        start, end = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        end = min(end, start + 60)
        span = data[start:end]
        match draw(st.integers(0, 4)):
            case 0:
                data = data[:start]
            case 1:
                data = data[:start] + data[end:]
            case 2:
                data = data[:end] + span + data[end:]
            case 3:
                data = data[end:] + data[:end]
            case _:
                data = data[:start] + draw(st.binary(max_size=4) | st.sampled_from(JUNK)) + data[end:]
    return data


JUNK = [
    b"\n\n",
    b"\r",
    b":",
    b"data: ",
    b"event: ping\n",
    b"-1",
    b"null",
    b"[]",
    b"{}",
    b'"',
    b"1e999",
    b"\xff",
    b"[DONE]",
]


# --- rendering: frames are lists of lines, without their endings


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def framed(frames: Sequence[Sequence[str]], ending: bytes = b"\n") -> bytes:
    return b"".join(b"".join(line.encode() + ending for line in frame) + ending for frame in frames)


def anthropic_frames(events: Sequence[dict[str, Any]]) -> list[list[str]]:
    return [[f"event: {event['type']}", f"data: {dump(event)}"] for event in events]


def anthropic_events(turn: Turn, *, reason: str | None = None) -> list[dict[str, Any]]:
    usage = {"input_tokens": 5, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "usage": usage}}]
    for index, part in enumerate(turn.parts):
        start, deltas = _anthropic_block(part)
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
        if index % 2:
            events.append({"type": "ping"})
    delta = {"stop_reason": reason or _anthropic_reason(turn), "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": turn.output_tokens}})
    events.append({"type": "message_stop"})
    return events


def _anthropic_reason(turn: Turn) -> str:
    return "tool_use" if turn.calls else "end_turn"


def _anthropic_block(part: Part) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match part:
        case Text(text=text):
            half = len(text) // 2
            return {"type": "text", "text": ""}, [
                {"type": "text_delta", "text": piece} for piece in (text[:half], text[half:])
            ]
        case Thinking(text=text, signature=signature):
            deltas = [{"type": "thinking_delta", "thinking": text}, {"type": "signature_delta", "signature": signature}]
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case ServerTool(id=tool_id, arguments=arguments):
            start = {"type": "server_tool_use", "id": tool_id, "name": "web_search", "input": {}}
            return start, [{"type": "input_json_delta", "partial_json": arguments}]
        case ToolUse(id=tool_id, name=name, pieces=pieces):
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
            return {"type": "tool_use", "id": tool_id, "name": name, "input": {}}, deltas


def anthropic_stream(turn: Turn, ending: bytes = b"\n") -> bytes:
    return framed(anthropic_frames(anthropic_events(turn)), ending)


def anthropic_body(turn: Turn) -> bytes:
    content: list[dict[str, Any]] = []
    for part in turn.parts:
        match part:
            case Text(text=text):
                content.append({"type": "text", "text": text})
            case Thinking(text=text, signature=signature):
                content.append({"type": "thinking", "thinking": text, "signature": signature})
            case ServerTool(id=tool_id, arguments=arguments):
                block = {"type": "server_tool_use", "id": tool_id, "name": "web_search"}
                content.append({**block, "input": json.loads(arguments)})
            case ToolUse(id=tool_id, name=name):
                value = json.loads(part.arguments or "{}")
                content.append({"type": "tool_use", "id": tool_id, "name": name, "input": value})
    usage = {"input_tokens": 5, "output_tokens": turn.output_tokens}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
    return dump({**head, "stop_reason": _anthropic_reason(turn), "stop_sequence": None, "usage": usage}).encode()


def chat_stream(
    choices: Sequence[Turn], ending: bytes = b"\n", quirk: Quirk | None = None, finish: str | None = None
) -> bytes:
    """One stream of n choices, their chunks interleaved; every index of a choice appears in order."""
    queues = [_chat_deltas(turn, index, quirk, finish) for index, turn in enumerate(choices)]
    chunks = [queue.pop(0) for queue in queues]
    rng = random.Random(sum(turn.order for turn in choices))
    while live := [queue for queue in queues if queue]:
        chunks.append(rng.choice(live).pop(0))
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 5, "completion_tokens": choices[0].output_tokens, "total_tokens": 7}
    frames = [[f"data: {dump({**head, 'choices': [chunk]})}"] for chunk in chunks]
    return framed([*frames, [f"data: {dump({**head, 'choices': [], 'usage': usage})}"], ["data: [DONE]"]], ending)


def _chat_deltas(turn: Turn, choice: int, quirk: Quirk | None, finish: str | None) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    for part in turn.parts:
        match part:
            case Text(text=text):
                deltas.append({"content": text})
            case Thinking(text=text):
                deltas.append({"reasoning_content": text})
            case ServerTool():
                deltas.append({"executed_tools": [{"index": 0, "type": "search", "arguments": part.arguments}]})
            case ToolUse():
                pass
    deltas += [{"tool_calls": [fragment]} for fragment in _chat_fragments(turn, quirk)]
    reason = finish or ("tool_calls" if turn.calls else "stop")
    idle = "" if quirk is Quirk.EMPTY_FINISH else None
    chunks = [{"index": choice, "delta": delta, "finish_reason": idle} for delta in deltas]
    return [*chunks, {"index": choice, "delta": {}, "finish_reason": reason}]


def _chat_fragments(turn: Turn, quirk: Quirk | None) -> list[dict[str, Any]]:
    """The fragments of all calls, interleaved; a call opens only after the one before it."""
    queues = [_fragments(call, index, quirk) for index, call in enumerate(turn.calls)]
    if quirk in (Quirk.NO_INDEX, Quirk.ALL_AT_ZERO):
        return [fragment for queue in queues for fragment in queue]
    rng, out, opened = random.Random(turn.order), [], 0
    while any(queues):
        ready = [index for index, queue in enumerate(queues[: opened + 1]) if queue]
        index = rng.choice(ready)
        opened = max(opened, index + 1)
        out.append(queues[index].pop(0))
    return out


def _fragments(call: ToolUse, index: int, quirk: Quirk | None) -> list[dict[str, Any]]:
    kind, member = ("custom", "input") if call.freeform else ("function", "arguments")
    number = {} if quirk is Quirk.NO_INDEX else {"index": 0 if quirk is Quirk.ALL_AT_ZERO else index}
    head = {**number, "id": call.id, "type": kind}
    if quirk in (Quirk.NO_INDEX, Quirk.ALL_AT_ZERO):
        return [{**head, kind: {"name": call.name, member: call.arguments}}]
    if quirk is Quirk.ARGUMENTS_AS_OBJECT and not call.freeform:
        return [{**head, kind: {"name": call.name, member: json.loads(call.arguments)}}]
    late = quirk is Quirk.ID_LATE
    again = {"name": call.name} if quirk is Quirk.NAME_REPEATED else {}
    first = {**number, "type": kind} if late else head
    rest = [{**number, kind: {**again, member: piece}} for piece in call.pieces]
    if call.freeform:
        rest = [{**fragment, "type": kind} for fragment in rest]
    if late:
        rest.append({**number, "id": call.id, kind: {member: ""}})
    return [{**first, kind: {"name": call.name, member: ""}}, *rest]


def chat_body(choices: Sequence[Turn]) -> bytes:
    stated = [_chat_choice(turn, index) for index, turn in enumerate(choices)]
    usage = {"prompt_tokens": 5, "completion_tokens": choices[0].output_tokens, "total_tokens": 7}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
    return dump({**head, "choices": stated, "usage": usage}).encode()


def _chat_choice(turn: Turn, index: int) -> dict[str, Any]:
    texts = [part.text for part in turn.parts if isinstance(part, Text)]
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) or None, "refusal": None}
    calls = []
    for call in turn.calls:
        kind, member = ("custom", "input") if call.freeform else ("function", "arguments")
        calls.append({"id": call.id, "type": kind, kind: {"name": call.name, member: call.arguments}})
    if calls:
        message["tool_calls"] = calls
    reason = "tool_calls" if calls else "stop"
    return {"index": index, "message": message, "logprobs": None, "finish_reason": reason}
