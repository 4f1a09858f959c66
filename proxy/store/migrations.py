"""Numbered changes of the database's form, each applied once, in order, under the write lock."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from proxy.store.errors import StateFolderError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Migration:
    """`name` is its file's, `0001_records`; a released one never changes."""

    number: int
    name: str
    statements: tuple[str, ...]


def known() -> tuple[Migration, ...]:
    """The migrations of this version, from the files beside this module."""
    files = sorted(
        (entry for entry in (resources.files("proxy.store") / "sql").iterdir() if entry.name.endswith(".sql")),
        key=lambda entry: entry.name,
    )
    found = []
    for number, entry in enumerate(files, start=1):
        name = entry.name.removesuffix(".sql")
        assert name.startswith(f"{number:04}_"), f"migration {name} is not number {number}"
        found.append(Migration(number, name, tuple(_statements(entry.read_text(encoding="utf-8")))))
    return tuple(found)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Bring the database to the last of `migrations`; else raise `StateFolderError` or `sqlite3.Error`, unchanged."""
    if applied(connection) == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT"
        )
        done = check(connection, migrations)
        for migration in migrations[done:]:
            for statement in migration.statements:
                connection.execute(statement)
            connection.execute("INSERT INTO migrations VALUES (?, ?)", (migration.number, migration.name))
        connection.execute("COMMIT")
    except (sqlite3.Error, StateFolderError):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def applied(connection: sqlite3.Connection) -> int:
    """How many migrations the database has seen; 0 for one without any table of ours."""
    if (
        connection.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").fetchone()
        is None
    ):
        return 0
    count: int = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()[0]
    return count


def check(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> int:
    """How many are applied. Raises `StateFolderError` where a newer version has written the database."""
    done = applied(connection)
    if done > len(migrations):
        raise StateFolderError(
            f"the database was written by a newer version (form {done}; this version knows {len(migrations)}): "
            "use that version or another state folder"
        )
    return done


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.split("\n"):
        if not statement and (not line.strip() or line.startswith("--")):
            continue
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
    assert not statement, f"an unfinished statement: {statement!r}"
