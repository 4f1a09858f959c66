"""How a dialect's stream is divided into frames: server-sent events here, others in files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from proxy.wire.sse import Framer as EventFramer

if TYPE_CHECKING:
    from proxy.wire.sse import Frame, FramingFault


class Framer(Protocol):
    """Feed it any split of the bytes; it gives the same frames, and the same `fault` behind them."""

    @property
    def fault(self) -> FramingFault | None:
        """Set once the stream cannot be read in one way only, or is too large; nothing is read after it."""
        ...

    @property
    def pending(self) -> int:
        """How many bytes wait for the end of their frame."""
        ...

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are whole now, in order. Their raw bytes, one after another, are the stream."""
        ...

    def close(self) -> Frame | None:
        """What stands behind the last whole frame when the stream ends, if clients read it."""
        ...


class Framing(Protocol):
    """One for the dialect."""

    @property
    def content_type(self) -> str:
        """Of a stream, as the head of its answer states it, without parameters."""
        ...

    def framer(self, frame_bytes_max: int) -> Framer: ...

    def may_be(self, first: bytes) -> bool:
        """Whether an answer that was asked for as a stream, and states another type, is read as one by clients;
        `first` is what it begins with, up to its first byte that is no white space."""
        ...


class EventFraming:
    """Server-sent events. JSON in their place is judged as JSON, which a reader of events does not see."""

    content_type = "text/event-stream"

    def framer(self, frame_bytes_max: int) -> EventFramer:
        return EventFramer(frame_bytes_max)

    def may_be(self, first: bytes) -> bool:
        return not first.lstrip().startswith(b"{")


EVENTS: Final[Framing] = EventFraming()
