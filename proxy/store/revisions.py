"""The texts of the policies that decided here, so that a page can say what changed since the last one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from interceptors.chain import stamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import datetime

    from proxy.store.transaction import Transaction

KEPT_MAX: Final = 50

_NEWEST = "SELECT revision, policy, files, time FROM revisions ORDER BY id DESC LIMIT ?"
_FIND = "SELECT revision, policy, files, time FROM revisions WHERE revision = ? ORDER BY id DESC LIMIT 1"
_INSERT = "INSERT INTO revisions (revision, policy, files, time) VALUES (?, ?, ?, ?)"
_FORGET = "DELETE FROM revisions WHERE id <= (SELECT max(id) FROM revisions) - ?"


@dataclass(frozen=True, slots=True)
class KeptRevision:
    """`files` are texts by name. `time` is UTC text: when it came into force here."""

    revision: str
    policy: str
    files: Mapping[str, str]
    time: str


def keep(transaction: Transaction, revision: str, policy: str, files: Mapping[str, str], at: datetime) -> None:
    """Note a revision, unless it is the last that was noted; of too many the oldest goes."""
    connection = transaction.connection
    last = connection.execute(_NEWEST, (1,)).fetchone()
    if last is None or last[0] != revision:
        connection.execute(_INSERT, (revision, policy, msgspec.json.encode(dict(files)).decode(), stamp(at)))
        connection.execute(_FORGET, (KEPT_MAX,))


def find(connection: sqlite3.Connection, revision: str) -> KeptRevision | None:
    """A revision as it was kept last."""
    row = connection.execute(_FIND, (revision,)).fetchone()
    return None if row is None else _revision(row)


def newest(connection: sqlite3.Connection, limit: int) -> tuple[KeptRevision, ...]:
    """The newest revisions first."""
    rows = connection.execute(_NEWEST, (limit,)).fetchall()
    return tuple(map(_revision, rows))


def _revision(row: tuple[str, str, str, str]) -> KeptRevision:
    revision, policy, files, time = row
    return KeptRevision(revision, policy, msgspec.json.decode(files, type=dict[str, str]), time)
