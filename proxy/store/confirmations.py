"""Questions that wait for a customer's yes: noted with the receipt of the refusal, taken with that of the release."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from interceptors.chain import stamp
from interceptors.confirmation import CONFIRMED_FOR
from interceptors.usage import ConfirmationUse

if TYPE_CHECKING:
    import sqlite3

_ASK = (
    "INSERT INTO confirmations (name, asked_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET asked_at ="
    " excluded.asked_at"
)
_TAKE = "DELETE FROM confirmations WHERE name = ? AND asked_at = ?"
_FORGET = "DELETE FROM confirmations WHERE asked_at < ?"
_OPEN = "SELECT asked_at FROM confirmations WHERE name = ?"


def ask(connection: sqlite3.Connection, name: str, at: datetime) -> None:
    """Note that the question is asked now, and forget those that nobody can answer any more."""
    forget(connection, at)
    connection.execute(_ASK, (name, stamp(at)))


def forget(connection: sqlite3.Connection, at: datetime) -> None:
    """Forget the questions that are too old to be answered."""
    connection.execute(_FORGET, (stamp(at - CONFIRMED_FOR),))


def take(connection: sqlite3.Connection, name: str, asked_at: datetime) -> bool:
    """Take the question that was asked then; False where it is gone, or was asked again since."""
    return connection.execute(_TAKE, (name, stamp(asked_at))).rowcount == 1


def asked(connection: sqlite3.Connection, name: str) -> ConfirmationUse:
    row = connection.execute(_OPEN, (name,)).fetchone()
    return ConfirmationUse(None if row is None else datetime.fromisoformat(row[0]))
