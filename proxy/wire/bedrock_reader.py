"""Messages of a Converse stream to wire events (WIRE.md 5).

A call is complete at its `contentBlockStop`, and certain once another block begins or the message stops for another
reason than its limits. No official client puts blocks together: some go by the index, some by the order, so that while
a call is open nothing of another block may come. Texts begin without a start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from interceptors import strict_json
from proxy.wire import assembly, envelope
from proxy.wire.anthropic_types import Kind
from proxy.wire.assembly import Assembler, State
from proxy.wire.bedrock_types import (
    CALL,
    CONTENT_MEMBERS,
    DELTAS,
    EVENTS,
    LIMIT_REASONS,
    STARTS,
    UNKNOWN,
    WrongShapeError,
    check_spelling,
    extra_of,
    is_executed,
    object_of,
    only,
)
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
    from proxy.wire.sse import Frame

FAILED: Final = {"error": True}
"""What an exception says, whatever its name."""


class ConverseStreamReader:
    binds = False

    def __init__(self, pass_types: frozenset[str]) -> None:
        self._pass_types = pass_types
        self._calls = Assembler()
        self._keys: dict[int, Key] = {}  # the call that was last opened on an index
        self._kinds: dict[int, Kind] = {}  # of the blocks that are no calls, which began
        self._open: int | None = None  # the index of the call that is open
        self._opened = 0
        self._began = False
        self._stopped = False
        self._broken = False

    def receive(self, frame: Frame) -> list[WireEvent]:
        if self._broken:
            return []
        if frame.data is None or frame.event is None:
            return [FrameRead(frame, FAILED)]
        try:
            said = strict_json.parse_envelope(frame.data)
            if not isinstance(said, dict):
                return self._break(Breach.NOT_AN_OBJECT)
            check_spelling(said)
            return self._read(frame, frame.event, said)
        except strict_json.StrictJsonError:
            return self._break(Breach.NOT_JSON)
        except assembly.StepError:
            return self._break(Breach.FROZEN_CALL)
        except assembly.TooMuchError:
            return self._break(Breach.TOO_MUCH)
        except _MisplacedError:
            return self._break(Breach.WRONG_PLACE)
        except WrongShapeError:
            return self._break(Breach.WRONG_SHAPE)

    def next_leg(self) -> None:
        self._began = self._stopped = False
        self._open = None

    def end(self) -> list[WireEvent]:
        """The usage comes behind the end of the message, and may not come at all."""
        cut: list[WireEvent] = [self._cut(key) for key in self._calls.keys_in(State.OPEN, State.COMPLETE)]
        return [*cut, *([TurnEnded()] if self._stopped else [])]

    def _break(self, breach: Breach) -> list[WireEvent]:
        self._broken = True
        return [WireBroken(breach)]

    def _cut(self, key: Key) -> WireEvent:
        material = self._calls.material(key)
        return CallCut(key, self._calls.cut(key), material)

    def _read(self, frame: Frame, name: str, said: dict[str, Any]) -> list[WireEvent]:
        read = FrameRead(frame, {name: said})
        match name:
            case "contentBlockDelta":
                return self._delta(read, _index(said), *only(said.get("delta")))
            case "contentBlockStart":
                return self._start(read, _index(said), *only(said.get("start")))
            case "contentBlockStop":
                return self._stop(read, _index(said))
            case "messageStop":
                return self._message_stop(read, said)
            case "metadata":
                return [read, *([TurnEnded()] if self._stopped else [])]
            case "messageStart":
                if self._began or said.get("role") not in (None, "assistant"):
                    raise _MisplacedError
                self._began = True
                return [read]
        if name not in EVENTS and any(member in said for member in CONTENT_MEMBERS):
            return self._unknown(read, name)
        return [read]

    def _start(self, read: FrameRead, index: int, kind: str, block: Any) -> list[WireEvent]:
        self._in_place(index)
        if index in self._keys:
            raise assembly.StepError  # a call stands at this index, and it is frozen
        block = object_of(block)
        confirmed = self._confirm()
        known = STARTS.get(kind)
        if known is None and kind in self._pass_types:
            self._kinds[index] = Kind.OBSERVED
            return [read, *confirmed, *self._calls.observe(kind, once=True)]
        if known is Kind.CALL and is_executed(block):
            self._kinds[index] = Kind.OBSERVED
            return [read, *confirmed, *self._calls.observe(str(block.get("name") or kind))]
        if known is Kind.CALL or known is None:
            return self._start_call(read, index, kind, block, confirmed)
        self._kinds[index] = known
        return [read, *confirmed]

    def _start_call(
        self, read: FrameRead, index: int, kind: str, block: dict[str, Any], confirmed: list[WireEvent]
    ) -> list[WireEvent]:
        self._kinds.pop(index, None)
        self._opened += 1
        key = self._keys[index] = self._opened
        self._open = index
        if kind != CALL:
            self._calls.start(key, UNKNOWN, name=kind)
            return [read._replace(keys=(key,)), *confirmed]
        call_id, name = block.get("toolUseId"), block.get("name")
        self._calls.start(key, CALL, call_id if isinstance(call_id, str) else "", name if isinstance(name, str) else "")
        self._calls.keep_members(key, extra_of(block))
        if "input" in block:  # a start has none: some clients would read it, some not
            self._calls.not_plain(key)
            if block["input"]:
                raw = envelope.raw_at(read.frame.data or b"", "start", CALL, "input")
                self._calls.whole(key, raw.decode())
        return [read._replace(keys=(key,)), *confirmed]

    def _delta(self, read: FrameRead, index: int, kind: str, delta: Any) -> list[WireEvent]:
        self._in_place(index)
        if (key := self._keys.get(index)) is not None:
            return self._call_delta(read, key, kind, delta)
        confirmed = self._confirm() if index not in self._kinds else []
        known = DELTAS.get(kind)
        if known is None:
            return [*self._unknown(read, kind), *confirmed]
        if kind == "text" and not isinstance(delta, str):
            raise WrongShapeError
        if known is Kind.TEXT or known is Kind.FRAME:
            self._kinds.setdefault(index, known)
        elif self._kinds.get(index) is not Kind.OBSERVED:
            raise WrongShapeError  # of a call that did not start
        return [read, *confirmed]

    def _call_delta(self, read: FrameRead, key: Key, kind: str, delta: Any) -> list[WireEvent]:
        if self._calls.state(key) is not State.OPEN:
            raise assembly.StepError
        if self._calls.kind(key) != UNKNOWN:
            text = object_of(delta).get("input") if kind == CALL else None
            if not isinstance(text, str):
                raise assembly.StepError
            self._calls.fragment(key, text)
        return [read._replace(keys=(key,))]

    def _stop(self, read: FrameRead, index: int) -> list[WireEvent]:
        self._in_place(index)
        if (key := self._keys.get(index)) is None:
            return [read]
        call, material = self._calls.complete(key)
        self._open = None
        return [read._replace(keys=(key,)), CallCompleted(key, call, material)]

    def _message_stop(self, read: FrameRead, said: dict[str, Any]) -> list[WireEvent]:
        if self._stopped:
            raise _MisplacedError
        self._stopped = True
        if said.get("stopReason") in LIMIT_REASONS:
            return [read, *(self._cut(key) for key in self._calls.keys_in(State.OPEN, State.COMPLETE))]
        cut = [self._cut(key) for key in self._calls.keys_in(State.OPEN)]
        return [read, *cut, *self._confirm()]

    def _unknown(self, read: FrameRead, name: str) -> list[WireEvent]:
        """Content that no table knows, outside a block of its own: a call of a tool of that name, whole at once."""
        if name in self._pass_types:
            return [read, *self._calls.observe(name, once=True)]
        self._opened += 1
        key: Key = self._opened
        self._calls.start(key, UNKNOWN, name=name)
        call, material = self._calls.complete(key)
        self._calls.confirm(key)
        return [read._replace(keys=(key,)), CallCompleted(key, call, material), CallsConfirmed((key,))]

    def _in_place(self, index: int) -> None:
        if self._stopped or (self._open is not None and self._open != index):
            raise _MisplacedError

    def _confirm(self) -> list[WireEvent]:
        keys = self._calls.keys_in(State.COMPLETE)
        for key in keys:
            self._calls.confirm(key)
        return [CallsConfirmed(keys)] if keys else []


class _MisplacedError(ValueError):
    """An event that could belong to another block, or stands behind the end."""


def _index(said: dict[str, Any]) -> int:
    index = said.get("contentBlockIndex")
    if type(index) is not int or index < 0:
        raise WrongShapeError
    return index
