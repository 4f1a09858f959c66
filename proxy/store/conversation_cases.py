"""The signed cases that a conversation has had: a later one does not make an earlier one undone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from interceptors.chain import stamp

if TYPE_CHECKING:
    import sqlite3

KEPT_FOR: Final = timedelta(days=1)
"""Since the conversation last had the case."""
_SEEN = "SELECT word, seen FROM conversation_cases WHERE name = ? AND seen >= ? ORDER BY word"
_NOTE = (
    "INSERT INTO conversation_cases (name, word, seen) VALUES (?, ?, ?)"
    " ON CONFLICT (name, word) DO UPDATE SET seen = excluded.seen"
)
_FORGET = "DELETE FROM conversation_cases WHERE seen < ?"


def seen(connection: sqlite3.Connection, name: str, at: datetime) -> dict[str, datetime]:
    """The cases of this conversation, and when it last had each."""
    rows = connection.execute(_SEEN, (name, stamp(at - KEPT_FOR))).fetchall()
    return {word: datetime.fromisoformat(when) for word, when in rows}


def note(connection: sqlite3.Connection, name: str, word: str, at: datetime) -> None:
    """The conversation has this case now; what is too old is forgotten."""
    connection.execute(_FORGET, (stamp(at - KEPT_FOR),))
    connection.execute(_NOTE, (name, word, stamp(at)))
