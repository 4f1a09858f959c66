"""The calls of a Chat turn: fragments to slots, slots to complete calls, by one documented rule (WIRE.md 2).

Servers differ in how they number fragments. A fragment belongs to the slot of its index, unless it names another id
there; without an index to the slot of its id; with neither to the last slot. What needed that rule is marked, and
leaves in canonical form only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from interceptors.calls import Cause, MalformedToolCall
from proxy.wire import envelope
from proxy.wire.assembly import FREEFORM, Assembler, State
from proxy.wire.events import CallCompleted, CallCut, CallRepeated, CallsConfirmed, Key, Material, WireEvent
from proxy.wire.members import is_misspelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FUNCTION, LEGACY = "function", "function_call"
CALL_TYPES = frozenset({FUNCTION, FREEFORM})
"""Types of `tool_calls[]`. Another type is a call of an unknown tool of that name."""
LIMIT_REASONS = ("length", "max_tokens", "model_length")
CHOICES_MAX = 1024
"""A choice is addressed by its number, and clients keep a list of them."""
CONTENT_PARTS = frozenset(
    {
        "audio",
        "document_url",
        "file",
        "image_url",
        "input_audio",
        "output_text",
        "reference",
        "refusal",
        "text",
        "thinking",
    }
)
"""Types of the parts of a content that is a list."""
MESSAGE_MEMBERS = frozenset(
    {
        "annotations",
        "audio",
        "channel",
        "content",
        "extra_content",
        "index",
        "name",
        "padding",
        "provider_metadata",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "refusal",
        "role",
        "thought_signature",
    }
)
"""Members of a message or a delta that are text or frame."""
CALL_MEMBERS = frozenset({"tool_calls", LEGACY})
NAMES = MESSAGE_MEMBERS | CALL_MEMBERS | {"choices", "delta", "finish_reason", "message"}
"""Members by which clients find messages and calls; another case of one of them breaks the stream."""
_CHUNK = frozenset(
    {"choices", "created", "id", "model", "object", "obfuscation", "service_tier", "system_fingerprint", "usage"}
)
_CHOICE = frozenset({"content_filter_results", "delta", "finish_reason", "index", "logprobs", "stop_reason"})
"""Members of nearly all chunks, and of the choices in them; one with any other is looked at member by member."""
CALL_NAMES = frozenset({"arguments", "id", "index", "input", "name", "type", FUNCTION, FREEFORM})
OBSERVED_MEMBERS = frozenset({"executed_tools"})
"""Members that report what the provider executed."""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


class WrongShapeError(ValueError):
    """A chunk that the dialect cannot have sent."""


class Slot(NamedTuple):
    """The key of a call: its choice and its place among the calls of that choice."""

    choice: int
    place: int | str


@dataclass(slots=True)
class _Choice:
    by_index: dict[int, Slot] = field(default_factory=dict)
    by_id: dict[str, Slot] = field(default_factory=dict)
    slots: list[Slot] = field(default_factory=list)
    finished: bool = False
    last: Slot | None = None  # the one that was written to last
    first: int = 0  # how many slots are of legs before this one


class ChatCalls:
    """The calls of all choices of one turn: fragments to slots, slots to complete calls."""

    def __init__(self, pass_types: frozenset[str]) -> None:
        self.pass_types = pass_types
        self._assembler = Assembler()
        self._choices: dict[int, _Choice] = {}
        self._raw: bytes = b""
        self._object: str | None = None  # of the chunks that bear calls

    def chunk(self, raw: bytes, value: Mapping[str, Any], part: str) -> tuple[tuple[Key, ...], list[WireEvent]]:
        """Take in one chunk (`part` is `delta` or `message`): the keys it carries, and what it completes."""
        if part == "delta" and (plain := self._plain(value)) is not None:
            return plain, []
        self._raw = raw
        keys: dict[Key, None] = {}
        events: list[WireEvent] = []
        other = "delta" if part == "message" else "message"
        if is_misspelled(value, NAMES):
            raise WrongShapeError
        taken: set[int] = set()
        for place, choice in enumerate(_objects(value.get("choices"))):
            index = place if part == "message" else choice.get("index", 0)
            if type(index) is not int or not 0 <= index < CHOICES_MAX or index in taken:
                raise WrongShapeError  # of two parts for one choice, clients that read the first only miss the second
            taken.add(index)
            message, reason = choice.get(part), choice.get("finish_reason")
            if not isinstance(message, dict | None) or not isinstance(reason, str | None):
                raise WrongShapeError
            self._check_places(choice, other)
            if message:
                self._check_content(message, events)
            if message and not MESSAGE_MEMBERS.issuperset(message):
                keys |= dict.fromkeys(self._message(index, message, ("choices", place, part), events))
            if reason and not self._choice(index).finished:
                events += self.finish(index, cut=reason in LIMIT_REASONS)
        if keys:
            self._check_kind(value)
        return tuple(keys), events

    def _check_kind(self, value: Mapping[str, Any]) -> None:
        kind = str(value.get("object"))
        if self._object not in (None, kind):
            raise WrongShapeError  # clients that skip chunks of another kind would miss a part of a call
        self._object = kind

    def _plain(self, value: Mapping[str, Any]) -> tuple[Slot, ...] | None:
        """What `chunk` says of one choice that goes on, with text or with more arguments of one call and nothing else,
        as nearly all chunks do; None for any other chunk, which is looked at member by member."""
        choices = value.get("choices")
        if type(choices) is not list or len(choices) != 1 or not _CHUNK.issuperset(value):
            return None
        choice = choices[0]
        if type(choice) is not dict or not _CHOICE.issuperset(choice) or choice.get("finish_reason") is not None:
            return None
        index, delta = choice.get("index", 0), choice.get("delta")
        if type(index) is not int or not 0 <= index < CHOICES_MAX or type(delta) is not dict:
            return None
        if MESSAGE_MEMBERS.issuperset(delta):
            return () if type(delta.get("content")) is not list else None
        calls = delta.get("tool_calls")
        if len(delta) != 1 or type(calls) is not list or len(calls) != 1 or type(calls[0]) is not dict:
            return None
        if (slot := self._more(index, calls[0])) is None:
            return None
        self._check_kind(value)
        return (slot,)

    @staticmethod
    def _check_places(choice: dict[str, Any], other: str) -> None:
        """Calls stand in their part of a choice, and neither beside it nor in the `other`."""
        if is_misspelled(choice, NAMES) or not CALL_MEMBERS.isdisjoint(choice):
            raise WrongShapeError
        inside = choice.get(other)
        if isinstance(inside, dict) and not MESSAGE_MEMBERS.issuperset(key for key, value in inside.items() if value):
            raise WrongShapeError

    def _check_content(self, message: dict[str, Any], events: list[WireEvent]) -> None:
        """A content that is a list has parts of known types only."""
        if is_misspelled(message, NAMES):
            raise WrongShapeError
        if not isinstance(content := message.get("content"), list):
            return
        for kind in [item.get("type") for item in content if isinstance(item, dict)]:
            if not isinstance(kind, str):
                raise WrongShapeError
            if kind in self.pass_types:
                events += self._assembler.observe(kind, once=True)
            elif kind not in CONTENT_PARTS:
                raise WrongShapeError

    def finish(self, index: int, *, cut: bool) -> list[WireEvent]:
        """The end of a choice: its calls are complete; by the token limit, the last one was cut off."""
        choice = self._choice(index)
        choice.finished = True
        if not choice.slots:
            return []
        slots = [slot for slot in choice.slots if self._assembler.state(slot) is State.OPEN]
        ends = {slots[-1], choice.last} if cut and slots else set()
        cut_off = [slot for slot in slots if slot in ends]  # of interleaved calls either may be the one that was cut
        slots = [slot for slot in slots if slot not in ends]
        completed = [self._complete(slot) for slot in slots]
        events: list[WireEvent] = list(_one_call_an_id(completed))
        if completed:
            events.append(CallsConfirmed(tuple(event.key for event in events if isinstance(event, CallCompleted))))
        return [*events, *map(self._cut, cut_off)]

    def next_leg(self) -> None:
        """Another answer goes on with this turn: its ids and numbers are its own, its slots come behind."""
        for choice in self._choices.values():
            choice.by_index.clear()
            choice.by_id.clear()
            choice.finished, choice.last, choice.first = False, None, len(choice.slots)

    def finish_all(self) -> list[WireEvent]:
        open_choices = [index for index, choice in self._choices.items() if not choice.finished and choice.slots]
        return [event for index in open_choices for event in self.finish(index, cut=False)]

    def cut_all(self) -> list[WireEvent]:
        return [self._cut(key) for key in self._assembler.keys_in(State.OPEN)]

    def _complete(self, slot: Slot) -> CallCompleted:
        call, material = self._assembler.complete(slot)
        self._assembler.confirm(slot)
        return CallCompleted(slot, call, material)

    def _cut(self, key: Key) -> CallCut:
        material = self._assembler.material(key)
        return CallCut(key, self._assembler.cut(key), material)

    def _choice(self, index: int) -> _Choice:
        if (choice := self._choices.get(index)) is None:
            choice = self._choices[index] = _Choice()
        return choice

    def _message(
        self, index: int, message: dict[str, Any], path: tuple[str | int, ...], events: list[WireEvent]
    ) -> Iterator[Key]:
        for member, content in message.items():
            if member in MESSAGE_MEMBERS:
                continue
            if member == "tool_calls":
                seen: set[Key] = set()
                for place, call in enumerate(_objects(content)):
                    slot = self._more(index, call) or self._fragment(index, call, (*path, "tool_calls", place))
                    if slot in seen:  # clients that take each entry of a chunk for a call would run the first part
                        self._assembler.not_plain(slot)
                    seen.add(slot)
                    yield slot
            elif member == LEGACY:
                if content is not None:
                    yield self._legacy(index, content, (*path, LEGACY))
            elif member in OBSERVED_MEMBERS or member in self.pass_types:
                if content:
                    events += self._assembler.observe(member, once=True)
            elif isinstance(content, (dict, list)) and content:
                yield self._unknown(index, member, events)

    def _more(self, index: int, call: dict[str, Any]) -> Slot | None:
        """The slot of a fragment that is more of a function's arguments and says nothing else, as nearly all are, where
        that slot is known by its number; None for any other."""
        if len(call) != 2 or type(number := call.get("index")) is not int:
            return None
        if not isinstance(body := call.get(FUNCTION), dict) or len(body) != 1:
            return None
        choice, text = self._choice(index), body.get("arguments")
        slot = choice.by_index.get(number)
        if slot is None or not isinstance(text, str) or self._assembler.kind(slot) != FUNCTION:
            return None
        self._assembler.fragment(slot, text)
        choice.last = slot
        return slot

    def _fragment(self, index: int, call: dict[str, Any], path: tuple[str | int, ...]) -> Key:
        choice = self._choice(index)
        call_id = _text(call.get("id"))
        slot, is_ambiguous = self._slot(choice, index, call.get("index"), call_id, is_body="message" in path)
        bodies = [member for member in (FUNCTION, FREEFORM) if isinstance(call.get(member), dict)]
        stated = self._assembler.kind(slot) if slot in self._assembler else FUNCTION
        kind = str(call.get("type") or (bodies[0] if bodies else stated))
        body = call[kind] if kind in bodies else {}
        if is_misspelled(call, CALL_NAMES) or is_misspelled(body, CALL_NAMES):
            raise WrongShapeError
        name = _text(body.get("name")) if kind in CALL_TYPES else kind
        if slot not in self._assembler:
            self._assembler.start(slot, kind, call_id, name)
            choice.slots.append(slot)
            choice.finished = False
        else:
            self._assembler.mention(slot, call_id, name)
        if bodies not in ([], [self._assembler.kind(slot)]) or kind != self._assembler.kind(slot):
            self._assembler.dispute(slot)  # clients that do not look at the type read the other body
        if is_ambiguous:
            self._assembler.not_plain(slot)
        choice.last = slot
        if call_id:
            choice.by_id.setdefault(call_id, slot)
        known = ("id", "index", "type", *([kind] if kind in CALL_TYPES else ()))
        self._assembler.keep_members(slot, {key: value for key, value in call.items() if key not in known})
        self._arguments(slot, kind, body, path)
        return slot

    def _slot(self, choice: _Choice, index: int, number: Any, call_id: str, *, is_body: bool) -> tuple[Slot, bool]:
        """The slot of a fragment, and whether another reader could have taken another."""
        if is_body:  # in a body every element of the array is a call, whatever number it bears
            return Slot(index, len(choice.slots)), False
        if type(number) is int:
            slot = choice.by_index.get(number)
            is_new_id = bool(call_id) and slot is not None and choice.by_id.get(call_id) is not slot
            if slot is not None and (not is_new_id or slot not in choice.by_id.values()):
                return slot, False
            known = choice.by_id.get(call_id) if call_id else None
            if known is not None:  # the same call, emitted at several indexes
                choice.by_index.setdefault(number, known)
                self._assembler.not_plain(known)
            fresh = Slot(index, len(choice.slots))
            choice.by_index[number] = fresh
            return fresh, is_new_id or number != len(choice.slots)
        if call_id:
            return choice.by_id.get(call_id) or Slot(index, len(choice.slots)), True
        if len(choice.slots) > choice.first:
            return choice.slots[-1], True
        return Slot(index, len(choice.slots)), True

    def _arguments(self, slot: Slot, kind: str, body: dict[str, Any], path: tuple[str | int, ...]) -> None:
        member = "input" if kind == FREEFORM else "arguments"
        arguments = body.get(member)
        if isinstance(arguments, str):
            self._assembler.fragment(slot, arguments)
        elif isinstance(arguments, dict):
            step = kind if kind in CALL_TYPES else None
            place = (*path, *((step,) if step else ()), member)
            self._assembler.whole(slot, envelope.raw_at(self._raw, *place).decode())
            self._assembler.not_plain(slot)
        elif arguments is not None:
            raise WrongShapeError

    def _legacy(self, index: int, content: Any, path: tuple[str | int, ...]) -> Key:
        if not isinstance(content, dict) or is_misspelled(content, CALL_NAMES):
            raise WrongShapeError
        choice = self._choice(index)
        slot = Slot(index, f"{LEGACY}/{choice.first}" if choice.first else LEGACY)
        name = _text(content.get("name"))
        if slot not in self._assembler:
            self._assembler.start(slot, LEGACY, name=name)
            choice.slots.append(slot)
        elif name:
            self._assembler.mention(slot, "", name)
        choice.last = slot
        self._arguments(slot, LEGACY, content, path)
        return slot

    def _unknown(self, index: int, member: str, events: list[WireEvent]) -> Key:
        """Content that no table knows: a call of a tool of that name, whole at once."""
        choice = self._choice(index)
        slot = Slot(index, f"{member}/{len(choice.slots)}")
        self._assembler.start(slot, member, name=member)
        choice.slots.append(slot)
        events += [self._complete(slot), CallsConfirmed((slot,))]
        return slot


def _objects(value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise WrongShapeError
    for item in value:
        if not isinstance(item, dict):
            raise WrongShapeError
    return value


def _one_call_an_id(completed: list[CallCompleted]) -> Iterator[CallCompleted | CallRepeated]:
    """The same call under one id is one call; two different ones are malformed, since their results cannot be told."""
    first: dict[str, CallCompleted] = {}
    disputed = set()
    for event in completed:
        original = first.setdefault(event.material.id, event)
        if event.material.id and _said(original) != _said(event):
            disputed.add(event.material.id)
    for event in completed:
        call, call_id = event.call, event.material.id
        if call_id in disputed:
            malformed = MalformedToolCall(call.name, Cause.DUPLICATE_ID, call.id, call.position)
            yield CallCompleted(event.key, malformed, event.material)
        elif call_id and first[call_id] is not event:
            yield CallRepeated(event.key, first[call_id].key, event.material)
        else:
            yield event


def _said(event: CallCompleted) -> tuple[str, str, str]:
    return event.material.kind, event.material.name, event.material.arguments


def canonical_call(material: Material, index: int | None) -> dict[str, Any]:
    """One call as the official SDKs expect it, with every member that came with it."""
    number = {} if index is None else {"index": index}
    head = {**number, "id": material.id, "type": material.kind}
    if material.kind not in CALL_TYPES:
        return {**head, **material.extra}
    member = "input" if material.kind == FREEFORM else "arguments"
    extra = {key: value for key, value in material.extra.items() if key not in (*CALL_TYPES, *head)}
    return {**head, material.kind: {"name": material.name, member: material.arguments}, **extra}
