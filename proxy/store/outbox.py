"""What is to be told to others: written with what it tells of, and taken by one process at a time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from interceptors.chain import stamp
from proxy.store.ids import new_message_id

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime, timedelta

_PUT = "INSERT INTO outbox (id, kind, escalation, state, due_at) VALUES (?, ?, ?, 'due', ?)"
_DUE = (
    "SELECT id, kind, escalation, attempts, receipt FROM outbox WHERE state = 'due' AND due_at <= ?"
    " ORDER BY due_at, id LIMIT 1"
)
_TAKE = "UPDATE outbox SET due_at = ?, attempts = attempts + 1 WHERE id = ?"


class MessageKind(Enum):
    CASE = "case"  # a case was opened
    CALL = "call"  # people approved a call that is to be delivered


@dataclass(frozen=True, slots=True)
class Message:
    """`attempts` counts this one. `receipt` is that of the decision that lets the call run, empty before it."""

    id: str
    kind: MessageKind
    escalation: str
    attempts: int
    receipt: str = ""


def put(connection: sqlite3.Connection, kind: MessageKind, escalation: str, at: datetime) -> None:
    """To be told from now on. The id is the message's name for good, also for who receives it twice."""
    connection.execute(_PUT, (new_message_id(at), kind.value, escalation, stamp(at)))


def take(connection: sqlite3.Connection, at: datetime, lease: timedelta) -> Message | None:
    """The next message that is due, which nobody else gets until the lease is over; None where none is due."""
    row = connection.execute(_DUE, (stamp(at),)).fetchone()
    if row is None:
        return None
    id_, kind, escalation, attempts, receipt = row
    connection.execute(_TAKE, (stamp(at + lease), id_))
    return Message(id_, MessageKind(kind), escalation, attempts + 1, receipt)


def decided(connection: sqlite3.Connection, message: str, receipt: str) -> None:
    """The call of the message was decided, and may leave under this receipt."""
    connection.execute("UPDATE outbox SET receipt = ? WHERE id = ?", (receipt, message))


def put_off(connection: sqlite3.Connection, message: Message, until: datetime, note: str, *, counts: bool) -> None:
    """Try it again then. `counts`: this attempt was one."""
    attempts = message.attempts if counts else message.attempts - 1
    connection.execute(
        "UPDATE outbox SET due_at = ?, attempts = ?, note = ? WHERE id = ?", (stamp(until), attempts, note, message.id)
    )


def end(connection: sqlite3.Connection, message: Message, note: str, *, is_sent: bool) -> None:
    """It arrived, or it never will. Of a call the case says so."""
    connection.execute(
        "UPDATE outbox SET state = ?, note = ? WHERE id = ?", ("sent" if is_sent else "dead", note, message.id)
    )
    if message.kind is MessageKind.CALL:
        connection.execute("UPDATE escalations SET note = ? WHERE id = ?", (note, message.escalation))
