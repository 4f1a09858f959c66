"""Anthropic Messages: `POST /v1/messages`, streamed and not (WIRE.md 1, 8.1).

A call is complete at its `content_block_stop`, and certain once another block starts or the turn ends otherwise than by
the token limit. A refused call becomes a text block at its index, so the other indexes stand.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from interceptors.calls import Call, Cause, MalformedToolCall
from interceptors.context import DeclaredTool
from proxy.wire import assembly, envelope
from proxy.wire.assembly import Assembler, State
from proxy.wire.dialect import DeclaredTools, Fault, Judged, Reader, RequestView, Writer, declared_tools
from proxy.wire.events import (
    Breach,
    CallCompleted,
    CallCut,
    CallsConfirmed,
    FrameRead,
    Key,
    Material,
    Observed,
    Replaced,
    TurnEnded,
    WireBroken,
    WireEvent,
)
from proxy.wire.sse import Frame, event_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
LIMIT_REASONS = frozenset({"max_tokens", "model_context_window_exceeded"})
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


class _StreamReader:
    def __init__(self, pass_types: frozenset[str]) -> None:
        self._pass_types = pass_types
        self._calls = Assembler()
        self._keys: dict[int, Key] = {}  # the call that was last opened on an index
        self._kinds: dict[int, Kind] = {}
        self._opened = 0
        self._ended = False
        self._broken = False

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
        if frame.event is not None and frame.event != name:
            return self._break(Breach.NAME_MISMATCH)
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
        if name not in EVENTS and any(key in value for key in ("index", "content_block", "delta")):
            return self._unknown(frame, value, str(name))
        return [FrameRead(frame, value)]

    def _message_start(self, frame: Frame, value: dict[str, Any]) -> list[WireEvent]:
        """Some servers send several messages in one stream: what the last one left open is cut."""
        cut = [self._cut(key) for key in self._calls.keys_in(State.OPEN)]
        confirmed = self._confirm()
        self._kinds.clear()
        self._keys.clear()
        self._ended = False
        return [FrameRead(frame, value), *cut, *confirmed]

    def _start(self, frame: Frame, value: dict[str, Any]) -> list[WireEvent]:
        index, block = value.get("index"), value.get("content_block")
        if type(index) is not int or not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise _WrongShapeError
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
        kind = DELTAS.get(str(delta.get("type")))
        if kind is None:
            return self._unknown(frame, value, str(delta.get("type")))
        if kind is Kind.CALL and self._kinds.get(index) is not Kind.OBSERVED:
            raise _WrongShapeError
        return [FrameRead(frame, value)]

    def _stop(self, frame: Frame, value: dict[str, Any]) -> list[WireEvent]:
        index = value.get("index")
        if type(index) is not int:
            raise _WrongShapeError
        if (key := self._keys.get(index)) is None:
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


class _StreamWriter:
    def __init__(self) -> None:
        self._shift = 0  # added to every index since a block was opened where another one stands
        self._used: set[int] = set()
        self._blocks = 0
        self._messages = 0
        self._open: set[int] = set()  # indexes as the client knows them
        self._released = 0
        self._replaced = 0
        self._started: set[Key] = set()
        self._output_tokens = 0  # as upstream stated it last
        self._delta_sent = False
        self._stop_sent = False

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        out: list[bytes] = []
        for entry in entries:
            if entry.keys:
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
                self._messages += 1
                if not (self._released or self._replaced):
                    self._used.clear()
                usage = (value.get("message") or {}).get("usage") or {}
                self._output_tokens = usage.get("output_tokens") or 0
            case "message_delta":
                self._delta_sent = True
                if self._replaced and not self._released and value["delta"].get("stop_reason") == "tool_use":
                    data = entry.frame.data or b""
                    delta = envelope.edited(envelope.raw_at(data, "delta"), stop_reason="end_turn", stop_sequence=None)
                    return event_frame("message_delta", envelope.edited(data, delta=delta))
            case "message_stop":
                self._stop_sent = True
        return entry.frame.raw

    def _block_frame(self, entry: FrameRead) -> bytes:
        value = entry.value
        index = value["index"]
        if value["type"] == "content_block_start":
            self._place(index, is_call=False)
            self._open.add(index + self._shift)
        elif value["type"] == "content_block_stop":
            self._open.discard(index + self._shift)
        if not self._shift:
            return entry.frame.raw
        data = envelope.edited(entry.frame.data or b"", index=index + self._shift)
        return event_frame(entry.frame.event, data)

    def _place(self, index: int, *, is_call: bool) -> None:
        """Clients append a block but address it by its index: where the two could differ, the index is mended."""
        has_calls = is_call or self._released or self._replaced
        if index + self._shift in self._used or (self._messages > 1 and has_calls):
            self._shift = self._blocks - index
        self._used.add(index + self._shift)
        self._blocks += 1

    def _call_frame(self, entry: FrameRead, judged: Judged) -> bytes:
        material, answer = judged.material, judged.answer
        (key,) = entry.keys
        first = key not in self._started
        self._started.add(key)
        starts = entry.value.get("type") == "content_block_start"
        if starts:
            self._place(entry.value["index"], is_call=True)
        if isinstance(answer, Replaced):
            if not first:
                return b""
            self._replaced += 1
            return self._text_block(entry.value["index"] + self._shift, answer.text) if starts else b""
        self._released += first
        if not material.is_plain:
            return self._canonical(entry, material) if first else b""
        if not self._shift:
            return entry.frame.raw
        data = envelope.edited(entry.frame.data or b"", index=entry.value["index"] + self._shift)
        return event_frame(entry.frame.event, data)

    def _canonical(self, entry: FrameRead, material: Material) -> bytes:
        index = entry.value["index"] + self._shift
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
        self._pass_types = pass_types

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
        blocks = [block for block in content if isinstance(block, dict) and isinstance(block.get("type"), str)]
        if len(blocks) != len(content):
            return [WireBroken(Breach.WRONG_SHAPE)]
        return self._calls(frame, value, blocks)

    def _calls(self, frame: Frame, value: dict[str, Any], blocks: list[dict[str, Any]]) -> list[WireEvent]:
        calls: list[CallCompleted] = []
        observed: list[WireEvent] = []
        for place, block in enumerate(blocks):
            kind = BLOCKS.get(block["type"])
            if kind is None and block["type"] in self._pass_types:
                observed.append(Observed(block["type"]))
            elif kind is None or kind is Kind.CALL:
                calls.append(self._call(frame, place, block, len(calls)))
            elif block["type"] in ("server_tool_use", "mcp_tool_use"):
                observed.append(Observed(_observed_name(block)))
        if calls and value.get("stop_reason") in LIMIT_REASONS and calls[-1].key == len(blocks) - 1:
            last = calls.pop()
            cut = MalformedToolCall(last.call.name, Cause.CUT_OFF, last.call.id, last.call.position)
            calls.append(CallCompleted(last.key, cut, last.material))
        keys = tuple(call.key for call in calls)
        confirmed = [CallsConfirmed(keys)] if keys else []
        return [FrameRead(frame, value, keys), *calls, *confirmed, *observed, TurnEnded()]

    @staticmethod
    def _call(frame: Frame, place: int, block: dict[str, Any], position: int) -> CallCompleted:
        calls = Assembler(position)
        if block["type"] != "tool_use":
            calls.start(place, UNKNOWN, name=block["type"])
        else:
            call_id = block.get("id")
            calls.start(place, "tool_use", call_id if isinstance(call_id, str) else "", _call_name(block))
            raw = envelope.raw_at(frame.data or b"", "content", place, "input") if "input" in block else b"null"
            calls.whole(place, raw.decode())
        call: Call
        call, material = calls.complete(place)
        return CallCompleted(place, call, material)


class _BodyWriter:
    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        (entry,) = entries
        refused = {key: judged[key].answer for key in entry.keys if isinstance(judged[key].answer, Replaced)}
        if not refused:
            return entry.frame.raw
        data = entry.frame.data or b""
        blocks = envelope.elements(envelope.raw_at(data, "content"))
        for key, answer in refused.items():
            assert isinstance(key, int)
            assert isinstance(answer, Replaced)
            blocks[key] = envelope.encode({"type": "text", "text": answer.text})
        changes: dict[str, Any] = {"content": envelope.join_list(blocks)}
        if len(refused) == len(entry.keys) and entry.value.get("stop_reason") == "tool_use":
            changes |= {"stop_reason": "end_turn", "stop_sequence": None}
        return envelope.edited(data, **changes)

    def finish(self) -> bytes:
        return b""

    def broken(self, message: str) -> bytes:
        return ANTHROPIC_MESSAGES.error(Fault.UPSTREAM_FAILED, message)


ANTHROPIC_MESSAGES = AnthropicMessages()
