"""The operator's halt: thrown and lifted in the chain, and looked at without a thread or a system call in between.

One byte in the state folder, mapped into each process, says whether the database must be asked. It is set before the
transaction that throws the halt commits, and cleared only under the write lock, by one that began where no halt was
committed: while the halt is in force it is set. The look never waits: where it cannot be had at once, it fails, and who
asked must refuse.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from interceptors.chain import stamp
from interceptors.receipts import Halted, Resumed
from proxy.store.connections import open_reading
from proxy.store.entries import Halt
from proxy.store.errors import StoreError
from proxy.store.flags import shared_byte
from proxy.store.folder import HALT_FLAG

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from proxy.store.transaction import Transaction

_IN_FORCE = "SELECT halted_by, reason, halted_at, receipt FROM halts WHERE resumed_at IS NULL ORDER BY id LIMIT 1"
_CLEAR, _ASK = 0, 1


class HaltLook:
    """Reads the halt fresh each time, whichever process threw it."""

    def __init__(self, state: Path) -> None:
        """Raises `StoreError`."""
        self._flag = shared_byte(state / HALT_FLAG)
        self._flag[0] = _ASK  # what it says may be a backup's
        self._connection = open_reading(state)  # which may wait: another process may be recovering the log just now
        try:
            self._connection.execute("PRAGMA busy_timeout = 0")
        except sqlite3.Error as error:
            self._connection.close()
            raise StoreError(f"the halt cannot be read: {error}") from error

    def is_halted(self) -> bool:
        """Raises `StoreError`."""
        try:
            if self._flag[0] == _CLEAR:
                return False
            return self._connection.execute(_IN_FORCE).fetchone() is not None
        except (sqlite3.Error, ValueError) as error:
            raise StoreError(f"the halt cannot be read: {error}") from error

    def began(self, halted: bool) -> None:
        """A transaction began, and found this committed: under its lock nobody else can throw the halt."""
        if not halted:
            self._flag[0] = _CLEAR

    def halt(self, transaction: Transaction, *, by: str, reason: str, at: datetime, receipt: str) -> str:
        """Throw the halt. A second one is recorded too; one `resume` lifts all."""
        self._flag[0] = _ASK
        transaction.append(Halted(receipt=receipt, time=at, by=by, reason=reason))
        transaction.connection.execute(
            "INSERT INTO halts (halted_by, reason, halted_at, receipt) VALUES (?, ?, ?, ?)",
            (by, reason, stamp(at), receipt),
        )
        return receipt

    def close(self) -> None:
        self._connection.close()
        self._flag.close()


def in_force(connection: sqlite3.Connection) -> Halt | None:
    """The halt that stands, the first one where several were thrown."""
    row = connection.execute(_IN_FORCE).fetchone()
    return None if row is None else Halt(*row)


def resume(transaction: Transaction, *, by: str, at: datetime, receipt: str) -> str | None:
    """Lift the halt; None where none is in force."""
    if not transaction.is_halted():
        return None
    transaction.append(Resumed(receipt=receipt, time=at, by=by))
    transaction.connection.execute(
        "UPDATE halts SET resumed_by = ?, resumed_at = ? WHERE resumed_at IS NULL", (by, stamp(at))
    )
    return receipt
