"""Commits: durable when they return, whole or not at all, shared by who waits, and never beside the halt."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from interceptors.receipts import AbortCause, Aborted, Kind
from policies.model import Ruling
from proxy.store import Entry, ReceiptError, StoreError, open_reader, open_store, payload_of
from proxy.store import cases as case_types
from tests.proxy.store.samples import NOW, Faults, decided, draft, released

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.store import Store


def _rows(state: Path, query: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(state / "callgate.db")) as connection:
        return connection.execute(query).fetchall()


async def test_a_record_is_on_the_disk_when_commit_returns(store: Store, state: Path) -> None:
    """Another connection sees the record the moment `commit` returns, with its place in the chain."""
    first, second = decided(), decided()

    committed = await store.commit([Entry(first), Entry(second)])

    assert [each.head.seq for each in committed] == [1, 2]
    rows = _rows(state, "SELECT seq, receipt, hash FROM records ORDER BY seq")
    assert rows == [(1, first.receipt, committed[0].head.hash), (2, second.receipt, committed[1].head.hash)]


async def test_commits_are_fsynced(state: Path) -> None:
    """The writing connection runs in WAL with synchronous=FULL: SQLite then syncs the log at each commit."""
    faults = Faults()
    async with await asyncio.to_thread(lambda: open_store(state, connect=faults.connect)) as store:
        await store.commit([Entry(decided())])
        connection = store._writer._connection
        assert connection is not None

        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)


async def test_waiting_callers_share_transactions(state: Path) -> None:
    """1000 callers at once are written by far fewer transactions, each exactly once, and the chain is whole."""
    faults = Faults()
    async with await asyncio.to_thread(lambda: open_store(state, connect=faults.connect)) as store:
        records = [decided() for _ in range(1000)]

        await asyncio.gather(*(store.commit([Entry(record)]) for record in records))

        assert faults.statements.count("BEGIN IMMEDIATE") < 100
        report = await store.read(lambda reader: reader.verify())
        assert (report.records, report.findings) == (1000, ())
        written = {row[0] for row in _rows(state, "SELECT receipt FROM records")}
        assert written == {record.receipt for record in records}


async def test_callers_of_one_batch_each_get_their_own_answer(store: Store) -> None:
    """What a caller gets back is the place of its own record, whatever else shared the transaction."""
    records = [decided() for _ in range(50)]

    answers = await asyncio.gather(*(store.commit([Entry(record)]) for record in records))

    kept = await store.read(lambda reader: {each.receipt: each.head for each in reader.records()})
    assert [answer[0].head for answer in answers] == [kept[record.receipt] for record in records]


async def test_a_cancelled_caller_harms_nobody(store: Store) -> None:
    """Callers that are cancelled while they wait leave the others their answers, and the chain whole."""
    records = [decided() for _ in range(200)]
    tasks = [asyncio.create_task(store.commit([Entry(record)])) for record in records]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()

    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])
    assert all(isinstance(result, list) for result in results[1::2])
    report = await store.read(lambda reader: reader.verify())
    assert (report.records, report.findings) == (200, ())


async def test_a_closed_store_refuses(store: Store) -> None:
    """After `close` no commit hangs or is lost in silence: it raises."""
    await store.close()

    assert not store.is_usable
    with pytest.raises(StoreError, match="the store is closed"):
        await store.commit([Entry(decided())])


async def test_what_was_queued_before_the_end_is_written(store: Store, state: Path) -> None:
    """`close` finishes what was begun."""
    tasks = [asyncio.create_task(store.commit([Entry(decided())])) for _ in range(20)]
    await asyncio.sleep(0)
    await store.close()

    await asyncio.gather(*tasks)
    assert _rows(state, "SELECT count(*) FROM records") == [(20,)]


async def test_a_record_without_canonical_form_fails_alone(store: Store) -> None:
    """A record that cannot be written raises before the transaction, for its own caller only."""
    bad = decided(note="\ud800")
    naive = structs.replace(decided(), time=NOW.replace(tzinfo=None))
    good = [decided() for _ in range(5)]

    results = await asyncio.gather(
        *(store.commit([Entry(record)]) for record in (*good, bad, naive)), return_exceptions=True
    )

    assert [type(result) for result in results] == [list] * 5 + [ReceiptError] * 2
    report = await store.read(lambda reader: reader.verify())
    assert (report.records, report.findings) == (5, ())


async def test_a_halt_between_decision_and_commit_flips_it(store: Store) -> None:
    """While the halt is in force the record in waiting is written, no case is opened, and the caller is told."""
    allowed, refused = decided(), decided(ruling=Ruling.FORBID)
    await store.halt(by="anna", reason="wrong amounts", at=NOW)

    [committed] = await store.commit([Entry(allowed, when_halted=refused, escalation=draft())])

    assert (committed.halted, committed.escalation_id) == (True, None)
    assert await store.read(lambda reader: reader.receipt(allowed.receipt)) == ()
    [kept] = await store.read(lambda reader: reader.receipt(refused.receipt))
    assert (payload_of(kept) or {})["ruling"] == "forbid"
    assert await store.read(lambda reader: reader.escalations()) == ()


async def test_only_what_names_a_stand_in_is_halted(store: Store) -> None:
    """A read, a substitution or an outcome is recorded as it is, halt or not."""
    await store.halt(by="anna", reason="", at=NOW)

    [committed] = await store.commit([Entry(decided())])

    assert not committed.halted


async def test_the_halt_counts_from_its_own_commit_on(store: Store) -> None:
    """Entries queued behind a halt are flipped, even in the same transaction; those before it are not."""
    entry = Entry(decided(), when_halted=decided(ruling=Ruling.FORBID))

    before, _, after = await asyncio.gather(
        store.commit([entry]), store.halt(by="anna", reason="", at=NOW), store.commit([entry])
    )

    assert (before[0].halted, after[0].halted) == (False, True)


async def test_halt_and_resume_are_seen_and_recorded(store: Store, state: Path) -> None:
    """The halt is seen by every process on the folder at once, lifted by one resume, and both stand in the chain."""
    other = await asyncio.to_thread(open_store, state)
    seen = [other.is_halted()]
    await store.halt(by="anna", reason="wrong amounts", at=NOW)
    await store.halt(by="ben", reason="me too", at=NOW)
    seen.append(other.is_halted())
    shown = await store.read(lambda reader: reader.halt())
    receipt = await other.resume(by="ben", at=NOW)
    seen.append(store.is_halted())
    again = await other.resume(by="ben", at=NOW)
    await other.close()

    assert seen == [False, True, False]
    assert (receipt is not None, again) == (True, None)
    assert shown is not None
    assert (shown.by, shown.reason) == ("anna", "wrong amounts")
    kinds = [record.kind for record in await store.read(lambda reader: list(reader.records()))]
    assert kinds == [Kind.HALTED.value, Kind.HALTED.value, Kind.RESUMED.value]


async def test_the_record_of_an_escalation_names_its_case(store: Store) -> None:
    """The `decided` record holds the id of the case that was opened in its transaction."""
    record, case = decided(ruling=Ruling.ESCALATE), draft()

    [committed] = await store.commit([Entry(record, escalation=case)])

    assert committed.escalation_id == case.id
    [kept] = await store.read(lambda reader: reader.receipt(record.receipt))
    assert (payload_of(kept) or {})["escalation"] == case.id


async def test_one_intent_has_one_open_case(store: Store) -> None:
    """A second draft of the same intent joins the open case; another tenant, subject, tool or argument does not."""
    first = draft("rc_1", subject="s")
    same = draft("rc_2", subject="s")
    others = [draft(subject="s2"), draft(subject="s", tenant="t2"), draft(subject="s", digest="c" * 64)]
    others.append(replace(draft(subject="s"), tool="cancel_order"))
    record = decided(ruling=Ruling.ESCALATE)

    answers = await store.commit([Entry(decided(), escalation=each) for each in (first, *others)])
    [joined] = await store.commit([Entry(record, escalation=same)])

    assert joined.escalation_id == first.id
    assert {answer.escalation_id for answer in answers} == {first.id, *(other.id for other in others)}
    [kept] = await store.read(lambda reader: reader.receipt(record.receipt))
    assert (payload_of(kept) or {})["escalation"] == first.id
    shown = await store.read(lambda reader: reader.escalation(first.id))
    assert shown == case_types.Escalation(
        id=first.id,
        tenant="t",
        subject="s",
        tool="process_refund",
        argument_digest="a" * 64,
        summary=first.summary,
        reason="over_limit",
        receipt="rc_1",
        created="2026-11-30T12:00:00.000000Z",
        status=case_types.EscalationStatus.OPEN,
    )


async def test_racing_drafts_open_one_case(store: Store, state: Path) -> None:
    """Callers of two processes that escalate one intent at the same time all get the same case."""
    other = await asyncio.to_thread(open_store, state)
    answers = await asyncio.gather(
        *(each.commit([Entry(decided(), escalation=draft())]) for each in (store, other) * 20)
    )
    await other.close()

    assert len({answer[0].escalation_id for answer in answers}) == 1


async def test_the_life_of_a_receipt_is_kept_in_order(store: Store) -> None:
    """All records of one receipt come back in the order in which they were written."""
    record = decided()
    await store.commit([Entry(record)])
    lost = Aborted(receipt=record.receipt, time=NOW, exchange="ex_1", cause=AbortCause.CLIENT_LOST)
    await store.commit([Entry(released(record.receipt)), Entry(lost)])

    kept = await store.read(lambda reader: reader.receipt(record.receipt))

    assert [each.kind for each in kept] == ["decided", "released", "aborted"]
    assert (payload_of(kept[2]) or {})["cause"] == "the client went away"


async def test_each_opening_has_its_own_chain(state: Path) -> None:
    """Two openings of one folder write two chains, so that no process can break another's."""
    heads = []
    for _ in range(2):
        async with await asyncio.to_thread(open_store, state) as store:
            await store.commit([Entry(decided())])
            heads.append(store.head)

    with await asyncio.to_thread(open_reader, state) as reader:
        found = await asyncio.to_thread(reader.heads)
    assert len({head.writer for head in heads}) == 2
    assert set(found) == set(heads)
