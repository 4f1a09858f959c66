"""The vault: nothing of it can be read in its file, it forgets in time and when told to, and processes share it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.ledger.hidden import Hidden, Refusal, from_bytes, to_bytes
from proxy.ledger.vault import LedgerError, Vault, new_hidden_id
from proxy.wire.transcript import HiddenResult

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECONDS = 30 * 86400.0
SECRET = b"my card is 4111 1111 1111 1111"


def hidden(number: int = 0, **changes: object) -> Hidden:
    made = Hidden(
        f"hg{number:020x}",
        b"r" * 32,
        b"b" * 32,
        b"v" * 32,
        (b'{"role":"assistant","content":"%s"}' % SECRET,),
        (HiddenResult("call_1", "tool", "function", '{"isError":true}'),),
        ("call_1",),
        (Refusal("tool", "digest", "no_read"),),
        ("call_1",),
    )
    return replace(made, **changes)  # type: ignore[arg-type] # of its own fields


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def vault(state: Path) -> Iterator[Vault]:
    with contextlib.closing(Vault(state, SECONDS)) as opened:
        yield opened


def found(vault: Vault, tenant: str = "t", one: Hidden | None = None) -> list[Hidden]:
    one = one or hidden()
    place = one.before, one.visible
    return vault.find(tenant, [(b"other", b""), place]).get(place, [])


def test_what_is_put_is_found(vault: Vault) -> None:
    """By tenant, place and visible turn, all of them, and as it was."""
    vault.put("t", "", hidden(), NOW)
    assert found(vault) == [hidden()]
    assert vault.knows("t", hidden().root)
    for other in (hidden(before=b"x" * 32), hidden(visible=b"x" * 32)):
        assert found(vault, one=other) == []


def test_a_tenant_finds_its_own_only(vault: Vault) -> None:
    """The same place of the same conversation, said to another tenant."""
    vault.put("t", "", hidden(), NOW)
    assert found(vault, "u") == []
    assert not vault.knows("u", hidden().root)
    vault.put("u", "", hidden(1), NOW)
    assert found(vault) == [hidden()]
    assert found(vault, "u") == [hidden(1)]


def test_the_first_that_was_kept_comes_first(vault: Vault) -> None:
    """Whatever their ids: later ones must change nothing for requests that took the first."""
    numbers = [7, 3, 9, 1]
    for number in numbers:
        vault.put("t", "", hidden(number), NOW)
    assert [one.id for one in found(vault)] == [hidden(number).id for number in numbers]


def test_nothing_can_be_read_in_the_files(vault: Vault, state: Path) -> None:
    """No word of a turn, no name of a tool or a tenant, in the database or its log; only the owner may open them."""
    vault.put("the-tenant", "the-subject-digest", hidden(), NOW)
    for path in state.glob("ledger.*"):
        data = path.read_bytes()
        for word in (SECRET, b"4111", b"call_1", b"tool", b"no_read", b"the-tenant", b"assistant"):
            assert path.name.endswith((".key", ".flag")) or word not in data.replace(b"(tenant", b"").replace(
                b"tenant BLOB", b""
            ), (path, word)
        assert path.stat().st_mode & 0o077 == 0


def test_what_was_erased_is_in_no_file(vault: Vault, state: Path) -> None:
    """The rows of one subject go, the others stay, and no page keeps what was in them."""
    vault.put("t", "ada", hidden(1), NOW)
    vault.put("t", "bob", hidden(2), NOW)
    with contextlib.closing(sqlite3.connect(state / "ledger.db")) as connection:
        (sealed,) = connection.execute("SELECT sealed FROM hidden WHERE subject = 'ada'").fetchone()
    assert vault.erase("ada") == 1
    assert [one.id for one in found(vault)] == [hidden(2).id]
    assert all(sealed not in path.read_bytes() for path in state.glob("ledger.db*"))
    assert vault.erase("") == 0


def test_an_entry_outlives_its_last_use_by_its_time(vault: Vault) -> None:
    """`retain: ledger` counts from when a turn was last needed; then it is gone."""
    vault.put("t", "", hidden(1), NOW)
    vault.put("t", "", hidden(2), NOW)
    later = NOW + timedelta(seconds=SECONDS * 0.9)
    vault.touch("t", [hidden(1)], later)
    assert vault.expire(NOW + timedelta(seconds=SECONDS + 1)) == 1
    assert [one.id for one in found(vault)] == [hidden(1).id]
    assert vault.expire(later + timedelta(seconds=SECONDS + 1)) == 1
    assert vault.is_empty()


def test_a_touch_is_written_seldom(vault: Vault, state: Path) -> None:
    """A conversation that goes on every second writes nothing each time."""
    vault.put("t", "", hidden(), NOW)
    query = "SELECT expires FROM hidden"
    with contextlib.closing(sqlite3.connect(state / "ledger.db")) as connection:
        vault.touch("t", [hidden()], NOW + timedelta(seconds=SECONDS * 0.05))
        assert connection.execute(query).fetchone() == (NOW.timestamp() + SECONDS,)
        vault.touch("t", [hidden()], NOW + timedelta(seconds=SECONDS * 0.2))
        assert connection.execute(query).fetchone() == (NOW.timestamp() + SECONDS * 1.2,)


def test_it_is_empty_only_where_nothing_is_hidden(state: Path) -> None:
    """Across openings and across what two of them do, in any order."""
    with contextlib.closing(Vault(state, SECONDS)) as first, contextlib.closing(Vault(state, SECONDS)) as second:
        assert first.is_empty()
        second.put("t", "ada", hidden(), NOW)
        assert (first.is_empty(), second.is_empty()) == (False, False)
        first.put("t", "bob", hidden(1), NOW)
        assert second.erase("ada") == 1
        assert (first.is_empty(), second.is_empty()) == (False, False)
        assert first.erase("bob") == 1
        assert (first.is_empty(), second.is_empty()) == (True, True)
        second.put("t", "", hidden(), NOW)
    with contextlib.closing(Vault(state, SECONDS)) as third:
        assert not third.is_empty()


def _put_many(folder: str, first: int, count: int) -> None:
    with contextlib.closing(Vault(Path(folder), SECONDS)) as vault:
        for number in range(first, first + count):
            vault.put("t", "", hidden(number), NOW)
            assert not vault.is_empty()


def test_two_processes_on_one_folder(state: Path) -> None:
    """Both write at once: nothing is lost, each finds the other's, and neither ever says that there is nothing."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_put_many, args=(str(state), first, 60)) for first in (0, 1000)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    with contextlib.closing(Vault(state, SECONDS)) as vault:
        assert len(found(vault)) == 120
        assert not vault.is_empty()


