"""Anthropic Messages: `POST /v1/messages`, streamed and not (WIRE.md 1, 8.1).

A call is complete at its `content_block_stop`, and certain once another block starts or the turn ends otherwise than by
the token limit. A refused call becomes a text block at its index, so the other indexes stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from interceptors.calls import Cause, MalformedToolCall
from interceptors.context import DeclaredTool
from proxy.wire import assembly, envelope
from proxy.wire.anthropic_transcript import SEALABLE, seal_member
from proxy.wire.anthropic_turn import ANTHROPIC_CONTINUATION
from proxy.wire.assembly import Assembler, State
from proxy.wire.dialect import DeclaredTools, Fault, Judged, Reader, RequestView, Writer, declared_tools
from proxy.wire.events import (
    RELEASED,
    Breach,
    CallCompleted,
    CallCut,
    CallsConfirmed,
    FrameRead,
    Hidden,
    Key,
    Material,
    Observed,
    Released,
    Replaced,
    TurnEnded,
    WireBroken,
    WireEvent,
)
from proxy.wire.sse import Frame, event_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.turn import Continuation


class Kind(Enum):
    TEXT = "text"
    CALL = "call"
    OBSERVED = "observed"  # the provider executes it
    FRAME = "frame"


BLOCKS: Mapping[str, Kind] = {
    "text": Kind.TEXT,
    "thinking": Kind.TEXT,
    "redacted_thinking": Kind.TEXT,
    "compaction": Kind.TEXT,
    "fallback": Kind.FRAME,
    "tool_use": Kind.CALL,
    "server_tool_use": Kind.OBSERVED,
    "mcp_tool_use": Kind.OBSERVED,
    "mcp_tool_result": Kind.OBSERVED,
    "mcp_tool_listing": Kind.OBSERVED,
    "web_search_tool_result": Kind.OBSERVED,
    "web_fetch_tool_result": Kind.OBSERVED,
    "code_execution_tool_result": Kind.OBSERVED,
    "bash_code_execution_tool_result": Kind.OBSERVED,
    "text_editor_code_execution_tool_result": Kind.OBSERVED,
    "tool_search_tool_result": Kind.OBSERVED,
    "advisor_tool_result": Kind.OBSERVED,
    "container_upload": Kind.OBSERVED,
}
DELTAS: Mapping[str, Kind] = {
    "text_delta": Kind.TEXT,
    "thinking_delta": Kind.TEXT,
    "signature_delta": Kind.TEXT,
    "citations_delta": Kind.TEXT,
    "compaction_delta": Kind.TEXT,
    "input_json_delta": Kind.CALL,
}
EVENTS: Mapping[str, Kind] = {
    "message_start": Kind.FRAME,
    "content_block_start": Kind.CALL,
    "content_block_delta": Kind.CALL,
    "content_block_stop": Kind.CALL,
    "message_delta": Kind.FRAME,
    "message_stop": Kind.FRAME,
    "ping": Kind.FRAME,
    "error": Kind.FRAME,
}
CLIENT_TOOLS = frozenset(
    {
        "custom",
        "bash_20241022",
        "bash_20250124",
        "text_editor_20241022",
        "text_editor_20250124",
        "text_editor_20250429",
        "text_editor_20250728",
        "computer_20241022",
        "computer_20250124",
        "computer_20251124",
        "memory_20250818",
        "browser_toolset_20260801",
        "computer_toolset_20260801",
    }
)
"""Tool types that the client executes. Every other type is the provider's, known or not."""
PLACING = frozenset({"message_start", "content_block_start", "content_block_delta", "content_block_stop"})
"""Events that make or address blocks. Clients that skip events without a name would number blocks otherwise."""
CONTENT_MEMBERS = ("index", "content_block", "delta", "item", "part", "block")
"""Members by which an event that no table knows shows that it bears content."""
LIMIT_REASONS = ("max_tokens", "model_context_window_exceeded")
UNKNOWN = "unknown"
_ERROR_TYPES: Mapping[Fault, str] = {
    Fault.INVALID_REQUEST: "invalid_request_error",
    Fault.UNAUTHENTICATED: "authentication_error",
    Fault.FORBIDDEN: "permission_error",
    Fault.NOT_FOUND: "not_found_error",
    Fault.TOO_LARGE: "request_too_large",
    Fault.UPGRADE_REFUSED: "invalid_request_error",
    Fault.INTERNAL: "api_error",
    Fault.UPSTREAM_FAILED: "api_error",
    Fault.OVERLOADED: "overloaded_error",
    Fault.UPSTREAM_TIMEOUT: "timeout_error",
}


