"""The store failing at every statement: whoever waits hears it, nothing half is seen, and the chain goes on."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest

from policies.model import Ruling
from proxy.store import Entry, Store, StoreError, open_reader, open_store
from tests.proxy.store.samples import DAY, NOW, Faults, decided, draft, released

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

FAILURES: dict[str, Callable[[Faults], None]] = {
    "once": lambda faults: None,
    "once, after it ran": lambda faults: setattr(faults, "after", True),
    "from there on": lambda faults: setattr(faults, "fail_all_from", faults.fail_at),
}


async def _open(state: Path, faults: Faults, busy_timeout_ms: int = 200) -> Store:
    return await asyncio.to_thread(lambda: open_store(state, connect=faults.connect, busy_timeout_ms=busy_timeout_ms))


async def _receipts(store: Store) -> set[str]:
    return {record.receipt for record in await store.read(lambda reader: list(reader.records()))}


async def _traffic(store: Store) -> tuple[set[str], set[str]]:
    """Commits in three kinds; the receipts that were promised, and those whose commit failed."""
    promised: set[str] = set()
    failed: set[str] = set()
    for round_ in range(3):
        records = [decided(), decided(ruling=Ruling.ESCALATE)]
        entries = [Entry(records[0], when_halted=records[0]), Entry(records[1], escalation=draft(digest=f"{round_}"))]
        try:
            await store.commit(entries)
        except StoreError:
            failed |= {record.receipt for record in records}
        else:
            promised |= {record.receipt for record in records}
    return promised, failed


@pytest.mark.parametrize("how", FAILURES)
async def test_a_failing_statement_fails_its_transaction_only(tmp_path: Path, how: str) -> None:
    """For every n: the n-th statement fails; what was promised is kept, what failed is not seen, later commits work.

    One thing is excepted: where COMMIT did its work and then reported a fault, the record is there although its caller
    was refused, which is the safe side.
    """
    n = 0
    is_hit = True
    while is_hit:
        n += 1
        faults = Faults()
        store = await _open(tmp_path / f"state-{n}", faults)
        faults.count, faults.fail_at = 0, n
        FAILURES[how](faults)
        try:
            promised, failed = await _traffic(store)
            is_hit = bool(failed)
            faults.fail_at = faults.fail_all_from = 0
            [last] = await store.commit([Entry(late := decided())])

            kept = await _receipts(store)
            done_but_refused = failed if faults.after and faults.hit == "COMMIT" else set()
            assert kept == promised | {late.receipt} | done_but_refused
            report = await store.read(lambda reader, head=last.head: reader.verify([head]))  # type: ignore[misc]
            assert report.findings == ()
        finally:
            await store.close()
    assert n > 12, "the loop never met the statements of a commit"


async def test_a_lost_connection_is_opened_anew(state: Path) -> None:
    """Where even the ROLLBACK fails the connection is given up, and the next commit opens another."""
    faults = Faults()
    store = await _open(state, faults)
    await store.commit([Entry(decided())])
    faults.only = "ROLLBACK"
    faults.count, faults.fail_at = 0, 1
    original = faults._count

    def fail_insert(sql: str) -> None:
        if sql.startswith("INSERT INTO payloads"):
            raise sqlite3.OperationalError("disk I/O error")
        original(sql)

    faults._count = fail_insert  # type: ignore[method-assign]
    with pytest.raises(StoreError, match="disk I/O error"):
        await store.commit([Entry(decided())])
    faults._count = original  # type: ignore[method-assign]
    connects = faults.statements.count("CONNECT")

    await store.commit([Entry(decided())])

    assert faults.statements.count("CONNECT") == connects + 1
    report = await store.read(lambda reader: reader.verify())
    assert (report.records, report.findings) == (2, ())
    await store.close()


async def test_a_full_disk_refuses_and_recovers(state: Path) -> None:
    """At a full disk commits raise and leave nothing; when there is room again they work, and the chain is whole."""
    store = await _open(state, Faults())
    await store.commit([Entry(decided())])
    connection = store._writer._connection
    assert connection is not None
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    promised, failed, messages = [], [], set()
    for _ in range(40):
        record = decided(note="x" * 1000)
        try:
            await store.commit([Entry(record)])
            promised.append(record.receipt)
        except StoreError as error:
            failed.append(record.receipt)
            messages.add(str(error))
    connection.execute("PRAGMA max_page_count = 1000000")
    await store.commit([Entry(decided())])

    kept = await _receipts(store)
    assert messages == {"the store cannot be written: database or disk is full"}
    assert set(promised) <= kept
    assert not set(failed) & kept
    assert (await store.read(lambda reader: reader.verify())).findings == ()
    assert store.is_usable
    await store.close()


async def test_a_lock_held_too_long_is_a_refusal(state: Path) -> None:
    """While another process holds the write lock past the time-out commits raise; afterwards they work."""
    store = await _open(state, Faults(), busy_timeout_ms=50)
    with contextlib.closing(sqlite3.connect(state / "callgate.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answers = await asyncio.gather(*(store.commit([Entry(decided())]) for _ in range(5)), return_exceptions=True)
        other.execute("ROLLBACK")
    await store.commit([Entry(decided())])

    assert all(isinstance(answer, StoreError) and "locked" in str(answer) for answer in answers)
    assert (await store.read(lambda reader: reader.verify())).records == 1
    await store.close()


async def test_the_halt_can_be_read_while_another_process_writes(state: Path) -> None:
    """The look at the halt waits for no lock."""
    store = await _open(state, Faults())
    with contextlib.closing(sqlite3.connect(state / "callgate.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO meta VALUES ('a', 'b')")

        assert store.is_halted() is False

        other.execute("ROLLBACK")
    await store.close()


async def test_a_halt_that_cannot_be_read_raises(state: Path) -> None:
    """An unreadable halt is never taken for none."""
    store = await _open(state, Faults())
    store._look.close()

    with pytest.raises(StoreError, match="the halt cannot be read"):
        store.is_halted()

    await store.close()


async def test_a_failure_of_one_does_not_take_the_batch_along(state: Path) -> None:
    """Where a shared transaction fails, each request is tried alone: only the one at fault is refused."""
    store = await _open(state, Faults())
    blocker = threading.Event()

    def block(_: object) -> None:
        blocker.wait(5)

    def fail(_: object) -> None:
        raise sqlite3.IntegrityError("planted")

    waiting = asyncio.create_task(store._writer.run(block))
    await asyncio.sleep(0.05)
    tasks: list[Awaitable[object]] = [store.commit([Entry(decided())]) for _ in range(3)]
    gathered = asyncio.gather(*tasks, store._writer.run(fail), return_exceptions=True)
    await asyncio.sleep(0.05)
    blocker.set()
    answers = await gathered
    await waiting

    assert [type(answer) for answer in answers] == [list, list, list, StoreError]
    assert (await store.read(lambda reader: reader.verify())).records == 3
    await store.close()


async def test_a_commit_that_fails_late_is_not_repeated(state: Path) -> None:
    """Where a shared COMMIT did its work and then reported a fault, its callers are refused, none is written twice."""
    faults = Faults()
    store = await _open(state, faults)
    await store.commit([Entry(decided())])
    faults.only, faults.after, faults.count, faults.fail_at = "COMMIT", True, 0, 1
    blocker = threading.Event()
    records = [decided() for _ in range(4)]
    waiting = asyncio.create_task(store._writer.run(lambda _: blocker.wait(5)))
    tasks = [asyncio.create_task(store.commit([Entry(record)])) for record in records]
    await asyncio.sleep(0.05)
    blocker.set()

    answers = await asyncio.gather(waiting, *tasks, return_exceptions=True)

    assert any(isinstance(answer, StoreError) for answer in answers)
    kept = [record.receipt for record in await store.read(lambda reader: list(reader.records()))]
    assert len(kept) == len(set(kept))
    assert (await store.read(lambda reader: reader.verify())).findings == ()
    await store.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_broken_writer_leaves_nobody_waiting(state: Path) -> None:
    """A fault of the code ends the writer: who waits and who comes later is refused, and the store says so."""
    store = await _open(state, Faults())

    def bug(_: object) -> None:
        raise ZeroDivisionError

    answers = await asyncio.wait_for(
        asyncio.gather(
            store._writer.run(bug), *(store.commit([Entry(decided())]) for _ in range(5)), return_exceptions=True
        ),
        timeout=5,
    )
    with pytest.raises(StoreError):
        await store.commit([Entry(decided())])

    assert all(isinstance(answer, StoreError) for answer in answers)
    assert not store.is_usable
    await store.close()
    with await asyncio.to_thread(open_reader, state) as reader:
        report = await asyncio.to_thread(reader.verify)
    assert report.findings == ()


@pytest.mark.parametrize("deed", ["erase", "retain", "halt", "resume"])
async def test_operations_are_whole_or_not_at_all(tmp_path: Path, deed: str) -> None:
    """For every n: where the n-th statement of an erasure, a retention or a halt fails, the chains still verify."""
    n, is_hit = 0, True
    while is_hit:
        n += 1
        faults = Faults()
        store = await _open(tmp_path / f"state-{n}", faults)
        subject = store.subject_digest("cus_1")
        record = decided(time=NOW - 10 * DAY, subject=subject)
        await store.commit([Entry(record), Entry(released(record.receipt, subject=subject)), Entry(decided())])
        if deed == "resume":
            await store.halt(by="anna", reason="", at=NOW)
        deeds: dict[str, Callable[[], Awaitable[object]]] = {
            "erase": lambda: store.erase("cus_1", by="anna", at=NOW),  # noqa: B023 # called in this round
            "retain": lambda: store.retain(  # noqa: B023
                receipts_before=NOW - 5 * DAY, payloads_before=NOW + DAY, at=NOW
            ),
            "halt": lambda: store.halt(by="anna", reason="", at=NOW),  # noqa: B023
            "resume": lambda: store.resume(by="anna", at=NOW),  # noqa: B023
        }
        faults.count, faults.fail_at = 0, n
        try:
            is_hit = False
            await deeds[deed]()
        except StoreError:
            is_hit = True
        faults.fail_at = 0
        report = await store.read(lambda reader: reader.verify())
        halted = store.is_halted()
        await deeds[deed]()
        again = await store.read(lambda reader: reader.verify())
        await store.close()

        assert (report.findings, again.findings) == ((), ())
        if is_hit and deed in ("halt", "resume"):
            assert halted == (deed == "resume")
    assert n > 3
