"""Erasure by subject and by age: what goes is gone from the files, what stays verifies, and the going is on record."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest

from interceptors.chain import GENESIS, Head, stamp
from interceptors.receipts import ErasureCause, Kind
from interceptors.verification import Fault
from policies.model import Ruling
from proxy.store import (
    Entry,
    Erasure,
    ReleaseDraft,
    Retained,
    erasure,
    open_reader,
    open_store,
    payload_of,
    transaction,
)
from tests.proxy.store.samples import DAY, NOW, decided, draft, released

if TYPE_CHECKING:
    from pathlib import Path

    from interceptors.verification import Report
    from proxy.store import Store
    from proxy.store.transaction import Transaction

MARK = "a-sentence-that-only-this-customer-wrote"


async def _verify(store: Store, noted: tuple[Head, ...] = ()) -> Report:
    return await store.read(lambda reader: reader.verify(noted))


def _files(state: Path) -> bytes:
    return b"".join(path.read_bytes() for path in state.iterdir() if path.is_file())


async def test_an_erased_subject_is_gone_and_the_chain_stands(store: Store, state: Path) -> None:
    """Payloads, salts and cases of one subject go, no one else's do; the chain verifies and counts them erased."""
    mine, other = store.subject_digest("cus_1"), store.subject_digest("cus_2")
    record, theirs = decided(subject=mine, note=MARK, ruling=Ruling.ESCALATE), decided(subject=other, note="theirs")
    await store.commit([Entry(record, escalation=draft(subject=mine)), Entry(theirs, escalation=draft(subject=other))])
    await store.commit([Entry(released(record.receipt, subject=mine)), Entry(decided())])
    assert MARK.encode() in _files(state)

    erased = await store.erase("cus_1", by="anna", at=NOW)

    assert erased == Erasure(erased.receipt, records=2, escalations=1, scrubbed=True)
    assert MARK.encode() not in _files(state)
    report = await _verify(store)
    assert (report.findings, report.records, report.erased) == ((), 5, 2)
    kept = {each.receipt: payload_of(each) for each in await store.read(lambda reader: list(reader.records()))}
    assert kept[record.receipt] is None
    assert kept[theirs.receipt] is not None
    told = kept[str(erased.receipt)]
    assert told is not None
    assert (told["by"], told["cause"]) == ("anna", ErasureCause.SUBJECT.value)
    assert [case.subject for case in await store.read(lambda reader: reader.escalations())] == [other]


async def test_nothing_to_erase_is_said(store: Store) -> None:
    """A subject that nothing was recorded about leaves no record, and an empty one is refused: it would be everyone."""
    await store.commit([Entry(decided())])

    assert await store.erase("cus_9", by="anna", at=NOW) == Erasure(None, 0, 0, scrubbed=True)
    with pytest.raises(ValueError, match="a subject must not be empty"):
        await store.erase("", by="anna", at=NOW)
    assert (await _verify(store)).erased == 0


async def test_a_subject_is_never_stored_as_its_value(store: Store, state: Path) -> None:
    """The files hold a keyed digest of the subject, and another folder's key gives another one."""
    await store.commit([Entry(decided(subject=store.subject_digest("cus_secret_1")), escalation=draft())])
    other = await asyncio.to_thread(open_store, state.parent / "other")

    assert b"cus_secret_1" not in _files(state)
    assert store.subject_digest("cus_secret_1").encode() in _files(state)
    assert other.subject_digest("cus_secret_1") != store.subject_digest("cus_secret_1")
    await other.close()


async def test_an_erasure_covers_only_what_it_names(store: Store, state: Path) -> None:
    """A payload deleted by hand after a lawful erasure is still found missing."""
    subject = store.subject_digest("cus_1")
    await store.commit([Entry(decided(subject=subject)), Entry(decided()), Entry(decided(subject=subject))])
    await store.erase("cus_1", by="anna", at=NOW)
    with contextlib.closing(sqlite3.connect(state / "callgate.db")) as connection, connection:
        connection.execute("DELETE FROM payloads WHERE record = 2")

    report = await _verify(store)

    assert [(finding.fault, finding.seq) for finding in report.findings] == [(Fault.PAYLOAD_MISSING, 2)]


