"""What may leave of a Gemini response (WIRE.md 8.4). A chunk and a body have one shape, and one writer.

Parts have no numbers: a refused call becomes a text part in its place, a hidden one leaves nothing. A chunk of which
nothing is left leaves only where it ends its candidate.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.events import FrameRead, Hidden, Key, Material, Released, Replaced, TextKey
from proxy.wire.gemini_calls import Place
from proxy.wire.gemini_types import CALL, LIMIT_REASONS, bears, text_of
from proxy.wire.sse import event_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged

STOP: Final = "STOP"
_GLUE: Final = "\n\n"
_ENVELOPE_MEMBERS: Final = ("responseId", "modelVersion", "createTime")


@dataclass(slots=True)
class _Sent:
    """What the client has of one candidate."""

    has_text: bool = False
    is_said: bool = False  # a reply stands in the place of its text
    has_end: bool = False
    started: set[Key] = field(default_factory=set)  # calls and texts whose place was passed


class GeminiWriter:
    def __init__(self, streamed: bool) -> None:
        self._streamed = streamed
        self._sent: dict[int, _Sent] = {}
        self._envelope: dict[str, bytes] = {}

    def seal(self, mark: str) -> None:
        """Signatures are bound to their parts, not to what stands before them."""

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        goes_on = bool(judged) and _goes_on(entries, judged)
        return b"".join(self._frame(entry, judged, goes_on=goes_on) for entry in entries)

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        sent = self._candidate(0)
        if not self._streamed:
            (entry,) = end
            return self._body_with(entry, text, judged)
        part = _text_part(text, sent)
        content = envelope.join({"role": b'"model"', "parts": envelope.join_list([part])})
        chunk = self._chunk([envelope.join({"content": content})])
        return chunk + b"".join(self._frame(entry, judged, goes_on=False) for entry in end) + self.finish()

    def keepalive(self) -> bytes:
        """Nothing: official clients bear neither a comment nor an empty event (WIRE.md 9)."""
        return b""

    def finish(self) -> bytes:
        if not self._streamed:
            return b""
        missing = [index for index, sent in sorted(self._sent.items()) if not sent.has_end]
        candidates = [
            envelope.encode({"content": {"role": "model", "parts": []}, "finishReason": STOP, "index": index})
            for index in (missing if self._sent else [0])
        ]
        for sent in self._sent.values():
            sent.has_end = True
        return self._chunk(candidates) if candidates else b""

    def broken(self, message: str) -> bytes:
        error = envelope.encode({"error": {"code": 500, "message": message, "status": "INTERNAL"}})
        return event_frame(None, error) if self._streamed else error

    def _frame(self, entry: FrameRead, judged: Mapping[Key, Judged], *, goes_on: bool) -> bytes:
        if not isinstance(entry.value, dict):
            return entry.frame.raw
        self._remember(entry)
        candidates = entry.value.get("candidates") or []
        calls = deque((key, judged[key]) for key in entry.keys if not isinstance(key, TextKey))
        texts = {key.choice: judged[key] for key in entry.keys if isinstance(key, TextKey)}
        edits = [self._edit(candidate, calls, texts, goes_on=goes_on) for candidate in candidates]
        assert not calls, "each call has its part"
        if all(edit is None for edit in edits):
            return entry.frame.raw
        data = entry.frame.data or b""
        raw = envelope.elements(envelope.raw_at(data, "candidates"))
        left = [_edited(one, edit) if edit is not None else one for one, edit in zip(raw, edits, strict=True)]
        kept = [one for one in left if one]
        if not kept and self._streamed:
            return b""
        data = envelope.edited(data, candidates=envelope.join_list(kept))
        return event_frame(entry.frame.event, data) if self._streamed else data

    def _remember(self, entry: FrameRead) -> None:
        if not self._envelope and self._streamed and "responseId" in entry.value:
            members = envelope.members(entry.frame.data or b"")
            self._envelope = {name: members[name] for name in _ENVELOPE_MEMBERS if name in members}

    def _edit(
        self,
        candidate: Mapping[str, Any],
        calls: deque[tuple[Key, Judged]],
        texts: Mapping[int, Judged],
        *,
        goes_on: bool,
    ) -> _Edit | None:
        """What changes of one candidate; None where it leaves as it came."""
        index = candidate.get("index", 0)
        sent = self._candidate(index)
        edit = _Edit()
        spoken = texts.get(index)
        for place, part in enumerate((candidate.get("content") or {}).get("parts") or ()):
            if calls and bears(part, calls[0][1].material.kind or CALL):  # of an open call no kind is known
                self._call(edit, place, *calls.popleft(), sent)
            elif text_of(part) is not None and spoken is not None and not isinstance(spoken.answer, Released):
                self._unsaid(edit, place, spoken, sent)
            else:
                sent.has_text |= bool(text_of(part))
        reason = candidate.get("finishReason")
        if reason is not None and goes_on:
            edit.reason = b""
        elif reason in LIMIT_REASONS and sent.is_said:
            edit.reason = b'"STOP"'
        sent.has_end |= reason is not None and edit.reason != b""
        return edit if edit.parts or edit.reason is not None else None

    def _call(self, edit: _Edit, place: int, key: Key, judged: Judged, sent: _Sent) -> None:
        is_first = key not in sent.started
        sent.started.add(key)
        answer = judged.answer
        if isinstance(answer, Released):
            if not judged.material.is_plain:
                edit.parts[place] = canonical_part(judged.material) if is_first else b""
        elif isinstance(answer, Replaced) and is_first:
            edit.parts[place] = _text_part(answer.text, sent)
        else:
            edit.parts[place] = b""

    @staticmethod
    def _unsaid(edit: _Edit, place: int, judged: Judged, sent: _Sent) -> None:
        """A text that does not leave: its reply, once, in the place of its first part."""
        edit.parts[place] = b""
        if isinstance(judged.answer, Replaced) and not sent.is_said:
            sent.is_said = True
            edit.parts[place] = _text_part(judged.answer.text, sent)

    def _body_with(self, entry: FrameRead, text: str, judged: Mapping[Key, Judged]) -> bytes:
        data = self._frame(entry, judged, goes_on=False)
        candidates = envelope.elements(envelope.raw_at(data, "candidates"))
        content = envelope.members(candidates[0]).get("content", b'{"role":"model"}')
        parts = envelope.elements(envelope.members(content).get("parts", b"[]"))
        part = _text_part(text, self._candidate(0))
        content = envelope.edited(content, parts=envelope.join_list([*parts, part]))
        candidates[0] = envelope.edited(candidates[0], content=content)
        return envelope.edited(data, candidates=envelope.join_list(candidates))

    def _candidate(self, index: int) -> _Sent:
        return self._sent.setdefault(index, _Sent())

    def _chunk(self, candidates: list[bytes]) -> bytes:
        return event_frame(None, envelope.join({"candidates": envelope.join_list(candidates), **self._envelope}))


@dataclass(slots=True)
class _Edit:
    """Of one candidate: parts in place of others by their place, empty for none, and its reason, empty for none."""

    parts: dict[int, bytes] = field(default_factory=dict)
    reason: bytes | None = None


def _edited(raw: bytes, edit: _Edit) -> bytes:
    """The candidate with the edit; empty where nothing of it is left, and it does not end."""
    members = envelope.members(raw)
    if edit.parts:
        own = envelope.elements(envelope.raw_at(raw, "content", "parts"))
        kept = [part for place, one in enumerate(own) if (part := edit.parts.get(place, one))]
        if not kept and (edit.reason == b"" or "finishReason" not in members):
            return b""
        members["content"] = envelope.edited(members["content"], parts=envelope.join_list(kept))
    if edit.reason == b"":
        members.pop("finishReason")
    elif edit.reason is not None:
        members["finishReason"] = edit.reason
    return envelope.join(members)


def canonical_part(material: Material) -> bytes:
    """One whole call, with every member that came with it. A call that bore no id gets none."""
    call = {"id": material.extra["id"]} if "id" in material.extra else {}
    members = {name: envelope.encode(value) for name, value in (call | {"name": material.name}).items()}
    members["args"] = (material.arguments or "{}").encode()
    part = {CALL: envelope.join(members)}
    if "thoughtSignature" in material.extra:
        part["thoughtSignature"] = envelope.encode(material.extra["thoughtSignature"])
    return envelope.join(part)


def _text_part(text: str, sent: _Sent) -> bytes:
    """Clients join the texts of a candidate, so ours stands apart from what was said before it."""
    glue = _GLUE if sent.has_text else ""
    sent.has_text = True
    return envelope.encode({"text": glue + text})


def _goes_on(entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bool:
    """Whether the leg of these frames is one that goes on: it holds what is hidden, and nothing of it runs."""
    hidden = {key for entry in entries for key in entry.keys if isinstance(judged[key].answer, Hidden)}
    legs = {key.leg for key in hidden if isinstance(key, Place | TextKey)}
    return bool(legs) and not any(
        isinstance(key, Place) and key.leg in legs and isinstance(call.answer, Released) for key, call in judged.items()
    )
