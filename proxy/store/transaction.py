"""What may be done inside one write transaction: append to the writer's chain, look at the halt, open a case."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from interceptors.chain import SALT_BYTES, Head, canonical, seal, stamp, start
from interceptors.receipts import Decided, subject_of
from proxy.store.entries import Committed, Entry
from proxy.store.escalations import find_or_open, write_summary

if TYPE_CHECKING:
    import sqlite3

    from interceptors.chain import Sealed
    from interceptors.receipts import Record

_INSERT_RECORD = (
    "INSERT INTO records (schema, digest, writer, seq, prev, kind, receipt, time, commitment, hash)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_PAYLOAD = "INSERT INTO payloads (record, salt, payload, subject, expires_from) VALUES (?, ?, ?, ?, ?)"
_IN_FORCE = "SELECT 1 FROM halts WHERE resumed_at IS NULL LIMIT 1"


@dataclass(frozen=True, slots=True)
class Prepared:
    """An entry whose records are known to have canonical bytes, so that it cannot fail the others of its batch."""

    record: Record
    payload: bytes
    when_halted: Record | None
    payload_when_halted: bytes
    entry: Entry


def prepare_entry(entry: Entry) -> Prepared:
    """Raises `ReceiptError`, here and not in the transaction."""
    record, draft = entry.record, entry.escalation
    if draft is not None:
        write_summary(draft)
        if isinstance(record, Decided):
            record = replace(record, escalation=draft.id)
    for written in (record, entry.when_halted):
        if written is not None:
            stamp(written.time)
            written.receipt.encode()
    return Prepared(
        record,
        canonical(record),
        entry.when_halted,
        b"" if entry.when_halted is None else canonical(entry.when_halted),
        entry,
    )


class Transaction:
    """Holds the database's write lock. `head` moves with each record; it counts only when the transaction commits."""

    def __init__(self, connection: sqlite3.Connection, head: Head) -> None:
        self.connection = connection
        self.head = head

    def is_halted(self) -> bool:
        return self.connection.execute(_IN_FORCE).fetchone() is not None

    def append(self, record: Record, payload: bytes | None = None) -> Head:
        """Write the record behind the head. `payload`, if given, are its canonical bytes."""
        payload = canonical(record) if payload is None else payload
        sealed = seal(record, payload, after=self.head, salt=secrets.token_bytes(SALT_BYTES))
        expires_from = None if record.kind.is_administrative else sealed.time
        cursor = self.connection.execute(_INSERT_RECORD, _header(sealed))
        self.connection.execute(
            _INSERT_PAYLOAD, (cursor.lastrowid, sealed.salt, payload.decode(), subject_of(record), expires_from)
        )
        self.head = sealed.head
        return self.head

    def write(self, prepared: Prepared) -> Committed:
        """Write an entry, or what stands in its place while the halt is in force."""
        if prepared.when_halted is not None and self.is_halted():
            return Committed(self.append(prepared.when_halted, prepared.payload_when_halted), halted=True)
        draft = prepared.entry.escalation
        if draft is None:
            return Committed(self.append(prepared.record, prepared.payload))
        case = find_or_open(self.connection, draft)
        if case != draft.id and isinstance(prepared.record, Decided):
            return Committed(self.append(replace(prepared.record, escalation=case)), escalation_id=case)
        return Committed(self.append(prepared.record, prepared.payload), escalation_id=case)


def read_head(connection: sqlite3.Connection, writer: str) -> Head:
    """The end of the writer's chain as committed, also where retention removed all of it."""
    for table in ("records", "anchors"):
        query = f"SELECT seq, hash FROM {table} WHERE writer = ? ORDER BY seq DESC LIMIT 1"  # noqa: S608 # own names
        row = connection.execute(query, (writer,)).fetchone()
        if row is not None:
            return Head(writer, row[0], row[1])
    return start(writer)


def _header(sealed: Sealed) -> tuple[object, ...]:
    return (
        sealed.schema,
        sealed.digest,
        sealed.writer,
        sealed.seq,
        sealed.prev,
        sealed.kind,
        sealed.receipt,
        sealed.time,
        sealed.commitment,
        sealed.hash,
    )