class AnthropicMessages:
    name = "anthropic-messages"
    provider = "anthropic"
    paths = ("/v1/messages", "/messages")
    passive = (
        ("POST", "/v1/messages/count_tokens"),
        ("POST", "/messages/count_tokens"),
        ("GET", "/v1/models"),
        ("GET", "/models"),
        ("GET", "/v1/models/*"),
        ("GET", "/models/*"),
    )
    keepalive = event_frame("ping", b'{"type": "ping"}')

    def request(self, body: bytes) -> RequestView:
        raw = envelope.members(body)
        model = envelope.value_of(raw["model"]) if "model" in raw else ""
        streamed = envelope.value_of(raw["stream"]) is True if "stream" in raw else False
        tools = _request_tools(*(raw.get(member, b"null") for member in _TOOL_MEMBERS))
        return RequestView(str(model), streamed, tools)

    def reader(self, streamed: bool, pass_types: frozenset[str]) -> Reader:
        return _StreamReader(pass_types) if streamed else _BodyReader(pass_types)

    def writer(self, streamed: bool) -> Writer:
        return _StreamWriter() if streamed else _BodyWriter()

    @property
    def continuation(self) -> Continuation:
        return ANTHROPIC_CONTINUATION

    def error(self, fault: Fault, message: str) -> bytes:
        error = {"type": _ERROR_TYPES[fault], "message": message}
        return envelope.encode({"type": "error", "error": error})


_TOOL_MEMBERS = ("tools", "mcp_servers", "container")


@lru_cache(maxsize=128)
def _request_tools(tools: bytes, mcp_servers: bytes, container: bytes) -> DeclaredTools:
    """By the bytes of the members: an agent declares the same tools with every request."""
    declared: list[DeclaredTool] = []
    provider: list[str] = []
    for element in envelope.list_or_none(tools):
        tool = envelope.members(element)
        kind = envelope.value_of(tool["type"]) if "type" in tool else "custom"
        name = envelope.value_of(tool["name"]) if "name" in tool else None
        if not isinstance(kind, str) or kind not in CLIENT_TOOLS:
            provider.append(name if isinstance(name, str) else str(kind))
        elif isinstance(name, str):
            declared.append(DeclaredTool(name, tool.get("input_schema")))
    provider += [f"mcp/{_server_name(element)}" for element in envelope.list_or_none(mcp_servers)]
    if container != b"null":
        provider.append("container")
    return declared_tools(declared, provider)


def _server_name(element: bytes) -> str:
    server = envelope.value_of(element)
    return str(server.get("name")) if isinstance(server, dict) else ""


def _call_name(block: Mapping[str, Any]) -> str:
    """Members of a toolset are named behind it: `computer/left_click`."""
    name, toolset = block.get("name"), block.get("toolset_name")
    if not isinstance(name, str):
        return ""
    return f"{toolset}/{name}" if isinstance(toolset, str) and toolset else name


def _observed_name(block: Mapping[str, Any]) -> str:
    if block.get("type") == "mcp_tool_use":
        return f"mcp/{block.get('server_name')}"
    return str(block.get("name") or block.get("type"))


def _extra(block: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key not in ("type", "id", "name", "input")}


