"""The byte that spares a question: while the halt is in force it never says that there is none."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.store import Entry, StateFolderError, StoreError, open_store
from proxy.store.folder import DATABASE, HALT_FLAG
from proxy.store.halts import HaltLook
from tests.proxy.store.samples import NOW, Faults, decided

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.store import Store

CLEAR, ASK = b"\0", b"\1"


async def _open(state: Path, faults: Faults | None = None) -> Store:
    connect = (faults or Faults()).connect
    return await asyncio.to_thread(lambda: open_store(state, connect=connect))


async def test_without_a_halt_the_database_is_not_asked(state: Path) -> None:
    """After the first commit the look reads one byte: with the connection closed it still answers."""
    async with await _open(state) as store:
        await store.commit([Entry(decided())])
        store._look._connection.close()

        assert (state / HALT_FLAG).read_bytes() == CLEAR
        assert store.is_halted() is False


async def test_a_halt_of_another_process_is_seen_through_a_clear_byte(state: Path) -> None:
    """The byte is shared: who looked at it a moment ago and found it clear sees the halt as soon as it is thrown."""
    async with await _open(state) as one, await _open(state) as other:
        for store in (one, other):
            await store.commit([Entry(decided())])
            assert store.is_halted() is False

        await other.halt(by="anna", reason="", at=NOW)

        assert (one.is_halted(), other.is_halted()) == (True, True)
        await one.commit([Entry(decided())])
        assert one.is_halted() is True
        await one.resume(by="anna", at=NOW)
        assert (one.is_halted(), other.is_halted()) == (False, False)


@pytest.mark.parametrize("left", [CLEAR, ASK, b""], ids=["clear", "ask", "empty"])
async def test_what_the_byte_said_before_the_start_counts_for_nothing(state: Path, left: bytes) -> None:
    """A folder put back from a backup may hold a halt beside a byte that says there is none."""
    async with await _open(state) as store:
        await store.halt(by="anna", reason="", at=NOW)
    (state / HALT_FLAG).write_bytes(left)

    async with await _open(state) as store:
        assert store.is_halted() is True


async def test_a_halt_that_was_not_committed_is_none(state: Path) -> None:
    """Its transaction set the byte and failed: the database is asked, until a transaction finds that there is none."""
    faults = Faults()
    async with await _open(state, faults) as store:
        await store.commit([Entry(decided())])
        faults.also = ("INSERT INTO halts",)
        with pytest.raises(StoreError):
            await store.halt(by="anna", reason="", at=NOW)
        faults.also = ()

        assert (store.is_halted(), (state / HALT_FLAG).read_bytes()) == (False, ASK)
        await store.commit([Entry(decided())])
        assert (store.is_halted(), (state / HALT_FLAG).read_bytes()) == (False, CLEAR)


async def test_a_resume_that_was_not_committed_leaves_the_halt(state: Path) -> None:
    """A failed COMMIT of the transaction that lifts the halt must not clear the byte."""
    faults = Faults()
    async with await _open(state, faults) as store:
        await store.halt(by="anna", reason="", at=NOW)
        faults.also = ("COMMIT",)
        with pytest.raises(StoreError):
            await store.resume(by="anna", at=NOW)
        faults.also = ()

        assert (store.is_halted(), (state / HALT_FLAG).read_bytes()) == (True, ASK)


async def test_a_byte_that_others_can_write_is_refused(state: Path) -> None:
    """Who can clear it can hide the halt from a look."""
    async with await _open(state):
        pass
    (state / HALT_FLAG).chmod(0o620)

    with pytest.raises(StateFolderError, match="group can write"):
        await _open(state)


@settings(max_examples=15, deadline=None)
@given(deeds=st.lists(st.sampled_from(["halt", "resume", "commit", "fail"]), max_size=8), data=st.data())
def test_the_look_never_differs_from_the_database(
    tmp_path_factory: pytest.TempPathFactory, deeds: list[str], data: st.DataObject
) -> None:
    """For any deeds of two processes, some of which fail at a statement, both looks say what is committed."""

    async def live() -> None:
        state = tmp_path_factory.mktemp("life") / "state"
        faults = Faults()
        async with await _open(state, faults) as one, await _open(state, faults) as other:
            for deed in deeds:
                store = data.draw(st.sampled_from([one, other]))
                faults.count, faults.fail_at = 0, data.draw(st.integers(1, 6)) if deed == "fail" else 0
                try:
                    if deed == "commit":
                        await store.commit([Entry(decided())])
                    elif deed == "resume" or (deed == "fail" and data.draw(st.booleans())):
                        await store.resume(by="anna", at=NOW)
                    else:
                        await store.halt(by="anna", reason="", at=NOW)
                except StoreError:
                    assert deed == "fail"
                faults.fail_at = 0
                committed = await store.read(lambda reader: reader.halt()) is not None
                assert (one.is_halted(), other.is_halted()) == (committed, committed)

    asyncio.run(live())


async def test_the_look_is_opened_while_another_process_holds_the_database(state: Path) -> None:
    """Opening waits for who holds the database for a moment; a look afterwards waits for nobody."""
    async with await _open(state) as store:
        await store.commit([Entry(decided())])

    def held(seconds: float, taken: threading.Event) -> None:
        with contextlib.closing(sqlite3.connect(state / DATABASE, isolation_level=None)) as other:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("BEGIN EXCLUSIVE")
            taken.set()
            time.sleep(seconds)
            other.execute("ROLLBACK")

    def opened(seconds: float) -> threading.Thread:
        taken = threading.Event()
        holder = threading.Thread(target=held, args=(seconds, taken))
        holder.start()
        assert taken.wait(5)
        return holder

    def look() -> None:
        holder = opened(0.2)
        try:
            waited = HaltLook(state)
        finally:
            holder.join()
        assert waited.is_halted() is False
        assert waited._connection.execute("PRAGMA busy_timeout").fetchone() == (0,)
        waited.close()

    await asyncio.to_thread(look)
