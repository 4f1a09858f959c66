"""Fragments to calls. The key of a call is opaque: this file does not know which dialect it serves.

Each call is in one state; `TRANSITIONS` is the whole of what may happen to it. A cell that is missing is a breach: the
stream says something about a call that its dialect cannot say there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from interceptors.calls import Call, Cause, Json, MalformedToolCall, ToolCall
from proxy.wire.events import Material, Observed

if TYPE_CHECKING:
    from collections.abc import Hashable


class State(Enum):
    ABSENT = auto()
    OPEN = auto()
    COMPLETE = auto()  # frozen: its arguments are what was judged
    CONFIRMED = auto()
    CUT = auto()

    __hash__ = object.__hash__  # each member is one object; an enum's own hash is a function of the interpreter


class Step(Enum):
    START = auto()  # the first material of a call
    FRAGMENT = auto()  # more of its name, id or arguments
    END = auto()  # the dialect's mark that it is whole
    CONFIRM = auto()  # something followed that shows it was not cut off
    CUT = auto()  # the token limit or the end of the stream came first

    __hash__ = object.__hash__  # each member is one object; an enum's own hash is a function of the interpreter


class StepError(Exception):
    """A step that its call cannot take (the reader turns it into WireBroken)."""


class TooMuchError(Exception):
    """More calls than `CALLS_MAX`, or a longer name or id than is read (the reader turns it into WireBroken)."""


CALLS_MAX = 256
"""Calls of one answer, and as many that the provider executed: each costs a decision and a receipt."""
NAME_LENGTH_MAX = 1024
ID_LENGTH_MAX = 64 * 1024
"""Some gateways carry a signature of the provider in the id of its call."""


TRANSITIONS: dict[tuple[State, Step], State] = {
    (State.ABSENT, Step.START): State.OPEN,
    (State.OPEN, Step.FRAGMENT): State.OPEN,
    (State.OPEN, Step.END): State.COMPLETE,
    (State.OPEN, Step.CUT): State.CUT,
    (State.COMPLETE, Step.CONFIRM): State.CONFIRMED,
    (State.COMPLETE, Step.CUT): State.CUT,
}


@dataclass(slots=True)
class _Parts:
    position: int
    kind: str
    state: State = State.OPEN
    id: str = ""
    name: str = ""
    fragments: list[str] = field(default_factory=list)
    whole: str = ""  # the text of arguments that came as a value
    is_plain: bool = True
    conflict: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


class Assembler:
    """All calls of one turn, by opaque key, in the order in which they began."""

    def __init__(self, first_position: int = 0, depth_max: int = strict_json.DEPTH_MAX) -> None:
        self._parts: dict[Hashable, _Parts] = {}
        self._next_position = first_position
        self._depth_max = depth_max
        self._observed: list[str] = []

    def __contains__(self, key: Hashable) -> bool:
        return key in self._parts

    def state(self, key: Hashable) -> State:
        parts = self._parts.get(key)
        return parts.state if parts else State.ABSENT

    def keys_in(self, *states: State) -> tuple[Hashable, ...]:
        return tuple(key for key, parts in self._parts.items() if parts.state in states)

    def start(self, key: Hashable, kind: str, call_id: str = "", name: str = "") -> None:
        self._step(key, Step.START)
        if len(self._parts) >= CALLS_MAX:
            raise TooMuchError
        _check_lengths(call_id, name)
        self._parts[key] = _Parts(self._next_position, kind, id=call_id, name=name)
        self._next_position += 1

    def fragment(self, key: Hashable, text: str) -> None:
        self._step(key, Step.FRAGMENT)
        if text:
            self._parts[key].fragments.append(text)

    def whole(self, key: Hashable, text: str) -> None:
        """Arguments that came as a JSON value, here its text. Fragments that also come must say the same."""
        self._step(key, Step.FRAGMENT)
        parts = self._parts[key]
        parts.conflict |= parts.whole not in ("", text)
        parts.whole = text

    def mention(self, key: Hashable, call_id: str, name: str) -> None:
        """An id or a name in a later fragment: taken once, never appended; another one is a conflict."""
        self._step(key, Step.FRAGMENT)
        _check_lengths(call_id, name)
        parts = self._parts[key]
        for attribute, value in (("id", call_id), ("name", name)):
            if not value:
                continue
            if known := getattr(parts, attribute):
                parts.conflict |= known != value
            setattr(parts, attribute, value)
            parts.is_plain = False

    def observe(self, name: str, *, once: bool = False) -> list[Observed]:
        """Something the provider executed, or, `once` a name, a type that the policy lets pass."""
        if once and name in self._observed:
            return []
        if len(self._observed) >= CALLS_MAX:
            raise TooMuchError
        _check_lengths("", name)
        self._observed.append(name)
        return [Observed(name)]

    def keep_members(self, key: Hashable, members: dict[str, Any]) -> None:
        self._parts[key].extra.update(members)

    def dispute(self, key: Hashable) -> None:
        """Something said of the call can be read in two ways: it is malformed."""
        self._parts[key].conflict = True

    def kind(self, key: Hashable) -> str:
        return self._parts[key].kind

    def not_plain(self, key: Hashable) -> None:
        """The framing was ambiguous: the call may only leave in canonical form."""
        self._parts[key].is_plain = False

    def complete(self, key: Hashable) -> tuple[Call, Material]:
        self._step(key, Step.END)
        parts = self._parts[key]
        parts.state = State.COMPLETE
        text = "".join(parts.fragments)
        call = self._read(parts, text)
        if parts.whole:
            parts.is_plain &= not text
            text = text or parts.whole
        return call, Material(parts.id, parts.name, text, parts.kind, parts.is_plain, parts.extra)

    def confirm(self, key: Hashable) -> None:
        self._step(key, Step.CONFIRM)
        self._parts[key].state = State.CONFIRMED

    def cut(self, key: Hashable, cause: Cause = Cause.CUT_OFF) -> MalformedToolCall:
        self._step(key, Step.CUT)
        parts = self._parts[key]
        parts.state = State.CUT
        return MalformedToolCall(parts.name, cause, parts.id, parts.position)

    def material(self, key: Hashable) -> Material:
        """Of a call that was cut: what little is known of it."""
        parts = self._parts[key]
        return Material(parts.id, parts.name, "", parts.kind)

    def _step(self, key: Hashable, step: Step) -> None:
        if (self.state(key), step) not in TRANSITIONS:
            raise StepError

    def _read(self, parts: _Parts, text: str) -> Call:
        def malformed(cause: Cause) -> MalformedToolCall:
            return MalformedToolCall(parts.name, cause, parts.id, parts.position)

        if parts.conflict:
            return malformed(Cause.CONFLICT)
        if not parts.name:
            return malformed(Cause.NO_NAME)
        if parts.kind == FREEFORM:
            return ToolCall(parts.name, {"input": text}, text, parts.id, parts.position, freeform=True)
        try:
            value = self._parse(text or parts.whole)
            if text and parts.whole and strict_json.canonical(value) != strict_json.canonical(self._parse(parts.whole)):
                return malformed(Cause.CONFLICT)
        except strict_json.StrictJsonError as error:
            return malformed(error.cause)
        if not isinstance(value, dict):
            return malformed(Cause.NOT_AN_OBJECT)
        return ToolCall(
            parts.name, value, text or parts.whole, parts.id, parts.position, is_question=parts.kind == QUESTION
        )

    def _parse(self, text: str) -> Json:
        return strict_json.parse(text, depth_max=self._depth_max) if text else {}


def _check_lengths(call_id: str, name: str) -> None:
    if len(name) > NAME_LENGTH_MAX or len(call_id) > ID_LENGTH_MAX:
        raise TooMuchError


FREEFORM = "custom"
"""The kind of a call whose arguments are free text."""
QUESTION = "mcp_approval_request"
"""The kind of a call that its server runs, with the arguments that it has, once it is approved."""