class _Binding:
    """Whether the calls of a turn wait for each other: a program made one, or a tool of the provider is pending."""

    def __init__(self) -> None:
        self._pending: set[str] = set()
        self._has_program = False

    @property
    def binds(self) -> bool:
        return self._has_program or bool(self._pending)

    def see(self, block: Mapping[str, Any]) -> None:
        if block.get("type") in ("server_tool_use", "mcp_tool_use"):
            self._pending.add(str(block.get("id")))
        elif "tool_use_id" in block:
            self._pending.discard(str(block["tool_use_id"]))
        elif block.get("type") == "tool_use":
            caller = block.get("caller")
            self._has_program |= isinstance(caller, dict) and caller.get("type") != "direct"


class _StreamReader:
    def __init__(self, pass_types: frozenset[str]) -> None:
        self._binding = _Binding()
        self._pass_types = pass_types
        self._calls = Assembler()
        self._keys: dict[int, Key] = {}  # the call that was last opened on an index
        self._kinds: dict[int, Kind] = {}
        self._opened = 0
        self._ended = False
        self._broken = False
        self._is_named: bool | None = None  # whether the events of this stream bear names
        self._openings = 0

    @property
    def binds(self) -> bool:
        return self._binding.binds

    def receive(self, frame: Frame) -> list[WireEvent]:
        if self._broken:
            return []
        if frame.data is None or frame.data == b"[DONE]":
            return [FrameRead(frame)]
        try:
            return self._read(frame, frame.data)
        except strict_json.StrictJsonError:
            return self._break(Breach.NOT_JSON)
        except assembly.StepError:
            return self._break(Breach.FROZEN_CALL)
        except _WrongShapeError:
            return self._break(Breach.WRONG_SHAPE)

    def end(self) -> list[WireEvent]:
        return [self._cut(key) for key in self._calls.keys_in(State.OPEN, State.COMPLETE)]

    def _break(self, breach: Breach) -> list[WireEvent]:
        self._broken = True
        return [WireBroken(breach)]

    def _cut(self, key: Key) -> WireEvent:
        material = self._calls.material(key)
        return CallCut(key, self._calls.cut(key), material)

    def _read(self, frame: Frame, data: bytes) -> list[WireEvent]:
        value = strict_json.parse_envelope(data)
        if not isinstance(value, dict):
            return self._break(Breach.NOT_AN_OBJECT)
        name = value.get("type")
        if not self._is_well_named(frame, name):
            return self._break(Breach.NAME_MISMATCH)
        if not isinstance(name, str):
            name = ""
        match name:
            case "content_block_delta":
                return self._delta(frame, value)
            case "content_block_start":
                return self._start(frame, value)
            case "content_block_stop":
                return self._stop(frame, value)
            case "message_delta":
                return self._message_delta(frame, value)
            case "message_stop":
                self._ended = True
                return [FrameRead(frame, value), *self._confirm(), TurnEnded()]
            case "message_start":
                return self._message_start(frame, value)
        if name not in EVENTS and any(member in value for member in CONTENT_MEMBERS):
            return self._unknown(frame, value, name or UNKNOWN)
        return [FrameRead(frame, value)]

    def _is_well_named(self, frame: Frame, name: Any) -> bool:
        if frame.event is not None and frame.event != name:
            return False
        if not isinstance(name, str) or name not in PLACING:
            return True
        is_first, is_named = self._is_named is None, frame.event is not None and not frame.is_disguised
        self._is_named = is_named if is_first else self._is_named
        return self._is_named == is_named

    def _message_start(self, frame: Frame, value: dict[str, Any]) -> list[WireEvent]:
        """Some servers send several messages in one stream: what the last one left open is cut."""
        cut = [self._cut(key) for key in self._calls.keys_in(State.OPEN)]
        confirmed = self._confirm()
        self._kinds.clear()
        self._keys.clear()
        self._ended = False
        calls, observed = self._opening(frame, value.get("message"))
        return [FrameRead(frame, value, tuple(call.key for call in calls)), *cut, *confirmed, *calls, *observed]

    def _opening(self, frame: Frame, message: Any) -> tuple[list[CallCompleted], list[WireEvent]]:
        """A message may begin with whole blocks, as it does when a program goes on calling tools."""
        content = message.get("content") if isinstance(message, dict) else None
        if not content:
            return [], []
        if not isinstance(content, list):
            raise _WrongShapeError
        self._openings += 1
        keys = [_Opening(self._openings, place) for place in range(len(content))]
        return _whole_calls(
            self._calls, frame.data or b"", ("message", "content"), content, keys, pass_types=self._pass_types
        )

    def _start(self, frame: Frame, value: dict[str, Any]) -> list[WireEvent]:
        index, block = value.get("index"), value.get("content_block")
        if type(index) is not int or index < 0 or not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise _WrongShapeError
        self._binding.see(block)
        if index in self._keys:
            raise assembly.StepError  # a call stands at this index, and it is frozen
        kind = BLOCKS.get(block["type"])
        confirmed = self._confirm()
        if kind is None and block["type"] in self._pass_types:
            self._kinds[index] = Kind.OBSERVED
            return [FrameRead(frame, value), *confirmed, Observed(block["type"])]
        self._kinds[index] = kind or Kind.CALL
        if kind is Kind.TEXT or kind is Kind.FRAME:
            return [FrameRead(frame, value), *confirmed]
        if kind is Kind.OBSERVED:
            seen = [Observed(_observed_name(block))] if block["type"] in ("server_tool_use", "mcp_tool_use") else []
            return [FrameRead(frame, value), *confirmed, *seen]
        return self._start_call(frame, value, confirmed)

    def _start_call(self, frame: Frame, value: dict[str, Any], confirmed: list[WireEvent]) -> list[WireEvent]:
        index, block = value["index"], value["content_block"]
        if self._ended:
            raise _WrongShapeError
        self._opened += 1
        key = self._keys[index] = self._opened
        if block["type"] != "tool_use":
            self._calls.start(key, UNKNOWN, name=block["type"])
            return [FrameRead(frame, value, (key,)), *confirmed]
        call_id = block.get("id")
        self._calls.start(key, "tool_use", call_id if isinstance(call_id, str) else "", _call_name(block))
        self._calls.keep_members(key, _extra(block))
        if block.get("input"):
            self._calls.whole(key, envelope.raw_at(frame.data or b"", "content_block", "input").decode())
        elif not isinstance(block.get("input"), dict):
            self._calls.not_plain(key)
        return [FrameRead(frame, value, (key,)), *confirmed]

    def _delta(self, frame: Frame, value: dict[str, Any]) -> list[WireEvent]:
        index, delta = value.get("index"), value.get("delta")
        if type(index) is not int or not isinstance(delta, dict):
            raise _WrongShapeError
        if (key := self._keys.get(index)) is not None:
            if delta.get("type") == "input_json_delta" and isinstance(delta.get("partial_json"), str):
                self._calls.fragment(key, delta["partial_json"])
            elif self._calls.state(key) is not State.OPEN or self._calls.material(key).kind != UNKNOWN:
                raise assembly.StepError
            return [FrameRead(frame, value, (key,))]
        if index not in self._kinds and self._opened:
            raise _WrongShapeError  # of no block: clients would add it to another one
        kind = DELTAS.get(str(delta.get("type")))
        if kind is None:
            return self._unknown(frame, value, str(delta.get("type")))
        if kind is Kind.CALL and (
            self._kinds.get(index) is not Kind.OBSERVED or not isinstance(delta.get("partial_json"), str)
        ):
            raise _WrongShapeError
        return [FrameRead(frame, value)]

    def _stop(self, frame: Frame, value: dict[str, Any]) -> list[WireEvent]:
        index = value.get("index")
        if type(index) is not int:
            raise _WrongShapeError
        if (key := self._keys.get(index)) is None:
            if index not in self._kinds and self._opened:
                raise _WrongShapeError
            return [FrameRead(frame, value)]
        call, material = self._calls.complete(key)
        return [FrameRead(frame, value, (key,)), CallCompleted(key, call, material)]

    def _message_delta(self, frame: Frame, value: dict[str, Any]) -> list[WireEvent]:
        delta = value.get("delta")
        reason = delta.get("stop_reason") if isinstance(delta, dict) else None
        if reason is None:
            return [FrameRead(frame, value)]
        self._ended = True
        if reason not in LIMIT_REASONS:
            return [FrameRead(frame, value), *self._confirm()]
        cut = [self._cut(key) for key in self._calls.keys_in(State.OPEN, State.COMPLETE)]
        return [FrameRead(frame, value), *cut]

    def _unknown(self, frame: Frame, value: dict[str, Any], name: str) -> list[WireEvent]:
        """Content that no table knows, outside a block of its own: a call of a tool of that name, whole at once."""
        if name in self._pass_types:
            return [FrameRead(frame, value), Observed(name)]
        self._opened += 1
        key: Key = self._opened
        self._calls.start(key, UNKNOWN, name=name)
        call, material = self._calls.complete(key)
        self._calls.confirm(key)
        return [FrameRead(frame, value, (key,)), CallCompleted(key, call, material), CallsConfirmed((key,))]

    def _confirm(self) -> list[WireEvent]:
        keys = self._calls.keys_in(State.COMPLETE)
        for key in keys:
            self._calls.confirm(key)
        return [CallsConfirmed(keys)] if keys else []


