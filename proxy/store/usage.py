"""What was used so far, from the rows that count: for a decision's snapshot, and again in its transaction."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from interceptors.chain import stamp
from interceptors.usage import (
    CapKey,
    CapUse,
    Charge,
    ConfirmationKey,
    GrantKey,
    GrantUse,
    IntentKey,
    IntentUse,
    OpenIntent,
    Usage,
    UsageKey,
)
from proxy.store import grants
from proxy.store.confirmations import asked

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from proxy.store.folder import SubjectKey

_SUMS = "SELECT currency, sum(units) FROM charges WHERE cap = ? AND time >= ? GROUP BY currency ORDER BY currency"
_ITEMS = "SELECT currency, units, counted FROM charges WHERE cap = ? AND time >= ? ORDER BY id"
_MADE = "SELECT count(*), max(settled_at) FILTER (WHERE state = 'executed') FROM reservations WHERE intent = ?"
_OPEN = "SELECT id, ordinal, terms FROM reservations WHERE intent = ? AND state IN ('held', 'unknown')"


def read_usages(connection: sqlite3.Connection, naming: SubjectKey, keys: Iterable[UsageKey]) -> dict[UsageKey, Usage]:
    """What counts under each key. Raises `sqlite3.Error`, also where a sum is past what an integer holds."""
    return {key: _read(connection, naming, key) for key in keys}


def _read(connection: sqlite3.Connection, naming: SubjectKey, key: UsageKey) -> Usage:
    if isinstance(key, IntentKey):
        return _intent(connection, naming.name(key.name), naming.name(key.terms))
    if isinstance(key, ConfirmationKey):
        return asked(connection, naming.name(key.name))
    if isinstance(key, GrantKey):
        return GrantUse(grants.find(connection, naming, naming.name(key.name)))
    return _cap(connection, naming.name(key.name), key)


def _cap(connection: sqlite3.Connection, name: str, key: CapKey) -> CapUse:
    since = "" if key.since is None else stamp(key.since)
    if key.itemised:
        return CapUse(tuple(Charge(*row) for row in connection.execute(_ITEMS, (name, since))))
    return CapUse(tuple(Charge(*row) for row in connection.execute(_SUMS, (name, since))))


def _intent(connection: sqlite3.Connection, name: str, terms: str) -> IntentUse:
    made, executed_at = connection.execute(_MADE, (name,)).fetchone()
    row = connection.execute(_OPEN, (name,)).fetchone()
    return IntentUse(
        made,
        None if executed_at is None else datetime.fromisoformat(executed_at),
        None if row is None else OpenIntent(row[0], row[1], row[2] == terms),
    )
