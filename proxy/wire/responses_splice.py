"""Several answers as one Responses turn: one start, one end, one id, numbers that go on (WIRE.md 8.3 e)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.events import TextKey
from proxy.wire.responses_calls import ItemKey
from proxy.wire.responses_types import DONE_ITEM, MESSAGE, STARTS, TERMINAL
from proxy.wire.sse import Frame, event_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.events import FrameRead

_DONE = b"[DONE]"
_IDENTITY = ("id", "created_at")
_SEQUENCE, _PLACE = "sequence_number", "output_index"


class StreamSplice:
    """Later legs lose their start; the last end bears the first one's id, and states what all legs used."""

    blocks_before = 0

    def __init__(self) -> None:
        self._identity: dict[str, bytes] = {}
        self._visible: list[bytes] = []
        self._next_number = 0
        self._offset = 0
        self._places = 0
        self._tokens: dict[str, int] = {}

    def ends(self, entry: FrameRead) -> bool:
        return entry.frame.data == _DONE or value_of(entry).get("type") in TERMINAL

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:
        last: int | None = None
        for entry in entries:
            value, data = value_of(entry), entry.frame.data or b""
            if value.get("type") in STARTS and not self._identity:
                members = envelope.members(envelope.raw_at(data, "response"))
                self._identity = {member: members[member] for member in _IDENTITY if member in members}
            if value.get("type") == DONE_ITEM and not entry.keys:
                self._visible.append(envelope.raw_at(data, "item"))
            if type(value.get(_PLACE)) is int:
                self._places = max(self._places, value[_PLACE] + 1)
            if type(value.get(_SEQUENCE)) is int and not self.ends(entry):
                last = value[_SEQUENCE]
        if last is not None:
            self._next_number = last + 1
        self._offset = self._places
        stated = (_usage(value_of(entry)) for entry in reversed(kept_back))
        self._tokens = next(filter(None, stated), self._tokens)

    def join(self, frame: Frame) -> Frame | None:
        value = parsed(frame)
        if not value:
            return frame
        data, kind = frame.data or b"", value.get("type")
        if kind in STARTS:
            return None
        changes: dict[str, Any] = {}
        if type(value.get(_SEQUENCE)) is int:
            changes[_SEQUENCE] = self._next_number
            self._next_number += 1
        if type(value.get(_PLACE)) is int:
            changes[_PLACE] = value[_PLACE] + self._offset
        response = value.get("response")
        if kind in TERMINAL and isinstance(response, dict):
            raw = envelope.raw_at(data, "response")
            changes["response"] = joined(raw, response, self._identity, self._visible, self._tokens)
        joined_data = envelope.edited(data, **changes)
        return Frame(event_frame(frame.event, joined_data), frame.event, joined_data, frame.is_disguised)


class BodySplice:
    """The bodies of several legs as one: the first one's id, all visible items, the last one's end."""

    def __init__(self) -> None:
        self._identity: dict[str, bytes] = {}
        self._visible: list[bytes] = []
        self._tokens: dict[str, int] = {}

    @property
    def blocks_before(self) -> int:
        return len(self._visible)

    def ends(self, entry: FrameRead) -> bool:  # noqa: ARG002 - a body is start and end at once
        return True

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:  # noqa: ARG002 - no frames to rewrite
        (entry,) = kept_back
        data = entry.frame.data or b""
        if not self._identity:
            members = envelope.members(data)
            self._identity = {member: members[member] for member in _IDENTITY if member in members}
        unseen = unseen_places(entry)
        items = envelope.elements(envelope.raw_at(data, "output"))
        self._visible = [item for place, item in enumerate(items) if place not in unseen]
        self._tokens = _usage(value_of(entry))

    def join(self, frame: Frame) -> Frame | None:
        value = parsed(frame)
        if not self._identity or not isinstance(value.get("output"), list):
            return frame
        data = joined(frame.data or b"", value, self._identity, self._visible, self._tokens)
        return Frame(data, None, data)


def unseen_places(entry: FrameRead) -> set[int]:
    """The places of what the client does not see of a body."""
    places = {key.place for key in entry.keys if isinstance(key, ItemKey)}
    if any(isinstance(key, TextKey) for key in entry.keys):
        output = value_of(entry)["output"]
        places |= {place for place, item in enumerate(output) if item.get("type") == MESSAGE}
    return places


def joined(
    raw: bytes,
    response: Mapping[str, Any],
    identity: Mapping[str, bytes],
    visible: Sequence[bytes],
    tokens: Mapping[str, int],
) -> bytes:
    """A response of a later leg as the turn's."""
    changes: dict[str, Any] = dict(identity)
    if isinstance(response.get("output"), list) and (response["output"] or visible):
        own = envelope.elements(envelope.raw_at(raw, "output"))
        changes["output"] = envelope.join_list([*visible, *own])
    usage = response.get("usage")
    if isinstance(usage, dict):
        changes["usage"] = _summed(envelope.raw_at(raw, "usage"), usage, tokens)
    return envelope.edited(raw, **changes)


def _usage(value: Mapping[str, Any]) -> dict[str, int]:
    """The output tokens that a frame or a body states, those of reasoning apart."""
    response = value.get("response")
    usage = response.get("usage") if isinstance(response, dict) else value.get("usage")
    if not isinstance(usage, dict):
        return {}
    details = usage.get("output_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, dict) else None
    stated = {"output_tokens": usage.get("output_tokens"), "reasoning_tokens": reasoning}
    return {name: number for name, number in stated.items() if type(number) is int}


def _summed(raw: bytes, usage: Mapping[str, Any], before: Mapping[str, int]) -> bytes:
    """The last leg's input, and the output of all."""
    own = _usage({"usage": usage})
    output = own.get("output_tokens", 0) + before.get("output_tokens", 0)
    changes: dict[str, Any] = {"output_tokens": output}
    if type(usage.get("input_tokens")) is int and "total_tokens" in usage:
        changes["total_tokens"] = usage["input_tokens"] + output
    if "reasoning_tokens" in own:
        reasoning = own["reasoning_tokens"] + before.get("reasoning_tokens", 0)
        details = envelope.raw_at(raw, "output_tokens_details")
        changes["output_tokens_details"] = envelope.edited(details, reasoning_tokens=reasoning)
    return envelope.edited(raw, **changes)


def output_tokens(value: Mapping[str, Any]) -> int:
    return _usage(value).get("output_tokens", 0)


def value_of(entry: FrameRead) -> dict[str, Any]:
    return entry.value if isinstance(entry.value, dict) else {}


def parsed(frame: Frame) -> dict[str, Any]:
    """What a frame says; nothing where it is not what the reader will take."""
    if frame.data is None or frame.data == _DONE:
        return {}
    try:
        value = envelope.value_of(frame.data)
    except envelope.EnvelopeError:
        return {}
    return value if isinstance(value, dict) else {}