class _WrongShapeError(ValueError):
    """An event that the dialect cannot have sent."""


@dataclass(frozen=True, slots=True)
class _Opening:
    """The key of a call that stands in the start of a message."""

    message: int
    place: int


def _whole_calls(
    assembler: Assembler,
    data: bytes,
    path: tuple[str | int, ...],
    blocks: Any,
    keys: Sequence[Key],
    *,
    pass_types: frozenset[str],
) -> tuple[list[CallCompleted], list[WireEvent]]:
    """The calls among whole blocks, which stand at `path` of `data`, each under the key of its place."""
    calls: list[CallCompleted] = []
    observed: list[WireEvent] = []
    if not isinstance(blocks, list):
        raise _WrongShapeError
    for place, block in enumerate(blocks):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise _WrongShapeError
        kind = BLOCKS.get(block["type"])
        if kind is None and block["type"] in pass_types:
            observed.append(Observed(block["type"]))
        elif kind is None or kind is Kind.CALL:
            raw = envelope.raw_at(data, *path, place, "input").decode() if "input" in block else "null"
            calls.append(_whole_call(assembler, keys[place], block, raw))
        elif block["type"] in ("server_tool_use", "mcp_tool_use"):
            observed.append(Observed(_observed_name(block)))
    return calls, observed


