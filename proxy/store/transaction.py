"""What may be done inside one write transaction: append to the writer's chain, look at the halt, open a case.

Rows wait until the end, or until something else is asked of the database: each statement hands the interpreter over to
other threads, and one statement writes many rows.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from interceptors.chain import DIGEST, SCHEMA, Head, canonical, commit_to, next_head, stamp, start
from interceptors.receipts import Decided, HandedOff, subject_of
from policies.model import Ruling
from proxy.store import grants, handoffs
from proxy.store.confirmations import ask, take
from proxy.store.entries import Committed, Entry
from proxy.store.errors import StoreError
from proxy.store.escalations import find_or_open, write_summary
from proxy.store.randomness import random_block
from proxy.store.reservations import RELEASE_COLUMNS, hold, release_row
from proxy.store.usage import read_usages

if TYPE_CHECKING:
    import sqlite3

    from interceptors.receipts import Record, Reserved
    from proxy.store.entries import ReleaseDraft, Reserving
    from proxy.store.folder import SubjectKey

_ROWS_MAX = 32
"""Rows of one statement: as many spellings of it are kept compiled."""
_RECORD_COLUMNS = "id, schema, digest, writer, seq, prev, kind, receipt, time, commitment, hash"
_PAYLOAD_COLUMNS = "record, salt, payload, subject, expires_from"


def _insert(table: str, columns: str) -> tuple[str, ...]:
    """The statement for one row, for two, and so on."""
    row = f"({', '.join('?' for _ in columns.split(', '))})"
    return tuple(f"INSERT INTO {table} ({columns}) VALUES {', '.join([row] * n)}" for n in range(1, _ROWS_MAX + 1))  # noqa: S608 # own names


_INSERT_RECORDS = _insert("records", _RECORD_COLUMNS)
_INSERT_PAYLOADS = _insert("payloads", _PAYLOAD_COLUMNS)
_INSERT_RELEASES = _insert("releases", RELEASE_COLUMNS)
_IN_FORCE = "SELECT 1 FROM halts WHERE resumed_at IS NULL LIMIT 1"
_SEEN_FIRST = "SELECT (SELECT max(id) FROM records), EXISTS (SELECT 1 FROM halts WHERE resumed_at IS NULL)"


class PreparedRecord(msgspec.Struct, frozen=True):
    """All of a record that does not depend on its place in the chain."""

    kind: str
    receipt: str
    time: str
    salt: bytes
    commitment: str
    payload: str
    subject: str
    expires_from: str | None


class Prepared(msgspec.Struct, frozen=True):
    """An entry whose record is known to have canonical bytes, so that it cannot fail the others of its batch."""

    record: PreparedRecord
    entry: Entry


def prepare_record(record: Record) -> PreparedRecord:
    """Raises `ReceiptError`."""
    payload, salt, time = canonical(record), random_block(), stamp(record.time)
    record.receipt.encode()
    return PreparedRecord(
        kind=record.kind.value,
        receipt=record.receipt,
        time=time,
        salt=salt,
        commitment=commit_to(payload, salt),
        payload=payload.decode(),
        subject=subject_of(record),
        expires_from=None if record.kind.is_administrative else time,
    )


def prepare_entry(entry: Entry) -> Prepared:
    """Raises `ReceiptError`, here and not in the transaction, but for a `when_halted` that is a function."""
    record, draft = entry.record, entry.escalation
    if draft is not None:
        write_summary(draft)
        if isinstance(record, Decided):
            record = structs.replace(record, escalation=draft.id)
    if entry.when_halted is not None and not callable(entry.when_halted):
        prepare_record(entry.when_halted)
    return Prepared(prepare_record(record), entry)


class Transaction:
    """Holds the database's write lock. `head` moves with each record; it counts only when the transaction commits.

    `flush` must come before the commit.
    """

    def __init__(self, connection: sqlite3.Connection, head: Head) -> None:
        self._connection = connection
        self.head = head
        last_id, halted = connection.execute(_SEEN_FIRST).fetchone()
        self._last_id: int = last_id or 0
        self._halted: bool | None = bool(halted)
        self._records: list[tuple[object, ...]] = []
        self._payloads: list[tuple[object, ...]] = []
        self._releases: list[tuple[object, ...]] = []
        self.released: list[tuple[str, str]] = []  # tenants and ids

    @property
    def connection(self) -> sqlite3.Connection:
        """To ask or to change anything else: what was appended is written first, and the halt is looked at again."""
        self.flush()
        self._halted = None
        return self._connection

    def is_halted(self) -> bool:
        if self._halted is None:
            self._halted = self._connection.execute(_IN_FORCE).fetchone() is not None
        return self._halted

    def append(self, record: Record) -> Head:
        """Write the record behind the head. Raises `ReceiptError`."""
        return self._append(prepare_record(record))

    def write(self, prepared: Prepared, naming: SubjectKey) -> Committed:
        """Write an entry, or what stands in its place: while the halt is in force, or since more was used by now."""
        entry = prepared.entry
        stand_in, draft = entry.when_halted, entry.escalation
        if entry.handoff is not None and draft is not None and isinstance(entry.record, HandedOff):
            return handoffs.write(self, entry.record, draft, entry.handoff, naming)
        if stand_in is not None and self.is_halted():
            return Committed(self.append(stand_in() if callable(stand_in) else stand_in), halted=True)
        if entry.reserving is not None:
            return self._reserve(prepared, entry.reserving, naming)
        if (instead := self._unanswered(entry, naming)) is not None:
            return instead
        if entry.voiding is not None:
            grants.void(self._connection, entry.voiding, entry.record.time)
        elif isinstance(entry.record, Decided) and entry.record.ruling is Ruling.FORBID:
            grants.refused_anyway(self._connection, entry.record)
        if entry.asking is not None:
            ask(self._connection, naming.name(entry.asking.name), entry.asking.at)
        if entry.release is not None:
            self._release(entry.release, None)
        if draft is None:
            return Committed(self._append(prepared.record))
        case = find_or_open(self._connection, naming, draft)
        if case is None:
            assert entry.when_full is not None, "who bounds the cases says what stands in place of one too many"
            return Committed(self.append(entry.when_full()), full=True)
        if case != draft.id and isinstance(entry.record, Decided):
            return Committed(self.append(structs.replace(entry.record, escalation=case)), escalation_id=case)
        return Committed(self._append(prepared.record), escalation_id=case)

    def _reserve(self, prepared: Prepared, reserving: Reserving, naming: SubjectKey) -> Committed:
        """The decision on what is used now is the one that holds, and what it allows is held from here on."""
        rests_on = reserving.obligation.rests_on
        now_used = read_usages(self._connection, naming, rests_on)
        if now_used != rests_on:
            entry = reserving.anew(now_used)
            if entry.reserving is not None and entry.reserving.obligation.rests_on != now_used:
                raise StoreError("a decision rests on something else than what is used")
            return structs.replace(self.write(prepare_entry(entry), naming), anew=True)
        if (instead := self._unanswered(prepared.entry, naming)) is not None:
            return instead
        draft = prepared.entry.release
        assert draft is not None, "what is held is found again by its release"
        self._append(prepared.record)
        reserved = hold(self._connection, draft, reserving, naming)
        self._release(draft, reserved)
        return Committed(self.append(reserved), reservation=reserved.reservation)

    def _unanswered(self, entry: Entry, key: SubjectKey) -> Committed | None:
        """What was written in place of a call whose yes, or approval, is gone by now; None where it needs none, or took
        both.
        """
        confirming, granting = entry.confirming, entry.granting
        if granting is not None:
            name = key.name(granting.name)
            if not grants.is_usable(self._connection, key, granting.grant, name, granting.at):
                return self._instead(granting.anew(), key)
        if confirming is not None and not take(self._connection, key.name(confirming.name), confirming.asked_at):
            return self._instead(confirming.anew(), key)
        if granting is not None:
            grants.use(self._connection, granting.grant, granting.escalation, entry.record.receipt, granting.at)
        return None

    def _instead(self, entry: Entry, key: SubjectKey) -> Committed:
        if entry.confirming is not None or entry.granting is not None:
            raise StoreError("a decision rests on an answer that is gone")
        return structs.replace(self.write(prepare_entry(entry), key), anew=True)

    def _release(self, draft: ReleaseDraft, held: Reserved | None) -> None:
        self._releases.append(release_row(draft, held))
        self.released.append((draft.tenant, draft.call_id))

    def flush(self) -> None:
        """Hand the rows that wait to the database."""
        records, payloads = self._records, self._payloads
        for start_ in range(0, len(records), _ROWS_MAX):
            part = records[start_ : start_ + _ROWS_MAX]
            self._connection.execute(_INSERT_RECORDS[len(part) - 1], tuple(chain.from_iterable(part)))
            part = payloads[start_ : start_ + _ROWS_MAX]
            self._connection.execute(_INSERT_PAYLOADS[len(part) - 1], tuple(chain.from_iterable(part)))
        for start_ in range(0, len(self._releases), _ROWS_MAX):
            part = self._releases[start_ : start_ + _ROWS_MAX]
            self._connection.execute(_INSERT_RELEASES[len(part) - 1], tuple(chain.from_iterable(part)))
        records.clear()
        payloads.clear()
        self._releases.clear()

    def _append(self, record: PreparedRecord) -> Head:
        before = self.head
        kind, receipt, time, commitment = record.kind, record.receipt, record.time, record.commitment
        self.head = head = next_head(before, kind=kind, receipt=receipt, time=time, commitment=commitment)
        self._last_id += 1
        place = (self._last_id, SCHEMA, DIGEST, head.writer, head.seq, before.hash)
        self._records.append((*place, kind, receipt, time, commitment, head.hash))
        self._payloads.append((self._last_id, record.salt, record.payload, record.subject, record.expires_from))
        return head


def read_head(connection: sqlite3.Connection, writer: str) -> Head:
    """The end of the writer's chain as committed, also where retention removed all of it."""
    for table in ("records", "anchors"):
        query = f"SELECT seq, hash FROM {table} WHERE writer = ? ORDER BY seq DESC LIMIT 1"  # noqa: S608 # own names
        row = connection.execute(query, (writer,)).fetchone()
        if row is not None:
            return Head(writer, row[0], row[1])
    return start(writer)