async def test_old_payloads_and_old_records_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Payloads go at their age, records at theirs and only from the old end, in steps; the chain verifies."""
    monkeypatch.setattr(erasure, "STEP_RECORDS_MAX", 2)
    records = [decided(time=NOW - days * DAY) for days in (9, 8, 7, 6, 5, 4, 3, 2, 1)]
    heads = [(await store.commit([Entry(record, escalation=None)]))[0].head for record in records]

    removed = await store.retain(receipts_before=NOW - 5 * DAY, payloads_before=NOW - 2 * DAY, at=NOW)

    assert removed == Retained(payloads=3, escalations=0, records=4)
    report = await _verify(store, tuple(heads))
    assert (report.findings, report.erased, report.pruned) == ((), 3, (heads[3],))
    assert report.unchecked == tuple(heads[:3])
    kept = [
        record.seq for record in await store.read(lambda reader: list(reader.records())) if record.kind == "decided"
    ]
    assert kept == [5, 6, 7, 8, 9]
    assert await store.retain(receipts_before=NOW - 5 * DAY, payloads_before=NOW - 2 * DAY, at=NOW) == Retained(0, 0, 0)


async def test_only_a_prefix_goes(store: Store) -> None:
    """An old record behind a younger one stays until that one is old too: a chain has no holes."""
    for days in (9, 1, 8):
        await store.commit([Entry(decided(time=NOW - days * DAY))])

    removed = await store.retain(receipts_before=NOW - 5 * DAY, payloads_before=NOW - 20 * DAY, at=NOW)

    assert removed.records == 1
    assert (await _verify(store)).findings == ()


async def test_a_chain_that_went_wholly_goes_on(store: Store) -> None:
    """A process whose whole chain was removed, by another one, writes on behind its last record, even after a fault."""
    [first] = await store.commit([Entry(decided(time=NOW - 9 * DAY))])
    other = await asyncio.to_thread(open_store, store._state)
    await other.retain(receipts_before=NOW - DAY, payloads_before=NOW - DAY, at=NOW)
    store._writer._is_head_known = False

    [second] = await store.commit([Entry(decided())])

    assert second.head.seq == first.head.seq + 1
    heads = await store.read(
        lambda reader: [transaction.read_head(reader._connection, name) for name in (second.head.writer, "w_NEW")]
    )
    assert heads == [second.head, Head("w_NEW", 0, GENESIS)]
    assert (await _verify(other)).findings == ()
    assert first.head in (await _verify(other)).pruned
    await other.close()


async def test_the_teller_of_an_erasure_stays_while_it_is_needed(store: Store) -> None:
    """A record of erasure is not removed before the records whose missing payloads it explains."""
    subject = store.subject_digest("cus_1")
    await store.commit([Entry(decided(time=NOW - DAY, subject=subject))])
    other = await asyncio.to_thread(open_store, store._state)
    await other.commit([Entry(decided(time=NOW - 9 * DAY))])
    await other.erase("cus_1", by="anna", at=NOW - 9 * DAY)  # by a clock that was behind

    removed = await other.retain(receipts_before=NOW - 5 * DAY, payloads_before=NOW - 20 * DAY, at=NOW)

    assert removed.records == 1
    assert (await _verify(store)).findings == ()
    await other.close()


async def test_records_of_operators_keep_their_payloads(store: Store) -> None:
    """Who halted and why outlives the retention of payloads; old cases do not."""
    await store.halt(by="anna", reason="wrong amounts", at=NOW - 9 * DAY)
    await store.commit([Entry(decided(time=NOW - 9 * DAY), escalation=draft())])

    removed = await store.retain(receipts_before=NOW - 20 * DAY, payloads_before=NOW + DAY, at=NOW)

    assert removed == Retained(payloads=1, escalations=1, records=0)
    first = (await store.read(lambda reader: list(reader.records())))[0]
    assert (first.kind, (payload_of(first) or {})["reason"]) == (Kind.HALTED.value, "wrong amounts")


async def test_a_forged_prefix_does_not_verify(store: Store, state: Path) -> None:
    """Removing the start of a chain with an anchor that does not fit what follows is found."""
    for _ in range(3):
        await store.commit([Entry(decided())])
    with contextlib.closing(sqlite3.connect(state / "callgate.db")) as connection, connection:
        connection.execute("DELETE FROM payloads WHERE record <= 2")
        connection.execute("DELETE FROM records WHERE seq <= 2")
        connection.execute("INSERT INTO anchors VALUES (?, 2, ?)", (store.head.writer, "f" * 64))

    def ask() -> Report:
        with open_reader(state) as reader:
            return reader.verify()

    report = await asyncio.to_thread(ask)

    assert [finding.fault for finding in report.findings] == [Fault.UNLINKED]


@pytest.mark.parametrize(
    ("reservation", "settled", "days", "is_kept"),
    [
        (None, None, 9, False),
        (None, "unknown", 9, False),  # it held nothing: that its result said nothing is no reason to keep it
        (None, "executed", 9, False),
        ("rv_1", "held", 9, True),
        ("rv_1", "unknown", 9, True),
        ("rv_1", "executed", 9, False),
        ("rv_1", "not_executed", 9, False),
        (None, "unknown", 1, True),
    ],
)
async def test_an_old_release_stays_only_while_it_holds_something(
    store: Store, reservation: str | None, settled: str | None, days: int, is_kept: bool
) -> None:
    """What a call holds and nobody has settled keeps it, at any age; nothing else does."""

    def put(transaction: Transaction) -> None:
        transaction.connection.execute(
            "INSERT INTO releases (receipt, tenant, call_id, tool, argument_digest, subject, time, reservation, state)"
            " VALUES ('rc_1', 't', 'id', 'refund', 'd', '', ?, ?, ?)",
            (stamp(NOW - days * DAY), reservation, settled),
        )

    await store._writer.run(put)

    await store.retain(receipts_before=NOW - 5 * DAY, payloads_before=NOW - 5 * DAY, at=NOW)

    (count,) = await store.read(lambda reader: reader._connection.execute("SELECT count(*) FROM releases").fetchone())
    assert count == int(is_kept)


async def test_the_call_of_an_erased_subject_is_known_again_by_nobody(store: Store) -> None:
    """Also not by a result without an id, which some servers send: it would settle a call that it does not answer."""
    mine = store.subject_digest("cus_1")
    record = decided(subject=mine)
    named = ReleaseDraft(
        receipt=record.receipt, tenant="a", call_id="c1", tool="t", argument_digest="d", subject=mine, time=NOW
    )
    await store.commit([Entry(record, release=named)])
    assert list(await store.released_calls("a", ["", "c1"])) == ["c1"]
    await store.erase("cus_1", by="anna", at=NOW)
    assert await store.released_calls("a", ["", "c1"]) == {}