def _whole_call(assembler: Assembler, key: Key, block: Mapping[str, Any], raw: str) -> CallCompleted:
    if block["type"] != "tool_use":
        assembler.start(key, UNKNOWN, name=block["type"])
    else:
        call_id = block.get("id")
        assembler.start(key, "tool_use", call_id if isinstance(call_id, str) else "", _call_name(block))
        assembler.whole(key, raw)
    call, material = assembler.complete(key)
    return CallCompleted(key, call, material)


class _StreamWriter:
    def __init__(self) -> None:
        self._places: dict[int, int] = {}  # the index of each block of this message, and the one that the client has
        self._blocks = 0
        self._blocks_before = 0  # of them, those of earlier messages of the stream
        self._messages = 0
        self._open: set[int] = set()  # indexes as the client knows them
        self._released = 0
        self._replaced = 0
        self._started: set[Key] = set()
        self._output_tokens = 0  # as upstream stated it last
        self._delta_sent = False
        self._stop_sent = False
        self._hidden = 0
        self._mark = ""

    def seal(self, mark: str) -> None:
        self._mark = mark

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        place = self._blocks
        self._blocks += 1
        self._replaced += 1
        return self._text_block(place, text) + self.write(end, judged) + self.finish()

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        out: list[bytes] = []
        for entry in entries:
            if entry.keys and entry.value.get("type") == "message_start":
                out.append(self._opening(entry, judged))
            elif entry.keys:
                out.append(self._call_frame(entry, judged[entry.keys[0]]))
            elif entry.value is None:
                out.append(entry.frame.raw)
            else:
                out.append(self._frame(entry))
        return b"".join(out)

    def _frame(self, entry: FrameRead) -> bytes:
        value = entry.value
        match value.get("type"):
            case "content_block_start" | "content_block_delta" | "content_block_stop":
                return self._block_frame(entry)
            case "message_start":
                self._begin(value.get("message"))
            case "message_delta":
                self._delta_sent = True
                return self._end(entry)
            case "message_stop":
                self._stop_sent = True
        return entry.frame.raw

    def _begin(self, message: Any) -> None:
        message = message if isinstance(message, dict) else {}
        if self._messages:  # clients that bear a second message go on with the blocks of the first
            self._blocks_before = self._blocks
        else:
            self._blocks = len(message.get("content") or ())
        self._messages += 1
        self._places.clear()
        usage = message.get("usage")
        tokens = usage.get("output_tokens") if isinstance(usage, dict) else 0
        self._output_tokens = tokens if type(tokens) is int and 0 <= tokens <= strict_json.EXACT_INTEGER_MAX else 0

    def _opening(self, entry: FrameRead, judged: Mapping[Key, Judged]) -> bytes:
        """The start of a message that holds calls already."""
        answers = [judged[key] for key in entry.keys]
        refused = [isinstance(call.answer, Replaced) for call in answers]
        self._replaced += sum(refused)
        self._released += len(refused) - sum(refused)
        self._begin(entry.value["message"])
        if not any(refused):
            return entry.frame.raw
        data = entry.frame.data or b""
        message = envelope.raw_at(data, "message")
        blocks = envelope.elements(envelope.raw_at(message, "content"))
        for key, call in zip(entry.keys, answers, strict=True):
            assert isinstance(key, _Opening)
            if isinstance(call.answer, Replaced):
                blocks[key.place] = envelope.encode({"type": "text", "text": call.answer.text})
        message = envelope.edited(message, content=envelope.join_list(blocks))
        return event_frame(entry.frame.event, envelope.edited(data, message=message))

    def _end(self, entry: FrameRead) -> bytes:
        """The reason says whether the client has calls to run, where a call was taken out."""
        delta = entry.value.get("delta")
        reason = delta.get("stop_reason") if isinstance(delta, dict) else None
        if not (self._replaced or self._hidden) or reason != ("end_turn" if self._released else "tool_use"):
            return entry.frame.raw
        data = entry.frame.data or b""
        true_reason = "tool_use" if self._released else "end_turn"
        changed = envelope.edited(envelope.raw_at(data, "delta"), stop_reason=true_reason, stop_sequence=None)
        return event_frame(entry.frame.event, envelope.edited(data, delta=changed))

    def _block_frame(self, entry: FrameRead) -> bytes:
        value = entry.value
        index = value["index"]
        if value["type"] == "content_block_start":
            self._place(index, is_call=False)
            self._open.add(self._places[index])
        elif value["type"] == "content_block_stop":
            self._open.discard(self._places.get(index, index))
        return self._placed(_sealed(entry, self._mark) if self._mark else entry)

    def _place(self, index: int, *, is_call: bool) -> None:
        """Clients append a block but address it by its index, so the index that leaves is the block's place.

        Past a second start of a message some count on and some begin anew; only with calls does it matter.
        """
        counts_on = is_call or self._released or self._replaced or self._hidden
        self._places[index] = self._blocks if counts_on else self._blocks - self._blocks_before
        self._blocks += 1

    def _placed(self, entry: FrameRead) -> bytes:
        index = entry.value.get("index")
        if type(index) is not int or (place := self._places.get(index, index)) == index:
            return entry.frame.raw
        return event_frame(entry.frame.event, envelope.edited(entry.frame.data or b"", index=place))

    def _call_frame(self, entry: FrameRead, judged: Judged) -> bytes:
        material, answer = judged.material, judged.answer
        (key,) = entry.keys
        first = key not in self._started
        self._started.add(key)
        if isinstance(answer, Hidden):
            self._hidden += first
            return b""
        starts = entry.value.get("type") == "content_block_start"
        if starts:
            self._place(entry.value["index"], is_call=True)
        if isinstance(answer, Replaced):
            if not first:
                return b""
            self._replaced += 1
            return self._text_block(self._places[entry.value["index"]], answer.text) if starts else b""
        self._released += first
        if not material.is_plain:
            return self._canonical(entry, material) if first else b""
        return self._placed(entry)

    def _canonical(self, entry: FrameRead, material: Material) -> bytes:
        index = self._places[entry.value["index"]]
        block = envelope.edited(envelope.raw_at(entry.frame.data or b"", "content_block"), input={})
        delta = {"type": "input_json_delta", "partial_json": material.arguments}
        return _block(index, block, delta)

    @staticmethod
    def _text_block(index: int, text: str) -> bytes:
        block = envelope.encode({"type": "text", "text": ""})
        return _block(index, block, {"type": "text_delta", "text": text})

    def finish(self) -> bytes:
        out = [
            event_frame("content_block_stop", envelope.encode({"type": "content_block_stop", "index": index}))
            for index in sorted(self._open)
        ]
        if not self._delta_sent:
            reason = "tool_use" if self._released else "end_turn"
            delta = {"stop_reason": reason, "stop_sequence": None}
            usage = {"output_tokens": self._output_tokens}
            end = {"type": "message_delta", "delta": delta, "usage": usage}
            out.append(event_frame("message_delta", envelope.encode(end)))
        if not self._stop_sent:
            out.append(event_frame("message_stop", envelope.encode({"type": "message_stop"})))
        return b"".join(out)

    def broken(self, message: str) -> bytes:
        error = {"type": "api_error", "message": message}
        return event_frame("error", envelope.encode({"type": "error", "error": error}))


