"""Questions to the store, on a connection that cannot write. It blocks: off the loop, or by `Store.read`."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from interceptors.chain import Head, Sealed
from interceptors.receipts import Kind
from interceptors.strict_json import parse_envelope
from interceptors.verification import Report, verify
from proxy.store import escalations, halts, reservations
from proxy.store.connections import BUSY_TIMEOUT_MS, open_reading
from proxy.store.errors import StoreError
from proxy.store.folder import SubjectKey, check_folder, read_key
from proxy.store.usage import read_usages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from types import TracebackType

    from interceptors.calls import Json
    from interceptors.kinds import MoneyState
    from interceptors.usage import Usage, UsageKey
    from policies.model import Ruling
    from proxy.store.cases import Escalation, EscalationStatus, Vote
    from proxy.store.entries import Halt, Reservation

T = TypeVar("T")
_SEALED = (
    "SELECT id, schema, digest, writer, seq, prev, kind, receipt, time, commitment, hash, salt, payload"
    " FROM records LEFT JOIN payloads ON record = id"
)
_OPENING = ", ".join(f"'{kind.value}'" for kind in Kind if kind.is_opening)
_OUTCOME = ", ".join(f"'{kind.value}'" for kind in Kind if kind.is_outcome)
_LINES = (
    "SELECT id, receipt, time, kind, payload,"  # noqa: S608 # nothing but the kinds is put in
    f" (SELECT last.kind FROM records last WHERE last.receipt = records.receipt AND last.kind IN ({_OUTCOME})"
    "   ORDER BY last.id DESC LIMIT 1)"
    " FROM records LEFT JOIN payloads ON record = id"
    f" WHERE kind IN ({_OPENING}) AND (?1 IS NULL OR id < ?1) AND (?2 IS NULL OR kind = ?2)"
    " AND (?3 IS NULL OR json_extract(payload, '$.tool') = ?3)"
    " AND (?4 IS NULL OR json_extract(payload, '$.ruling') = ?4)"
    " AND (?5 IS NULL OR subject = ?5) AND (?6 IS NULL OR time >= ?6) AND (?7 IS NULL OR time < ?7)"
    " ORDER BY id DESC LIMIT ?8"
)
_PAGE = 500


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """A receipt in a list. `place` pages. `outcome` is None while (or where) nothing tells what left the socket.

    `payload` is the opening record's, None where it is erased.
    """

    place: int
    receipt: str
    time: str
    kind: Kind
    payload: dict[str, Json] | None
    outcome: Kind | None


def payload_of(sealed: Sealed) -> dict[str, Json] | None:
    """The record's payload read, None where it is erased. Raises `StoreError` where it is no JSON object."""
    return None if sealed.payload is None else _object(sealed.payload)


def _object(payload: bytes | str) -> dict[str, Json]:
    try:
        document = parse_envelope(payload)
    except ValueError as error:
        raise StoreError("a payload is no strict JSON: run receipts verify") from error
    if not isinstance(document, dict):
        raise StoreError("a payload is no JSON object: run receipts verify")
    return document


