"""Records as JSON lines, and back: each line holds a header and, where it is not erased, what its commitment covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interceptors.chain import Sealed
from proxy.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of a line in their order. `salt` is hex; `payload` is the canonical JSON itself, byte for byte."""

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
    erased: bool
    salt: str | None
    payload: msgspec.Raw


def lines(records: Iterable[Sealed]) -> Iterator[bytes]:
    """One line a record, each with its line feed."""
    for record in records:
        yield to_line(record) + b"\n"


def to_line(record: Sealed) -> bytes:
    line = _Line(
        schema=record.schema,
        digest=record.digest,
        writer=record.writer,
        seq=record.seq,
        prev=record.prev,
        kind=record.kind,
        receipt=record.receipt,
        time=record.time,
        commitment=record.commitment,
        hash=record.hash,
        erased=record.payload is None,
        salt=None if record.salt is None else record.salt.hex(),
        payload=msgspec.Raw(b"null" if record.payload is None else record.payload),
    )
    return msgspec.json.encode(line)


def from_line(line: bytes) -> Sealed:
    """The record of a line. Raises `StoreError`."""
    try:
        read = msgspec.json.decode(line, type=_Line)
        salt = None if read.salt is None else bytes.fromhex(read.salt)
    except ValueError as error:
        raise StoreError("an exported line cannot be read") from error
    return Sealed(
        schema=read.schema,
        digest=read.digest,
        writer=read.writer,
        seq=read.seq,
        prev=read.prev,
        kind=read.kind,
        receipt=read.receipt,
        time=read.time,
        commitment=read.commitment,
        hash=read.hash,
        salt=salt,
        payload=None if read.erased else bytes(read.payload),
    )