def _sealed(entry: FrameRead, mark: str) -> FrameRead:
    """A frame whose thinking is bound to a hidden turn; any other as it is."""
    value, data = entry.value, entry.frame.data or b""
    if value["type"] == "content_block_delta" and value["delta"].get("type") == "signature_delta":
        member, path = "delta", "signature"
    elif value["type"] == "content_block_start" and value["content_block"].get("type") in SEALABLE:
        member, path = "content_block", SEALABLE[value["content_block"]["type"]]
    else:
        return entry
    changed = seal_member(envelope.raw_at(data, member), path, mark)
    data = envelope.edited(data, **{member: changed})
    return entry._replace(frame=Frame(event_frame(entry.frame.event, data), entry.frame.event, data))


def _block(index: int, block: bytes, delta: Mapping[str, str]) -> bytes:
    """A whole block of one delta."""
    start = {"type": b'"content_block_start"', "index": b"%d" % index, "content_block": block}
    return (
        event_frame("content_block_start", envelope.join(start))
        + event_frame(
            "content_block_delta", envelope.encode({"type": "content_block_delta", "index": index, "delta": delta})
        )
        + event_frame("content_block_stop", envelope.encode({"type": "content_block_stop", "index": index}))
    )


class _BodyReader:
    """A JSON body: the stream of one frame. The key of a call is its place in `content`."""

    def __init__(self, pass_types: frozenset[str]) -> None:
        self._binding = _Binding()
        self._pass_types = pass_types

    @property
    def binds(self) -> bool:
        return self._binding.binds

    def end(self) -> list[WireEvent]:
        return []

    def receive(self, frame: Frame) -> list[WireEvent]:
        data = frame.data or b""
        try:
            value = strict_json.parse_envelope(data)
        except strict_json.StrictJsonError:
            return [WireBroken(Breach.NOT_JSON)]
        if not isinstance(value, dict):
            return [WireBroken(Breach.NOT_AN_OBJECT)]
        content = value.get("content")
        if content is None:
            return [FrameRead(frame, value), TurnEnded()]
        if not isinstance(content, list):
            return [WireBroken(Breach.WRONG_SHAPE)]
        try:
            return self._calls(frame, value, content)
        except _WrongShapeError:
            return [WireBroken(Breach.WRONG_SHAPE)]

    def _calls(self, frame: Frame, value: dict[str, Any], blocks: list[Any]) -> list[WireEvent]:
        data = frame.data or b""
        places = range(len(blocks))
        calls, observed = _whole_calls(Assembler(), data, ("content",), blocks, places, pass_types=self._pass_types)
        for block in blocks:
            self._binding.see(block)
        if calls and value.get("stop_reason") in LIMIT_REASONS and calls[-1].key == len(blocks) - 1:
            last = calls.pop()
            cut = MalformedToolCall(last.call.name, Cause.CUT_OFF, last.call.id, last.call.position)
            calls.append(CallCompleted(last.key, cut, last.material))
        keys = tuple(call.key for call in calls)
        confirmed = [CallsConfirmed(keys)] if keys else []
        return [FrameRead(frame, value, keys), *calls, *confirmed, *observed, TurnEnded()]


