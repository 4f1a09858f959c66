"""Cases for people: opened with the refusal that needs them, one open case for each intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interceptors.chain import ReceiptError, stamp
from proxy.store.entries import Escalation, EscalationDraft, EscalationStatus

if TYPE_CHECKING:
    import sqlite3

_COLUMNS = "id, tenant, subject, tool, argument_digest, summary, reason, receipt, created, status"
_FIND = (
    "SELECT id FROM escalations"
    " WHERE tenant = ? AND subject = ? AND tool = ? AND argument_digest = ? AND status = 'open'"
)


def write_summary(draft: EscalationDraft) -> str:
    """The draft's summary as stored. Raises `ReceiptError` for text that cannot be written."""
    try:
        for text in (draft.id, draft.tenant, draft.subject, draft.tool, draft.argument_digest, draft.reason):
            text.encode()
        return msgspec.json.encode(dict(draft.summary)).decode()
    except (ValueError, TypeError) as error:
        raise ReceiptError("the summary of an escalation cannot be written as JSON") from error


def find_or_open(connection: sqlite3.Connection, draft: EscalationDraft) -> str:
    """The id of the open case of the draft's intent, opened with the draft where there is none.

    The tenant is part of the intent: an approval is bound to it, and one tenant must not see another's case.
    """
    row = connection.execute(_FIND, (draft.tenant, draft.subject, draft.tool, draft.argument_digest)).fetchone()
    if row is not None:
        found: str = row[0]
        return found
    connection.execute(
        f"INSERT INTO escalations ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 # own names
        (
            draft.id,
            draft.tenant,
            draft.subject,
            draft.tool,
            draft.argument_digest,
            write_summary(draft),
            draft.reason,
            draft.receipt,
            stamp(draft.created),
            EscalationStatus.OPEN.value,
        ),
    )
    return draft.id


def show(connection: sqlite3.Connection, escalation_id: str) -> Escalation | None:
    query = f"SELECT {_COLUMNS} FROM escalations WHERE id = ?"  # noqa: S608 # own names
    row = connection.execute(query, (escalation_id,)).fetchone()
    return None if row is None else _escalation(row)


def newest(
    connection: sqlite3.Connection, status: EscalationStatus | None, before: str | None, limit: int
) -> tuple[Escalation, ...]:
    """The newest cases first; `before` is the id at which the last page ended."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM escalations"  # noqa: S608 # own names
        " WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR id < ?2) ORDER BY id DESC LIMIT ?3",
        (None if status is None else status.value, before, limit),
    )
    return tuple(_escalation(row) for row in rows)


def _escalation(row: tuple[str, ...]) -> Escalation:
    case, tenant, subject, tool, argument_digest, summary, reason, receipt, created, status = row
    return Escalation(
        id=case,
        tenant=tenant,
        subject=subject,
        tool=tool,
        argument_digest=argument_digest,
        summary=msgspec.json.decode(summary, type=dict[str, str]),
        reason=reason,
        receipt=receipt,
        created=created,
        status=EscalationStatus(status),
    )
