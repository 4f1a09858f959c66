"""The legs of a Converse turn as one: one start, all that is seen of each, one end, and what all of them used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.bedrock_body_reader import CONTENT
from proxy.wire.bedrock_body_writer import with_blocks
from proxy.wire.bedrock_frames import with_payload
from proxy.wire.bedrock_texts import text_of
from proxy.wire.bedrock_types import MESSAGE_START, MESSAGE_STOP, METADATA, event_of
from proxy.wire.events import TextKey
from proxy.wire.sse import Frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.events import FrameRead

_ENDS: Final = (MESSAGE_STOP, METADATA)
_OUT: Final = "outputTokens"
_ALL: Final = "totalTokens"


class StreamSplice:
    """Later legs lose their start; their indexes go on."""

    blocks_before = 0  # a stream's calls have keys of their own

    def __init__(self) -> None:
        self._offset = 0
        self._blocks = 0
        self._before = 0  # the output of the legs before

    def ends(self, entry: FrameRead) -> bool:
        return event_of(entry)[0] in _ENDS

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:
        for entry in entries:
            index = event_of(entry)[1].get("contentBlockIndex")
            if type(index) is int:
                self._blocks = max(self._blocks, index + 1)
        self._offset = self._blocks
        stated = (output_tokens(entry) for entry in reversed(kept_back))
        self._before = next(filter(None, stated), self._before)  # of a later leg it holds those before it

    def join(self, frame: Frame) -> Frame | None:
        if frame.event == MESSAGE_START:
            return None
        said = _parsed(frame)
        data = frame.data or b""
        if frame.event == METADATA and isinstance(said.get("usage"), dict):
            changed = envelope.edited(data, usage=_summed(envelope.raw_at(data, "usage"), said["usage"], self._before))
        elif type(index := said.get("contentBlockIndex")) is int:
            changed = envelope.edited(data, contentBlockIndex=index + self._offset)
        else:
            return frame
        return frame._replace(raw=with_payload(frame.raw, changed), data=changed)


class BodySplice:
    """The bodies of several legs as one: all visible blocks, the last one's end."""

    def __init__(self) -> None:
        self._visible: list[bytes] = []
        self._before = 0

    @property
    def blocks_before(self) -> int:
        return len(self._visible)

    def ends(self, entry: FrameRead) -> bool:  # noqa: ARG002 - a body is start and end at once
        return True

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:  # noqa: ARG002 - no frames to rewrite
        (entry,) = kept_back
        blocks = envelope.elements(envelope.raw_at(entry.frame.data or b"", *CONTENT))
        is_silent = text_key(entry) is not None
        self._visible = [
            block
            for place, block in enumerate(blocks)
            if place not in entry.keys and not (is_silent and text_of(envelope.value_of(block)) is not None)
        ]
        self._before = output_tokens(entry)

    def join(self, frame: Frame) -> Frame | None:
        data = frame.data or b""
        try:
            own = envelope.elements(envelope.raw_at(data, *CONTENT))
        except (KeyError, envelope.EnvelopeError):
            return frame  # not what the reader will take
        joined = with_blocks(data, [*self._visible, *own])
        usage = _parsed(frame).get("usage")
        if isinstance(usage, dict):
            joined = envelope.edited(joined, usage=_summed(envelope.raw_at(data, "usage"), usage, self._before))
        return Frame(joined, None, joined)


def output_tokens(entry: FrameRead) -> int:
    """What a frame says was written so far; 0 where it does not."""
    value = entry.value if isinstance(entry.value, dict) else {}
    usage = value.get("usage") or event_of(entry)[1].get("usage")
    stated = usage.get(_OUT) if isinstance(usage, dict) else None
    return stated if type(stated) is int else 0


def text_key(entry: FrameRead) -> TextKey | None:
    return next((key for key in entry.keys if isinstance(key, TextKey)), None)


def _summed(raw: bytes, usage: Mapping[str, Any], before: int) -> bytes:
    changes = {name: usage[name] + before for name in (_OUT, _ALL) if type(usage.get(name)) is int}
    return envelope.edited(raw, **changes)


def _parsed(frame: Frame) -> dict[str, Any]:
    """What a frame says; nothing where it is not what the reader will take."""
    if frame.data is None:
        return {}
    try:
        value = envelope.value_of(frame.data)
    except envelope.EnvelopeError:
        return {}
    return value if isinstance(value, dict) else {}
