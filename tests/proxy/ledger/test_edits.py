"""Decisions about histories in the ledger's file: the first one holds, for its tenant alone, until it is removed."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from proxy.ledger.edits import Decision, EditVault, ResultEdit, Where
from proxy.ledger.schema import SCHEMA
from proxy.ledger.strongbox import LedgerError, Strongbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 30, tzinfo=UTC)
WHERE = Where("t", b"place", b"root", "s" * 64)
FIRST = Decision(1.0, (ResultEdit(2, "c", ("kept",), False, True, "pruned"),))


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Strongbox]:
    found = Strongbox(tmp_path, 100.0)
    yield found
    found.close()


def test_the_first_decision_holds(box: Strongbox) -> None:
    """Whoever comes second gets the first one's; another tenant's place is another."""
    vault = EditVault(box)
    assert vault.is_empty()
    assert vault.decide(WHERE, FIRST, NOW) == FIRST
    assert vault.decide(WHERE, Decision(9.0), NOW) == FIRST
    assert vault.find("t", [b"place", b"other"]) == {b"place": FIRST}
    assert vault.find("u", [b"place"]) == {}
    assert (vault.knows("t", b"root"), vault.knows("t", b"other"), vault.knows("u", b"root")) == (True, False, False)
    assert not vault.is_empty()


def test_what_was_read_is_not_asked_for_again_until_something_goes(tmp_path: Path, box: Strongbox) -> None:
    """What another process decided since is found; what it erased is not remembered."""
    one, other = EditVault(box), EditVault(Strongbox(tmp_path, 100.0))
    one.decide(WHERE, FIRST, NOW)
    assert one.find("t", [b"place", b"later"], b"root") == {b"place": FIRST}
    with patch.object(one._vault, "unseal", side_effect=AssertionError("read again")):
        assert one.find("t", [b"place", b"later"], b"root") == {b"place": FIRST}
    later = Where("t", b"later", b"root", "s" * 64)
    other.decide(later, Decision(2.0), NOW)
    assert one.find("t", [b"place", b"later"], b"root") == {b"place": FIRST, b"later": Decision(2.0)}
    assert one.find("u", [b"place", b"later"], b"root") == {}
    other._vault.erase("s" * 64)
    assert one.find("t", [b"place", b"later"], b"root") == {}
    other._vault.close()


def test_what_was_last_decided_of_a_result_is_recalled(box: Strongbox) -> None:
    """By its name, for its tenant, until its customer is erased; no place is found by it."""
    vault = EditVault(box)
    vault.decide(WHERE, FIRST, NOW, results={b"result": Decision(1.0)})
    vault.decide(Where("t", b"later", b"root", "s" * 64), Decision(2.0), NOW, results={b"result": FIRST})
    assert vault.recall("t", [b"result", b"other", b"place"]) == {b"result": FIRST}
    assert vault.recall("u", [b"result"]) == {}
    assert vault.find("t", [b"result"]) == {}
    box.erase("s" * 64)
    assert vault.recall("t", [b"result"]) == {}


def test_what_is_remembered_of_decisions_is_bounded(box: Strongbox) -> None:
    """In bytes; what went is read again."""
    vault = EditVault(box)
    with patch("proxy.ledger.edits_read.READ_BYTES_MAX", 2000):
        for number in range(20):
            vault.decide(Where("t", b"%d" % number, b"root", ""), Decision(float(number)), NOW)
            assert vault._read._bytes <= 2000
        places = [b"%d" % number for number in range(20)]
        assert len(vault.find("t", places, b"root")) == 20


def test_it_lives_as_long_as_it_is_needed(box: Strongbox) -> None:
    """Its time begins anew with each use; then it goes, and so does what an erased customer has."""
    vault = EditVault(box)
    vault.decide(WHERE, FIRST, NOW)
    vault.touch("t", [b"place"], NOW + timedelta(seconds=90))
    assert box.expire(NOW + timedelta(seconds=150)) == 0
    assert box.expire(NOW + timedelta(seconds=200)) == 1
    assert vault.is_empty()
    vault.decide(WHERE, FIRST, NOW)
    generation = box.generation()
    assert box.erase("s" * 64) == 1
    assert box.generation() != generation
    assert vault.find("t", [b"place"]) == {}


def test_what_is_kept_is_not_readable_in_the_file(tmp_path: Path, box: Strongbox) -> None:
    """Neither a text nor a name of a place; and a row that was moved to another place opens nothing there."""
    vault = EditVault(box)
    vault.decide(WHERE, FIRST, NOW)
    data = b"".join(path.read_bytes() for path in tmp_path.glob("ledger.db*"))
    assert b"kept" not in data
    assert b"place" + b"root" not in data
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        moved = box.digest(b"edits place", "t", b"other")
        connection.execute("UPDATE edits SET place = ?", (moved,))
    assert vault.find("t", [b"other"]) == {}


def test_a_file_that_fails_says_so(box: Strongbox) -> None:
    """The request that needs it waits."""
    vault = EditVault(box)
    with box.using() as connection:
        connection.execute("DROP TABLE edits")
    with pytest.raises(LedgerError):
        vault.find("t", [b"place"])
    assert "edits" in SCHEMA
