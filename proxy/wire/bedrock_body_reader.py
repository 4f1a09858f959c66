"""The answer of Converse that is not streamed: a stream of one frame. The key of a call is its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from interceptors.calls import Cause, MalformedToolCall
from proxy.wire import assembly, envelope
from proxy.wire.anthropic_types import Kind
from proxy.wire.assembly import Assembler
from proxy.wire.bedrock_types import (
    BLOCKS,
    CALL,
    LIMIT_REASONS,
    UNKNOWN,
    WrongShapeError,
    blocks_of,
    is_executed,
    object_of,
    only,
)
from proxy.wire.events import (
    Breach,
    CallCompleted,
    CallsConfirmed,
    FrameRead,
    Key,
    TurnEnded,
    WireBroken,
    WireEvent,
)

if TYPE_CHECKING:
    from proxy.wire.sse import Frame

CONTENT = ("output", "message", "content")
"""Where the blocks of an answer stand."""


class ConverseBodyReader:
    binds = False

    def __init__(self, pass_types: frozenset[str]) -> None:
        self._pass_types = pass_types

    def next_leg(self) -> None:
        """Another body is another reader's."""

    def end(self) -> list[WireEvent]:
        return []

    def receive(self, frame: Frame) -> list[WireEvent]:
        data = frame.data or b""
        try:
            value = strict_json.parse_envelope(data)
            if not isinstance(value, dict):
                return [WireBroken(Breach.NOT_AN_OBJECT)]
            blocks = blocks_of(value)
            if blocks is None:
                return [FrameRead(frame, value), TurnEnded()]
            return self._calls(frame, value, blocks)
        except strict_json.StrictJsonError:
            return [WireBroken(Breach.NOT_JSON)]
        except assembly.TooMuchError:
            return [WireBroken(Breach.TOO_MUCH)]
        except WrongShapeError:
            return [WireBroken(Breach.WRONG_SHAPE)]

    def _calls(self, frame: Frame, value: dict[str, Any], blocks: list[Any]) -> list[WireEvent]:
        assembler = Assembler()
        calls: list[CallCompleted] = []
        observed: list[WireEvent] = []
        for place, union in enumerate(blocks):
            kind, block = only(union)
            known = BLOCKS.get(kind)
            if known is None and kind in self._pass_types:
                observed += assembler.observe(kind, once=True)
            elif kind == CALL and is_executed(object_of(block)):
                observed += assembler.observe(str(block.get("name") or kind))
            elif known is Kind.CALL or known is None:
                calls.append(_call(assembler, frame.data or b"", place, kind, block))
        if calls and value.get("stopReason") in LIMIT_REASONS and calls[-1].key == len(blocks) - 1:
            calls.append(cut(calls.pop()))
        keys = tuple(call.key for call in calls)
        confirmed = [CallsConfirmed(keys)] if keys else []
        return [FrameRead(frame, value, keys), *calls, *confirmed, *observed, TurnEnded()]


def cut(last: CallCompleted) -> CallCompleted:
    """A call that the token limit may have cut off."""
    call = MalformedToolCall(last.call.name, Cause.CUT_OFF, last.call.id, last.call.position)
    return CallCompleted(last.key, call, last.material)


def _call(assembler: Assembler, data: bytes, place: int, kind: str, block: Any) -> CallCompleted:
    key: Key = place
    if kind != CALL:
        assembler.start(key, UNKNOWN, name=kind)
    else:
        call_id, name = block.get("toolUseId"), block.get("name")
        assembler.start(key, CALL, call_id if isinstance(call_id, str) else "", name if isinstance(name, str) else "")
        raw = envelope.raw_at(data, *CONTENT, place, CALL, "input") if "input" in block else b"null"
        assembler.whole(key, raw.decode())
    return CallCompleted(key, *assembler.complete(key))
