"""Streams of one JSON object a line: bytes to frames that keep their raw bytes. A line ends with LF and nothing else.

What other readers take for the end of a line cannot stand in JSON but inside a string, whose quotes are escaped, so
that what they tear off is never JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from proxy.wire.sse import Frame, FramingFault

if TYPE_CHECKING:
    from proxy.wire.framing import Framing


class LineFramer:
    """As `framing.Framer` says."""

    def __init__(self, frame_bytes_max: int) -> None:
        self.fault: FramingFault | None = None
        self._frame_bytes_max = frame_bytes_max
        self._buffer = bytearray()
        self._scanned = 0

    @property
    def pending(self) -> int:
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        if self.fault:
            return frames
        self._buffer += data
        start = 0
        while (end := self._buffer.find(b"\n", max(start, self._scanned))) >= 0:
            if (frame := self._frame(bytes(self._buffer[start : end + 1]))) is None:
                break
            frames.append(frame)
            start = end + 1
        del self._buffer[:start]
        self._scanned = len(self._buffer)
        if not self.fault and len(self._buffer) > self._frame_bytes_max:
            self.fault = FramingFault.TOO_LARGE
        return frames

    def close(self) -> Frame | None:
        """Clients read the last line whether it ends or not."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        self._scanned = 0
        return self._frame(rest) if rest and not self.fault else None

    def _frame(self, raw: bytes) -> Frame | None:
        if len(raw) > self._frame_bytes_max:
            self.fault = FramingFault.TOO_LARGE
            return None
        try:
            raw.decode()
        except UnicodeDecodeError:
            self.fault = FramingFault.NOT_UTF8
            return None
        return Frame(raw, None, raw.strip() or None)


class LineFraming:
    content_type = "application/x-ndjson"

    def framer(self, frame_bytes_max: int) -> LineFramer:
        return LineFramer(frame_bytes_max)

    def may_be(self, first: bytes) -> bool:  # noqa: ARG002 - clients read lines, whatever the type says
        return True


LINES: Final[Framing] = LineFraming()
