"""Changes of the policy that people proposed with their answers: kept for the policy's owner, never applied here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import sqlite3

    from proxy.store.transaction import Transaction

_COLUMNS = "escalation, proposed_by, approved, reason, revision, diff, sentences, findings, time"
_INSERT = f"INSERT OR REPLACE INTO proposals ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 # own names
_SHOW = f"SELECT {_COLUMNS} FROM proposals WHERE escalation = ?"  # noqa: S608 # own names
_NEWEST = f"SELECT {_COLUMNS} FROM proposals ORDER BY time DESC LIMIT ?"  # noqa: S608 # own names


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptProposal:
    """`revision` is the policy's that `diff` changes. `time` is UTC text."""

    escalation: str
    by: str
    approved: bool
    reason: str
    revision: str
    diff: str
    sentences: tuple[str, ...]
    findings: tuple[str, ...]
    time: str


def write(transaction: Transaction, made: KeptProposal) -> None:
    """Keep it; an earlier one of the same case gives way."""
    lists = (msgspec.json.encode(each).decode() for each in (made.sentences, made.findings))
    values = (made.escalation, made.by, int(made.approved), made.reason, made.revision, made.diff, *lists, made.time)
    transaction.connection.execute(_INSERT, values)


def show(connection: sqlite3.Connection, escalation: str) -> KeptProposal | None:
    row = connection.execute(_SHOW, (escalation,)).fetchone()
    return None if row is None else _proposal(row)


def newest(connection: sqlite3.Connection, limit: int) -> tuple[KeptProposal, ...]:
    return tuple(map(_proposal, connection.execute(_NEWEST, (limit,)).fetchall()))


def _proposal(row: tuple[str, ...]) -> KeptProposal:
    escalation, by, approved, reason, revision, diff, sentences, findings, time = row
    return KeptProposal(
        escalation=escalation,
        by=by,
        approved=bool(approved),
        reason=reason,
        revision=revision,
        diff=diff,
        sentences=msgspec.json.decode(sentences, type=tuple[str, ...]),
        findings=msgspec.json.decode(findings, type=tuple[str, ...]),
        time=time,
    )
