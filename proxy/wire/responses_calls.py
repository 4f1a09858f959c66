"""The calls of a Responses turn: the four places in which one is stated, to one complete call (WIRE.md 3.2).

Clients differ in which place they execute: the deltas, their `done`, the item's `done`, or the final snapshot. All must
say the same; what they say in two ways is malformed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from interceptors.calls import Cause, MalformedToolCall
from proxy.wire.assembly import Assembler, State
from proxy.wire.events import CallCompleted, CallCut, CallRepeated, CallsConfirmed, Key, WireEvent
from proxy.wire.members import is_misspelled
from proxy.wire.responses_items import ITEM, SPOKEN, call_arguments, call_id, call_name, kind_name
from proxy.wire.responses_types import CALL_DELTAS, CALL_WHOLES, NAMES, PATCH, SHELL

if TYPE_CHECKING:
    from collections.abc import Mapping


class WrongShapeError(ValueError):
    """An event that the dialect cannot have sent."""


class WrongPlaceError(ValueError):
    """An event that cannot stand there."""


@dataclass(frozen=True, slots=True)
class ItemKey:
    """The key of a call that stands in the output, by its place there; `answer` counts those of one stream."""

    place: int
    answer: int = 0


@dataclass(frozen=True, slots=True)
class LooseKey:
    """The key of a call that has no place of its own: it stands in a snapshot only, or in an event of no table."""

    number: int


@dataclass(slots=True)
class _Open:
    """What was said of a call before its item was done: by command where it has several, else all under 0."""

    type: str
    name: str
    id: str
    item_id: object
    start: str
    pieces: dict[int, list[str]] = field(default_factory=dict)
    wholes: dict[int, str] = field(default_factory=dict)


class ResponsesCalls:
    """The calls of one turn, of all its legs."""

    def __init__(self) -> None:
        self._assembler = Assembler()
        self._open: dict[Key, _Open] = {}
        self._completed: dict[tuple[str, str], tuple[Key, str, str]] = {}
        self._has_program = False

    @property
    def binds(self) -> bool:
        """A program of the provider waits for calls of this leg."""
        return self._has_program

    def next_leg(self) -> None:
        self._has_program = False
        self._completed.clear()  # ids are a leg's own

    def state(self, key: Key) -> State:
        return self._assembler.state(key)

    def knows(self, item: Mapping[str, Any]) -> bool:
        """Whether a call of a snapshot is one that is complete."""
        return (str(item.get("type")), call_id(item)) in self._completed

    def start(self, key: Key, raw: bytes, item: Mapping[str, Any]) -> None:
        """An item that the client executes was added."""
        if is_misspelled(item, NAMES):
            raise WrongShapeError
        kind, name, own = str(item.get("type")), call_name(item), call_id(item)
        self._assembler.start(key, kind_name(kind), own, name)
        start, is_fit = call_arguments(raw, item)
        if not is_fit:
            self._assembler.not_plain(key)
        self._open[key] = _Open(kind, name, own, item.get("id"), start)

    def fragment(self, key: Key, event: str, value: Mapping[str, Any]) -> None:
        """An event of an item that is open."""
        opened = self._open[key]
        owner, member = CALL_WHOLES.get(event, (CALL_DELTAS.get(event, opened.type), "delta"))
        if owner != opened.type:
            raise WrongPlaceError
        number = value.get("command_index", 0)
        if type(number) is not int:
            raise WrongShapeError
        if event not in CALL_WHOLES and event not in CALL_DELTAS:
            return
        text = value.get(member)
        if not isinstance(text, str):
            raise WrongShapeError
        if event in CALL_DELTAS:
            if number in opened.wholes:
                self._assembler.dispute(key)
            opened.pieces.setdefault(number, []).append(text)
            return
        if opened.wholes.setdefault(number, text) != text:
            self._assembler.dispute(key)
        name = value.get("name")
        if isinstance(name, str) and name and name != opened.name.rpartition("/")[2]:
            self._assembler.dispute(key)

    def complete(self, key: Key, raw: bytes, item: Mapping[str, Any]) -> list[WireEvent]:
        """The item is done."""
        if is_misspelled(item, NAMES):
            raise WrongShapeError
        opened = self._open.pop(key)
        text, is_fit = call_arguments(raw, item)
        kind, name, own = str(item.get("type")), call_name(item), call_id(item)
        if (kind, name, own) != (opened.type, opened.name, opened.id):
            self._assembler.dispute(key)
        if not is_fit or item.get("id") != opened.item_id:
            self._assembler.not_plain(key)
        self._compare(key, opened, text, item)
        caller = item.get("caller")
        self._has_program |= isinstance(caller, dict) and caller.get("type") != "direct"
        self._assembler.keep_members(key, {ITEM: raw})
        before = self._completed.setdefault((kind, own), (key, name, text)) if own else (key, name, text)
        if item.get("status") == "incomplete":
            return [self.cut(key)]
        if text:
            self._assembler.fragment(key, text)
        call, material = self._assembler.complete(key)
        confirmed = self.confirm(key) if item.get("status") in ("completed", None) else []
        if before[0] == key:
            return [CallCompleted(key, call, material), *confirmed]
        if before[1:] == (name, text):
            return [CallRepeated(key, before[0], material)]
        doubled = MalformedToolCall(call.name, Cause.DUPLICATE_ID, call.id, call.position)
        return [CallCompleted(key, doubled, material), *confirmed]

    def whole(self, key: Key, raw: bytes, item: Mapping[str, Any]) -> list[WireEvent]:
        """An item that is whole at once."""
        self.start(key, raw, item)
        return self.complete(key, raw, item)

    def not_plain(self, key: Key) -> None:
        self._assembler.not_plain(key)

    def confirm(self, key: Key) -> list[WireEvent]:
        self._assembler.confirm(key)
        return [CallsConfirmed((key,))]

    def confirm_all(self) -> list[WireEvent]:
        """Something followed which shows that those before were not cut off."""
        return [event for key in self._assembler.keys_in(State.COMPLETE) for event in self.confirm(key)]

    def cut(self, key: Key) -> CallCut:
        material = self._assembler.material(key)
        return CallCut(key, self._assembler.cut(key), material)

    def cut_all(self, *states: State) -> list[WireEvent]:
        return [self.cut(key) for key in self._assembler.keys_in(*states)]

    def observe(self, name: str, *, once: bool = False) -> list[WireEvent]:
        return list(self._assembler.observe(name, once=once))

    def unknown(self, key: Key, raw: bytes, name: str) -> list[WireEvent]:
        """Content that no table knows: a call of a tool of that name, whole at once."""
        self._assembler.start(key, name, name=name)
        self._assembler.keep_members(key, {ITEM: raw})
        call, material = self._assembler.complete(key)
        return [CallCompleted(key, call, material), *self.confirm(key)]

    def _compare(self, key: Key, opened: _Open, text: str, item: Mapping[str, Any]) -> None:
        """What the events said beside what the item says."""
        for number in opened.pieces.keys() | opened.wholes.keys():
            final = _part(opened.type, number, text, item)
            told = [opened.wholes[number]] if number in opened.wholes else []
            if number in opened.pieces:
                streamed = "".join(opened.pieces[number])
                whole = opened.start + streamed if opened.type in SPOKEN else streamed
                if opened.start and whole != final == opened.start == streamed:
                    self._assembler.not_plain(key)  # stated whole at first, and once more in pieces
                    whole = final
                told.append(whole)
            for one in told:
                self._agree(key, one, final)
        if opened.type not in SPOKEN:
            if not _begins(opened.start, text):
                self._assembler.not_plain(key)
        elif not opened.pieces and opened.start not in ("", "{}", text):
            self._agree(key, opened.start, text)

    def _agree(self, key: Key, told: str, final: str | None) -> None:
        if told == final:
            return
        self._assembler.not_plain(key)
        if final is None or _value(told) != _value(final):
            self._assembler.dispute(key)


def _part(kind: str, number: int, text: str, item: Mapping[str, Any]) -> str | None:
    """Where in an item that stands which an event said."""
    if kind == PATCH:
        operation = item.get("operation")
        return _string(operation.get("diff") if isinstance(operation, dict) else None)
    if kind == SHELL:
        action = item.get("action")
        commands = action.get("commands") if isinstance(action, dict) else None
        is_there = isinstance(commands, list) and 0 <= number < len(commands)
        return _string(commands[number]) if is_there and isinstance(commands, list) else None
    return text if number == 0 else None


def _begins(start: str, whole: str) -> bool:
    """Whether each member of an item's first arguments is empty, or as it is at last."""
    if start in ("", whole):
        return True
    first, last = _parsed(start), _parsed(whole)
    return all(not value or last.get(member) == value for member, value in first.items())


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = strict_json.parse(text)
    except strict_json.StrictJsonError:
        value = None
    return value if isinstance(value, dict) else {"": text}


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _value(text: str) -> object:
    """Two texts of one value are one: a server may write the same arguments twice, and not alike."""
    try:
        return strict_json.canonical(strict_json.parse(text))
    except strict_json.StrictJsonError:
        return text