class Reader:
    """One connection; a context manager. Every question raises `StoreError` where the database cannot be read."""

    def __init__(self, state: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        check_folder(state)
        self._key: SubjectKey = read_key(state)
        self._connection = open_reading(state, busy_timeout_ms)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def subject_digest(self, subject: str) -> str:
        """As the store keeps this subject's value. Raises `ValueError` for an empty one."""
        return self._key.digest(subject)

    def receipts(
        self,
        *,
        limit: int = 50,
        before: int | None = None,
        kind: Kind | None = None,
        tool: str | None = None,
        ruling: Ruling | None = None,
        subject: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> tuple[ReceiptLine, ...]:
        """The newest receipts first. `before` is the `place` at which the last page ended, `subject` a digest;
        `since` (included) and `until` (not) are times as `interceptors.chain.stamp` writes them.
        """
        parameters = (
            before,
            None if kind is None else kind.value,
            tool,
            None if ruling is None else ruling.value,
            subject,
            since,
            until,
            limit,
        )
        with _readable():
            rows = self._connection.execute(_LINES, parameters).fetchall()
        return tuple(
            ReceiptLine(
                place=place,
                receipt=receipt,
                time=time,
                kind=Kind(opening),
                payload=None if payload is None else _object(payload),
                outcome=None if outcome is None else Kind(outcome),
            )
            for place, receipt, time, opening, payload, outcome in rows
        )

    def receipt(self, receipt: str) -> tuple[Sealed, ...]:
        """All records of one receipt in the order in which they were written; empty where there is none."""
        with _readable():
            rows = self._connection.execute(f"{_SEALED} WHERE receipt = ? ORDER BY id", (receipt,)).fetchall()
        return tuple(_sealed(row) for row in rows)

    def records(self) -> Iterator[Sealed]:
        """Every record, oldest first. Read in pages: what is written or removed meanwhile may or may not be seen."""
        last = 0
        while True:
            with _readable():
                rows = self._connection.execute(
                    f"{_SEALED} WHERE id > ? ORDER BY id LIMIT ?",
                    (last, _PAGE),
                ).fetchall()
            for row in rows:
                yield _sealed(row)
            if not rows:
                return
            last = rows[-1][0]

    def verify(self, noted: Iterable[Head] = ()) -> Report:
        """Check every chain in one snapshot. `noted` are heads that an outside system kept."""
        with _readable():
            self._connection.execute("BEGIN")
            try:
                rows = self._connection.execute(f"{_SEALED} ORDER BY writer, seq")
                return verify((_sealed(row) for row in rows), pruned=self._anchors(), noted=noted)
            finally:
                self._connection.execute("COMMIT")

    def heads(self) -> tuple[Head, ...]:
        """The end of every chain, also of those that retention removed wholly."""
        query = (
            "SELECT writer, max(seq), hash FROM"
            " (SELECT writer, seq, hash FROM records UNION ALL SELECT writer, seq, hash FROM anchors) GROUP BY writer"
        )
        with _readable():
            return tuple(Head(*row) for row in self._connection.execute(query))

    def _anchors(self) -> dict[str, Head]:
        rows = self._connection.execute("SELECT writer, seq, hash FROM anchors")
        return {row[0]: Head(*row) for row in rows}

    def escalations(
        self, *, status: EscalationStatus | None = None, before: str | None = None, limit: int = 50
    ) -> tuple[Escalation, ...]:
        """The newest cases first; `before` is the id at which the last page ended."""
        with _readable():
            return escalations.newest(self._connection, status, before, limit)

    def escalation(self, escalation_id: str) -> Escalation | None:
        with _readable():
            return escalations.show(self._connection, escalation_id)

    def votes(self, escalation_id: str) -> tuple[Vote, ...]:
        """What people said of a case, in order."""
        with _readable():
            return escalations.votes(self._connection, escalation_id)

    def reservations(
        self, *, state: MoneyState | None = None, before: str | None = None, limit: int = 50
    ) -> tuple[Reservation, ...]:
        """The newest reservations first; `before` is the id at which the last page ended."""
        with _readable():
            return reservations.newest(self._connection, state, before, limit)

    def reservation(self, reservation_id: str) -> Reservation | None:
        with _readable():
            return reservations.show(self._connection, reservation_id)

    def usages(self, keys: Iterable[UsageKey]) -> dict[UsageKey, Usage]:
        """What was used so far under each key."""
        with _readable():
            return read_usages(self._connection, self._key, keys)

    def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """The answer of a question that stands in a module of its own, as of one moment."""
        with _readable():
            self._connection.execute("BEGIN")
            try:
                return question(self._connection)
            finally:
                self._connection.execute("COMMIT")

    def halt(self) -> Halt | None:
        """The operator's halt, if it is in force."""
        with _readable():
            return halts.in_force(self._connection)


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"the store cannot be read: {error}") from error


def _sealed(row: tuple[Any, ...]) -> Sealed:
    *_, payload = row
    return Sealed(*row[1:-1], payload=None if payload is None else payload.encode())  # type: ignore[misc] # 11 columns
