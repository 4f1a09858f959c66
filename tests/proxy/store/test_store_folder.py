"""The state folder, its key and its database's form: what is refused, and that every refusal says what to do."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import stat
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from proxy.store import (
    StateFolderError,
    StoreError,
    folder,
    migrations,
    new_escalation_id,
    new_receipt_id,
    open_reader,
    open_store,
)
from proxy.store.ids import new_writer_id
from proxy.store.migrations import known
from tests.proxy.store.samples import NOW, Faults

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.store import Store


def _close(store: Store) -> None:
    """Off the loop, as a command would."""
    asyncio.run(store.close())


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_can_use_what_is_made(state: Path) -> None:
    """The folder and its keys' folder are 0700, the database, its log and the key 0600, whatever the umask says."""
    _close(open_store(state))

    assert (_mode(state), _mode(state / "keys")) == (0o700, 0o700)
    assert (_mode(state / "callgate.db"), _mode(state / "keys" / "subject.key")) == (0o600, 0o600)


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
@pytest.mark.parametrize("name", [".", "callgate.db"])
def test_what_others_can_write_is_refused(state: Path, mode: int, name: str) -> None:
    """A folder or database that group or world can write is refused for writing and for reading, by name."""
    _close(open_store(state))
    (state / name).chmod(mode)

    for opening in (open_store, open_reader):
        with pytest.raises(StateFolderError, match=r"can write .*chmod go-w"):
            opening(state)


def test_a_key_that_others_can_read_is_refused(state: Path) -> None:
    """The key of subjects is for the owner alone."""
    _close(open_store(state))
    (state / "keys" / "subject.key").chmod(0o640)

    with pytest.raises(StateFolderError, match=r"others can use the key .*0600"):
        open_store(state)


def test_a_lost_key_is_not_replaced_in_silence(state: Path) -> None:
    """A database whose key was lost is refused: under another key no subject in it could be found again."""
    _close(open_store(state))
    (state / "keys" / "subject.key").unlink()

    with pytest.raises(StateFolderError, match="is not the one of the database"):
        open_store(state)


def test_a_database_of_a_newer_version_is_refused(state: Path) -> None:
    """What a newer version wrote is neither read nor written, and the message says so."""
    _close(open_store(state))
    with contextlib.closing(sqlite3.connect(state / "callgate.db")) as connection, connection:
        connection.execute("INSERT INTO migrations VALUES (99, '0099_later')")

    for opening in (open_store, open_reader):
        with pytest.raises(
            StateFolderError,
            match=f"was written by a newer version \\(form 99; this version knows {len(known())}\\)",
        ):
            opening(state)


def test_a_file_that_is_no_database_is_refused(state: Path) -> None:
    """Whatever lies in the database's place, opening it is a `StoreError`."""
    state.mkdir(mode=0o700)
    (state / "callgate.db").write_bytes(b"no database" * 1000)
    (state / "callgate.db").chmod(0o600)

    with pytest.raises(StoreError, match="file is not a database"):
        open_store(state)


def test_migrations_are_numbered_and_recorded(state: Path) -> None:
    """Each migration is applied once, in order, and the database says which."""
    _close(open_store(state))
    _close(open_store(state))
    with contextlib.closing(sqlite3.connect(state / "callgate.db")) as connection:
        rows = connection.execute("SELECT number, name FROM migrations").fetchall()

    assert rows == [(each.number, each.name) for each in migrations.known()]
    assert [each.number for each in migrations.known()] == list(range(1, len(rows) + 1))


def test_a_migration_is_whole_or_not_at_all(tmp_path: Path) -> None:
    """A migration whose second statement fails leaves neither its first nor an open transaction."""
    broken = migrations.Migration(1, "0001_broken", ("CREATE TABLE first (a TEXT)", "nonsense"))
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError):
            migrations.migrate(connection, [broken])

        assert not connection.in_transaction
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == []


def test_of_two_makers_of_a_key_one_wins(tmp_path: Path) -> None:
    """A key that another process placed in between stays; the later one leaves no draft behind."""
    path = tmp_path / "subject.key"
    folder._place(path, b"first")
    folder._place(path, b"second")

    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_migration_changes_nothing(state: Path) -> None:
    """Where a statement of the opening fails, for every n, the next opening finds a database it can use."""
    n, is_hit = 0, True
    while is_hit:
        n += 1
        fresh = state.parent / f"state-{n}"
        faults = Faults()
        faults.fail_at = n
        try:
            _close(open_store(fresh, connect=faults.connect, busy_timeout_ms=50))
            is_hit = False
        except StoreError:
            pass
        _close(open_store(fresh))
    assert n > 20


def test_a_reader_makes_nothing(state: Path) -> None:
    """Asking a folder that is not there is an error, and leaves none behind."""
    with pytest.raises(StateFolderError, match="there is no state folder"):
        open_reader(state)
    state.mkdir(mode=0o700)
    with pytest.raises(StateFolderError):
        open_reader(state)

    assert list(state.iterdir()) == []


def test_ids_sort_by_time_and_do_not_repeat() -> None:
    """26 Crockford characters behind the prefix; an id of a later millisecond sorts behind; 1000 at once all differ."""
    ids = [new_receipt_id(NOW) for _ in range(1000)]
    alphabet = set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    assert len(set(ids)) == 1000
    for one in (*ids, new_escalation_id(NOW), new_writer_id()):
        prefix, _, body = one.partition("_")
        assert (prefix in ("rc", "esc", "w"), len(body), set(body) <= alphabet) == (True, 26, True)
    assert max(ids) < new_receipt_id(NOW + timedelta(milliseconds=1))
