"""Server-sent events: bytes to frames that keep their raw bytes. Lines end in LF, CR or CRLF and in nothing else.

Framing works on bytes; a frame is decoded only when it is whole, so no split of the stream can change what is read
(guarantee G3). Blank lines before an event belong to it. A frame ends after its blank line; where the stream uses CRLF
the frame waits for the LF behind the last CR, and where it uses bare CR it never takes one.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

_LF, _CR = 0x0A, 0x0D
# Where clients that split lines by the rules of Unicode end one. In data they stand inside a JSON string, whose quotes
# are escaped, so what is torn off there is never JSON; anywhere else it could be an event that was not read here.
_HIDDEN_BREAKS = (b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")


class FramingFault(Enum):
    """Why a byte stream is not one of this dialect's. The value is a text for receipts and error events."""

    TOO_LARGE = "a frame is larger than the limit"
    NOT_UTF8 = "a frame is not UTF-8"
    UNKNOWN_FIELD = "a line is no field of a server-sent event"
    HIDDEN_LINE = "a line holds a break that some readers see and some do not"
    SEVERAL_EVENTS = "a frame names its event twice"
    NOT_A_MESSAGE = "bytes are no message of an event stream, or their checksum is wrong"


class FramingError(ValueError):
    def __init__(self, fault: FramingFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


class Frame(NamedTuple):
    """One event as it came. `data` is None where the frame holds no data (a comment, a keep-alive).

    `is_disguised`: a field name has white space around it, which some clients read and some ignore.
    """

    raw: bytes
    event: str | None
    data: bytes | None
    is_disguised: bool = False
    is_unended: bool = False  # no blank line came after it: some clients read it, some do not
    is_parted: bool = False  # its data stands on several lines, each of which some clients read by itself

    def on_one_line(self) -> Frame:
        """The same with its data on one line. A tab is white space where a break is, and as wrong inside a string."""
        if not self.is_parted or self.data is None:
            return self
        data = self.data.replace(b"\n", b"\t")
        return self._replace(raw=event_frame(self.event, data), data=data, is_parted=False, is_unended=False)

    def ended(self) -> Frame:
        """The same with its blank line, for all clients to read."""
        return self._replace(raw=self.raw + b"\n\n", is_unended=False) if self.is_unended else self


class Framer:
    """Feed it any split of the bytes; it gives the same frames, and the same `fault` behind them.

    `fault` is set once the stream cannot be read in one way only, or is too large; nothing is read after it.
    """

    def __init__(self, frame_bytes_max: int) -> None:
        self.fault: FramingFault | None = None
        self._frame_bytes_max = frame_bytes_max
        self._buffer = bytearray()
        self._scanned = 0  # the bytes of the buffer that hold no end of frame
        self._has_cr = False

    @property
    def pending(self) -> int:
        """How many bytes wait for the end of their frame."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are whole now, in order."""
        frames: list[Frame] = []
        if self.fault:
            return frames
        if not self._buffer and _is_one_frame(data):
            return frames if (one := self._parse(data)) is None else [one]
        self._buffer += data
        self._has_cr = self._has_cr or b"\r" in data
        start = 0
        while (end := (self._end_of_frame if self._has_cr else self._end_of_lf_frame)(start)) is not None:
            if (frame := self._parse(bytes(self._buffer[start:end]))) is None:
                break
            frames.append(frame)
            start = end
        if start:
            del self._buffer[:start]
            self._scanned = max(0, self._scanned - start)
        if not self.fault and len(self._buffer) > self._frame_bytes_max:
            self.fault = FramingFault.TOO_LARGE
        return frames

    def close(self) -> Frame | None:
        """What stands after the last blank line when the stream ends: some clients read it, so it is judged."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        self._scanned = 0
        frame = self._parse(rest) if rest and not self.fault else None
        return frame._replace(is_unended=True) if frame else None

    def _parse(self, raw: bytes) -> Frame | None:
        if len(raw) > self._frame_bytes_max:
            self.fault = FramingFault.TOO_LARGE
            return None
        try:
            return parse_frame(raw)
        except FramingError as error:
            self.fault = error.fault
            return None

    def _end_of_lf_frame(self, start: int) -> int | None:
        """As `_end_of_frame`, for a stream that has held no CR."""
        buffer = self._buffer
        body = start
        while body < len(buffer) and buffer[body] == _LF:
            body += 1
        found = buffer.find(b"\n\n", max(body, self._scanned - 1))
        if found < 0:
            self._scanned = len(buffer)
            return None
        self._scanned = found + 2
        return found + 2

    def _end_of_frame(self, start: int) -> int | None:
        """Where the frame that begins at `start` ends, once that is certain."""
        buffer = self._buffer
        body = start
        while body < len(buffer) and buffer[body] in (_LF, _CR):
            body += 1
        scan = max(body, self._scanned - 3)
        while True:
            line_feed = buffer.find(b"\n", scan)
            carriage_return = buffer.find(b"\r", scan, line_feed if line_feed >= 0 else len(buffer))
            if carriage_return >= 0:
                end = self._blank_line_behind_cr(carriage_return)
                if end is None:
                    self._scanned = carriage_return
                    return None
                scan, found = end
            elif line_feed >= 0:
                scan, found = self._blank_line_behind(line_feed + 1, crlf=False)
                if scan < 0:
                    self._scanned = line_feed
                    return None
            else:
                self._scanned = len(buffer)
                return None
            if found:
                self._scanned = scan
                return scan

    def _blank_line_behind_cr(self, place: int) -> tuple[int, bool] | None:
        if place + 1 >= len(self._buffer):
            return None
        crlf = self._buffer[place + 1] == _LF
        after, found = self._blank_line_behind(place + 2 if crlf else place + 1, crlf=crlf)
        return None if after < 0 else (after, found)

    def _blank_line_behind(self, place: int, *, crlf: bool) -> tuple[int, bool]:
        """(the next place to look at, whether a blank line ended there); -1 while the next byte decides."""
        buffer = self._buffer
        if place >= len(buffer):
            return -1, False
        if buffer[place] == _LF:
            return place + 1, True
        if buffer[place] != _CR:
            return place, False
        if not crlf:
            return place + 1, True
        if place + 1 >= len(buffer):
            return -1, False
        return (place + 2 if buffer[place + 1] == _LF else place + 1), True


def parse_frame(raw: bytes) -> Frame:
    """Read the fields of one whole frame."""
    if not raw.isascii():
        try:
            raw.decode()
        except UnicodeDecodeError:
            raise FramingError(FramingFault.NOT_UTF8) from None
    if (plain := _plain_frame(raw)) is not None:
        return plain
    event: str | None = None
    data: list[bytes] = []
    is_disguised = False
    for line in _lines(raw):
        if not line:
            continue
        if not line.startswith(b"data:") and any(mark in line for mark in _HIDDEN_BREAKS):
            raise FramingError(FramingFault.HIDDEN_LINE)
        if line[0] == 0x3A:  # a comment
            continue
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name != (bare := name.strip()):
            name, is_disguised = bare, True
        if name == b"data":
            data.append(value)
        elif name == b"event":
            if event is not None:
                raise FramingError(FramingFault.SEVERAL_EVENTS)
            event = value.decode()
        elif name not in (b"id", b"retry"):
            raise FramingError(FramingFault.UNKNOWN_FIELD)
    return Frame(raw, event, b"\n".join(data) or None, is_disguised, is_parted=len(data) > 1)


def _is_one_frame(data: bytes) -> bool:
    """Whether these bytes are one whole frame of a stream without CR, as most reads are where each token is sent."""
    return 0 < data.find(b"\n\n") == len(data) - 2 and _CR not in data


def _plain_frame(raw: bytes) -> Frame | None:
    """The frame that nearly all are: one `data` line behind at most one `event` line, with LF. None for any other.
    `raw` is UTF-8."""
    if raw[-2:] != b"\n\n":
        return None
    event: str | None = None
    place = 0
    if raw.startswith(b"event: "):
        place = raw.find(b"\n") + 1
        event = raw[7 : place - 1].decode()
        if not event.isprintable():
            return None
    if not raw.startswith(b"data: ", place) or raw.find(b"\n", place) != len(raw) - 2 or _CR in raw:
        return None
    return Frame(raw, event, raw[place + 6 : -2] or None)


def _lines(raw: bytes) -> list[bytes]:
    if _CR in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return raw.split(b"\n")


def event_frame(event: str | None, data: bytes) -> bytes:
    """The canonical bytes of one event. `data` holds no line break."""
    head = b"event: " + event.encode() + b"\n" if event is not None else b""
    return head + b"data: " + data + b"\n\n"
