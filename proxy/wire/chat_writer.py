"""What may leave of a Chat response (WIRE.md 8.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.chat_calls import LEGACY, LIMIT_REASONS, Slot, canonical_call
from proxy.wire.events import (
    TEXT_KIND,
    FrameRead,
    Key,
    Material,
    Released,
    Replaced,
    TextKey,
)
from proxy.wire.sse import event_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged


DONE = b"[DONE]"
NO_ENVELOPE = b'{"choices":[]}'
COMMENT = b": keep-alive\n\n"
CHUNK_EVERY = 4
CALL_REASONS = frozenset({"tool_calls", "function_call"})


@dataclass(slots=True)
class _Sent:
    """What the client has of one choice."""

    text: bool = False
    released: int = 0
    listed: int = 0  # of them, those in `tool_calls`
    replaced: int = 0
    due: dict[Slot | TextKey, Judged] = field(default_factory=dict)  # answered, and not sent yet
    done: set[Slot | TextKey] = field(default_factory=set)


class ChatStreamWriter:
    """Until a call is refused or was ambiguous, frames leave as they came. From then on the calls of that choice leave
    at its end: refusals as content, then the survivors, whole and with dense indexes."""

    def __init__(self) -> None:
        self._choices: dict[int, _Sent] = {}
        self._edited: set[int] = set()  # choices whose calls or texts do not leave as they came
        self._silenced: set[Key] = set()  # texts that do not leave
        self._sorted = 0
        self._envelope = NO_ENVELOPE
        self._done_sent = False
        self._keepalives = 0

    def seal(self, mark: str) -> None:
        """Nothing in this dialect is bound to what stands before it."""

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        self._sort(judged)
        sent = self._sent(0)
        glue = "\n\n" if sent.text else ""
        sent.text, sent.replaced = True, sent.replaced + 1
        self._edited.add(0)
        delta = {"content": f"{glue}{text}"}
        chunk = self._chunk([envelope.encode({"index": 0, "delta": delta, "finish_reason": None})])
        rest = self.write(end, judged)
        return chunk + rest + (b"" if self._done_sent else self.finish())

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        if len(entries) == 1:
            return self._write(entries[0], judged)
        return b"".join([self._write(entry, judged) for entry in entries])

    def _write(self, entry: FrameRead, judged: Mapping[Key, Judged]) -> bytes:
        if judged:
            self._sort(judged)
        if entry.value is None:
            if entry.frame.data != DONE:
                return entry.frame.raw
            self._done_sent = True
            return self._rest() + entry.frame.raw
        choices = entry.value.get("choices") or ()
        if judged and any(choice.get("index", 0) in self._edited or self._needs_stop(choice) for choice in choices):
            return self._rewritten(entry)
        if entry.keys:
            self._count_plain(entry)
        for choice in choices:
            index, delta = choice.get("index", 0), choice.get("delta")
            sent = self._choices.get(index) or self._sent(index)
            if delta and delta.get("content"):
                sent.text = True
            self._envelope = entry.frame.data or b""
        return entry.frame.raw

    def _sort(self, judged: Mapping[Key, Judged]) -> None:
        """Answers that are new: by choice, with the choices whose calls may not leave as they came."""
        if len(judged) == self._sorted:
            return
        self._sorted = len(judged)
        for key, answer in judged.items():
            assert isinstance(key, Slot | TextKey)
            sent = self._sent(key.choice)
            if isinstance(key, TextKey):
                if not _is_refused(answer) or key in sent.done:
                    continue
                self._silenced.add(key)
                self._edited.add(key.choice)
                sent.due[key] = answer
            elif _stays_in_place(key, answer):
                sent.done.add(key)
            elif key not in sent.done:
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

    def _chunk(self, choices: list[bytes], without: Sequence[str] = ()) -> bytes:
        """A chunk of ours. Usage is stated again where the last chunk stated it: clients keep the last one."""
        members = envelope.members(self._envelope)
        for member in without:
            members.pop(member, None)
        return event_frame(None, envelope.join({**members, "choices": envelope.join_list(choices)}))

    def _count_plain(self, entry: FrameRead) -> None:
        for key in entry.keys:
            if isinstance(key, TextKey):
                continue
            assert isinstance(key, Slot)
            sent = self._sent(key.choice)
            sent.due.pop(key, None)
            if key not in sent.done:
                sent.released += 1
                sent.listed += not str(key.place).startswith(LEGACY)
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
        silent = {key.choice for key in entry.keys if isinstance(key, TextKey) and key in self._silenced}
        for raw, choice in zip(raw_choices, entry.value["choices"], strict=True):
            is_silent = choice.get("index", 0) in silent
            for frame, part in zip(frames, self._parts(raw, choice, is_silent=is_silent), strict=False):
                frame.append(part)
        first, second = frames
        has_usage = members.get("usage", b"null") != b"null"
        if not first and raw_choices and not has_usage:
            return b""
        last = event_frame(
            entry.frame.event, envelope.join({**members, "choices": envelope.join_list(second or first)})
        )
        if not second:
            return last
        if has_usage:
            members["usage"] = b"null"
        return event_frame(entry.frame.event, envelope.join({**members, "choices": envelope.join_list(first)})) + last

    def _parts(self, raw: bytes, choice: dict[str, Any], *, is_silent: bool) -> list[bytes]:
        """What of one choice leaves in this chunk, and what in the next; nothing where only calls stood in it, or a
        text that does not leave."""
        sent = self._sent(choice.get("index", 0))
        if choice.get("index", 0) not in self._edited and not self._needs_stop(choice):
            sent.text |= bool((choice.get("delta") or {}).get("content"))
            return [raw]
        delta: dict[str, Any] = choice.get("delta") or {}
        members = envelope.members(envelope.raw_at(raw, "delta")) if delta else {}
        removed = {"tool_calls", LEGACY} | {call.material.kind for call in sent.due.values() if _is_refused(call)}
        removed = removed | {TEXT_KIND} if is_silent else removed - {TEXT_KIND}
        stripped = {member: value for member, value in members.items() if member not in removed}
        if choice.get("finish_reason"):
            return self._answers(raw, sent, stripped, choice)
        sent.text |= bool(delta.get("content")) and not is_silent
        if len(stripped) < len(members) and all(value == b"null" for value in stripped.values()):
            return []
        return [envelope.edited(raw, delta=envelope.join(stripped))]

    def _answers(
        self, raw: bytes, sent: _Sent, members: dict[str, bytes], choice: dict[str, Any] | None
    ) -> list[bytes]:
        """The end of a choice: refusals join its content, the survivors follow."""
        due = [sent.due[key] for key in sorted(sent.due, key=_order) if not sent.due[key].is_repeat]
        is_whole = any(isinstance(key, TextKey) for key in sent.due)  # the reply is, whatever its text was
        sent.done |= set(sent.due)
        sent.due.clear()
        texts = [judged.answer.text for judged in due if isinstance(judged.answer, Replaced)]
        survivors = [judged.material for judged in due if not _is_refused(judged)]
        place = sent.listed
        sent.listed += sum(call.kind != LEGACY for call in survivors)
        sent.replaced += len(due) - len(survivors)
        sent.released += len(survivors)
        if texts:
            members = {**members, "content": _with_texts(members.get("content", b"null"), texts, sent.text)}
            sent.text = True
        finish = (choice or {}).get("finish_reason")
        if (finish in CALL_REASONS and sent.replaced and not sent.released) or (is_whole and finish in LIMIT_REASONS):
            finish = "stop"
        if not survivors:
            return [envelope.edited(raw, delta=envelope.join(members), finish_reason=finish)]
        second = envelope.edited(raw, delta=_survivors_delta(survivors, place), finish_reason=finish)
        return [envelope.edited(raw, delta=envelope.join(members), finish_reason=None), second] if members else [second]

    def keepalive(self) -> bytes:
        """A comment, and every fourth time an empty chunk: some clients wait for chunks and count no comments."""
        self._keepalives += 1
        if self._keepalives % CHUNK_EVERY or self._envelope == NO_ENVELOPE:
            return COMMENT
        return self._chunk([envelope.encode({"index": 0, "delta": {}, "finish_reason": None})], without=("usage",))

    def finish(self) -> bytes:
        rest = self._rest()
        choices = [
            envelope.encode({"index": index, "delta": {}, "finish_reason": "tool_calls" if sent.released else "stop"})
            for index, sent in sorted(self._choices.items())
        ]
        return rest + self._chunk(choices) + (b"" if self._done_sent else event_frame(None, DONE))

    def broken(self, message: str) -> bytes:
        return event_frame(None, server_error(message))


def _survivors_delta(survivors: Sequence[Material], first: int) -> bytes:
    """The delta that states the calls which remain, each whole, with dense indexes."""
    return envelope.join(_survivor_members(survivors, first))


def _survivor_members(survivors: Sequence[Material], first: int | None) -> dict[str, bytes]:
    legacy = [call for call in survivors if call.kind == LEGACY]
    calls = [call for call in survivors if call.kind != LEGACY]
    members: dict[str, bytes] = {}
    if legacy:
        members[LEGACY] = envelope.encode({"name": legacy[0].name, "arguments": legacy[0].arguments})
    if calls:
        numbers = [None] * len(calls) if first is None else range(first, first + len(calls))
        stated = [canonical_call(call, number) for number, call in zip(numbers, calls, strict=True)]
        members["tool_calls"] = envelope.encode(stated)
    return members


def _with_texts(content: bytes, texts: Sequence[str], has_text: bool) -> bytes:
    """A content, as text or as a list of parts, with the refusals behind it."""
    own = envelope.value_of(content)
    if isinstance(own, list):
        parts = [envelope.encode({"type": "text", "text": text}) for text in texts]
        return envelope.join_list([*envelope.elements(content), *parts])
    own = own if isinstance(own, str) else ""
    glue = "\n\n" if has_text or own else ""
    return envelope.encode(own + glue + "\n\n".join(texts))


def _order(key: Slot | TextKey) -> int:
    """Calls stand in their order, whatever the order of their answers; what has no number comes first."""
    return key.place if isinstance(key, Slot) and isinstance(key.place, int) else -1


def _stays_in_place(key: Slot, judged: Judged) -> bool:
    """A member that no table knows and that may pass: it is no entry of a list, and leaves where it stands."""
    return isinstance(key.place, str) and judged.material.kind != LEGACY and not _is_refused(judged)


def _is_refused(call: Judged) -> bool:
    return not isinstance(call.answer, Released)


def _is_plain(call: Judged) -> bool:
    """The call may leave in the bytes in which it came."""
    return not _is_refused(call) and call.material.is_plain and not call.is_repeat


class ChatBodyWriter:
    def seal(self, mark: str) -> None:
        """Nothing in this dialect is bound to what stands before it."""

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        data = self.write(end, judged)
        choice = envelope.elements(envelope.raw_at(data, "choices"))[0]
        message = envelope.raw_at(choice, "message")
        content = _with_texts(envelope.members(message).get("content", b"null"), [text], has_text=False)
        choice = envelope.edited(choice, message=envelope.edited(message, content=content))
        return envelope.edited(data, choices=envelope.join_list([choice]))

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        (entry,) = entries
        by_choice: dict[int, list[Judged]] = {}
        for key in entry.keys:
            assert isinstance(key, Slot | TextKey)
            stays = not _is_refused(judged[key]) if isinstance(key, TextKey) else _stays_in_place(key, judged[key])
            if not stays:
                by_choice.setdefault(key.choice, []).append(judged[key])
        if all(_is_plain(call) for calls in by_choice.values() for call in calls):
            return entry.frame.raw
        data = entry.frame.data or b""
        choices = envelope.elements(envelope.raw_at(data, "choices"))
        for place, choice in enumerate(entry.value["choices"]):
            calls = by_choice.get(place, [])
            if not all(map(_is_plain, calls)):
                choices[place] = self._choice(choices[place], choice, calls)
        return envelope.edited(data, choices=envelope.join_list(choices))

    @staticmethod
    def _choice(raw: bytes, choice: dict[str, Any], calls: Sequence[Judged]) -> bytes:
        texts = [call.answer.text for call in calls if isinstance(call.answer, Replaced) and not call.is_repeat]
        survivors = [call.material for call in calls if not _is_refused(call) and not call.is_repeat]
        members = envelope.members(envelope.raw_at(raw, "message"))
        members.pop("tool_calls", None)
        members.pop(LEGACY, None)
        for call in filter(_is_refused, calls):
            members.pop(call.material.kind, None)
        if texts:
            members["content"] = _with_texts(members.get("content", b"null"), texts, has_text=False)
        members |= _survivor_members(survivors, None)
        finish = choice.get("finish_reason")
        is_whole = any(call.material.kind == TEXT_KIND for call in calls)
        if (finish in CALL_REASONS and not survivors) or (is_whole and finish in LIMIT_REASONS):
            finish = "stop"
        return envelope.edited(raw, message=envelope.join(members), finish_reason=finish)

    def keepalive(self) -> bytes:
        return b""

    def finish(self) -> bytes:
        return b""

    def broken(self, message: str) -> bytes:
        return server_error(message)


def server_error(message: str) -> bytes:
    """The body of an error in mid-turn."""
    error = {"message": message, "type": "server_error", "param": None, "code": "upstream_failed"}
    return envelope.encode({"error": error})