def test_a_lost_file_is_an_empty_ledger(state: Path) -> None:
    """It lies apart, so that losing it is survived: what opens next begins anew."""
    with contextlib.closing(Vault(state, SECONDS)) as vault:
        vault.put("t", "", hidden(), NOW)
    for path in state.glob("ledger.db*"):
        path.unlink()
    with contextlib.closing(Vault(state, SECONDS)) as vault:
        assert vault.is_empty()
        assert found(vault) == []


def test_a_lost_key_loses_what_was_kept(state: Path) -> None:
    """Without its key nothing can be read, and nothing breaks."""
    with contextlib.closing(Vault(state, SECONDS)) as vault:
        vault.put("t", "", hidden(), NOW)
    next(state.glob("**/ledger.key")).unlink()
    with contextlib.closing(Vault(state, SECONDS)) as vault:
        assert found(vault) == []
        assert not vault.knows("t", hidden().root)
        vault.put("t", "", hidden(1), NOW)
        assert found(vault) == [hidden(1)]


@pytest.mark.parametrize("sealed", [b"", b"x", b"x" * 12, b"x" * 200, None])
def test_a_row_that_was_changed_is_not_there(vault: Vault, state: Path, sealed: bytes | None) -> None:
    """Cut, overwritten, or another row's: what cannot be decrypted at its own place is as if it were lost."""
    vault.put("t", "", hidden(1), NOW)
    other = hidden(2, before=b"c" * 32)
    vault.put("t", "", other, NOW)
    with contextlib.closing(sqlite3.connect(state / "ledger.db")) as connection, connection:
        if sealed is None:
            (sealed,) = connection.execute("SELECT sealed FROM hidden WHERE id = ?", (other.id,)).fetchone()
        connection.execute("UPDATE hidden SET sealed = ? WHERE id = ?", (sealed, hidden(1).id))
    assert found(vault) == []
    assert found(vault, one=other) == [other]


def test_a_file_that_is_none_is_an_error_that_says_so(state: Path) -> None:
    """At the start of the process: an operator decides what to do with it."""
    (state / "ledger.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(LedgerError, match="the ledger cannot be opened"):
        Vault(state, SECONDS)


def test_a_newer_versions_file_is_refused(state: Path) -> None:
    """It may mean other things by its rows."""
    with contextlib.closing(Vault(state, SECONDS)):
        pass
    with contextlib.closing(sqlite3.connect(state / "ledger.db")) as connection, connection:
        connection.execute("UPDATE ledger SET version = 99")
    with pytest.raises(LedgerError, match="newer version"):
        Vault(state, SECONDS)


def test_a_vault_that_fails_says_so(vault: Vault) -> None:
    """Every failure of the database is the one error that callers know."""
    vault._connection.close()
    for act in (
        lambda: vault.knows("t", b""),
        lambda: vault.find("t", [(b"", b"")]),
        lambda: vault.put("t", "", hidden(), NOW),
        lambda: vault.touch("t", [hidden()], NOW),
        lambda: vault.erase("s"),
        lambda: vault.expire(NOW),
    ):
        with pytest.raises(LedgerError):
            act()


texts = st.text(max_size=20)


@given(
    st.builds(
        Hidden,
        st.just(new_hidden_id()),
        st.binary(max_size=32),
        st.binary(max_size=32),
        st.binary(max_size=32),
        st.lists(st.binary(max_size=50), max_size=4).map(tuple),
        st.lists(st.builds(HiddenResult, texts, texts, texts, texts, texts), max_size=3).map(tuple),
        st.lists(texts, max_size=3).map(tuple),
        st.lists(st.builds(Refusal, texts, texts, texts), max_size=3).map(tuple),
        st.lists(texts, max_size=3).map(tuple),
        texts,
    )
)
def test_an_entry_survives_its_bytes(entry: Hidden) -> None:
    """Whatever stands in it."""
    assert from_bytes(to_bytes(entry)) == entry


OPENER = """
import sys
from pathlib import Path
from proxy.ledger.vault import Vault
for _ in range(3):
    Vault(Path(sys.argv[1]), 60.0).close()
"""


def test_processes_open_a_fresh_folder_at_once(state: Path, root: Path) -> None:
    """Whoever comes while another makes the file waits for it, and opens the same ledger."""
    command = [sys.executable, "-c", OPENER, str(state)]
    opened = [subprocess.Popen(command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}) for _ in range(4)]
    assert [each.wait(60) for each in opened] == [0, 0, 0, 0]
