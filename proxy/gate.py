"""The enforcement point: frames of a leg in, commands out. It holds what is not judged and decides nothing itself.

Sans-IO: the caller (`proxy/exchange.py`) carries out each command in order and tells the gate what came of it.
Frames leave in the order in which they came. The frames of a call, and all behind it, wait until it is judged
(`Decide`), certain (the reader confirmed it) and written down (`Record`). Indexes, ids and the end belong to the turn,
not to a leg: the writer lives as long as the gate.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, assert_never

from interceptors.calls import ToolCall
from proxy.wire.dialect import Judged, Reader, Writer
from proxy.wire.events import (
    Answer,
    Breach,
    CallCompleted,
    CallCut,
    CallRepeated,
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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interceptors.calls import Call
    from proxy.wire.sse import Frame


class Limit(Enum):
    """A bound of G12 that ends the turn. The value is the name of its setting."""

    HELD_BYTES = "held_bytes_max"
    HOLD = "hold_ms_max"
    EXCHANGE = "exchange_ms_max"


class Write(NamedTuple):
    """Send these bytes; `calls` are those whose answer leaves with them."""

    data: bytes
    calls: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True)
class Decide:
    """Judge these calls together, then say `decided`."""

    calls: Mapping[Key, Call]


@dataclass(frozen=True, slots=True)
class Record:
    """Write the decisions on these calls down, durably, then say `recorded`."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """Something the provider executed itself went by."""

    observed: str


@dataclass(frozen=True, slots=True)
class Continue:
    """Ask upstream again with the results of refused calls, on the next leg. Not given while `on_refusal` is `code`."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class EndAtLimit:
    """A limit was reached: these calls are refused for it. Answer with `decided`, then `recorded`; the turn ends."""

    limit: Limit
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """The stream cannot be mediated any further: send `data` and end. `keys` are calls that will not be delivered."""

    breach: Breach
    data: bytes
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """Nothing more will come: upstream may be closed."""


Command: TypeAlias = "Write | Decide | Record | Note | Continue | EndAtLimit | Break | Finish"


class _Stage(Enum):
    OPEN = auto()
    JUDGING = auto()
    JUDGED = auto()
    RECORDING = auto()
    RESOLVED = auto()


@dataclass(slots=True)
class _Held:
    stage: _Stage = _Stage.OPEN
    confirmed: bool = False
    call: Call | None = None
    material: Material | None = None
    answer: Answer | None = None
    repeats: Key | None = None


