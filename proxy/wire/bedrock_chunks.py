"""InvokeModel's streams: messages of an event stream, each with one event of Anthropic's as base64 in its payload."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from typing import TYPE_CHECKING, Final

from interceptors import strict_json
from proxy.wire import envelope
from proxy.wire.anthropic_writer import AnthropicStreamWriter
from proxy.wire.bedrock_frames import CONTENT_TYPE, MessageFramer, MessageFraming, message
from proxy.wire.bedrock_writer import failed
from proxy.wire.sse import Frame, FramingFault, event_frame, parse_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged
    from proxy.wire.events import FrameRead, Key
    from proxy.wire.framing import Framer, Framing

_CHUNK: Final = "chunk"
_BYTES: Final = "bytes"
_FAILED: Final = b'{"type":"error","error":{"type":"api_error","message":"the provider failed"}}'
_BETWEEN: Final = b"\n\n"


class ChunkFramer:
    """As `framing.Framer` says. A frame is one message; its data is the event in it, an error's where it is none."""

    def __init__(self, frame_bytes_max: int) -> None:
        self._inner = MessageFramer(frame_bytes_max)
        self.fault: FramingFault | None = None

    @property
    def pending(self) -> int:
        return self._inner.pending

    def feed(self, data: bytes) -> list[Frame]:
        found: list[Frame] = []
        if self.fault:
            return found
        for frame in self._inner.feed(data):
            opened = _opened(frame)
            if opened is None:
                self.fault = FramingFault.NOT_A_MESSAGE
                return found
            found.append(opened)
        self.fault = self._inner.fault
        return found

    def close(self) -> None:
        self._inner.close()


class ChunkFraming(MessageFraming):
    content_type = CONTENT_TYPE

    def framer(self, frame_bytes_max: int) -> Framer:  # type: ignore[override] # another framer of the same protocol
        return ChunkFramer(frame_bytes_max)


class ChunkWriter:
    """Anthropic's writer, whose events leave in chunks. One that it does not change leaves as it came."""

    def __init__(self) -> None:
        self._inner = AnthropicStreamWriter()

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        return b"".join(self._chunks(self._inner.write([_plain(entry)], judged), [entry]) for entry in entries)

    def seal(self, mark: str) -> None:
        self._inner.seal(mark)

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        return self._chunks(self._inner.append(text, [_plain(entry) for entry in end], judged), end)

    def keepalive(self) -> bytes:
        """Nothing: what is no event of the service is an error to some clients (WIRE.md 5)."""
        return b""

    def finish(self) -> bytes:
        return self._chunks(self._inner.finish(), ())

    def broken(self, message: str) -> bytes:
        return failed(message)

    @classmethod
    def chunks(cls, events: bytes) -> bytes:
        """Events of Anthropic's own stream as messages."""
        return cls._chunks(events, ())

    @staticmethod
    def _chunks(events: bytes, came: Sequence[FrameRead]) -> bytes:
        """Events of Anthropic's as messages; those that stand among `came` with the bytes that they came in."""
        came_as = [(_event(entry), entry.frame.raw) for entry in came]
        own = {event: raw for event, raw in came_as if raw != event}  # of a later leg it was written anew
        frames = [frame + _BETWEEN for frame in events.split(_BETWEEN) if frame]
        return b"".join(own[frame] if frame in own else _chunk(frame) for frame in frames)


def _opened(frame: Frame) -> Frame | None:
    """The frame of the event that a message bears; None where clients could read it in two ways."""
    if frame.event is None:
        return Frame(frame.raw, None, _FAILED)
    try:
        said = strict_json.parse_envelope(frame.data or b"")
        if not isinstance(said, dict):
            return None
        bearing = [value for name, value in said.items() if name.casefold() == _BYTES]
        if frame.event != _CHUNK:  # clients skip what they do not know
            return None if bearing else Frame(frame.raw, None, None)
        if len(bearing) != 1 or not isinstance(bearing[0], str) or _BYTES not in said:
            return None
        data = b64decode(bearing[0], validate=True)
    except (strict_json.StrictJsonError, Error, ValueError):
        return None
    return None if b"\n" in data or b"\r" in data or not data else Frame(frame.raw, None, data)


def _event(entry: FrameRead) -> bytes:
    return event_frame(None, entry.frame.data or b"")


def _plain(entry: FrameRead) -> FrameRead:
    """The entry as Anthropic's own stream would have it, for a writer that sends on what came."""
    return entry._replace(frame=entry.frame._replace(raw=_event(entry)))


def _chunk(frame: bytes) -> bytes:
    data = parse_frame(frame).data or b""
    return message(_CHUNK, envelope.encode({_BYTES: b64encode(data).decode()}))


CHUNKS: Final[Framing] = ChunkFraming()
