"""Cases for people: opened with the refusal that needs them, one open case for each intent, and read by those who look.

What people answer is written by `proxy.store.voting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from interceptors.calls import Proposer
from interceptors.chain import ReceiptError, stamp
from interceptors.grants import Binding
from policies.approvals import OnApproval
from proxy.store import outbox
from proxy.store.cases import Escalation, EscalationDraft, EscalationStatus, Vote

if TYPE_CHECKING:
    import sqlite3

    from proxy.store.folder import SubjectKey

_DRAFTED = (
    "id, tenant, subject, tool, argument_digest, summary, reason, receipt, created, status, policy, proposer,"
    " proposed_by, name, asks, answer_by, on_approval"
)
_OPEN = f"INSERT INTO escalations ({_DRAFTED}) VALUES ({', '.join('?' * len(_DRAFTED.split(', ')))})"  # noqa: S608 # own names
_COLUMNS = (
    "id, tenant, subject, tool, argument_digest, summary, reason, receipt, created, status, policy, proposer,"
    " proposed_by, asks, answer_by, on_approval, closed_at, note,"
    " (SELECT expires FROM grants WHERE escalation = escalations.id ORDER BY grants.id DESC LIMIT 1)"
)
_FIND = (
    "SELECT id FROM escalations"
    " WHERE tenant = ? AND subject = ? AND tool = ? AND argument_digest = ? AND status = 'open'"
)
_WAITING = "SELECT count(*) FROM escalations WHERE policy = ? AND status = 'open'"


class _Asks(msgspec.Struct, frozen=True):
    """`Binding` as it is stored."""

    rows: tuple[str, ...]
    facts: dict[str, str]
    rules: str


def write_summary(draft: EscalationDraft) -> str:
    """The draft's summary as stored. Raises `ReceiptError` for text that cannot be written."""
    try:
        for text in (draft.id, draft.tenant, draft.subject, draft.tool, draft.argument_digest, draft.reason):
            text.encode()
        return msgspec.json.encode(dict(draft.summary)).decode()
    except (ValueError, TypeError) as error:
        raise ReceiptError("the summary of an escalation cannot be written as JSON") from error


def find_or_open(connection: sqlite3.Connection, key: SubjectKey, draft: EscalationDraft) -> str | None:
    """The id of the open case of the draft's intent, opened with the draft where there is none.

    The tenant is part of the intent: an approval is bound to it, and one tenant must not see another's case.
    None where so many are open already as the draft bears: people could not look at one more.
    """
    row = connection.execute(_FIND, (draft.tenant, draft.subject, draft.tool, draft.argument_digest)).fetchone()
    if row is not None:
        found: str = row[0]
        return found
    if draft.open_max is not None:
        (waiting,) = connection.execute(_WAITING, (draft.policy,)).fetchone()
        if waiting >= draft.open_max:
            return None
    asks = draft.asks
    connection.execute(
        _OPEN,
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
            draft.policy,
            draft.proposer.value,
            draft.proposed_by,
            "" if asks is None else key.name(asks.name),
            None if asks is None else msgspec.json.encode(asks.binding).decode(),
            "" if draft.answer_by is None else stamp(draft.answer_by),
            draft.on_approval.value,
        ),
    )
    if draft.tells:
        outbox.put(connection, outbox.MessageKind.CASE, draft.id, draft.created)
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


def votes(connection: sqlite3.Connection, escalation_id: str) -> tuple[Vote, ...]:
    """What was said of a case, in order."""
    rows = connection.execute(
        "SELECT person, approves, reason, time FROM votes WHERE escalation = ? ORDER BY time, person", (escalation_id,)
    )
    return tuple(Vote(person, bool(approves), reason, time) for person, approves, reason, time in rows)


def status_of(connection: sqlite3.Connection, escalation_id: str) -> EscalationStatus | None:
    row = connection.execute("SELECT status FROM escalations WHERE id = ?", (escalation_id,)).fetchone()
    return None if row is None else EscalationStatus(row[0])


def _escalation(row: tuple[str, ...]) -> Escalation:
    case, tenant, subject, tool, argument_digest, summary, reason, receipt, created, status, *more = row
    policy, proposer, proposed_by, asks, answer_by, on_approval, closed_at, note, valid_until = more
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
        policy=policy,
        proposer=Proposer(proposer),
        proposed_by=proposed_by,
        asks=None if asks is None else _binding(asks),
        answer_by=answer_by,
        on_approval=OnApproval(on_approval),
        closed_at=closed_at,
        note=note,
        valid_until=valid_until,
    )


def _binding(text: str) -> Binding:
    found = msgspec.json.decode(text, type=_Asks)
    return Binding(found.rows, found.facts, found.rules)
