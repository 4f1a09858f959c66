"""Answers of people that hold: written with the vote that made them whole, used once, in a receipt's transaction.

A row counts only under its seal. That it was used stands beside the seal, and in the chain: a database that is put back
to an older state forgets it, as it forgets everything.
"""

from __future__ import annotations

import hmac
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from interceptors.chain import stamp
from interceptors.grants import Binding, Grant

if TYPE_CHECKING:
    import sqlite3

    from interceptors.obligations import VoidGrant
    from interceptors.receipts import Decided
    from proxy.store.folder import SubjectKey

_NEWEST = (
    "SELECT content, seal FROM grants WHERE name = ? AND used_by IS NULL AND voided_at IS NULL ORDER BY id DESC LIMIT 1"
)
_REPLACE = "UPDATE grants SET voided_at = ? WHERE name = ? AND used_by IS NULL AND voided_at IS NULL"
_USABLE = (
    "SELECT content, seal FROM grants WHERE id = ? AND name = ? AND used_by IS NULL AND voided_at IS NULL"
    " AND expires > ?"
)


class _Content(msgspec.Struct, frozen=True, kw_only=True):
    """What the seal covers."""

    id: str
    escalation: str
    name: str
    approves: bool
    rows: tuple[str, ...]
    facts: dict[str, str]
    rules: str
    by: tuple[str, ...]
    expires: str


def write(connection: sqlite3.Connection, key: SubjectKey, name: str, grant: Grant, at: datetime) -> None:
    """`name` is the keyed digest of whose call it is. The answer takes the place of an earlier one that holds."""
    content = msgspec.json.encode(
        _Content(
            id=grant.id,
            escalation=grant.escalation,
            name=name,
            approves=grant.approves,
            rows=grant.binding.rows,
            facts=dict(grant.binding.facts),
            rules=grant.binding.rules,
            by=grant.by,
            expires=stamp(grant.expires),
        )
    ).decode()
    connection.execute(_REPLACE, (stamp(at), name))
    connection.execute(
        "INSERT INTO grants (id, escalation, name, content, seal, expires) VALUES (?, ?, ?, ?, ?, ?)",
        (grant.id, grant.escalation, name, content, key.seal(content), stamp(grant.expires)),
    )


def find(connection: sqlite3.Connection, key: SubjectKey, name: str) -> Grant | None:
    """The newest answer of this name that is not used, expired or not."""
    row = connection.execute(_NEWEST, (name,)).fetchone()
    return None if row is None else _read(key, name, row[0], row[1])


def is_usable(connection: sqlite3.Connection, key: SubjectKey, grant: str, name: str, at: datetime) -> bool:
    """Whether this approval can still be used: asked again in the transaction that would use it."""
    row = connection.execute(_USABLE, (grant, name, stamp(at))).fetchone()
    found = None if row is None else _read(key, name, row[0], row[1])
    return found is not None and found.id == grant and found.approves


def use(connection: sqlite3.Connection, grant: str, escalation: str, receipt: str, at: datetime) -> None:
    """It is used up, by the call of this receipt."""
    connection.execute("UPDATE grants SET used_by = ? WHERE id = ?", (receipt, grant))
    _close(connection, escalation, "used", f"used by {receipt}", at)


def give_back(connection: sqlite3.Connection, receipt: str) -> None:
    """No byte of the call of this receipt left: what it used up may be used."""
    row = connection.execute("SELECT escalation FROM grants WHERE used_by = ?", (receipt,)).fetchone()
    if row is not None:
        connection.execute("UPDATE grants SET used_by = NULL WHERE used_by = ?", (receipt,))
        connection.execute(
            "UPDATE escalations SET status = 'approved', closed_at = NULL, note = '' WHERE id = ? AND status = 'used'",
            (row[0],),
        )


def void(connection: sqlite3.Connection, taken: VoidGrant, at: datetime) -> None:
    """It approves nothing any more, and the case says why."""
    connection.execute(
        "UPDATE grants SET voided_at = ? WHERE id = ? AND used_by IS NULL AND voided_at IS NULL",
        (stamp(at), taken.grant),
    )
    _close(connection, taken.escalation, "void", taken.why, at)


def spend(connection: sqlite3.Connection, escalation: str, at: datetime) -> None:
    """What people approved in this case is done, whether it needed their answer or not: none of it is left."""
    connection.execute(
        "UPDATE grants SET voided_at = ? WHERE escalation = ? AND used_by IS NULL AND voided_at IS NULL",
        (stamp(at), escalation),
    )


def expire(connection: sqlite3.Connection, at: datetime) -> int:
    """Cases whose time is over, open or approved, say so; how many. An expired approval stands as one: a call that
    comes too late is told why it is refused."""
    late = connection.execute(
        "UPDATE escalations SET status = 'expired', closed_at = ?1, note = 'nobody answered in time'"
        " WHERE status = 'open' AND answer_by <> '' AND answer_by <= ?1",
        (stamp(at),),
    ).rowcount
    return (
        late
        + connection.execute(
            "UPDATE escalations SET status = 'expired', closed_at = ?1, note = 'approved, and not used in time'"
            " WHERE status = 'approved' AND id IN"
            " (SELECT escalation FROM grants WHERE used_by IS NULL AND voided_at IS NULL AND expires <= ?1)",
            (stamp(at),),
        ).rowcount
    )


def refused_anyway(connection: sqlite3.Connection, refused: Decided) -> None:
    """A call that people approved is refused for another reason: those who approved it can read so."""
    connection.execute(
        "UPDATE escalations SET note = ? WHERE tenant = ? AND tool = ? AND argument_digest = ? AND status = 'approved'",
        (
            f"made again and refused: {refused.reason} ({refused.receipt})",
            refused.tenant,
            refused.tool,
            refused.argument_digest,
        ),
    )


def _close(connection: sqlite3.Connection, escalation: str, status: str, note: str, at: datetime) -> None:
    connection.execute(
        "UPDATE escalations SET status = ?, note = ?, closed_at = ? WHERE id = ? AND status IN ('approved', 'expired')",
        (status, note, stamp(at), escalation),
    )


def _read(key: SubjectKey, name: str, content: str, seal: str) -> Grant | None:
    """The answer; None where its seal is not of this state folder's key, or it is another call's."""
    try:
        if not hmac.compare_digest(key.seal(content), seal):
            return None
        found = msgspec.json.decode(content, type=_Content)
    except (ValueError, msgspec.MsgspecError):
        return None
    if found.name != name:
        return None
    return Grant(
        id=found.id,
        escalation=found.escalation,
        approves=found.approves,
        binding=Binding(found.rows, found.facts, found.rules),
        by=found.by,
        expires=datetime.fromisoformat(found.expires),
    )
