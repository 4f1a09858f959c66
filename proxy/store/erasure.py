"""What goes again: payloads by subject, payloads and records by age. Each removal is a record itself.

Payload and salt are deleted and overwritten in the file; headers stay, so that chains verify. Records go only from the
old end of a chain, and leave the place up to which they went.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.chain import stamp
from interceptors.receipts import Erased, ErasureCause, Kind, Pruned, Span
from interceptors.verification import spans_from, spans_of
from proxy.store.entries import Erasure

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from datetime import datetime

    from proxy.store.transaction import Transaction

STEP_RECORDS_MAX = 2_000
"""How many records one transaction of a retention removes: commits of calls go between."""


def erase_subject(transaction: Transaction, subject: str, *, by: str, at: datetime, receipt: str) -> Erasure:
    """Delete all payloads, salts and cases of the subject with this digest."""
    connection = transaction.connection
    rows = connection.execute(
        "SELECT record, writer, seq FROM payloads JOIN records ON id = record WHERE subject = ? AND subject <> ''",
        (subject,),
    ).fetchall()
    _forget_answers(connection, "subject = ? AND subject <> ''", subject)
    cases = connection.execute("DELETE FROM escalations WHERE subject = ? AND subject <> ''", (subject,)).rowcount
    # What is held stays held: a result that comes later finds no call, and a person resolves it.
    connection.execute(
        "UPDATE releases SET subject = '', call_id = '', argument_digest = '' WHERE subject = ? AND subject <> ''",
        (subject,),
    )
    if rows:
        _erase(transaction, rows, by=by, at=at, cause=ErasureCause.SUBJECT, receipt=receipt)
    return Erasure(receipt if rows else None, len(rows), cases)


def expire_payloads(transaction: Transaction, before: datetime, *, by: str, at: datetime, receipt: str) -> int:
    """Delete the oldest payloads that were recorded before `before`, at most a step's worth; how many."""
    rows = transaction.connection.execute(
        "SELECT record, writer, seq FROM payloads JOIN records ON id = record"
        " WHERE expires_from < ? ORDER BY expires_from LIMIT ?",
        (stamp(before), STEP_RECORDS_MAX),
    ).fetchall()
    if rows:
        _erase(transaction, rows, by=by, at=at, cause=ErasureCause.RETENTION, receipt=receipt)
    return len(rows)


def expire_escalations(transaction: Transaction, before: datetime) -> int:
    """Delete the cases that were opened before `before`: their summaries are payload."""
    _forget_answers(transaction.connection, "created < ?", stamp(before))
    return transaction.connection.execute("DELETE FROM escalations WHERE created < ?", (stamp(before),)).rowcount


def _forget_answers(connection: sqlite3.Connection, which: str, value: str) -> None:
    """What people said of these cases goes with them, and approves nothing any more."""
    for table in ("votes", "grants", "outbox"):
        connection.execute(
            f"DELETE FROM {table} WHERE escalation IN (SELECT id FROM escalations WHERE {which})",  # noqa: S608 # own names
            (value,),
        )


def forget_releases(transaction: Transaction, before: datetime) -> int:
    """Forget calls that were allowed before `before` and hold nothing any more, at most a step's worth; how many."""
    return transaction.connection.execute(
        "DELETE FROM releases WHERE receipt IN (SELECT receipt FROM releases"
        " WHERE time < ? AND (reservation IS NULL OR state NOT IN ('held', 'unknown')) ORDER BY time LIMIT ?)",
        (stamp(before), STEP_RECORDS_MAX),
    ).rowcount


def prune_records(transaction: Transaction, before: datetime, *, by: str, at: datetime, receipt: str) -> int:
    """Remove records from the old ends of the chains that are all before `before`, at most a step's worth; how many."""
    cuts = _kept_coverage(transaction.connection, _cuts(transaction.connection, stamp(before)))
    if not cuts:
        return 0
    for cut in cuts:
        _prune(transaction.connection, cut)
    transaction.append(Pruned(receipt=receipt, time=at, by=by, spans=cuts))
    return sum(cut.last - cut.first + 1 for cut in cuts)


