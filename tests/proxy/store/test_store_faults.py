"""The store failing at every statement: whoever waits hears it, nothing half is seen, and the chain goes on."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

import pytest

from policies.model import Ruling
from proxy.store import Entry, Store, StoreError, open_reader, open_store, writer
from tests.proxy.store.samples import DAY, NOW, Faults, decided, draft, released

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from pathlib import Path

    from interceptors.chain import Head
    from interceptors.verification import Report

FAILURES: dict[str, Callable[[Faults], None]] = {
    "once": lambda faults: None,
    "once, after it ran": lambda faults: setattr(faults, "after", True),
    "from there on": lambda faults: setattr(faults, "fail_all_from", faults.fail_at),
}


async def _open(state: Path, faults: Faults, busy_timeout_ms: int = 200) -> Store:
    return await asyncio.to_thread(lambda: open_store(state, connect=faults.connect, busy_timeout_ms=busy_timeout_ms))


async def _receipts(store: Store) -> set[str]:
    return {record.receipt for record in await store.read(lambda reader: list(reader.records()))}


async def _verify(store: Store, *noted: Head) -> Report:
    return await store.read(lambda reader: reader.verify(noted))


async def _traffic(store: Store, n: int) -> tuple[set[str], set[str]]:
    """Commits in three kinds; the receipts that were promised, and those whose commit failed."""
    promised: set[str] = set()
    failed: set[str] = set()
    for round_ in range(3):
        records = [decided(), decided(ruling=Ruling.ESCALATE)]
        entries = [
            Entry(records[0], when_halted=records[0]),
            Entry(records[1], escalation=draft(digest=f"{n} {round_}")),
        ]
        try:
            await store.commit(entries)
        except StoreError:
            failed |= {record.receipt for record in records}
        else:
            promised |= {record.receipt for record in records}
    return promised, failed


@pytest.mark.parametrize("how", FAILURES)
async def test_a_failing_statement_fails_its_transaction_only(state: Path, how: str) -> None:
    """For every n: the n-th statement fails; what was promised is kept, what failed is not seen, later commits work.

    One thing is excepted: where COMMIT did its work and then reported a fault, the record is there although its caller
    was refused, which is the safe side.
    """
    faults = Faults()
    kept: set[str] = set()
    n, is_hit = 0, True
    async with await _open(state, faults) as store:
        while is_hit:
            n += 1
            faults.count, faults.fail_at = 0, n
            FAILURES[how](faults)
            promised, failed = await _traffic(store, n)
            is_hit = bool(failed)
            faults.fail_at = faults.fail_all_from = 0
            [last] = await store.commit([Entry(late := decided())])

            kept |= promised | {late.receipt}
            if faults.after and faults.hit == "COMMIT":
                kept |= failed
            assert await _receipts(store) == kept
            assert (await _verify(store, last.head)).findings == ()
    assert n > 12, "the loop never met the statements of a commit"


async def test_a_lost_connection_is_opened_anew(state: Path) -> None:
    """Where even the ROLLBACK fails the connection is given up, and the next commit opens another."""
    faults = Faults()
    async with await _open(state, faults) as store:
        await store.commit([Entry(decided())])
        faults.also = ("INSERT INTO payloads", "ROLLBACK")
        with pytest.raises(StoreError, match="disk I/O error"):
            await store.commit([Entry(decided())])
        faults.also = ()
        connects = faults.statements.count("CONNECT")

        await store.commit([Entry(decided())])

        assert faults.statements.count("CONNECT") == connects + 1
        report = await _verify(store)
        assert (report.records, report.findings) == (2, ())


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
        with pytest.raises(StoreError, match="locked"):
            await store.probe()
        other.execute("ROLLBACK")
    await store.probe()
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


async def _behind_a_blocked_writer(store: Store, *waiting: Coroutine[Any, Any, object]) -> list[object]:
    """Run requests while the writer is busy, so that they share its next transaction; their answers."""
    blocker = threading.Event()
    blocked = asyncio.create_task(store._writer.run(lambda _: blocker.wait(5)))
    await asyncio.sleep(0.05)
    tasks = [asyncio.create_task(each) for each in waiting]
    await asyncio.sleep(0.05)
    blocker.set()
    await blocked
    return list(await asyncio.gather(*tasks, return_exceptions=True))


async def test_a_failure_of_one_does_not_take_the_batch_along(state: Path) -> None:
    """Where a shared transaction fails, each request is tried alone: only the one at fault is refused."""

    def fail(_: object) -> None:
        raise sqlite3.IntegrityError("planted")

    async with await _open(state, Faults()) as store:
        commits = [store.commit([Entry(decided())]) for _ in range(3)]

        answers = await _behind_a_blocked_writer(store, *commits, store._writer.run(fail))

        assert [type(answer) for answer in answers] == [list, list, list, StoreError]
        assert (await _verify(store)).records == 3


async def test_a_commit_that_fails_late_is_not_repeated(state: Path) -> None:
    """Where a shared COMMIT did its work and then reported a fault, its callers are refused, none is written twice."""
    faults = Faults()
    async with await _open(state, faults) as store:
        await store.commit([Entry(decided())])
        faults.only, faults.after, faults.count, faults.fail_at = "COMMIT", True, 0, 2  # 1 is the blocker's

        answers = await _behind_a_blocked_writer(store, *(store.commit([Entry(decided())]) for _ in range(4)))

        assert [type(answer) for answer in answers] == [StoreError] * 4
        report = await _verify(store)
        assert (report.records, report.findings) == (5, ())
        [last] = await store.commit([Entry(decided())])
        assert last.head.seq == 6


async def test_requests_past_a_batch_wait_for_the_next(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction takes a bounded number of requests; the others follow in order."""
    monkeypatch.setattr(writer, "BATCH_REQUESTS_MAX", 3)
    faults = Faults()
    async with await _open(state, faults) as store:
        faults.statements.clear()

        answers = await _behind_a_blocked_writer(store, *(store.commit([Entry(decided())]) for _ in range(7)))

        assert [answer[0].head.seq for answer in answers] == [1, 2, 3, 4, 5, 6, 7]  # type: ignore[index] # none failed
        assert faults.statements.count("COMMIT") == 4  # the blocker's, and 3 + 3 + 1


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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_broken_writer_refuses_what_is_still_queued(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that were queued behind the one that broke the writer are refused, not forgotten."""
    monkeypatch.setattr(writer, "BATCH_REQUESTS_MAX", 1)

    def bug(_: object) -> None:
        raise ZeroDivisionError

    async with await _open(state, Faults()) as store:
        commits = [store.commit([Entry(decided())]) for _ in range(3)]
        answers = await asyncio.wait_for(_behind_a_blocked_writer(store, store._writer.run(bug), *commits), timeout=5)

    assert [type(answer) for answer in answers] == [StoreError] * 4


async def test_a_request_that_comes_as_the_writer_ends_is_refused(state: Path) -> None:
    """A request put into the queue after the writer looked into it for the last time does not wait for ever."""
    store = await _open(state, Faults())
    ending = store._writer
    await store.close()
    ending._closing = ending._ended = False  # as seen by a caller just before the end

    class Late(writer.queue.SimpleQueue):  # type: ignore[type-arg] # of requests
        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            super().put(item)
            ending._ended = True

    ending._queue = Late()

    with pytest.raises(StoreError, match="the store is closed"):
        await asyncio.wait_for(store.commit([Entry(decided())]), timeout=5)


DEEDS: dict[str, Callable[[Store], Awaitable[object]]] = {
    "erase": lambda store: store.erase("cus_1", by="anna", at=NOW),
    "retain": lambda store: store.retain(receipts_before=NOW - 5 * DAY, payloads_before=NOW + DAY, at=NOW),
    "halt": lambda store: store.halt(by="anna", reason="", at=NOW),
    "resume": lambda store: store.resume(by="anna", at=NOW),
}


@pytest.mark.parametrize("deed", DEEDS)
async def test_operations_are_whole_or_not_at_all(state: Path, deed: str) -> None:
    """For every n: where the n-th statement of an erasure, a retention or a halt fails, the chains still verify, the
    halt is as it was, and the operation can be done again.
    """
    faults = Faults()
    n, is_hit = 0, True
    async with await _open(state, faults) as store:
        subject = store.subject_digest("cus_1")
        while is_hit:
            n += 1
            record = decided(time=NOW - 10 * DAY, subject=subject)
            await store.commit([Entry(record), Entry(released(record.receipt, subject=subject)), Entry(decided())])
            await (store.halt(by="anna", reason="", at=NOW) if deed == "resume" else store.resume(by="anna", at=NOW))
            faults.count, faults.fail_at = 0, n
            try:
                await DEEDS[deed](store)
                is_hit = False
            except StoreError:
                assert store.is_halted() == (deed == "resume")
            faults.fail_at = 0
            assert (await _verify(store)).findings == ()
            await DEEDS[deed](store)
            assert (await _verify(store)).findings == ()
    assert n > 3
