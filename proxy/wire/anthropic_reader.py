"""Frames of an Anthropic response to wire events (WIRE.md 1.3 to 1.5).

A call is complete at its `content_block_stop`, and certain once another block starts or the turn ends otherwise than by
the token limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from interceptors.calls import Cause, MalformedToolCall
from proxy.wire import assembly, envelope
from proxy.wire.assembly import Assembler, State
from proxy.wire.events import (
    Breach,
    CallCompleted,
    CallCut,
    CallsConfirmed,
    FrameRead,
    Key,
    TurnEnded,
    WireBroken,
    WireEvent,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.sse import Frame


from proxy.wire.anthropic_types import (
    BLOCKS,
    CONTENT_MEMBERS,
    DELTAS,
    EVENTS,
    LIMIT_REASONS,
    MEMBERS,
    PLACING,
    UNKNOWN,
    Kind,
)
from proxy.wire.members import is_misspelled

EXECUTED = ("server_tool_use", "mcp_tool_use")
PARTS = ("content_block", "delta", "message")


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
        if block.get("type") in EXECUTED:
            self._pending.add(str(block.get("id")))
        elif "tool_use_id" in block:
            self._pending.discard(str(block["tool_use_id"]))
        elif block.get("type") == "tool_use":
            caller = block.get("caller")
            self._has_program |= isinstance(caller, dict) and caller.get("type") != "direct"


class AnthropicStreamReader:
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
        except assembly.TooMuchError:
            return self._break(Breach.TOO_MUCH)
        except _WrongShapeError:
            return self._break(Breach.WRONG_SHAPE)

    def next_leg(self) -> None:
        self._binding = _Binding()
        self._ended = False

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
        if is_misspelled(value, MEMBERS):
            raise _WrongShapeError
        for part in PARTS:
            if isinstance(inside := value.get(part), dict) and is_misspelled(inside, MEMBERS):
                raise _WrongShapeError
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
        keys = [Opening(self._openings, place) for place in range(len(content))]
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
            return [FrameRead(frame, value), *confirmed, *self._calls.observe(block["type"], once=True)]
        self._kinds[index] = kind or Kind.CALL
        if kind is Kind.TEXT or kind is Kind.FRAME:
            return [FrameRead(frame, value), *confirmed]
        if kind is Kind.OBSERVED:
            seen = self._calls.observe(_observed_name(block)) if block["type"] in EXECUTED else []
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
            return [FrameRead(frame, value), *self._calls.observe(name, once=True)]
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
class Opening:
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
        if not isinstance(block, dict) or not isinstance(block.get("type"), str) or is_misspelled(block, MEMBERS):
            raise _WrongShapeError
        kind = BLOCKS.get(block["type"])
        if kind is None and block["type"] in pass_types:
            observed += assembler.observe(block["type"], once=True)
        elif kind is None or kind is Kind.CALL:
            raw = envelope.raw_at(data, *path, place, "input").decode() if "input" in block else "null"
            calls.append(_whole_call(assembler, keys[place], block, raw))
        elif block["type"] in EXECUTED:
            observed += assembler.observe(_observed_name(block))
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


class AnthropicBodyReader:
    """A JSON body: the stream of one frame. The key of a call is its place in `content`."""

    def __init__(self, pass_types: frozenset[str]) -> None:
        self._binding = _Binding()
        self._pass_types = pass_types

    @property
    def binds(self) -> bool:
        return self._binding.binds

    def next_leg(self) -> None:
        """Another body is another reader's."""

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
        if is_misspelled(value, MEMBERS):
            return [WireBroken(Breach.WRONG_SHAPE)]
        content = value.get("content")
        if content is None:
            return [FrameRead(frame, value), TurnEnded()]
        if not isinstance(content, list):
            return [WireBroken(Breach.WRONG_SHAPE)]
        try:
            return self._calls(frame, value, content)
        except assembly.TooMuchError:
            return [WireBroken(Breach.TOO_MUCH)]
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
