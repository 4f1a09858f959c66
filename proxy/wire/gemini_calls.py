"""The calls of a Gemini turn. They come whole in one part, but where Vertex streams their arguments (WIRE.md 4).

A part with a call is complete with its frame: only a token limit that the same frame states can have cut its last one.
A call that says it will go on is continued by the next part of its candidate that holds a `functionCall`, and is
complete with the one that does not say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from interceptors import strict_json
from interceptors.calls import Cause, MalformedToolCall, ToolCall
from proxy.wire import envelope
from proxy.wire.assembly import Assembler, State
from proxy.wire.events import CallCompleted, CallCut, CallsConfirmed, Key, WireEvent
from proxy.wire.gemini_partial import DisputedError, PartialArguments
from proxy.wire.gemini_types import (
    CALL,
    KNOWN_PARTS,
    LIMIT_REASONS,
    OBSERVED,
    Candidate,
    WrongShapeError,
    candidates,
    check_spelling,
    is_call,
    unknown,
)
from proxy.wire.positional import named

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODE: Final = "code_execution"


@dataclass(frozen=True, slots=True)
class Place:
    """The key of a call: its candidate, its leg, and its number among the calls of those."""

    choice: int
    leg: int
    number: int


class GeminiCalls:
    """All candidates of one turn."""

    def __init__(self, pass_types: frozenset[str]) -> None:
        self._pass_types = pass_types
        self.binds = False  # the call that was signed for all of this leg is one that no history can hold
        self._assembler = Assembler()
        self._open: dict[int, tuple[Place, PartialArguments]] = {}
        self._counts: dict[int, int] = {}
        self._names: set[str] = set()  # of the calls of this leg
        self._wire_ids: dict[str, tuple[str, str]] = {}
        self._leg = 0
        self._raw = b""

    def chunk(self, raw: bytes, value: Mapping[str, Any]) -> tuple[tuple[Key, ...], list[WireEvent], bool]:
        """Take in one chunk: the key of each of its parts that holds a call, in their order, what it completes, and
        whether a candidate ends with it."""
        self._raw = raw
        keys: list[Key] = []
        events: list[WireEvent] = []
        has_reason = False
        for candidate in candidates(value):
            held = [
                self._part(candidate, place, part, events)
                for place, part in enumerate(candidate.parts)
                if self._is_held(part, events)
            ]
            keys += held
            if candidate.reason is not None:
                has_reason = True
                events += self._finish(candidate, held)
        sure = tuple(key for key in dict.fromkeys(keys) if self._assembler.state(key) is State.COMPLETE)
        for key in sure:
            self._assembler.confirm(key)
        return tuple(keys), [*events, *([CallsConfirmed(sure)] if sure else [])], has_reason

    def next_leg(self) -> None:
        self._leg += 1
        self.binds = False
        self._open.clear()
        self._names.clear()

    def cut_all(self) -> list[WireEvent]:
        """The stream ended: what was to go on never will."""
        return [self._cut(key) for key in self._assembler.keys_in(State.OPEN)]

    def _is_held(self, part: dict[str, Any], events: list[WireEvent]) -> bool:
        for member, content in part.items():
            if member in OBSERVED and content:
                events += self._assembler.observe(_observed(member, content))
            elif member not in KNOWN_PARTS and member in self._pass_types:
                events += self._assembler.observe(member, once=True)
        return is_call(part, self._pass_types)

    def _part(self, candidate: Candidate, place: int, part: dict[str, Any], events: list[WireEvent]) -> Place:
        types = [member for member in unknown(part) if part[member] and member not in self._pass_types]
        if part.get(CALL) is None:
            key = self._start(candidate.index, types[0], types[0])
            events.append(self._complete(key))
            return key
        call = part[CALL]
        if types or not isinstance(call, dict):
            raise WrongShapeError
        check_spelling(call)
        path = ("candidates", candidate.place, "content", "parts", place, CALL)
        key, partial = self._opened(candidate.index, call)
        self._assembler.keep_members(key, _beside(part, call))
        if call.get("args") not in (None, {}):
            self._assembler.whole(key, envelope.raw_at(self._raw, *path, "args").decode())
        self._fragments(key, partial, call, path)
        if call.get("willContinue") is not True:
            self._open.pop(candidate.index, None)
            self._close(key, partial)
            events.append(self._complete(key))
        return key

    def _opened(self, index: int, call: dict[str, Any]) -> tuple[Place, PartialArguments]:
        """The call that a part starts, or goes on with."""
        name, call_id = call.get("name"), call.get("id")
        if not isinstance(name, str | None) or not isinstance(call_id, str | None):
            raise WrongShapeError
        if index not in self._open:
            self._open[index] = (self._start(index, CALL, name or ""), PartialArguments())
        elif name or call_id:  # to some clients this is another call
            self._assembler.dispute(self._open[index][0])
        return self._open[index]

    def _start(self, index: int, kind: str, name: str) -> Place:
        number = self._counts.get(index, 0)
        self._counts[index] = number + 1
        key = Place(index, self._leg, number)
        self._assembler.start(key, kind, name=name)
        return key

    def _fragments(
        self, key: Place, partial: PartialArguments, call: dict[str, Any], path: tuple[str | int, ...]
    ) -> None:
        fragments = call.get("partialArgs")
        if not isinstance(fragments, list | None):
            raise WrongShapeError
        if fragments and call.get("args"):
            self._assembler.dispute(key)
        try:
            for raw in envelope.elements(envelope.raw_at(self._raw, *path, "partialArgs")) if fragments else ():
                partial.take(raw)
        except (DisputedError, KeyError, IndexError, TypeError, envelope.EnvelopeError):
            self._assembler.dispute(key)

    def _close(self, key: Place, partial: PartialArguments) -> None:
        try:
            text = partial.text()
        except DisputedError:
            self._assembler.dispute(key)
            return
        if partial.root:
            self._assembler.whole(key, text)

    def _complete(self, key: Place) -> CallCompleted:
        call, material = self._assembler.complete(key)
        digest = strict_json.digest(dict(call.arguments)) if isinstance(call, ToolCall) else ""
        call_id = named(call.name, digest, self._names)
        self._names.add(call_id)
        wire_id = material.extra.get("id")
        said = (material.name, material.arguments)
        if isinstance(wire_id, str) and wire_id and self._wire_ids.setdefault(wire_id, said) != said:
            call = MalformedToolCall(call.name, Cause.DUPLICATE_ID, call_id, call.position)
        binds = "thoughtSignature" in material.extra
        self.binds |= binds and isinstance(call, MalformedToolCall)
        return CallCompleted(key, structs.replace(call, id=call_id), structs.replace(material, id=call_id, binds=binds))

    def _finish(self, candidate: Candidate, held: list[Place]) -> list[WireEvent]:
        """The end of a candidate: what is open is cut, and, by the token limit, the last call of its last frame too."""
        cut: list[WireEvent] = []
        if candidate.index in self._open:
            cut.append(self._cut(self._open.pop(candidate.index)[0]))
        elif candidate.reason in LIMIT_REASONS and held and is_call(candidate.parts[-1], self._pass_types):
            cut.append(self._cut(held[-1]))
        return cut

    def _cut(self, key: Key) -> CallCut:
        return CallCut(key, self._assembler.cut(key), self._assembler.material(key))


def _beside(part: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    """What must survive where the call leaves in another form: its id, and the signature of its part."""
    found = {"thoughtSignature": part["thoughtSignature"]} if "thoughtSignature" in part else {}
    return found | ({"id": call["id"]} if call.get("id") else {})


def _observed(member: str, content: Any) -> str:
    kind = content.get("toolType") if member == "toolCall" and isinstance(content, dict) else None
    return str(kind).lower() if kind else _CODE if member == "executableCode" else member
