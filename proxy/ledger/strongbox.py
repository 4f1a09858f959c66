"""The file in which conversations are kept: `STATE/ledger.db`, encrypted, expiring, erasable by subject, shared by
processes.

It lies apart from the receipts: it alone holds what the provider wrote (guarantee G13), it lives shorter, and losing it
is survived. Keys of entries are keyed digests, so that the file does not tell who talked about what.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import threading
from contextlib import contextmanager
from enum import IntFlag
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from proxy.identity import state_key
from proxy.ledger.schema import SCHEMA
from proxy.store.connections import while_busy
from proxy.store.flags import shared_byte

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

FILE = "ledger.db"
_KEY_FILE = "ledger.key"
_FLAG_FILE = "ledger.flag"
_NONCE_BYTES = 12
_BUSY_MS = 5000
VERSION = 1
_TABLES = ("hidden", "edits", "notes", "items", "materials")


class Kept(IntFlag):
    """What the file may hold of conversations, as its shared byte says it. Earlier versions knew only `ANYTHING`."""

    ANYTHING = 1
    HIDDEN = 2
    EDITS = 4


_ANYTHING = Kept.ANYTHING.value  # asked with each request: a number, since flags are joined slowly
_OF_CONVERSATIONS = {"hidden": Kept.HIDDEN, "edits": Kept.EDITS}


class LedgerError(Exception):
    """The ledger cannot be read or written. What was hidden goes by the rules for a lost one; what was edited waits."""


class Strongbox:
    """One for the process; safe to use from several threads. Every method blocks: call it off the loop, but `is_empty`.

    `seconds` is how long an entry lives after it was last needed.
    """

    def __init__(self, state: Path, seconds: float) -> None:
        self.seconds = seconds
        self._key = state_key(state, _KEY_FILE)
        self.cipher = AESGCM(self._key)
        self._lock = threading.Lock()
        self._flag = shared_byte(state / _FLAG_FILE)
        try:
            self._connection = sqlite3.connect(state / FILE, isolation_level=None, check_same_thread=False)
            (state / FILE).chmod(0o600)
            self._connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            # The busy timeout does not cover this statement.
            while_busy(lambda: self._connection.execute("PRAGMA journal_mode = WAL"), _BUSY_MS)
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA secure_delete = ON")
            self._connection.executescript(SCHEMA)
            self._check_version()
            with self.writing():
                self._look()
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(f"the ledger cannot be opened: {error}") from None

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            self._flag.close()

    def is_empty(self, kept: Kept = Kept.HIDDEN) -> bool:
        """Whether nothing of that kind is kept of any conversation, in any process. It does not block.

        The byte is written under the database's write lock only, and set before the entry that it tells of.
        """
        return not self._flag[0] & (kept.value | _ANYTHING)

    def mark_used(self, kept: Kept) -> None:
        """Say that something of that kind is kept. Only under the write lock, ahead of what is."""
        self._flag[0] |= kept

    def generation(self) -> int:
        """Another number each time that anything was removed, by any process."""
        with self.using() as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def erase(self, subject: str) -> int:
        """Remove every entry of a subject (its digest); how many."""
        return self._delete_all("subject = ? AND subject <> ''", subject)

    def expire(self, now: datetime) -> int:
        """Remove what has outlived its time; how many."""
        return self._delete_all("expires < ?", now.timestamp())

    def delete(self, statement: str, value: str | float) -> int:
        """Delete rows, and what the log holds of them; how many."""
        with self.using() as connection:
            with self.writing():
                removed = connection.execute(statement, (value,)).rowcount
                if removed:
                    (generation,) = connection.execute("PRAGMA user_version").fetchone()
                    connection.execute(f"PRAGMA user_version = {(generation + 1) % 2**31}")
                self._look()
            if removed:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return removed

    def _delete_all(self, condition: str, value: str | float) -> int:
        statements = (f"DELETE FROM {table} WHERE {condition}" for table in _TABLES)  # noqa: S608 - own words
        return sum(self.delete(statement, value) for statement in statements)

    def digest(self, domain: bytes, tenant: str, *parts: bytes) -> bytes:
        """The name of something of a tenant."""
        text = b"\0".join([domain, hashlib.sha256(tenant.encode()).digest(), *parts])
        return hmac.digest(self._key, text, hashlib.sha256)

    def seal(self, name: bytes, plain: bytes) -> bytes:
        """Encrypted, and bound to its name."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self.cipher.encrypt(nonce, plain, name)

    def unseal(self, name: bytes, sealed: bytes) -> bytes | None:
        """None for what is not of this name or this key."""
        try:
            return self.cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], name)
        except (InvalidTag, ValueError):
            return None

    @contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise LedgerError(f"the ledger failed: {error}") from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction that holds the write lock from its beginning. Inside of `using`."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _look(self) -> None:
        """Set the byte by what is there. Only under the write lock."""
        found = Kept(0)
        for table, kept in _OF_CONVERSATIONS.items():
            asked = f"SELECT 1 FROM {table} LIMIT 1"  # noqa: S608 - own words
            if self._connection.execute(asked).fetchone() is not None:
                found |= kept
        self._flag[0] = found

    def _check_version(self) -> None:
        row = self._connection.execute("SELECT version FROM ledger").fetchone()
        if row is None:
            self._connection.execute("INSERT INTO ledger VALUES (?)", (VERSION,))
        elif row[0] > VERSION:
            raise LedgerError(f"{FILE} was written by a newer version of callgate")
