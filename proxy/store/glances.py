"""What the pages of the console ask of one connection: who waits, what calls hold, how many and how much.

Each question is bounded, whatever the store holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.kinds import MoneyState
from proxy.store.escalations import show

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from proxy.store.cases import Escalation

_OPEN = "SELECT id FROM escalations WHERE status = 'open' ORDER BY id LIMIT ?"
_COUNT = "SELECT count(*), min(created) FROM escalations WHERE status = 'open'"
_OF_RECEIPTS = (
    "SELECT releases.receipt, reservations.id, reservations.state FROM releases"
    " JOIN reservations ON reservations.id = releases.reservation WHERE releases.receipt IN ({})"
)


def waiting(connection: sqlite3.Connection, limit: int) -> tuple[Escalation, ...]:
    """The open cases, the oldest first: what a list of the newest would hide is what waits longest."""
    rows = connection.execute(_OPEN, (limit,)).fetchall()
    return tuple(case for (found,) in rows if (case := show(connection, found)) is not None)


def waiting_count(connection: sqlite3.Connection) -> int:
    count: int = connection.execute(_COUNT).fetchone()[0]
    return count


def waiting_since(connection: sqlite3.Connection) -> str | None:
    """When the oldest open case was opened; None where none is open."""
    since: str | None = connection.execute(_COUNT).fetchone()[1]
    return since


def reservations_of(connection: sqlite3.Connection, receipts: Sequence[str]) -> dict[str, tuple[str, MoneyState]]:
    """By receipt, the reservation that its call holds or was handed, and what became of it; at most a page of them."""
    marks = ", ".join("?" * len(receipts))
    rows = connection.execute(_OF_RECEIPTS.format(marks), tuple(receipts))
    return {receipt: (reservation, MoneyState(state)) for receipt, reservation, state in rows}
