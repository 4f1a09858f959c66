"""How the database is opened: the one place that names SQLite's settings."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from proxy.store.errors import StateFolderError, StoreError
from proxy.store.folder import DATABASE, SubjectKey
from proxy.store.migrations import check, known, migrate

Connect: TypeAlias = Callable[[Path], sqlite3.Connection]

BUSY_TIMEOUT_MS = 5_000
"""How long a transaction waits for another process's."""
_RETRY_SECONDS = 0.02
STATEMENTS_KEPT = 128
"""Compiled statements that a connection keeps: those of a transaction's rows, by their number, among them."""


def connect(path: Path) -> sqlite3.Connection:
    """A connection that any one thread at a time may use, in autocommit mode: transactions are begun by name."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS_KEPT)


def open_writing(state: Path, connect: Connect, busy_timeout_ms: int) -> sqlite3.Connection:
    """A connection whose commits are on the disk when they return. Raises `sqlite3.Error`."""
    connection = connect(state / DATABASE)
    try:
        connection.execute(f"PRAGMA busy_timeout = {busy_timeout_ms}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # an erased payload must not stay in free pages
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def open_reading(state: Path, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> sqlite3.Connection:
    """A connection that cannot write, to a database of this version's form. Raises `StoreError`."""
    path = state / DATABASE
    if not path.is_file():
        raise StateFolderError(f"there is no database {str(path)!r}")
    connection = connect(path)
    try:
        connection.execute(f"PRAGMA busy_timeout = {busy_timeout_ms}")
        connection.execute("PRAGMA query_only = ON")
        if check(connection, migrations := known()) < len(migrations):
            raise StateFolderError(f"the database {str(path)!r} is of an older form: start the gate on it once")
    except (sqlite3.Error, StoreError) as error:
        connection.close()
        raise _as_store_error(path, error) from error
    return connection


def prepare(state: Path, key: SubjectKey, connect: Connect, busy_timeout_ms: int) -> None:
    """Bring the database to this version's form and bind it to its key. Raises `StoreError`.

    SQLite's own wait does not cover the change of the journal mode, so the whole is tried until the time is up.
    """
    try:
        while_busy(lambda: _prepare_once(state, key, connect, busy_timeout_ms), busy_timeout_ms)
    except sqlite3.Error as error:
        raise _as_store_error(state / DATABASE, error) from error


def _prepare_once(state: Path, key: SubjectKey, connect: Connect, busy_timeout_ms: int) -> None:
    with contextlib.closing(open_writing(state, connect, busy_timeout_ms)) as connection:
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if journal != "wal":
            raise StateFolderError(f"the file system of {str(state)!r} cannot bear a write-ahead log ({journal!r})")
        migrate(connection, known())
        connection.execute("INSERT OR IGNORE INTO meta VALUES ('subject_key', ?)", (key.fingerprint,))
        (fingerprint,) = connection.execute("SELECT value FROM meta WHERE name = 'subject_key'").fetchone()
        if fingerprint != key.fingerprint:
            raise StateFolderError(f"the key in {str(state / 'keys')!r} is not the one of the database beside it")


def scrub(state: Path) -> bool:
    """Empty the write-ahead log, which holds pages as they were. False where a reader still needs them."""
    try:
        with contextlib.closing(connect(state / DATABASE)) as connection:
            connection.execute("PRAGMA busy_timeout = 1000")
            (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return bool(busy == 0)
    except sqlite3.Error:
        return False


def while_busy(work: Callable[[], object], busy_timeout_ms: int) -> None:
    """Do `work`, and again while another process holds the lock, until the time is up. Raises `sqlite3.Error`."""
    deadline = time.monotonic() + busy_timeout_ms / 1000
    while True:
        try:
            work()
        except sqlite3.Error as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
        else:
            return
        time.sleep(_RETRY_SECONDS)


def is_busy(error: BaseException) -> bool:
    """Whether another process held the lock for too long."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _as_store_error(path: Path, error: sqlite3.Error | StoreError) -> StoreError:
    if isinstance(error, StoreError):
        return error
    return StoreError(f"the database {str(path)!r} cannot be used: {error}")
