"""`application/vnd.amazon.eventstream`: bytes to messages that keep their raw bytes, and messages anew (WIRE.md 5).

A message is its length, that of its headers, a checksum of both, the headers, the payload, and a checksum of all.
Clients raise for a wrong checksum, and take a message that is cut off by the end of the stream for no message at all.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

from proxy.wire.sse import Frame, FramingFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.framing import Framing

CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"
EVENT_TYPE: Final = ":event-type"
_MESSAGE_TYPE: Final = ":message-type"
_CONTENT_TYPE: Final = ":content-type"
_PRELUDE: Final = struct.Struct("!III")
_WORD: Final = struct.Struct("!I")
_SHORT: Final = struct.Struct("!H")
_LEAST: Final = _PRELUDE.size + _WORD.size
_STRING: Final = 7
_SIZES: Final[Mapping[int, int]] = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""How many bytes a header's value of each type has, where they are always as many."""
_COUNTED: Final = frozenset({6, _STRING})
"""Types whose values say how long they are: bytes, and text."""


class NotFramedError(ValueError):
    """Bytes that are no message in one reading."""


class Message(NamedTuple):
    """`kind` is `event`, `exception` or `error`; `name` that of the event, empty for any other."""

    kind: str
    name: str
    payload: bytes


class MessageFramer:
    """As `framing.Framer` says. The frame of an event bears its name and its payload, that of an error no data."""

    def __init__(self, frame_bytes_max: int) -> None:
        self.fault: FramingFault | None = None
        self._frame_bytes_max = frame_bytes_max
        self._buffer = bytearray()

    @property
    def pending(self) -> int:
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        if self.fault:
            return frames
        self._buffer += data
        start = 0
        try:
            while (size := self._size(start)) and start + size <= len(self._buffer):
                raw = bytes(self._buffer[start : start + size])
                message = read_message(raw)
                is_event = message.kind == "event"
                frames.append(Frame(raw, message.name if is_event else None, message.payload if is_event else None))
                start += size
        except NotFramedError:
            self.fault = FramingFault.NOT_A_MESSAGE
        del self._buffer[:start]
        return frames

    def close(self) -> None:
        """What is cut off is no message to any client."""
        self._buffer.clear()

    def _size(self, start: int) -> int:
        """How long the message at `start` is; 0 while that is not known, or where it is too long."""
        if len(self._buffer) - start < _PRELUDE.size:
            return 0
        size, headers, checksum = _PRELUDE.unpack_from(self._buffer, start)
        if crc32(self._buffer[start : start + 8]) != checksum or size < _LEAST + headers:
            raise NotFramedError
        if size > self._frame_bytes_max:
            self.fault = FramingFault.TOO_LARGE
            return 0
        return int(size)


class MessageFraming:
    """JSON in the place of messages is judged as JSON, which a reader of messages does not see."""

    content_type = CONTENT_TYPE

    def framer(self, frame_bytes_max: int) -> MessageFramer:
        return MessageFramer(frame_bytes_max)

    def may_be(self, first: bytes) -> bool:
        return not first.lstrip().startswith(b"{")


def read_message(raw: bytes) -> Message:
    """One whole message, whose length and prelude were checked. Raises `NotFramedError`."""
    if _WORD.unpack_from(raw, len(raw) - _WORD.size)[0] != crc32(raw[: -_WORD.size]):
        raise NotFramedError
    behind = _headers_end(raw)
    headers = _read_headers(raw[_PRELUDE.size : behind])
    kind = headers.get(_MESSAGE_TYPE, "")
    name = headers.get(EVENT_TYPE, "")
    if kind not in ("event", "exception", "error") or (kind == "event") != bool(name):
        raise NotFramedError
    return Message(kind, name, raw[behind : -_WORD.size])


def message(name: str, payload: bytes, *, is_exception: bool = False) -> bytes:
    """A message of ours: an event of that name, or an exception, with a payload of JSON."""
    kind = (":exception-type", "exception") if is_exception else (EVENT_TYPE, "event")
    headers = ((kind[0], name), (_CONTENT_TYPE, "application/json"), (_MESSAGE_TYPE, kind[1]))
    return _joined(b"".join(_header(*header) for header in headers), payload)


def with_payload(raw: bytes, payload: bytes) -> bytes:
    """The message `raw` with another payload, its own headers and fresh checksums."""
    return _joined(raw[_PRELUDE.size : _headers_end(raw)], payload)


def _joined(headers: bytes, payload: bytes) -> bytes:
    lengths = struct.pack("!II", _LEAST + len(headers) + len(payload), len(headers))
    body = lengths + _WORD.pack(crc32(lengths)) + headers + payload
    return body + _WORD.pack(crc32(body))


def _headers_end(raw: bytes) -> int:
    return _PRELUDE.size + int(_WORD.unpack_from(raw, 4)[0])


def _header(name: str, value: str) -> bytes:
    named, valued = name.encode(), value.encode()
    return bytes([len(named)]) + named + bytes([_STRING]) + _SHORT.pack(len(valued)) + valued


def _read_headers(raw: bytes) -> dict[str, str]:
    """Those that are text. A name that stands there twice would be read in two ways."""
    found: dict[str, str] = {}
    names: set[bytes] = set()
    place = 0
    try:
        while place < len(raw):
            name = raw[place + 1 : place + 1 + raw[place]]
            place += 1 + raw[place]
            kind = raw[place]
            place += 1
            if kind in _COUNTED:
                size = int(_SHORT.unpack_from(raw, place)[0])
                place += _SHORT.size
            else:
                size = _SIZES[kind]
            if name.lower() in names or place + size > len(raw):
                raise NotFramedError
            names.add(name.lower())
            if kind == _STRING:
                found[name.decode()] = raw[place : place + size].decode()
            place += size
    except (IndexError, KeyError, struct.error, UnicodeDecodeError):
        raise NotFramedError from None
    return found


MESSAGES: Final[Framing] = MessageFraming()
