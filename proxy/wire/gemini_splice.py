"""The legs of a Gemini turn as one: the first one's identity, all that is seen of each, and what all of them used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.events import TextKey
from proxy.wire.gemini_types import CALL, WrongShapeError, text_of
from proxy.wire.gemini_types import candidates as candidates_of
from proxy.wire.sse import Frame, event_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.events import FrameRead

_IDENTITY: Final = ("responseId", "createTime")
_SUMMED: Final = ("candidatesTokenCount", "thoughtsTokenCount")
_GLUE: Final = "\n\n"


def value_of(entry: FrameRead) -> dict[str, Any]:
    return entry.value if isinstance(entry.value, dict) else {}


def output_tokens(value: Mapping[str, Any]) -> int:
    """What counts against the client's bound."""
    return sum(_used(value).values())


def _used(value: Mapping[str, Any]) -> dict[str, int]:
    usage = value.get("usageMetadata")
    stated = {name: usage.get(name) for name in _SUMMED} if isinstance(usage, dict) else {}
    return {name: count for name, count in stated.items() if type(count) is int}


def _is_seen(part: Mapping[str, Any], *, is_silent: bool) -> bool:
    """Whether the client reads anything of this part, of a leg whose calls are all hidden."""
    if text_of(part) is not None:
        return bool(part["text"]) and not is_silent
    return part.get(CALL) is None and part != {} and part.get("text") != ""


def _parts(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    candidates = value.get("candidates") or [{}]
    return list((candidates[0].get("content") or {}).get("parts") or ())


def _is_silent(entry: FrameRead) -> bool:
    return any(isinstance(key, TextKey) for key in entry.keys)


class _Splice:
    """What both have in common."""

    blocks_before = 0

    def __init__(self) -> None:
        self._identity: dict[str, bytes] = {}
        self._before: dict[str, int] = {}  # what the legs before this one used
        self._needs_glue = False
        self._has_text = False

    def _ended(self, entries: Sequence[FrameRead]) -> None:
        used: dict[str, int] = {}
        for entry in entries:
            value = value_of(entry)
            used |= _used(value)
            seen = [part for part in _parts(value) if text_of(part) and _is_seen(part, is_silent=_is_silent(entry))]
            self._has_text |= bool(seen)
            if not self._identity and "responseId" in value:
                members = envelope.members(entry.frame.data or b"")
                self._identity = {name: members[name] for name in _IDENTITY if name in members}
        for name, count in used.items():
            self._before[name] = count  # of a later leg it holds those before it
        self._needs_glue = self._has_text

    def _joined(self, data: bytes, value: Mapping[str, Any]) -> dict[str, bytes]:
        """What changes of an answer's own members."""
        changes = {name: raw for name, raw in self._identity.items() if name in value}
        usage = value.get("usageMetadata")
        if isinstance(usage, dict) and ("promptTokenCount" in usage or _used(value)):
            changes["usageMetadata"] = self._summed(envelope.raw_at(data, "usageMetadata"), usage)
        return changes

    def _summed(self, raw: bytes, usage: Mapping[str, Any]) -> bytes:
        own = _used({"usageMetadata": usage})
        summed = {name: own.get(name, 0) + self._before.get(name, 0) for name in (*own, *self._before)}
        total = usage.get("totalTokenCount")
        if type(total) is int:
            summed["totalTokenCount"] = total + sum(self._before.values())
        return envelope.edited(raw, **summed)


class StreamSplice(_Splice):
    def ends(self, entry: FrameRead) -> bool:
        """A chunk with the reason, or with the usage alone, that says nothing else. Of one that also says something,
        the writer leaves the reason out."""
        value = value_of(entry)
        is_silent = _is_silent(entry)
        if any(_is_seen(part, is_silent=is_silent) for part in _parts(value)):
            return False
        candidates = value.get("candidates") or ()
        has_reason = any(candidate.get("finishReason") is not None for candidate in candidates)
        return has_reason or (not candidates and "usageMetadata" in value)

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:  # noqa: ARG002 - among them
        self._ended(entries)

    def join(self, frame: Frame) -> Frame | None:
        value = _parsed(frame)
        if not value:
            return frame
        data = frame.data or b""
        changes = self._joined(data, value)
        if self._needs_glue and (place := _first_text(value)) is not None:
            changes["candidates"] = _glued(data, value, place)
            self._needs_glue = False
        data = envelope.edited(data, **changes)
        return Frame(event_frame(frame.event, data), frame.event, data, frame.is_disguised)


class BodySplice(_Splice):
    def __init__(self) -> None:
        super().__init__()
        self._visible: list[bytes] = []

    def ends(self, entry: FrameRead) -> bool:  # noqa: ARG002 - a body is start and end at once
        return True

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:  # noqa: ARG002 - no frames to rewrite
        (entry,) = kept_back
        self._ended([entry])
        parts = _parts(value_of(entry))
        raw = envelope.elements(_raw_parts(entry.frame.data or b"")) if parts else []
        silent = _is_silent(entry)
        pairs = zip(raw, parts, strict=True)
        self._visible = [one for one, part in pairs if _is_seen(part, is_silent=silent)]

    def join(self, frame: Frame) -> Frame | None:
        value = _parsed(frame)
        if not value.get("candidates"):
            return frame
        data = frame.data or b""
        changes = self._joined(data, value)
        if self._visible:
            candidates = envelope.elements(envelope.raw_at(data, "candidates"))
            place = _first_text(value) if self._needs_glue else None
            if place is not None:
                candidates = envelope.elements(_glued(data, value, place))
            content = envelope.members(candidates[0]).get("content", b'{"role":"model"}')
            own = envelope.elements(envelope.members(content).get("parts", b"[]"))
            content = envelope.edited(content, parts=envelope.join_list([*self._visible, *own]))
            candidates[0] = envelope.edited(candidates[0], content=content)
            changes["candidates"] = envelope.join_list(candidates)
        data = envelope.edited(data, **changes)
        return Frame(data, None, data)


def _first_text(value: Mapping[str, Any]) -> int | None:
    return next((place for place, part in enumerate(_parts(value)) if text_of(part)), None)


def _glued(data: bytes, value: Mapping[str, Any], place: int) -> bytes:
    """The candidates with the text at this place of the first one set apart from what was said before it."""
    candidates = envelope.elements(envelope.raw_at(data, "candidates"))
    content = envelope.raw_at(candidates[0], "content")
    parts = envelope.elements(envelope.raw_at(content, "parts"))
    parts[place] = envelope.edited(parts[place], text=_GLUE + _parts(value)[place]["text"])
    candidates[0] = envelope.edited(candidates[0], content=envelope.edited(content, parts=envelope.join_list(parts)))
    return envelope.join_list(candidates)


def _raw_parts(data: bytes) -> bytes:
    return envelope.raw_at(data, "candidates", 0, "content", "parts")


def _parsed(frame: Frame) -> dict[str, Any]:
    """What a frame says; nothing where it is not what the reader will take."""
    if frame.data is None:
        return {}
    try:
        value = envelope.value_of(frame.data)
        if isinstance(value, dict):
            tuple(candidates_of(value))
    except (envelope.EnvelopeError, WrongShapeError):
        return {}
    return value if isinstance(value, dict) else {}
