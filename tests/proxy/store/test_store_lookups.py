"""Lookups: a question sees one moment, cannot write, is asked alone, and fails as the store does."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from proxy.store import StoreError
from proxy.store.errors import StateFolderError
from proxy.store.lookups import Lookups

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from proxy.store import Store


@pytest.fixture
def lookups(store: Store, state: Path) -> Iterator[Lookups]:
    """Beside a store that writes."""
    opened = Lookups(state)
    yield opened
    opened.close()


def marked(connection: sqlite3.Connection) -> int:
    (found,) = connection.execute("SELECT count(*) FROM meta WHERE name = 'mark'").fetchone()
    return int(found)


def mark(state: Path) -> None:
    with closing(sqlite3.connect(state / "callgate.db")) as other, other:
        other.execute("INSERT INTO meta VALUES ('mark', 'here')")


async def test_an_answer_is_of_one_moment(lookups: Lookups, state: Path) -> None:
    """What is committed while a question is asked is not seen by it, and is seen by the next one."""

    def question(connection: sqlite3.Connection) -> tuple[int, int]:
        before = marked(connection)
        mark(state)
        return before, marked(connection)

    assert await asyncio.to_thread(lookups.ask, question) == (0, 0)
    assert await asyncio.to_thread(lookups.ask, marked) == 1


async def test_a_question_cannot_write(lookups: Lookups, state: Path) -> None:
    """A statement that would change anything fails, and leaves the connection as good as before."""

    def write(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO meta VALUES ('mark', 'here')")

    with pytest.raises(StoreError, match="the store cannot be read: attempt to write a readonly database"):
        await asyncio.to_thread(lookups.ask, write)
    assert await asyncio.to_thread(lookups.ask, marked) == 0


async def test_an_error_of_the_question_is_its_own(lookups: Lookups, state: Path) -> None:
    """What the question raises passes as it is, and its moment ends: the next question sees what came after."""

    def broken(connection: sqlite3.Connection) -> None:
        assert marked(connection) == 0
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await asyncio.to_thread(lookups.ask, broken)
    await asyncio.to_thread(mark, state)
    assert await asyncio.to_thread(lookups.ask, marked) == 1


async def test_one_question_at_a_time(lookups: Lookups) -> None:
    """Threads that ask at once wait for each other: no two questions are ever open together."""
    inside, most = 0, 0
    gate = threading.Barrier(4, timeout=10)

    def question(connection: sqlite3.Connection) -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        for _ in range(50):
            marked(connection)
        inside -= 1
        return most

    def ask() -> int:
        gate.wait()
        return lookups.ask(question)

    assert await asyncio.gather(*(asyncio.to_thread(ask) for _ in range(4))) == [1, 1, 1, 1]


async def test_after_its_end_it_fails_as_the_store_does(lookups: Lookups) -> None:
    """A question to closed lookups is a `StoreError`; closing twice is none."""
    lookups.close()
    lookups.close()
    with pytest.raises(StoreError, match="the store cannot be read"):
        await asyncio.to_thread(lookups.ask, marked)


def test_without_a_database_there_is_nothing_to_ask(tmp_path: Path) -> None:
    """It never makes the database that it is to read."""
    with pytest.raises(StateFolderError, match="there is no database"):
        Lookups(tmp_path)
    assert list(tmp_path.iterdir()) == []
