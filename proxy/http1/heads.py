"""Heads of messages: their limits as they are read, and their bytes as they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from proxy.headers import Pairs

RawHeaders = tuple[tuple[bytes, bytes], ...]
_CODING_LENGTH: Final = len(b"transfer-encoding")
_LENGTH_LENGTH: Final = len(b"content-length")
_ALL_FIELDS_FACTOR: Final = 4
"""A head as a whole may be this many times as long as one field."""


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


def head_bytes(line: str, fields: Pairs, more: str = "") -> bytes:
    """A head as it is sent; `more` are fields that are known to be well formed, each with its line's end.

    Raises:
        HeadError: a field holds the end of a line, with which it could be two, or a NUL.
    """
    block = "".join([f"{name}: {value}\r\n" for name, value in fields])
    if block.count("\r") != len(fields) or block.count("\n") != len(fields) or "\0" in block:
        raise HeadError("a header field holds a line break")
    return f"{line}\r\n{block}{more}\r\n".encode()
