"""Drives the sans-IO half as the edge does: bytes in any split, answers of a rule, and what left at each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from interceptors.calls import Call, MalformedToolCall, ToolCall
from proxy.gate import Break, Decide, EndAtLimit, Finish, Gate, Note, Record, Write
from proxy.gate_commands import RefuseTogether
from proxy.wire.events import RELEASED, Answer, Breach, Key, Replaced
from proxy.wire.sse import Frame

if TYPE_CHECKING:
    from proxy.gate import Command
    from proxy.wire.dialect import Dialect

Rule = Callable[[Call], bool]
REFUSAL = "This was not done."
MB = 1 << 20


@dataclass
class Replay:
    """What came of one response. `steps` pairs the input so far with the output so far, in bytes."""

    data: bytes = b""
    calls: list[Call] = field(default_factory=list)
    released: list[Call] = field(default_factory=list)
    refused: list[Call] = field(default_factory=list)
    observed: list[str] = field(default_factory=list)
    breach: Breach | None = None
    writes: list[bytes] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)
    limited: bool = False

    @property
    def ran(self) -> list[ToolCall]:
        """What was released, which is never malformed."""
        return [call for call in self.released if isinstance(call, ToolCall)]

    def decisions(self) -> list[tuple[str, str, bool]]:
        """(name, id, whether it was released) of each call that was decided, in the turn's order."""
        released = {id(call) for call in self.released}
        return [(call.name, call.id, id(call) in released) for call in sorted(self.calls, key=lambda one: one.position)]


class Driver:
    """One turn, answered at once by `rule`; a malformed call is always refused, as the pipeline does."""

    def __init__(
        self,
        dialect: Dialect,
        rule: Rule,
        *,
        streamed: bool = True,
        held_bytes_max: int = 8 * MB,
        pass_types: frozenset[str] = frozenset(),
        text: str = REFUSAL,
    ) -> None:
        self.gate = Gate(dialect.reader(streamed, pass_types), dialect.writer(streamed), held_bytes_max)
        self.result = Replay()
        self._streamed = streamed
        self._rule = rule
        self._text = text
        self._framer = dialect.framing.framer(held_bytes_max)
        self._answers: dict[Key, Answer] = {}
        self._calls: dict[Key, Call] = {}
        self._read = 0

    def feed(self, data: bytes) -> None:
        self._read += len(data)
        if not self._streamed:
            self.carry_out(self.gate.receive(0, Frame(data, None, data)))
        elif not self.gate.is_over:
            for frame in self._framer.feed(data):
                self.carry_out(self.gate.receive(0, frame))
            if self._framer.fault:
                self.carry_out(self.gate.break_off(Breach.FRAMING))
        self.result.steps.append((self._read, len(self.result.data)))

    def end(self) -> Replay:
        if self._streamed and (last := self._framer.close()) is not None:
            self.carry_out(self.gate.receive(0, last))
        if self._framer.fault:
            self.carry_out(self.gate.break_off(Breach.FRAMING))
        self.carry_out(self.gate.end(0))
        self.carry_out(self.gate.close())
        return self.result

    def carry_out(self, commands: Iterable[Command]) -> None:
        result = self.result
        for command in commands:
            match command:
                case Write(data=data):
                    result.data += data
                    result.writes.append(data)
                case Decide(calls=calls):
                    self._calls |= calls
                    self._answers |= {key: self._answer(call) for key, call in calls.items()}
                    self.carry_out(self.gate.decided({key: self._answers[key] for key in calls}))
                case EndAtLimit(keys=keys):
                    result.limited = True
                    self._answers |= dict.fromkeys(keys, Replaced(self._text))
                    self.carry_out(self.gate.decided({key: self._answers[key] for key in keys}))
                case RefuseTogether(keys=keys):
                    self._answers |= dict.fromkeys(keys, Replaced(self._text))
                    self.carry_out(self.gate.decided({key: self._answers[key] for key in keys}))
                case Record(keys=keys):
                    self._count(keys)
                    self.carry_out(self.gate.recorded({key: self._answers[key] for key in keys}))
                case Break(breach=breach, data=data):
                    result.breach = breach
                    result.data += data
                    result.writes.append(data)
                case Note(observed=name):
                    result.observed.append(name)
                case Finish():
                    pass
                case _:
                    raise AssertionError(f"a command that no turn of this version gives: {command!r}")

    def _answer(self, call: Call) -> Answer:
        is_released = isinstance(call, ToolCall) and self._rule(call)
        return RELEASED if is_released else Replaced(self._text)

    def _count(self, keys: Sequence[Key]) -> None:
        result = self.result
        for key in keys:
            call = self._calls.get(key)
            if call is None:
                continue
            result.calls.append(call)
            is_released = self._answers[key] == RELEASED
            assert not (is_released and isinstance(call, MalformedToolCall))
            (result.released if is_released else result.refused).append(call)


def replay(dialect: Dialect, chunks: bytes | Sequence[bytes], rule: Rule, **options: object) -> Replay:
    """Run one whole response. `chunks` are reads of upstream; a JSON body (`streamed=False`) is joined first."""
    parts = [chunks] if isinstance(chunks, bytes) else list(chunks)
    driver = Driver(dialect, rule, **options)  # type: ignore[arg-type] # the caller's, as the driver states them
    for part in parts if options.get("streamed", True) else [b"".join(parts)]:
        driver.feed(part)
    return driver.end()


def allow(_: Call) -> bool:
    return True


def deny(_: Call) -> bool:
    return False


def split_at(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    """The bytes cut at these places."""
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


def bytewise(data: bytes) -> list[bytes]:
    return [data[place : place + 1] for place in range(len(data))]
