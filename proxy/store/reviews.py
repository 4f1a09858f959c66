"""What people say of allowed writes that were picked for them: one of a hundred, by the random end of its receipt's id.

Nobody chooses which: an id is made by the gate, after the call was decided, and the same call is picked for everyone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from interceptors.chain import stamp

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from proxy.store.transaction import Transaction

PICKED_BELOW: Final = "0A8"
"""Ids whose last three characters sort below it are picked: 328 of 32768."""
SCANNED_MAX: Final = 100_000
"""So many of the newest records are looked through."""

_SAMPLE = (
    "SELECT records.receipt, records.time, payload, agrees, reviewer, note FROM"
    "  (SELECT id, receipt, time FROM records WHERE kind = 'decided' AND id > (SELECT max(id) FROM records) - ?1"
    "   AND substr(receipt, -3) < ?2) records"
    " JOIN payloads ON record = records.id LEFT JOIN reviews ON reviews.receipt = records.receipt"
    " WHERE json_extract(payload, '$.ruling') = 'allow' AND json_extract(payload, '$.is_write')"
)
_WAITING = f"{_SAMPLE} AND agrees IS NULL ORDER BY records.id DESC LIMIT ?3"
_COUNT = f"SELECT count(*) FROM ({_SAMPLE} AND agrees IS NULL)"  # noqa: S608 # own words
_ONE = (
    "SELECT kind FROM records JOIN payloads ON record = id WHERE receipt = ? AND kind = 'decided'"
    " AND json_extract(payload, '$.ruling') = 'allow' AND json_extract(payload, '$.is_write')"
)
_SAY = "INSERT INTO reviews (receipt, agrees, reviewer, note, time) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"


@dataclass(frozen=True, slots=True)
class Sampled:
    """A call that waits for a person's word; `payload` is that of its `decided` record, as JSON."""

    receipt: str
    time: str
    payload: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many words there are, and how many wait."""

    agreed: int
    disagreed: int
    waiting: int

    @property
    def share(self) -> float | None:
        """Of all words, those that agree; None before the first."""
        said = self.agreed + self.disagreed
        return self.agreed / said if said else None


def is_picked(receipt: str) -> bool:
    return receipt[-3:] < PICKED_BELOW


def sample(connection: sqlite3.Connection, limit: int) -> tuple[Sampled, ...]:
    """The newest picked calls that nobody said a word of."""
    rows = connection.execute(_WAITING, (SCANNED_MAX, PICKED_BELOW, limit)).fetchall()
    return tuple(Sampled(*row[:3]) for row in rows)


def agreement(connection: sqlite3.Connection) -> Agreement:
    said = dict(connection.execute("SELECT agrees, count(*) FROM reviews GROUP BY agrees").fetchall())
    (waiting,) = connection.execute(_COUNT, (SCANNED_MAX, PICKED_BELOW)).fetchone()
    return Agreement(said.get(1, 0), said.get(0, 0), waiting)


def say(transaction: Transaction, receipt: str, *, agrees: bool, by: str, note: str, at: datetime) -> bool:
    """A person's word on an allowed write that was picked; False where there is none such, or a word already."""
    connection = transaction.connection
    if not is_picked(receipt) or connection.execute(_ONE, (receipt,)).fetchone() is None:
        return False
    return connection.execute(_SAY, (receipt, int(agrees), by, note, stamp(at))).rowcount == 1