def _erase(
    transaction: Transaction,
    rows: Iterable[tuple[int, str, int]],
    *,
    by: str,
    at: datetime,
    cause: ErasureCause,
    receipt: str,
) -> None:
    rows = list(rows)
    records = [(record,) for record, _, _ in rows]
    notes = "UPDATE reviews SET note = '' WHERE receipt = (SELECT receipt FROM records WHERE id = ?)"
    transaction.connection.executemany(notes, records)  # what a person wrote about a customer's call goes with it
    transaction.connection.executemany("DELETE FROM payloads WHERE record = ?", records)
    spans = spans_from((writer, seq) for _, writer, seq in rows)
    transaction.append(Erased(receipt=receipt, time=at, by=by, cause=cause, spans=spans))


def _cuts(connection: sqlite3.Connection, before: str) -> tuple[Span, ...]:
    """For each chain with records before `before`, the stretch from its first record in which all are."""
    left = STEP_RECORDS_MAX
    cuts = []
    oldest = connection.execute(
        "SELECT DISTINCT writer FROM (SELECT writer FROM records WHERE time < ? ORDER BY time LIMIT ?)", (before, left)
    )
    for (writer,) in oldest.fetchall():
        rows = connection.execute("SELECT seq, time FROM records WHERE writer = ? ORDER BY seq LIMIT ?", (writer, left))
        seqs = []
        for seq, time in rows.fetchall():
            if time >= before:
                break
            seqs.append(seq)
        if seqs:
            cuts.append(Span(writer, seqs[0], seqs[-1]))
            left -= len(seqs)
        if left <= 0:
            break
    return tuple(cuts)


def _kept_coverage(connection: sqlite3.Connection, cuts: tuple[Span, ...]) -> tuple[Span, ...]:
    """Cut less where a record to go tells of the erasure of one that stays: else that payload would seem missing."""
    tellers = [
        (writer, seq, spans_of(payload.encode()))
        for cut in cuts
        for writer, seq, payload in connection.execute(
            "SELECT writer, seq, payload FROM records JOIN payloads ON record = id"
            " WHERE kind = ? AND writer = ? AND seq BETWEEN ? AND ?",
            (Kind.ERASED.value, cut.writer, cut.first, cut.last),
        )
    ]
    last = {cut.writer: cut.last for cut in cuts}
    is_stable = False
    while not is_stable:
        is_stable = True
        for writer, seq, spans in tellers:
            if seq <= last[writer] and any(_has_kept(connection, span, last) for span in spans):
                last[writer] = seq - 1
                is_stable = False
    return tuple(Span(cut.writer, cut.first, last[cut.writer]) for cut in cuts if cut.first <= last[cut.writer])


def _has_kept(connection: sqlite3.Connection, span: Span, last: dict[str, int]) -> bool:
    first = max(span.first, last.get(span.writer, 0) + 1)
    row = connection.execute(
        "SELECT 1 FROM records WHERE writer = ? AND seq BETWEEN ? AND ? LIMIT 1", (span.writer, first, span.last)
    )
    return row.fetchone() is not None


def _prune(connection: sqlite3.Connection, cut: Span) -> None:
    place = (cut.writer, cut.first, cut.last)
    connection.execute(
        "INSERT OR REPLACE INTO anchors SELECT writer, seq, hash FROM records WHERE writer = ? AND seq = ?",
        (cut.writer, cut.last),
    )
    connection.execute(
        "DELETE FROM payloads WHERE record IN (SELECT id FROM records WHERE writer = ? AND seq BETWEEN ? AND ?)", place
    )
    connection.execute("DELETE FROM records WHERE writer = ? AND seq BETWEEN ? AND ?", place)
