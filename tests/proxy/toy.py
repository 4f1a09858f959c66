"""A dialect of a few letters for the gate's own tests: what the gate does must not depend on a real one.

`t` text, `o1` call 1 opens, `f1` more of it, `c1` it is complete, `k1` it is certain, `x1` it was cut off, `r2=1` call
2 repeats call 1, `p` the provider ran something, `.` the turn ends, `!` the stream is broken. A frame may hold several,
parted by commas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.calls import Cause, MalformedToolCall, ToolCall
from proxy.wire.events import (
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
from proxy.wire.sse import Frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged

OPEN_AT_END = "o"


def frame(script: str) -> Frame:
    return Frame(f"<{script}>".encode(), None, script.encode())


def call(key: Key) -> ToolCall:
    return ToolCall(f"tool{key}", {}, "{}", f"id{key}", 0)


def cut(key: Key) -> MalformedToolCall:
    return MalformedToolCall(f"tool{key}", Cause.CUT_OFF, f"id{key}", 0)


def material(key: Key) -> Material:
    return Material(f"id{key}", f"tool{key}", "{}", "toy")


class ToyReader:
    binds = False

    def __init__(self) -> None:
        self.open: dict[str, None] = {}

    def receive(self, frame: Frame) -> list[WireEvent]:
        steps = (frame.data or b"").decode().split(",")
        keys = tuple(dict.fromkeys(step[1] for step in steps if step[0] in "ofcr"))
        events: list[WireEvent] = [FrameRead(frame, steps, keys)]
        for step in steps:
            events += self._event(step[0], step[1:])
        return events

    def _event(self, kind: str, key: str) -> list[WireEvent]:
        match kind:
            case "o":
                self.open[key] = None
            case "c":
                self.open.pop(key, None)
                return [CallCompleted(key, call(key), material(key))]
            case "k":
                return [CallsConfirmed((key,))]
            case "x":
                self.open.pop(key, None)
                return [CallCut(key, cut(key), material(key))]
            case "r":
                return [CallRepeated(key[0], key[2], material(key[0]))]
            case "p":
                return [Observed("search")]
            case ".":
                return [TurnEnded()]
            case "!":
                return [WireBroken(Breach.NOT_JSON)]
        return []

    def next_leg(self) -> None:
        """Nothing of this dialect is a leg's own."""

    def end(self) -> list[WireEvent]:
        return [CallCut(key, cut(key), material(key)) for key in self.open]


class ToyWriter:
    """Frames as they came; of a refused call its text, once."""

    def __init__(self) -> None:
        self.said: set[Key] = set()

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        return b"".join(self._one(entry, judged) for entry in entries)

    def _one(self, entry: FrameRead, judged: Mapping[Key, Judged]) -> bytes:
        refused = [key for key in entry.keys if isinstance(judged[key].answer, Replaced)]
        if not refused:
            return entry.frame.raw
        new = [key for key in refused if key not in self.said]
        self.said.update(new)
        return b"".join(f"[no {key}]".encode() for key in new)

    def seal(self, mark: str) -> None:
        """This dialect has no thinking."""

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        return f"[{text}]".encode() + self.write(end, judged)

    def finish(self) -> bytes:
        return b"[end]"

    def broken(self, message: str) -> bytes:
        return b"[error]"
