"""Reads Ollama's chat: calls come whole, each in a line of its own or several in one; a body is one such object.

Ids are none of the client's: its types have no place for them. Calls are named by what they say (`positional`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec import structs

from interceptors import strict_json
from interceptors.calls import ToolCall
from proxy.wire import assembly, envelope
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
from proxy.wire.ollama_types import (
    CALLS,
    FUNCTION,
    LIMIT_REASONS,
    WrongShapeError,
    calls_of,
    check_spelling,
    message_of,
    unknown,
)
from proxy.wire.positional import named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.sse import Frame


@dataclass(frozen=True, slots=True)
class Number:
    """The key of a call: its leg, and its number in the turn."""

    leg: int
    number: int


class OllamaReader:
    binds = False

    def __init__(self, streamed: bool, pass_types: frozenset[str]) -> None:
        self._streamed = streamed
        self._pass_types = pass_types
        self._assembler = assembly.Assembler()
        self._names: set[str] = set()  # of the calls of this leg
        self._leg = 0
        self._count = 0
        self._is_over = False  # broken, or the last line was read

    def receive(self, frame: Frame) -> list[WireEvent]:
        if frame.data is None:
            return [FrameRead(frame)]
        if self._is_over:
            return [WireBroken(Breach.WRONG_PLACE)]
        try:
            value = strict_json.parse_envelope(frame.data)
            if not isinstance(value, dict):
                return self._break(Breach.NOT_AN_OBJECT)
            keys, events = self._line(frame.data, value)
        except strict_json.StrictJsonError:
            return self._break(Breach.NOT_JSON)
        except assembly.TooMuchError:
            return self._break(Breach.TOO_MUCH)
        except WrongShapeError:
            return self._break(Breach.WRONG_SHAPE)
        self._is_over = value.get("done") is True
        is_end = self._is_over or not self._streamed
        return [FrameRead(frame, value, keys), *events, *([TurnEnded()] if is_end else [])]

    def next_leg(self) -> None:
        self._leg += 1
        self._names.clear()
        self._is_over = False

    def end(self) -> list[WireEvent]:
        return []

    def _line(self, raw: bytes, value: Mapping[str, Any]) -> tuple[tuple[Key, ...], list[WireEvent]]:
        message = message_of(value)
        events: list[WireEvent] = []
        keys: list[Number] = []
        for place, entry in enumerate(calls_of(message)):
            keys.append(self._call(raw, place, entry, events))
        for member in unknown(message):
            if member in self._pass_types:
                events += self._assembler.observe(member, once=True)
            elif message[member]:
                keys.append(self._start(member, member, {}))
                events.append(self._complete(keys[-1]))
        if keys and value.get("done") is True and value.get("done_reason") in LIMIT_REASONS:
            events.append(CallCut(keys[-1], self._assembler.cut(keys[-1]), self._assembler.material(keys[-1])))
            sure = keys[:-1]
        else:
            sure = keys
        for key in sure:
            self._assembler.confirm(key)
        return tuple(keys), [*events, *([CallsConfirmed(tuple(sure))] if sure else [])]

    def _call(self, raw: bytes, place: int, entry: dict[str, Any], events: list[WireEvent]) -> Number:
        function = entry.get(FUNCTION)
        if not isinstance(function, dict):
            raise WrongShapeError
        check_spelling(entry)
        check_spelling(function)
        name = function.get("name")
        if not isinstance(name, str | None):
            raise WrongShapeError
        key = self._start(FUNCTION, name or "", entry)
        if function.get("arguments") is not None:
            path = ("message", CALLS, place, FUNCTION, "arguments")
            self._assembler.whole(key, envelope.raw_at(raw, *path).decode())
        events.append(self._complete(key))
        return key

    def _start(self, kind: str, name: str, entry: Mapping[str, Any]) -> Number:
        key = Number(self._leg, self._count)
        self._count += 1
        self._assembler.start(key, kind, name=name)
        if isinstance(entry.get("id"), str):
            self._assembler.keep_members(key, {"id": entry["id"]})
        return key

    def _complete(self, key: Number) -> CallCompleted:
        call, material = self._assembler.complete(key)
        digest = strict_json.digest(dict(call.arguments)) if isinstance(call, ToolCall) else ""
        call_id = named(call.name, digest, self._names)
        self._names.add(call_id)
        return CallCompleted(key, structs.replace(call, id=call_id), structs.replace(material, id=call_id))

    def _break(self, breach: Breach) -> list[WireEvent]:
        self._is_over = True
        return [WireBroken(breach)]


class OllamaTexts:
    """Where the text stands: in the `content` of each line. Thinking is not text."""

    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:  # noqa: ARG002 - each line can be held by itself
        text = (value.get("message") or {}).get("content")
        return {0: text} if text else {}

    def ends(self, value: Any) -> Mapping[int, bool]:
        return {0: value.get("done_reason") in LIMIT_REASONS} if value.get("done") is True else {}
