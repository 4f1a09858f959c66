"""OpenAI Chat Completions: `POST /v1/chat/completions`, streamed and not (WIRE.md 2, 8.2).

The calls of a choice are complete together, at its finish reason, else at `[DONE]`. Servers differ in how they number
fragments, so the rule is one: a fragment belongs to the slot of its index, unless it names another id there; without
an index to the slot of its id; with neither to the last slot. What needed that rule leaves in canonical form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interceptors import strict_json
from interceptors.calls import Cause, MalformedToolCall
from interceptors.context import DeclaredTool
from proxy.wire import assembly, envelope
from proxy.wire.assembly import FREEFORM, Assembler, State
from proxy.wire.dialect import Fault, Judged, Reader, RequestView, Writer, declared_tools
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
from proxy.wire.sse import Frame, event_frame

DONE = b"[DONE]"
FUNCTION, LEGACY = "function", "function_call"
CALL_TYPES = frozenset({FUNCTION, FREEFORM})
"""Types of `tool_calls[]`. Another type is a call of an unknown tool of that name."""
CALL_REASONS = frozenset({"tool_calls", "function_call"})
LIMIT_REASON = "length"
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
OBSERVED_MEMBERS = frozenset({"executed_tools"})
"""Members that report what the provider executed."""
_ERROR_TYPES: Mapping[Fault, tuple[str, str]] = {
    Fault.INVALID_REQUEST: ("invalid_request_error", "invalid_request"),
    Fault.UNAUTHENTICATED: ("invalid_request_error", "invalid_api_key"),
    Fault.FORBIDDEN: ("invalid_request_error", "forbidden"),
    Fault.NOT_FOUND: ("invalid_request_error", "not_found"),
    Fault.TOO_LARGE: ("invalid_request_error", "request_too_large"),
    Fault.UPGRADE_REFUSED: ("invalid_request_error", "upgrade_refused"),
    Fault.INTERNAL: ("server_error", "internal_error"),
    Fault.UPSTREAM_FAILED: ("server_error", "upstream_failed"),
    Fault.OVERLOADED: ("server_error", "overloaded"),
    Fault.UPSTREAM_TIMEOUT: ("server_error", "upstream_timeout"),
}


class OpenAIChat:
    name = "openai-chat"
    provider = "openai"
    paths = ("/v1/chat/completions", "/chat/completions")
    passive = (("GET", "/v1/models"), ("GET", "/models"), ("GET", "/v1/models/*"), ("GET", "/models/*"))
    keepalive = b": keep-alive\n\n"

    def request(self, body: bytes) -> RequestView:
        raw = envelope.members(body)
        model = envelope.value_of(raw["model"]) if "model" in raw else ""
        tools, provider = _request_tools(raw)
        declared, ambiguous = declared_tools(tools)
        streamed = envelope.value_of(raw["stream"]) is True if "stream" in raw else False
        return RequestView(str(model), streamed, declared, ambiguous, provider)

    def reader(self, streamed: bool, pass_types: frozenset[str]) -> Reader:
        return _StreamReader(pass_types) if streamed else _BodyReader(pass_types)

    def writer(self, streamed: bool) -> Writer:
        return _StreamWriter() if streamed else _BodyWriter()

    def error(self, fault: Fault, message: str) -> bytes:
        kind, code = _ERROR_TYPES[fault]
        return envelope.encode({"error": {"message": message, "type": kind, "param": None, "code": code}})


def _request_tools(raw: Mapping[str, bytes]) -> tuple[list[DeclaredTool], tuple[str, ...]]:
    tools: list[DeclaredTool] = []
    provider: list[str] = []
    for element in _list(raw, "tools"):
        tool = envelope.members(element)
        kind = envelope.value_of(tool["type"]) if "type" in tool else FUNCTION
        if not isinstance(kind, str) or kind not in CALL_TYPES:
            provider.append(str(kind))
            continue
        # Some servers take the members of a function beside its type.
        tools += _declared(envelope.members(tool[kind]) if kind in tool else tool)
    for element in _list(raw, "functions"):
        tools += _declared(envelope.members(element))
    if raw.get("web_search_options", b"null") != b"null":
        provider.append("web_search")
    return tools, tuple(provider)


def _list(raw: Mapping[str, bytes], member: str) -> list[bytes]:
    return envelope.elements(raw[member]) if raw.get(member, b"null") != b"null" else []


def _declared(function: Mapping[str, bytes]) -> list[DeclaredTool]:
    name = envelope.value_of(function["name"]) if "name" in function else None
    return [DeclaredTool(name, function.get("parameters"))] if isinstance(name, str) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


class _WrongShape(ValueError):
    """A chunk that the dialect cannot have sent."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """The key of a call: its choice and its place among the calls of that choice."""

    choice: int
    place: int | str


@dataclass(slots=True)
class _Choice:
    by_index: dict[int, _Slot] = field(default_factory=dict)
    by_id: dict[str, _Slot] = field(default_factory=dict)
    slots: list[_Slot] = field(default_factory=list)
    finished: bool = False


class _Calls:
    """The calls of all choices of one turn: fragments to slots, slots to complete calls."""

    def __init__(self, pass_types: frozenset[str]) -> None:
        self.pass_types = pass_types
        self._assembler = Assembler()
        self._choices: dict[int, _Choice] = {}
        self._raw: bytes = b""

    def chunk(self, raw: bytes, value: Mapping[str, Any], part: str) -> tuple[tuple[Key, ...], list[WireEvent]]:
        """Take in one chunk (`part` is `delta` or `message`): the keys it carries, and what it completes."""
        self._raw = raw
        keys: dict[Key, None] = {}
        events: list[WireEvent] = []
        for place, choice in enumerate(_objects(value.get("choices"))):
            index = choice.get("index", 0)
            if type(index) is not int:
                raise _WrongShape
            message = choice.get(part)
            if message is not None and not isinstance(message, dict):
                raise _WrongShape
            path = ("choices", place, part)
            keys |= dict.fromkeys(self._message(index, message or {}, path, events))
            if choice.get("finish_reason") is not None and not self._choice(index).finished:
                events += self.finish(index, cut=choice["finish_reason"] == LIMIT_REASON)
        return tuple(keys), events

    def finish(self, index: int, *, cut: bool) -> list[WireEvent]:
        """The end of a choice: its calls are complete; by the token limit, the last one was cut off."""
        choice = self._choice(index)
        choice.finished = True
        slots = [slot for slot in choice.slots if self._assembler.state(slot) is State.OPEN]
        last = slots.pop() if cut and slots else None
        completed = [self._complete(slot) for slot in slots]
        events: list[WireEvent] = list(_one_call_an_id(completed))
        if completed:
            events.append(CallsConfirmed(tuple(event.key for event in events if isinstance(event, CallCompleted))))
        return [*events, *([self._cut(last)] if last else [])]

    def finish_all(self) -> list[WireEvent]:
        open_choices = [index for index, choice in self._choices.items() if not choice.finished and choice.slots]
        return [event for index in open_choices for event in self.finish(index, cut=False)]

    def cut_all(self) -> list[WireEvent]:
        return [self._cut(key) for key in self._assembler.keys_in(State.OPEN)]

    def _complete(self, slot: _Slot) -> CallCompleted:
        call, material = self._assembler.complete(slot)
        self._assembler.confirm(slot)
        return CallCompleted(slot, call, material)

    def _cut(self, key: Key) -> CallCut:
        material = self._assembler.material(key)
        return CallCut(key, self._assembler.cut(key), material)

    def _choice(self, index: int) -> _Choice:
        return self._choices.setdefault(index, _Choice())

    def _message(
        self, index: int, message: dict[str, Any], path: tuple[str | int, ...], events: list[WireEvent]
    ) -> Iterator[Key]:
        for member, content in message.items():
            if member in MESSAGE_MEMBERS:
                continue
            if member == "tool_calls":
                for place, call in enumerate(_objects(content)):
                    yield self._fragment(index, call, (*path, "tool_calls", place))
            elif member == LEGACY:
                if content is not None:
                    yield self._legacy(index, content, (*path, LEGACY))
            elif member in OBSERVED_MEMBERS or member in self.pass_types:
                if content:
                    events.append(Observed(member))
            elif isinstance(content, (dict, list)) and content:
                yield self._unknown(index, member, events)

    def _fragment(self, index: int, call: dict[str, Any], path: tuple[str | int, ...]) -> Key:
        choice = self._choice(index)
        call_id = _text(call.get("id"))
        slot, is_ambiguous = self._slot(choice, index, call.get("index"), call_id, is_body="message" in path)
        kind = call.get("type") or (FREEFORM if isinstance(call.get(FREEFORM), dict) else FUNCTION)
        body = call.get(str(kind)) if kind in CALL_TYPES else None
        body = body if isinstance(body, dict) else {}
        name = _text(body.get("name")) if kind in CALL_TYPES else str(kind)
        if slot not in self._assembler:
            self._assembler.start(slot, str(kind), call_id, name)
            choice.slots.append(slot)
            choice.finished = False
        elif call_id or name:
            self._assembler.mention(slot, call_id, name)
        if is_ambiguous:
            self._assembler.not_plain(slot)
        if call_id:
            choice.by_id.setdefault(call_id, slot)
        known = ("id", "index", "type", str(kind))
        self._assembler.extra(slot, {key: value for key, value in call.items() if key not in known})
        self._arguments(slot, str(kind), body, path)
        return slot

    def _slot(
        self, choice: _Choice, index: int, number: Any, call_id: str, *, is_body: bool
    ) -> tuple[_Slot, bool]:
        """The slot of a fragment, and whether another reader could have taken another."""
        if is_body:  # in a body every element of the array is a call, whatever number it bears
            return _Slot(index, len(choice.slots)), False
        if type(number) is int:
            slot = choice.by_index.get(number)
            is_new_id = bool(call_id) and slot is not None and choice.by_id.get(call_id) is not slot
            if slot is not None and (not is_new_id or slot not in choice.by_id.values()):
                return slot, False
            known = choice.by_id.get(call_id) if call_id else None
            if known is not None:  # the same call, emitted at several indexes
                choice.by_index.setdefault(number, known)
                self._assembler.not_plain(known)
            fresh = _Slot(index, len(choice.slots))
            choice.by_index[number] = fresh
            return fresh, is_new_id or number != len(choice.slots)
        if call_id:
            return choice.by_id.get(call_id) or _Slot(index, len(choice.slots)), True
        if choice.slots:
            return choice.slots[-1], True
        return _Slot(index, 0), True

    def _arguments(self, slot: _Slot, kind: str, body: dict[str, Any], path: tuple[str | int, ...]) -> None:
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
            raise _WrongShape

    def _legacy(self, index: int, content: Any, path: tuple[str | int, ...]) -> Key:
        if not isinstance(content, dict):
            raise _WrongShape
        choice = self._choice(index)
        slot, name = _Slot(index, LEGACY), _text(content.get("name"))
        if slot not in self._assembler:
            self._assembler.start(slot, LEGACY, name=name)
            choice.slots.append(slot)
        elif name:
            self._assembler.mention(slot, "", name)
        self._arguments(slot, LEGACY, content, path)
        return slot

    def _unknown(self, index: int, member: str, events: list[WireEvent]) -> Key:
        """Content that no table knows: a call of a tool of that name, whole at once."""
        choice = self._choice(index)
        slot = _Slot(index, f"{member}/{len(choice.slots)}")
        self._assembler.start(slot, member, name=member)
        choice.slots.append(slot)
        events += [self._complete(slot), CallsConfirmed((slot,))]
        return slot


def _objects(value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _WrongShape
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


class _StreamReader:
    def __init__(self, pass_types: frozenset[str]) -> None:
        self._calls = _Calls(pass_types)
        self._broken = False

    def receive(self, frame: Frame) -> list[WireEvent]:
        if self._broken:
            return []
        if frame.data is None:
            return [FrameRead(frame)]
        if frame.data == DONE:
            return [FrameRead(frame), *self._calls.finish_all(), TurnEnded()]
        try:
            value = strict_json.parse_envelope(frame.data)
            if not isinstance(value, dict):
                return self._break(Breach.NOT_AN_OBJECT)
            keys, events = self._calls.chunk(frame.data, value, "delta")
        except strict_json.StrictJsonError:
            return self._break(Breach.NOT_JSON)
        except assembly.Breach:
            return self._break(Breach.FROZEN_CALL)
        except _WrongShape:
            return self._break(Breach.WRONG_SHAPE)
        return [FrameRead(frame, value, keys), *events]

    def end(self) -> list[WireEvent]:
        return self._calls.cut_all()

    def _break(self, breach: Breach) -> list[WireEvent]:
        self._broken = True
        return [WireBroken(breach)]


class _BodyReader:
    def __init__(self, pass_types: frozenset[str]) -> None:
        self._calls = _Calls(pass_types)

    def receive(self, frame: Frame) -> list[WireEvent]:
        data = frame.data or b""
        try:
            value = strict_json.parse_envelope(data)
            if not isinstance(value, dict):
                return [WireBroken(Breach.NOT_AN_OBJECT)]
            keys, events = self._calls.chunk(data, value, "message")
        except strict_json.StrictJsonError:
            return [WireBroken(Breach.NOT_JSON)]
        except (assembly.Breach, _WrongShape):
            return [WireBroken(Breach.WRONG_SHAPE)]
        return [FrameRead(frame, value, keys), *events, *self._calls.finish_all(), TurnEnded()]

    def end(self) -> list[WireEvent]:
        return []


def _canonical_call(material: Material, index: int | None) -> dict[str, Any]:
    """One call as the official SDKs expect it, with every member that came with it."""
    number = {} if index is None else {"index": index}
    member = "input" if material.kind == FREEFORM else "arguments"
    body = {"name": material.name, member: material.arguments}
    return {**number, "id": material.id, "type": material.kind, material.kind: body, **material.extra}


@dataclass(slots=True)
class _Sent:
    """What the client has of one choice."""

    text: bool = False
    released: int = 0
    replaced: int = 0
    due: dict[Key, Judged] = field(default_factory=dict)  # answered, and not sent yet
    done: set[Key] = field(default_factory=set)


class _StreamWriter:
    """Until a call is refused or was ambiguous, frames leave as they came. From then on the calls of that choice leave
    at its end: refusals as content, then the survivors, whole and with dense indexes."""

    def __init__(self) -> None:
        self._choices: dict[int, _Sent] = {}
        self._edited: set[int] = set()  # choices whose calls do not leave as they came
        self._sorted = 0
        self._envelope: bytes = b'{"choices":[]}'
        self._done_sent = False

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        return b"".join(self._write(entry, judged) for entry in entries)

    def _write(self, entry: FrameRead, judged: Mapping[Key, Judged]) -> bytes:
        self._sort(judged)
        if entry.value is None:
            if entry.frame.data != DONE:
                return entry.frame.raw
            self._done_sent = True
            return self._rest() + entry.frame.raw
        choices = entry.value.get("choices") or ()
        if any(choice.get("index", 0) in self._edited or self._needs_stop(choice) for choice in choices):
            return self._rewritten(entry)
        self._count_plain(entry)
        for choice in choices:
            self._sent(choice.get("index", 0)).text |= bool((choice.get("delta") or {}).get("content"))
            self._envelope = entry.frame.data or b""
        return entry.frame.raw

    def _sort(self, judged: Mapping[Key, Judged]) -> None:
        """Answers that are new: by choice, with the choices whose calls may not leave as they came."""
        if len(judged) == self._sorted:
            return
        self._sorted = len(judged)
        for key, answer in judged.items():
            assert isinstance(key, _Slot)
            sent = self._sent(key.choice)
            if key not in sent.done:
                sent.due[key] = answer
                if not _is_plain(answer):
                    self._edited.add(key.choice)

    def _rest(self) -> bytes:
        """The answers of choices that end without a finish reason."""
        choices = []
        for index in sorted(self._edited):
            sent = self._sent(index)
            if sent.due:
                choices += self._answers(envelope.encode({"index": index, "finish_reason": None}), sent, {}, None)
        return self._chunk(choices) if choices else b""

    def _chunk(self, choices: list[bytes]) -> bytes:
        """A chunk of ours. Usage is stated again where the last chunk stated it: clients keep the last one."""
        members = envelope.members(self._envelope)
        return event_frame(None, envelope.join({**members, "choices": envelope.join_list(choices)}))

    def _count_plain(self, entry: FrameRead) -> None:
        for key in entry.keys:
            assert isinstance(key, _Slot)
            sent = self._sent(key.choice)
            sent.due.pop(key, None)
            sent.released += key not in sent.done
            sent.done.add(key)

    def _sent(self, index: int) -> _Sent:
        return self._choices.setdefault(index, _Sent())

    def _needs_stop(self, choice: dict[str, Any]) -> bool:
        """A choice that ends as if calls came, and none came."""
        sent = self._sent(choice.get("index", 0))
        return choice.get("finish_reason") in CALL_REASONS and bool(sent.replaced) and not sent.released

    def _rewritten(self, entry: FrameRead) -> bytes:
        """One frame, or two where answers leave with it: the chunk with the refusals, then the survivors."""
        data = self._envelope = entry.frame.data or b""
        members = envelope.members(data)
        frames: list[list[bytes]] = [[], []]
        raw_choices = envelope.elements(members["choices"])
        for raw, choice in zip(raw_choices, entry.value["choices"], strict=True):
            for frame, part in zip(frames, self._parts(raw, choice), strict=False):
                frame.append(part)
        first, second = frames
        has_usage = members.get("usage", b"null") != b"null"
        if not first and raw_choices and not has_usage:
            return b""
        last = event_frame(entry.frame.event, envelope.join({**members, "choices": envelope.join_list(second or first)}))
        if not second:
            return last
        if has_usage:
            members["usage"] = b"null"
        return event_frame(entry.frame.event, envelope.join({**members, "choices": envelope.join_list(first)})) + last

    def _parts(self, raw: bytes, choice: dict[str, Any]) -> list[bytes]:
        """What of one choice leaves in this chunk, and what in the next; nothing where only calls stood in it."""
        sent = self._sent(choice.get("index", 0))
        if choice.get("index", 0) not in self._edited and not self._needs_stop(choice):
            sent.text |= bool((choice.get("delta") or {}).get("content"))
            return [raw]
        delta: dict[str, Any] = choice.get("delta") or {}
        members = envelope.members(envelope.raw_at(raw, "delta")) if delta else {}
        removed = {"tool_calls", LEGACY} | {call.material.kind for call in sent.due.values() if _is_refused(call)}
        stripped = {member: value for member, value in members.items() if member not in removed}
        if choice.get("finish_reason") is not None:
            return self._answers(raw, sent, stripped, choice)
        sent.text |= bool(delta.get("content"))
        if len(stripped) < len(members) and all(value == b"null" for value in stripped.values()):
            return []
        return [envelope.edited(raw, delta=envelope.join(stripped))]

    def _answers(
        self, raw: bytes, sent: _Sent, members: dict[str, bytes], choice: dict[str, Any] | None
    ) -> list[bytes]:
        """The end of a choice: refusals join its content, the survivors follow."""
        due = [judged for judged in sent.due.values() if not judged.is_repeat]
        sent.done |= set(sent.due)
        sent.due.clear()
        texts = [judged.answer.text for judged in due if isinstance(judged.answer, Replaced)]
        survivors = [judged.material for judged in due if not isinstance(judged.answer, Replaced)]
        place = sent.released
        sent.replaced += len(texts)
        sent.released += len(survivors)
        if texts:
            own = (choice or {}).get("delta", {}).get("content") or ""
            glue = "\n\n" if sent.text or own else ""
            members = {**members, "content": envelope.encode(own + glue + "\n\n".join(texts))}
            sent.text = True
        finish = (choice or {}).get("finish_reason")
        if finish in CALL_REASONS and sent.replaced and not sent.released:
            finish = "stop"
        if not survivors:
            return [envelope.edited(raw, delta=envelope.join(members), finish_reason=finish)]
        second = envelope.edited(raw, delta=_survivors_delta(survivors, place), finish_reason=finish)
        return [envelope.edited(raw, delta=envelope.join(members), finish_reason=None), second] if members else [second]

    def finish(self) -> bytes:
        rest = self._rest()
        choices = [
            envelope.encode({"index": index, "delta": {}, "finish_reason": "tool_calls" if sent.released else "stop"})
            for index, sent in sorted(self._choices.items())
        ]
        return rest + self._chunk(choices) + (b"" if self._done_sent else event_frame(None, DONE))

    def broken(self, message: str) -> bytes:
        return event_frame(None, OPENAI_CHAT.error(Fault.UPSTREAM_FAILED, message))


def _survivors_delta(survivors: Sequence[Material], first: int) -> bytes:
    """The delta that states the calls which remain, each whole, with dense indexes."""
    if survivors[0].kind == LEGACY:
        return envelope.encode({LEGACY: {"name": survivors[0].name, "arguments": survivors[0].arguments}})
    calls = [_canonical_call(call, place) for place, call in enumerate(survivors, first)]
    return envelope.encode({"tool_calls": calls})


def _is_refused(call: Judged) -> bool:
    return isinstance(call.answer, Replaced)


def _is_plain(call: Judged) -> bool:
    """The call may leave in the bytes in which it came."""
    return not _is_refused(call) and call.material.is_plain and not call.is_repeat


class _BodyWriter:
    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        (entry,) = entries
        by_choice: dict[int, list[Judged]] = {}
        for key in entry.keys:
            assert isinstance(key, _Slot)
            by_choice.setdefault(key.choice, []).append(judged[key])
        if all(_is_plain(call) for calls in by_choice.values() for call in calls):
            return entry.frame.raw
        data = entry.frame.data or b""
        choices = envelope.elements(envelope.raw_at(data, "choices"))
        for place, choice in enumerate(entry.value["choices"]):
            calls = by_choice.get(choice.get("index", 0), [])
            if not all(map(_is_plain, calls)):
                choices[place] = self._choice(choices[place], choice, calls)
        return envelope.edited(data, choices=envelope.join_list(choices))

    @staticmethod
    def _choice(raw: bytes, choice: dict[str, Any], calls: Sequence[Judged]) -> bytes:
        message: dict[str, Any] = choice["message"]
        texts = [call.answer.text for call in calls if isinstance(call.answer, Replaced) and not call.is_repeat]
        survivors = [call.material for call in calls if not isinstance(call.answer, Replaced) and not call.is_repeat]
        members = envelope.members(envelope.raw_at(raw, "message"))
        members.pop("tool_calls", None)
        members.pop(LEGACY, None)
        for call in calls:
            if isinstance(call.answer, Replaced):
                members.pop(call.material.kind, None)
        if texts:
            content = message.get("content")
            own = [content] if isinstance(content, str) and content else []
            members["content"] = envelope.encode("\n\n".join([*own, *texts]))
            if isinstance(content, list):
                parts = [*envelope.elements(envelope.raw_at(raw, "message", "content"))]
                parts += [envelope.encode({"type": "text", "text": text}) for text in texts]
                members["content"] = envelope.join_list(parts)
        if survivors and survivors[0].kind == LEGACY:
            members[LEGACY] = envelope.encode({"name": survivors[0].name, "arguments": survivors[0].arguments})
        elif survivors:
            members["tool_calls"] = envelope.encode([_canonical_call(call, None) for call in survivors])
        finish = choice.get("finish_reason")
        if finish in CALL_REASONS and not survivors:
            finish = "stop"
        return envelope.edited(raw, message=envelope.join(members), finish_reason=finish)

    def finish(self) -> bytes:
        return b""

    def broken(self, message: str) -> bytes:
        return OPENAI_CHAT.error(Fault.UPSTREAM_FAILED, message)


OPENAI_CHAT = OpenAIChat()
