"""Heads of messages: their limits as they are read, and their bytes as they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.headers import Pairs

RawHeaders = tuple[tuple[bytes, bytes], ...]
_CODING_LENGTH: Final = len(b"transfer-encoding")
_LENGTH_LENGTH: Final = len(b"content-length")
_ALL_FIELDS_FACTOR: Final = 4
"""A head as a whole may be this many times as long as one field."""


_KEPT_BYTES_MAX: Final = 16 * 1024
"""A head of more is read anew each time: what an idle connection holds is little."""
_LENGTH_DIGITS_MAX: Final = 15


class HeadError(ValueError):
    """A head that is too long, or one that could be read in two ways."""


@dataclass(frozen=True, slots=True)
class HeadLimits:
    """`field_bytes` bounds the request's line and each field, `fields` their number."""

    field_bytes: int
    fields: int

    @property
    def head_bytes(self) -> int:
        """Of the whole head, as it comes."""
        return self.field_bytes * _ALL_FIELDS_FACTOR


def read_fields(pairs: list[tuple[bytes, bytes]], limits: HeadLimits) -> tuple[RawHeaders, bytes | None, int | None]:
    """The fields of a head that llhttp accepted, their transfer coding in lower case, and the length that they state.

    Raises:
        HeadError: one too long, or one too many.
    """
    if len(pairs) > limits.fields:
        raise HeadError("there are too many header fields")
    coding, length = None, None
    longest = limits.field_bytes
    raw = []
    for name, value in pairs:
        size = len(name)
        if size + len(value) > longest:
            raise HeadError("a header field is too long")
        bare = value.rstrip(b" \t")  # llhttp leaves the space behind a value
        raw.append((name, bare))
        if size == _CODING_LENGTH and name.lower() == b"transfer-encoding":
            coding = bare.lower() if coding is None else coding + b"," + bare.lower()
        elif size == _LENGTH_LENGTH and name.lower() == b"content-length":
            length = int(bare)
    return tuple(raw), coding, length


class Head:
    """The fields of a request, but for the length of its body, in order as they came.

    `noted` is what whoever handles the request worked out of them, None before. Who asks again with the same fields on
    the same connection, finds it there.
    """

    __slots__ = ("_fields", "noted", "raw_headers")

    def __init__(self, raw_headers: RawHeaders) -> None:
        self.raw_headers = raw_headers
        self.noted: object = None
        self._fields: Mapping[str, str] | None = None

    @property
    def fields(self) -> Mapping[str, str]:
        """The value of the last field of each name, which is in lower case."""
        if self._fields is None:
            self._fields = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in self.raw_headers}
        return self._fields


class RequestHeads:
    """Reads the heads of one connection's requests: an agent sends the same fields with each, but for the length."""

    def __init__(self, limits: HeadLimits) -> None:
        self._limits = limits
        self._last: list[tuple[bytes, bytes]] | None = None
        self._place = -1  # of the length in it, -1 for none
        self._head = Head(())
        self._coding: bytes | None = None

    def read(self, pairs: list[tuple[bytes, bytes]]) -> tuple[Head, bytes | None, int | None]:
        """The head, its transfer coding and the length that it states, as `read_fields` reads them. Raises as it."""
        if self._last is not None and len(pairs) == len(self._last):
            if self._place < 0:
                if pairs == self._last:
                    return self._head, self._coding, None
            elif (length := self._length_alone(pairs, self._last)) is not None:
                return self._head, self._coding, length
        return self._read_anew(pairs)

    def _length_alone(self, pairs: list[tuple[bytes, bytes]], last: list[tuple[bytes, bytes]]) -> int | None:
        """The length that `pairs` state, where they differ from `last` in nothing else; else None."""
        place = self._place
        name, value = stated = pairs[place]
        if name != last[place][0] or not value.isdigit() or len(value) > _LENGTH_DIGITS_MAX:
            return None  # `read_fields` has to look at it
        pairs[place] = last[place]
        is_same = pairs == last
        pairs[place] = stated
        return int(value) if is_same else None

    def _read_anew(self, pairs: list[tuple[bytes, bytes]]) -> tuple[Head, bytes | None, int | None]:
        raw, coding, length = read_fields(pairs, self._limits)
        lengths = [place for place, (name, _) in enumerate(raw) if name.lower() == b"content-length"]
        head = Head(tuple([field for place, field in enumerate(raw) if place not in lengths]) if lengths else raw)
        size = sum([len(name) + len(value) for name, value in raw])
        if len(lengths) < 2 and size <= _KEPT_BYTES_MAX:
            self._last, self._head, self._coding = pairs, head, coding
            self._place = lengths[0] if lengths else -1
        else:
            self._last = None
        return head, coding, length


class Fields(tuple[tuple[str, str], ...]):
    """Fields that are sent again and again: their bytes are made once."""

    @cached_property
    def block(self) -> str:
        """As they stand in a head. Raises `HeadError` as `head_bytes` does."""
        return _block(self)


def head_bytes(line: str, fields: Pairs, more: str = "") -> bytes:
    """A head as it is sent; `more` are fields that are known to be well formed, each with its line's end.

    Raises:
        HeadError: a field holds the end of a line, with which it could be two, or a NUL.
    """
    block = fields.block if isinstance(fields, Fields) else _block(fields)
    return f"{line}\r\n{block}{more}\r\n".encode()


def _block(fields: Pairs) -> str:
    block = "".join([f"{name}: {value}\r\n" for name, value in fields])
    if block.count("\r") != len(fields) or block.count("\n") != len(fields) or "\0" in block:
        raise HeadError("a header field holds a line break")
    return block