class Gate:
    """One turn. `legs` maps the number of each leg to its reader; this version opens leg 0 only."""

    def __init__(self, reader: Reader, writer: Writer, held_bytes_max: int) -> None:
        self._legs = {0: reader}
        self._writer = writer
        self._held_bytes_max = held_bytes_max
        self._queue: deque[FrameRead] = deque()
        self._queued_bytes = 0
        self._calls: dict[Key, _Held] = {}
        self._judged: dict[Key, Judged] = {}
        self._ended = False  # the dialect's own end was read
        self._closing = False  # a limit was reached: what is held leaves as it is answered, and nothing else comes
        self._over = False

    @property
    def holding(self) -> bool:
        return bool(self._queue)

    @property
    def held_bytes(self) -> int:
        return self._queued_bytes

    @property
    def is_over(self) -> bool:
        return self._over

    @property
    def has_ended(self) -> bool:
        """The dialect's own end was read, and all that came has left."""
        return self._ended and not self._queue

    def undelivered(self) -> tuple[Key, ...]:
        """The calls that have not left, for the receipt of an abort."""
        return tuple(key for key, held in self._calls.items() if held.stage is not _Stage.RESOLVED)

    def call(self, key: Key) -> Call | None:
        """What was read of a call so far; None while it is open."""
        return self._calls[key].call

    def receive(self, leg: int, frame: Frame) -> list[Command]:
        """One frame of a leg."""
        if self._over or self._closing or (self._ended and self._is_edited()):
            return []  # a turn that code ended has ended
        events = self._legs[leg].receive(frame)
        if len(events) == 1 and not self._queue and not frame.is_disguised and not frame.is_unended:
            event = events[0]
            if isinstance(event, FrameRead) and not event.keys:  # what nearly all frames are: text, and nothing waits
                return [Write(self._writer.write([event], self._judged))]
        return self._take(events)

    def end(self, leg: int) -> list[Command]:
        """A leg ended: its open calls are cut off, and the rest leaves."""
        if self._over or self._closing:
            return []
        return self._take(self._legs[leg].end())

    def break_off(self, breach: Breach) -> list[Command]:
        """The bytes cannot be framed."""
        return [] if self._over else self._take([WireBroken(breach)])

    def close(self) -> list[Command]:
        """After `end` and its commands: finish what upstream left open, if anything was taken out of the turn."""
        if self._over:
            return []
        self._over = True
        data = b"" if self._ended or not self._is_edited() else self._writer.finish()
        return [*([Write(data)] if data else []), Finish()]

    def reach(self, limit: Limit) -> list[Command]:
        """A limit of the exchange was reached: the calls that have not left are refused, and the turn ends."""
        if self._over or self._closing:
            return []
        self._closing = True
        keys = tuple(key for key, held in self._calls.items() if held.stage is not _Stage.RESOLVED and not held.repeats)
        for key in keys:
            self._calls[key].stage = _Stage.JUDGING
            self._calls[key].confirmed = True
        if not keys:
            return self._flush()
        return [EndAtLimit(limit, keys)]

    def decided(self, answers: Mapping[Key, Answer]) -> list[Command]:
        """The answers to `Decide`. One that would release a malformed call is of the call as it was before its cut."""
        if self._over:
            return []
        for key, answer in answers.items():
            held = self._calls[key]
            may_run = isinstance(answer, Replaced) or isinstance(held.call, ToolCall)
            if held.stage is _Stage.JUDGING and may_run:
                held.answer, held.stage = answer, _Stage.JUDGED
        return self._record()

    def recorded(self, answers: Mapping[Key, Answer]) -> list[Command]:
        """The answers as they stand after the record was written; a halt or a failed store may have changed them."""
        if self._over:
            return []
        for key, answer in answers.items():
            held = self._calls[key]
            held.answer, held.stage = answer, _Stage.RESOLVED
            self._judged[key] = Judged(held.material or Material("", "", "", ""), answer)
        return self._flush()

    def _take(self, events: Sequence[WireEvent]) -> list[Command]:
        commands: list[Command] = []
        completed: dict[Key, Call] = {}
        for event in events:
            match event:
                case FrameRead():
                    if event.keys and event.frame.is_disguised:
                        return [*commands, *self._break(Breach.FRAMING)]
                    self._hold(event)
                case CallCompleted(key=key, call=call, material=material):
                    self._complete(key, call, material)
                    completed[key] = call
                case CallCut(key=key, call=call, material=material):
                    self._complete(key, call, material)
                    self._calls[key].confirmed = True
                    completed[key] = call
                case CallRepeated(key=key, of=original, material=material):
                    self._calls[key] = _Held(repeats=original, material=material)
                case CallsConfirmed(keys=keys):
                    for key in keys:
                        self._calls[key].confirmed = True
                case Observed(name=name):
                    commands.append(Note(name))
                case TurnEnded():
                    self._ended = True
                case WireBroken(breach=breach):
                    return [*commands, *self._break(breach)]
                case _:
                    assert_never(event)
        if completed:
            commands.append(Decide(completed))
        commands += self._record()
        commands += self._flush()
        if self._queued_bytes > self._held_bytes_max and not completed:
            commands += self.reach(Limit.HELD_BYTES)
        return commands

    def _hold(self, event: FrameRead) -> None:
        if event.frame.is_unended and (event.keys or self._is_edited()):
            event = event._replace(frame=event.frame.ended())
        self._queue.append(event)
        self._queued_bytes += len(event.frame.raw)
        for key in event.keys:
            if key not in self._calls:
                self._calls[key] = _Held()

    def _complete(self, key: Key, call: Call, material: Material) -> None:
        held = self._calls[key]
        held.call, held.material, held.stage = call, material, _Stage.JUDGING

    def _record(self) -> list[Command]:
        keys = tuple(key for key, held in self._calls.items() if held.stage is _Stage.JUDGED and held.confirmed)
        for key in keys:
            self._calls[key].stage = _Stage.RECORDING
        return [Record(keys)] if keys else []

    def _flush(self) -> list[Command]:
        """Write the frames before the first call that has no answer yet."""
        entries: list[FrameRead] = []
        left: dict[Key, None] = {}
        while self._queue and all(map(self._is_answered, self._queue[0].keys)):
            entry = self._queue.popleft()
            self._queued_bytes -= len(entry.frame.raw)
            entries.append(entry)
            left |= dict.fromkeys(entry.keys)
        commands: list[Command] = []
        if entries:
            data = self._writer.write(entries, self._judged)
            commands.append(Write(data, tuple(left)))
        if self._closing and not self._queue and not self._over:
            self._over = True
            commands += [Write(self._writer.finish()), Finish()]
        return commands

    def _is_answered(self, key: Key) -> bool:
        held = self._calls[key]
        if held.repeats is not None:
            original = self._judged.get(held.repeats)
            if original is None:
                return False
            held.stage = _Stage.RESOLVED
            self._judged[key] = Judged(held.material or original.material, original.answer, is_repeat=True)
        return held.stage is _Stage.RESOLVED

    def _break(self, breach: Breach) -> list[Command]:
        self._over = True
        keys = self.undelivered()
        self._queue.clear()
        self._queued_bytes = 0
        return [Break(breach, self._writer.broken(f"callgate: {breach.value}"), keys)]

    def _is_edited(self) -> bool:
        return any(isinstance(judged.answer, Replaced) for judged in self._judged.values())
