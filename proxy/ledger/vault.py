"""Where hidden turns are kept: `STATE/ledger.db`, encrypted, expiring, erasable by subject, shared by processes.

It lies apart from the receipts: it alone holds what the provider wrote (guarantee G13), it lives shorter, and losing it
is survived. Keys of entries are keyed digests, so that the file does not tell who talked about what.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from proxy.ledger.hidden import Hidden, from_bytes, to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

_FILE = "ledger.db"
_KEY_FILE = "ledger.key"
_KEY_BYTES = 32
_NONCE_BYTES = 12
_BUSY_MS = 5000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger (version INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS hidden (
    place BLOB NOT NULL, root BLOB NOT NULL, tenant BLOB NOT NULL, id TEXT NOT NULL, subject TEXT NOT NULL,
    expires REAL NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (place, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hidden_root ON hidden (root);
CREATE INDEX IF NOT EXISTS hidden_subject ON hidden (subject) WHERE subject <> '';
CREATE INDEX IF NOT EXISTS hidden_expires ON hidden (expires);
"""
VERSION = 1


class LedgerError(Exception):
    """The ledger cannot be read or written. Conversations go on without it, by the rules for a lost one."""


class Vault:
    """One for the process; safe to use from several threads. Every method blocks: call it off the loop, but `is_empty`.

    `seconds` is how long an entry lives after it was last needed.
    """

    def __init__(self, state: Path, seconds: float) -> None:
        self._seconds = seconds
        self._key = _key(state)
        self._cipher = AESGCM(self._key)
        self._lock = threading.Lock()
        self._empty: tuple[int, bool] | None = None
        try:
            self._connection = sqlite3.connect(state / _FILE, isolation_level=None, check_same_thread=False)
            (state / _FILE).chmod(0o600)
            self._connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA secure_delete = ON")
            self._connection.executescript(_SCHEMA)
            self._check_version()
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(f"the ledger cannot be opened: {error}") from None

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def is_empty(self) -> bool:
        """Whether nothing is hidden in any conversation. Cheap, and true for other processes' entries too."""
        with self._using() as connection:
            (seen,) = connection.execute("PRAGMA data_version").fetchone()
            if self._empty is None or self._empty[0] != seen:
                self._empty = seen, connection.execute("SELECT 1 FROM hidden LIMIT 1").fetchone() is None
            return self._empty[1]

    def knows(self, tenant: str, root: bytes) -> bool:
        """Whether a conversation of this tenant that began so may hide something."""
        with self._using() as connection:
            digest = self._digest(b"root", tenant, root)
            return connection.execute("SELECT 1 FROM hidden WHERE root = ? LIMIT 1", (digest,)).fetchone() is not None

    def find(self, tenant: str, before: bytes, visible: bytes) -> list[Hidden]:
        """The entries of one place, oldest first. What cannot be decrypted is not there."""
        place = self._digest(b"place", tenant, before, visible)
        with self._using() as connection:
            rows = connection.execute("SELECT id, sealed FROM hidden WHERE place = ? ORDER BY id", (place,)).fetchall()
        return [hidden for id_, sealed in rows if (hidden := self._open(place, id_, sealed)) is not None]

    def put(self, tenant: str, subject: str, hidden: Hidden, now: datetime) -> None:
        """Keep an entry, durably."""
        place = self._digest(b"place", tenant, hidden.before, hidden.visible)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + self._cipher.encrypt(nonce, to_bytes(hidden), place + hidden.id.encode())
        row = (
            place,
            self._digest(b"root", tenant, hidden.root),
            self._digest(b"tenant", tenant),
            hidden.id,
            subject,
            now.timestamp() + self._seconds,
            sealed,
        )
        with self._using() as connection:
            connection.execute("INSERT OR REPLACE INTO hidden VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._empty = None

    def touch(self, tenant: str, entries: list[Hidden], now: datetime) -> None:
        """These entries were needed: their time begins anew. Written at most once in a tenth of it."""
        until = now.timestamp() + self._seconds
        rows = [
            (until, self._digest(b"place", tenant, each.before, each.visible), each.id, until - self._seconds / 10)
            for each in entries
        ]
        with self._using() as connection:
            stale = "SELECT 1 FROM hidden WHERE place = ? AND id = ? AND expires < ?"
            due = [row[:3] for row in rows if connection.execute(stale, row[1:]).fetchone()]
            for row in due:
                connection.execute("UPDATE hidden SET expires = ? WHERE place = ? AND id = ?", row)

    def erase(self, subject: str) -> int:
        """Remove every entry of a subject (its digest); how many."""
        return self._delete("DELETE FROM hidden WHERE subject = ? AND subject <> ''", subject)

    def expire(self, now: datetime) -> int:
        """Remove what has outlived its time; how many."""
        return self._delete("DELETE FROM hidden WHERE expires < ?", now.timestamp())

    def _delete(self, statement: str, value: str | float) -> int:
        with self._using() as connection:
            removed = connection.execute(statement, (value,)).rowcount
            if removed:
                self._empty = None
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return removed

    def _digest(self, domain: bytes, tenant: str, *parts: bytes) -> bytes:
        text = b"\0".join([domain, hashlib.sha256(tenant.encode()).digest(), *parts])
        return hmac.digest(self._key, text, hashlib.sha256)

    def _open(self, place: bytes, id_: str, sealed: bytes) -> Hidden | None:
        try:
            plain = self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place + id_.encode())
            return from_bytes(plain)
        except (InvalidTag, msgspec.MsgspecError, ValueError):
            return None

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise LedgerError(f"the ledger failed: {error}") from None

    def _check_version(self) -> None:
        row = self._connection.execute("SELECT version FROM ledger").fetchone()
        if row is None:
            self._connection.execute("INSERT INTO ledger VALUES (?)", (VERSION,))
        elif row[0] > VERSION:
            raise LedgerError(f"{_FILE} was written by a newer version of callgate")


def _key(state: Path) -> bytes:
    """The key of the ledger, made at first use (0600). It lies outside the database, in `STATE/keys`."""
    folder = state / "keys"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / _KEY_FILE
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    else:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise LedgerError(f"{path.name!r} in the state folder does not hold a key of {_KEY_BYTES} bytes")
    return key


def new_hidden_id() -> str:
    """A mark: letters and digits, so that it may stand in a sealed signature."""
    return "hg" + secrets.token_hex(10)
