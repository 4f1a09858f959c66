"""What can be asked: lists with filters and pages, one receipt, cases, and an export that proves itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jiter
import pytest

from interceptors.chain import stamp
from interceptors.receipts import AbortCause, Aborted, Kind, Refused, Unexamined
from interceptors.verification import verify
from policies.model import Ruling
from proxy.store import Entry, EscalationStatus, StoreError, export, payload_of, reader
from tests.proxy.store.samples import DAY, NOW, decided, draft, released

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.store import Store


def _lost(receipt: str) -> Aborted:
    return Aborted(receipt=receipt, time=NOW, exchange="ex_1", cause=AbortCause.CLIENT_LOST)


async def test_the_list_shows_newest_first_with_what_became_of_each(store: Store) -> None:
    """One line a receipt with its opening payload and its last outcome; pages follow one another without overlap."""
    records = [decided() for _ in range(5)]
    await store.commit([Entry(record) for record in records])
    await store.commit([Entry(released(records[1].receipt)), Entry(released(records[0].receipt))])
    await store.commit([Entry(_lost(records[0].receipt))])

    first = await store.read(lambda reader: reader.receipts(limit=3))
    second = await store.read(lambda reader: reader.receipts(limit=3, before=first[-1].place))

    assert [line.receipt for line in (*first, *second)] == [record.receipt for record in reversed(records)]
    assert [line.outcome for line in (*first, *second)] == [None, None, None, Kind.RELEASED, Kind.ABORTED]
    assert (first[0].payload or {})["tool"] == "process_refund"


FILTERS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "kind": ({"kind": Kind.REFUSED}, {"rc_refused"}),
    "tool": ({"tool": "cancel_order"}, {"rc_cancel"}),
    "ruling": ({"ruling": Ruling.FORBID}, {"rc_forbid"}),
    "since": ({"since": stamp(NOW)}, {"rc_cancel", "rc_forbid", "rc_refused", "rc_passed"}),
    "until": ({"until": stamp(NOW)}, {"rc_old"}),
    "both": ({"tool": "process_refund", "since": stamp(NOW)}, {"rc_forbid"}),
}


@pytest.mark.parametrize("name", FILTERS)
async def test_filters_keep_what_they_name(store: Store, name: str) -> None:
    """Each filter keeps exactly the receipts it describes."""
    common: Any = {"time": NOW, "exchange": "ex_1", "tenant": "t"}
    await store.commit(
        [
            Entry(decided("rc_old", time=NOW - DAY)),
            Entry(decided("rc_cancel", tool="cancel_order")),
            Entry(decided("rc_forbid", ruling=Ruling.FORBID)),
            Entry(Refused(receipt="rc_refused", dialect="openai-chat", status=400, reason="malformed", **common)),
            Entry(Unexamined(receipt="rc_passed", method="GET", path="/v1/models", upstream="openai", **common)),
        ]
    )
    words, expected = FILTERS[name]

    found = await store.read(lambda reader: reader.receipts(**words))

    assert {line.receipt for line in found} == expected


async def test_receipts_of_a_subject_are_found(store: Store) -> None:
    """A subject's receipts are found by its value's digest."""
    mine = decided(subject=store.subject_digest("cus_1"))
    await store.commit([Entry(mine), Entry(decided(subject=store.subject_digest("cus_2")))])

    found = await store.read(lambda reader: reader.receipts(subject=reader.subject_digest("cus_1")))

    assert [line.receipt for line in found] == [mine.receipt]


async def test_an_erased_receipt_is_listed_without_its_payload(store: Store) -> None:
    """After erasure the line says when and what kind, and nothing else."""
    await store.commit([Entry(decided("rc_1", subject=store.subject_digest("cus_1")))])
    await store.erase("cus_1", by="anna", at=NOW)

    [_, line] = await store.read(lambda reader: reader.receipts())

    assert (line.receipt, line.kind, line.payload, line.time) == ("rc_1", Kind.DECIDED, None, stamp(NOW))


async def test_an_export_proves_itself(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exported lines read back to the same records byte for byte, and verify without the database."""
    monkeypatch.setattr(reader, "_PAGE", 2)
    subject = store.subject_digest("cus_1")
    await store.commit([Entry(decided(note="naïve “quotes” \u2028 \n")), Entry(decided(subject=subject))])
    await store.erase("cus_1", by="anna", at=NOW)

    records = await store.read(lambda reader: list(reader.records()))
    lines = list(export.lines(records))

    read_back = [export.from_line(line) for line in lines]
    assert read_back == records
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    report = verify(read_back, pruned={})
    assert (report.findings, report.erased) == ((), 1)
    parsed: Any = [jiter.from_json(line) for line in lines]
    assert [line["erased"] for line in parsed] == [False, True, False]
    assert parsed[0]["payload"]["arguments"]["order_id"] == "A1234"
    with pytest.raises(StoreError, match="cannot be read"):
        export.from_line(b'{"schema": 1}')


async def test_numbers_keep_their_spelling(store: Store) -> None:
    """An amount of 847.00 is recorded as 847.00."""
    await store.commit([Entry(decided("rc_1"))])

    [record] = await store.read(lambda reader: reader.receipt("rc_1"))

    assert b'"amount":847.00' in (record.payload or b"")
    assert (
        str((payload_of(record) or {})["arguments"]) == "{'amount': Decimal('847.00'), 'note': '', 'order_id': 'A1234'}"
    )


async def test_cases_are_listed_and_shown(store: Store) -> None:
    """Newest first, in pages; one that is not there is None."""
    drafts = [replace(draft(digest=f"{n}"), id=f"esc_{n}") for n in range(4)]
    await store.commit([Entry(decided(), escalation=each) for each in drafts])

    first = await store.read(lambda reader: reader.escalations(limit=2))
    rest = await store.read(lambda reader: reader.escalations(status=EscalationStatus.OPEN, before=first[-1].id))

    assert [case.id for case in (*first, *rest)] == ["esc_3", "esc_2", "esc_1", "esc_0"]
    assert await store.read(lambda reader: reader.escalation("esc_9")) is None


async def test_a_reader_cannot_write(store: Store, state: Path) -> None:
    """A question has no way to change the database."""

    def attempt(reader: Any) -> None:
        reader._connection.execute("DELETE FROM escalations")

    with pytest.raises(Exception, match="readonly"):
        await store.read(attempt)
