"""The operator's halt: thrown and lifted in the chain, and looked at without a thread in between.

The look is one indexed read of a page that is in memory (about 3 us), shorter than any hand-over to a thread. It never
waits: where it cannot be had at once, it fails, and who asked must refuse.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from interceptors.chain import stamp
from interceptors.receipts import Halted, Resumed
from proxy.store.connections import open_reading
from proxy.store.entries import Halt
from proxy.store.errors import StoreError

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from proxy.store.transaction import Transaction

_IN_FORCE = "SELECT halted_by, reason, halted_at, receipt FROM halts WHERE resumed_at IS NULL ORDER BY id LIMIT 1"


class HaltLook:
    """Reads the halt fresh each time, whichever process threw it."""

    def __init__(self, state: Path) -> None:
        self._connection = open_reading(state, busy_timeout_ms=0)

    def is_halted(self) -> bool:
        """Raises `StoreError`."""
        try:
            return self._connection.execute(_IN_FORCE).fetchone() is not None
        except sqlite3.Error as error:
            raise StoreError(f"the halt cannot be read: {error}") from error

    def close(self) -> None:
        self._connection.close()


def in_force(connection: sqlite3.Connection) -> Halt | None:
    """The halt that stands, the first one where several were thrown."""
    row = connection.execute(_IN_FORCE).fetchone()
    return None if row is None else Halt(*row)


def halt(transaction: Transaction, *, by: str, reason: str, at: datetime, receipt: str) -> str:
    """Throw the halt. A second one is recorded too; one `resume` lifts all."""
    transaction.append(Halted(receipt=receipt, time=at, by=by, reason=reason))
    transaction.connection.execute(
        "INSERT INTO halts (halted_by, reason, halted_at, receipt) VALUES (?, ?, ?, ?)",
        (by, reason, stamp(at), receipt),
    )
    return receipt


def resume(transaction: Transaction, *, by: str, at: datetime, receipt: str) -> str | None:
    """Lift the halt; None where none is in force."""
    if not transaction.is_halted():
        return None
    transaction.append(Resumed(receipt=receipt, time=at, by=by))
    transaction.connection.execute(
        "UPDATE halts SET resumed_by = ?, resumed_at = ? WHERE resumed_at IS NULL", (by, stamp(at))
    )
    return receipt
