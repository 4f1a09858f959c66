"""The chain of records: canonical bytes, salted commitments, links, and the proof that nothing in it was changed.

A chain belongs to one writer. Its links cover headers; a header covers its payload by a commitment under a random
salt, so that payload and salt can be erased and the chain still verifies. Pure: salts and writers come from the caller.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from datetime import datetime

    from interceptors.receipts import Record

SCHEMA = 1
DIGEST = "sha256"
GENESIS = "0" * 64
"""What stands as the predecessor of a chain's first record, whose number is 1."""
SALT_BYTES = 32

_LINK_DOMAIN = b"callgate.record.1\0"


class ReceiptError(ValueError):
    """A record that has no canonical form. The message holds no value of it."""


class Head(msgspec.Struct, frozen=True):
    """A place in a chain and its hash. Kept outside, it proves later that the chain up to it is the same."""

    writer: str
    seq: int
    hash: str

    def __str__(self) -> str:
        return f"{self.writer}:{self.seq}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """Read what `str` wrote. Raises `ValueError`."""
        writer, seq, digest = text.split(":")
        return cls(writer, int(seq), digest)


@dataclass(frozen=True, slots=True)
class Sealed:
    """A record as it is stored: texts as found, proven by nothing but `verify`.

    `payload` is the canonical JSON that was committed to. It and `salt` are None once they are erased.
    """

    schema: int
    digest: str
    writer: str
    seq: int
    prev: str
    kind: str
    receipt: str
    time: str
    commitment: str
    hash: str
    salt: bytes | None
    payload: bytes | None

    @property
    def head(self) -> Head:
        return Head(self.writer, self.seq, self.hash)


def _plain(value: object) -> object:
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise TypeError


_ENCODER = msgspec.json.Encoder(order="sorted", decimal_format="number", enc_hook=_plain)
_HEADERS = msgspec.json.Encoder()
_TIMES = msgspec.json.Encoder()
_BLOCK_BYTES = 64
"""SHA-256 reads so many bytes at a time; a key of HMAC is filled up to them."""
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))
"""What HMAC makes of each byte of its key (RFC 2104)."""


def canonical(record: Record) -> bytes:
    """The bytes that are committed to: JSON, keys sorted, no spaces, numbers as spelled. Raises `ReceiptError`."""
    try:
        return _ENCODER.encode(record)
    except (ValueError, TypeError, RecursionError) as error:
        raise ReceiptError(f"a {record.kind.value} record cannot be written as JSON") from error


def stamp(time: datetime) -> str:
    """UTC, microseconds, fixed width: texts sort as their times do. Raises `ReceiptError` for a naive time."""
    if time.tzinfo is None:
        raise ReceiptError("a time without an offset cannot be recorded")
    if time.tzinfo is not UTC:
        time = time.astimezone(UTC)
    if not time.microsecond:  # which the encoder leaves out
        return time.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
    return _TIMES.encode(time).decode()[1:-1]


def commit_to(payload: bytes, salt: bytes) -> str:
    """The commitment: the payload's HMAC-SHA-256 under its salt. Without the salt it tells nothing of the payload."""
    # Not `hmac.new`, which takes twice as long, nor `hmac.digest`: it lets another thread take the interpreter, however
    # short the payload.
    key = salt if len(salt) <= _BLOCK_BYTES else hashlib.sha256(salt).digest()
    key = key.ljust(_BLOCK_BYTES, b"\0")
    inner = hashlib.sha256(key.translate(_INNER) + payload).digest()
    return hashlib.sha256(key.translate(_OUTER) + inner).hexdigest()


def link(record: Sealed) -> str:
    """The hash of the record's header as it stands, which the next record of the chain holds as `prev`."""
    return _hash(
        {
            "commitment": record.commitment,
            "digest": record.digest,
            "kind": record.kind,
            "prev": record.prev,
            "receipt": record.receipt,
            "schema": record.schema,
            "seq": record.seq,
            "time": record.time,
            "writer": record.writer,
        }
    )


def next_head(after: Head, *, kind: str, receipt: str, time: str, commitment: str) -> Head:
    """The place behind `after` of a record of this version with this header: what `seal` gives, without the rest."""
    seq = after.seq + 1
    header: dict[str, str | int] = {
        "commitment": commitment,
        "digest": DIGEST,
        "kind": kind,
        "prev": after.hash,
        "receipt": receipt,
        "schema": SCHEMA,
        "seq": seq,
        "time": time,
        "writer": after.writer,
    }
    return Head(after.writer, seq, _hash(header))


def _hash(header: dict[str, str | int]) -> str:
    """Of the header's canonical form: it is made with its keys in their order."""
    return hashlib.sha256(_LINK_DOMAIN + _HEADERS.encode(header)).hexdigest()


def start(writer: str) -> Head:
    """The place before the first record of a writer's chain."""
    return Head(writer, 0, GENESIS)


def seal(record: Record, payload: bytes, *, after: Head, salt: bytes) -> Sealed:
    """Put `record`, whose canonical bytes are `payload`, behind `after` in its writer's chain.

    `salt` is random, `SALT_BYTES` long and used once. Raises `ReceiptError`.
    """
    unlinked = Sealed(
        schema=SCHEMA,
        digest=DIGEST,
        writer=after.writer,
        seq=after.seq + 1,
        prev=after.hash,
        kind=record.kind.value,
        receipt=record.receipt,
        time=stamp(record.time),
        commitment=commit_to(payload, salt),
        hash="",
        salt=salt,
        payload=payload,
    )
    return replace(unlinked, hash=link(unlinked))
