"""Scripts for a gate: `>>` what happens, `<<` what it must answer. A script that nobody asserts fails its test.

    assert play >> text(b"hi") << Write(b"hi") >> End() << []

Every command between two events must be named: `<<` takes one command, or a list of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from proxy.wire.events import Answer, Breach, Key
from proxy.wire.sse import Frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.gate import Command, Gate, Limit


@dataclass(frozen=True, slots=True)
class Decided:
    answers: Mapping[Key, Answer]


@dataclass(frozen=True, slots=True)
class Recorded:
    answers: Mapping[Key, Answer]


@dataclass(frozen=True, slots=True)
class Reach:
    limit: Limit


@dataclass(frozen=True, slots=True)
class BreakOff:
    breach: Breach = Breach.FRAMING


@dataclass(frozen=True, slots=True)
class End:
    """The leg ended."""


@dataclass(frozen=True, slots=True)
class Close:
    """After the end: the turn is over."""


Happening: TypeAlias = "Frame | Decided | Recorded | Reach | BreakOff | End | Close"


class Playbook:
    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.problems: list[str] = []
        self._expected: list[Command] | None = None
        self._given: list[Command] = []
        self._what: Happening | None = None
        self.asserted = True

    def __rshift__(self, happening: Happening) -> Playbook:
        self._compare()
        self.asserted = False
        self._what, self._given, self._expected = happening, perform(self.gate, happening), []
        return self

    def __lshift__(self, commands: Command | Sequence[Command]) -> Playbook:
        assert self._expected is not None, "a script begins with what happens"
        self._expected += commands if isinstance(commands, list) else [commands]  # type: ignore[list-item] # a Write is a tuple too
        return self

    def __bool__(self) -> bool:
        self._compare()
        self.asserted = True
        if self.problems:
            raise AssertionError("\n".join(self.problems))
        return True

    def _compare(self) -> None:
        if self._expected is not None and self._given != self._expected:
            self.problems.append(f">> {self._what}\n   expected {self._expected}\n   given    {self._given}")
        self._expected = None if self._expected is None else self._given


def perform(gate: Gate, happening: Happening) -> list[Command]:
    match happening:
        case Frame():
            return gate.receive(0, happening)
        case Decided(answers=answers):
            return gate.decided(answers)
        case Recorded(answers=answers):
            return gate.recorded(answers)
        case Reach(limit=limit):
            return gate.reach(limit)
        case BreakOff(breach=breach):
            return gate.break_off(breach)
        case End():
            return gate.end(0)
        case Close():
            return gate.close()
        case _:
            assert_never(happening)
