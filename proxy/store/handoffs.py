"""Customers who asked for a person: one open case for each, and one answer for each place at which they asked.

With a signed subject the case is the customer's. Without one a conversation is known by what was said in it, which two
customers may have said alike: there the same words at the same place are the same request for a while only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from interceptors.chain import stamp
from proxy.store.cases import EscalationStatus
from proxy.store.entries import Committed
from proxy.store.escalations import find_or_open

if TYPE_CHECKING:
    import sqlite3

    from interceptors.handoffs import HandedOff
    from proxy.store.cases import EscalationDraft
    from proxy.store.folder import SubjectKey
    from proxy.store.transaction import Transaction

RETRY_WITHIN: Final = timedelta(minutes=10)
_FIND: Final = (
    "SELECT handoffs.escalation, reply, time, status FROM handoffs JOIN escalations ON id = handoffs.escalation"
    " WHERE handoffs.name = ?"
)
_KEEP: Final = (
    "INSERT INTO handoffs (name, escalation, reply, time) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE"
    " SET escalation = excluded.escalation, reply = excluded.reply, time = excluded.time"
)


@dataclass(frozen=True, slots=True)
class HandoffDraft:
    """`place` names where the customer asks, `earlier` where the customer may have asked before in this conversation,
    the newest first. `full` is answered where people cannot take another case."""

    place: str
    earlier: tuple[str, ...]
    full: str


@dataclass(frozen=True, slots=True)
class Handed:
    """What is answered, and the case that stands behind it; None where people could not take one. `time` is that of
    the first answer at this place."""

    escalation: str | None
    reply: str
    time: datetime
    is_repeated: bool = False


def known(connection: sqlite3.Connection, name: str, subject: str, at: datetime) -> Handed | None:
    """What was answered at the place of this keyed name before, where the request is the same that comes again."""
    row = connection.execute(_FIND, (name,)).fetchone()
    if row is None:
        return None
    escalation, reply, time, status = row
    answered = datetime.fromisoformat(time)
    waits = bool(subject) and status == EscalationStatus.OPEN.value
    return Handed(escalation, reply, answered, is_repeated=True) if waits or at - answered <= RETRY_WITHIN else None


def write(
    transaction: Transaction, record: HandedOff, case: EscalationDraft, draft: HandoffDraft, key: SubjectKey
) -> Committed:
    """The record, and the case where none is open; of two that come at once, one opens it."""
    connection = transaction.connection
    before = known(connection, key.name(draft.place), record.subject, record.time)
    if before is not None:
        repeated = replace(record, result=before.reply, escalation=before.escalation or "", facts=(), is_repeated=True)
        return Committed(transaction.append(repeated), escalation_id=before.escalation, handed=before)
    opened = _open_case(connection, key, draft.earlier) or find_or_open(connection, key, case)
    if opened is None:
        head = transaction.append(replace(record, result=draft.full))
        return Committed(head, full=True, handed=Handed(None, draft.full, record.time))
    connection.execute(_KEEP, (key.name(draft.place), opened, record.result, stamp(record.time)))
    head = transaction.append(replace(record, escalation=opened))
    return Committed(head, escalation_id=opened, handed=Handed(opened, record.result, record.time))


def _open_case(connection: sqlite3.Connection, key: SubjectKey, places: tuple[str, ...]) -> str | None:
    """The case that is open since the customer asked at one of these places."""
    for place in places:
        row = connection.execute(_FIND, (key.name(place),)).fetchone()
        if row is not None and row[3] == EscalationStatus.OPEN.value:
            found: str = row[0]
            return found
    return None