class _BodyWriter:
    def __init__(self) -> None:
        self._mark = ""

    def seal(self, mark: str) -> None:
        self._mark = mark

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        (entry,) = entries
        return self._body(entry, judged, ())

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        (entry,) = end
        return self._body(entry, judged, (text,))

    def _body(self, entry: FrameRead, judged: Mapping[Key, Judged], appended: Sequence[str]) -> bytes:
        answers = {key: judged[key].answer for key in entry.keys if judged[key].answer != RELEASED}
        data = entry.frame.data or b""
        if not answers and not appended and not self._mark:
            return entry.frame.raw
        blocks: list[bytes] = []
        for place, block in enumerate(envelope.elements(envelope.raw_at(data, "content"))):
            answer = answers.get(place)
            if isinstance(answer, Replaced):
                blocks.append(_text(answer.text))
            elif isinstance(answer, Released):
                blocks.append(envelope.edited(block, input=(answer.arguments or "{}").encode()))
            elif not isinstance(answer, Hidden):
                blocks.append(_sealed_block(block, self._mark) if self._mark else block)
        changes: dict[str, Any] = {"content": envelope.join_list([*blocks, *map(_text, appended)])}
        refused = [answer for answer in answers.values() if not isinstance(answer, Released)]
        if refused and len(refused) == len(entry.keys) and entry.value.get("stop_reason") == "tool_use":
            changes |= {"stop_reason": "end_turn", "stop_sequence": None}
        return envelope.edited(data, **changes)

    def finish(self) -> bytes:
        return b""

    def broken(self, message: str) -> bytes:
        return ANTHROPIC_MESSAGES.error(Fault.UPSTREAM_FAILED, message)


def _text(text: str) -> bytes:
    return envelope.encode({"type": "text", "text": text})


def _sealed_block(block: bytes, mark: str) -> bytes:
    kind = envelope.members(block).get("type", b"null").strip(b'"').decode()
    return seal_member(block, SEALABLE[kind], mark) if kind in SEALABLE else block


ANTHROPIC_MESSAGES = AnthropicMessages()
