"""Where hidden turns are kept: `STATE/ledger.db`, encrypted, expiring, erasable by subject, shared by processes.

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
from typing import TYPE_CHECKING

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from proxy.identity import state_key
from proxy.ledger.hidden import Hidden, from_bytes, to_bytes
from proxy.ledger.schema import SCHEMA
from proxy.store.connections import while_busy
from proxy.store.flags import shared_byte

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from proxy.ledger.outline import Place

_FILE = "ledger.db"
_KEY_FILE = "ledger.key"
_FLAG_FILE = "ledger.flag"
_NOTHING, _SOMETHING = 0, 1
_NONCE_BYTES = 12
_BUSY_MS = 5000
_PLACES_A_QUESTION = 500  # far below what any SQLite takes
VERSION = 1
_FIND = "SELECT place, id, sealed FROM hidden WHERE place IN (?) ORDER BY seq"
_FEW = 16
_FIND_FEW = f"SELECT place, id, sealed FROM hidden WHERE root = ? ORDER BY seq LIMIT {_FEW + 1}"  # noqa: S608 - own number
_PUT = (
    "INSERT INTO hidden (place, root, tenant, id, subject, expires, sealed) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (place, id) DO UPDATE SET expires = excluded.expires, sealed = excluded.sealed"
)


class LedgerError(Exception):
    """The ledger cannot be read or written. Conversations go on without it, by the rules for a lost one."""


class Vault:
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
            self._connection = sqlite3.connect(state / _FILE, isolation_level=None, check_same_thread=False)
            (state / _FILE).chmod(0o600)
            self._connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            # The busy timeout does not cover this statement.
            while_busy(lambda: self._connection.execute("PRAGMA journal_mode = WAL"), _BUSY_MS)
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA secure_delete = ON")
            self._connection.executescript(SCHEMA)
            self._check_version()
            with self._writing():
                self._look()
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(f"the ledger cannot be opened: {error}") from None

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            self._flag.close()

    def is_empty(self) -> bool:
        """Whether nothing is hidden in any conversation, in any process. It does not block.

        The byte is written under the database's write lock only, and set before the entry that it tells of.
        """
        return self._flag[0] == _NOTHING

    def knows(self, tenant: str, root: bytes) -> bool:
        """Whether a conversation of this tenant that began so may hide something."""
        with self.using() as connection:
            digest = self._digest(b"root", tenant, root)
            return connection.execute("SELECT 1 FROM hidden WHERE root = ? LIMIT 1", (digest,)).fetchone() is not None

    def generation(self) -> int:
        """Another number each time that anything was removed, by any process."""
        with self.using() as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def find(self, tenant: str, places: Sequence[Place], root: bytes | None = None) -> dict[Place, list[Hidden]]:
        """The entries of each place that has any, oldest first. What cannot be decrypted is not there.

        `root` is how their conversation begins: where few entries have it, no place need be named.
        """
        if root is not None and (few := self._few(tenant, set(places), root)) is not None:
            return few
        named = {self._digest(b"place", tenant, *place): place for place in places}
        found: dict[Place, list[Hidden]] = {}
        names = list(named)
        for first in range(0, len(names), _PLACES_A_QUESTION):
            some = names[first : first + _PLACES_A_QUESTION]
            asked = _FIND.replace("?", ",".join("?" * len(some)))
            with self.using() as connection:
                rows = connection.execute(asked, some).fetchall()
            for digest, id_, sealed in rows:
                if (hidden := self._open(digest, id_, sealed)) is not None:
                    found.setdefault(named[digest], []).append(hidden)
        return found

    def _few(self, tenant: str, places: set[Place], root: bytes) -> dict[Place, list[Hidden]] | None:
        """What begins so and stands at these places; None where too much begins so."""
        with self.using() as connection:
            rows = connection.execute(_FIND_FEW, (self._digest(b"root", tenant, root),)).fetchall()
        if len(rows) > _FEW:
            return None
        found: dict[Place, list[Hidden]] = {}
        for digest, id_, sealed in rows:
            hidden = self._open(digest, id_, sealed)
            if hidden is not None and (hidden.before, hidden.visible) in places:
                found.setdefault((hidden.before, hidden.visible), []).append(hidden)
        return found

    def put(self, tenant: str, subject: str, hidden: Hidden, now: datetime) -> None:
        """Keep an entry, durably."""
        place = self._digest(b"place", tenant, hidden.before, hidden.visible)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + self.cipher.encrypt(nonce, to_bytes(hidden), place + hidden.id.encode())
        row = (
            place,
            self._digest(b"root", tenant, hidden.root),
            self._digest(b"tenant", tenant),
            hidden.id,
            subject,
            now.timestamp() + self.seconds,
            sealed,
        )
        with self.using() as connection, self._writing():
            self._flag[0] = _SOMETHING
            connection.execute(_PUT, row)

    def forget(self, tenant: str, entries: Sequence[Hidden]) -> None:
        """Remove these entries."""
        rows = [(self._digest(b"place", tenant, each.before, each.visible), each.id) for each in entries]
        with self.using() as connection, self._writing():
            connection.executemany("DELETE FROM hidden WHERE place = ? AND id = ?", rows)
            self._look()

    def touch(self, tenant: str, entries: list[Hidden], now: datetime) -> None:
        """These entries were needed: their time begins anew. Written at most once in a tenth of it."""
        until = now.timestamp() + self.seconds
        rows = [
            (until, self._digest(b"place", tenant, each.before, each.visible), each.id, until - self.seconds / 10)
            for each in entries
        ]
        with self.using() as connection:
            stale = "SELECT 1 FROM hidden WHERE place = ? AND id = ? AND expires < ?"
            due = [row[:3] for row in rows if connection.execute(stale, row[1:]).fetchone()]
            for row in due:
                connection.execute("UPDATE hidden SET expires = ? WHERE place = ? AND id = ?", row)

    def erase(self, subject: str) -> int:
        """Remove every entry of a subject (its digest); how many."""
        cases = self.delete("DELETE FROM materials WHERE subject = ? AND subject <> ''", subject)
        return cases + self.delete("DELETE FROM hidden WHERE subject = ? AND subject <> ''", subject)

    def expire(self, now: datetime) -> int:
        """Remove what has outlived its time; how many."""
        cases = self.delete("DELETE FROM materials WHERE expires < ?", now.timestamp())
        return cases + self.delete("DELETE FROM hidden WHERE expires < ?", now.timestamp())

    def delete(self, statement: str, value: str | float) -> int:
        """Delete rows, and what the log holds of them; how many."""
        with self.using() as connection:
            with self._writing():
                removed = connection.execute(statement, (value,)).rowcount
                if removed:
                    (generation,) = connection.execute("PRAGMA user_version").fetchone()
                    connection.execute(f"PRAGMA user_version = {(generation + 1) % 2**31}")
                self._look()
            if removed:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return removed

    def _digest(self, domain: bytes, tenant: str, *parts: bytes) -> bytes:
        text = b"\0".join([domain, hashlib.sha256(tenant.encode()).digest(), *parts])
        return hmac.digest(self._key, text, hashlib.sha256)

    def _open(self, place: bytes, id_: str, sealed: bytes) -> Hidden | None:
        try:
            plain = self.cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place + id_.encode())
            return from_bytes(plain)
        except (InvalidTag, msgspec.MsgspecError, ValueError):
            return None

    @contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one at a time. Raises `LedgerError` for whatever fails of it."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise LedgerError(f"the ledger failed: {error}") from None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction that holds the write lock from its beginning."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _look(self) -> None:
        """Set the byte by what is there. Only under the write lock."""
        is_empty = self._connection.execute("SELECT 1 FROM hidden LIMIT 1").fetchone() is None
        self._flag[0] = _NOTHING if is_empty else _SOMETHING

    def _check_version(self) -> None:
        row = self._connection.execute("SELECT version FROM ledger").fetchone()
        if row is None:
            self._connection.execute("INSERT INTO ledger VALUES (?)", (VERSION,))
        elif row[0] > VERSION:
            raise LedgerError(f"{_FILE} was written by a newer version of callgate")


def new_hidden_id() -> str:
    """A mark: letters and digits, so that it may stand in a sealed signature."""
    return "hg" + secrets.token_hex(10)
