"""Customers who asked for a person, in the store: one open case each, one answer a place, forgotten with the case."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from interceptors.handoffs import HandedOff
from interceptors.receipts import Kind
from proxy.store import Answering, Entry, EscalationDraft, Unanswerable, new_escalation_id, new_receipt_id, open_store
from proxy.store.handoffs import RETRY_WITHIN, Handed, HandoffDraft
from tests.proxy.store.samples import decided, draft

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.store import Store

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ADA = "5" * 64


async def ask(
    store: Store, place: str, *earlier: str, subject: str = ADA, at: datetime = NOW, open_max: int | None = None
) -> Handed:
    receipt, case = new_receipt_id(at), new_escalation_id(at)
    record = HandedOff(
        receipt=receipt,
        time=at,
        exchange="ex_1",
        tenant="t",
        identity=None,
        subject=subject,
        dialect="openai-chat",
        model="m",
        policy="p",
        revision="r",
        language="en",
        phrase="",
        reason="handoff",
        result=f"reply of {at.isoformat()}",
    )
    opened = EscalationDraft(
        id=case,
        tenant="t",
        subject=subject,
        tool="",
        argument_digest="" if subject else case,
        summary={"reason": "handoff"},
        reason="handoff",
        receipt=receipt,
        created=at,
        policy="p",
        open_max=open_max,
    )
    (done,) = await store.commit([Entry(record, escalation=opened, handoff=HandoffDraft(place, earlier, "full"))])
    assert done.handed is not None
    return done.handed


async def close(store: Store, case: str | None, *, closes: bool = True, approves: bool = False) -> Unanswerable | None:
    assert case is not None
    answering = Answering(
        escalation=case,
        by="anna",
        approves=approves,
        reason="called",
        at=NOW,
        quorum=1,
        valid_for=timedelta(days=1),
        closes=closes,
    )
    return (await store.answer(answering)).problem


LATER = NOW + RETRY_WITHIN + timedelta(seconds=1)


async def test_the_same_place_is_answered_as_before(store: Store) -> None:
    """At once also where the case is closed; later while it waits and the customer is signed."""
    first = await ask(store, "a")
    assert await ask(store, "a") == Handed(first.escalation, first.reply, NOW, is_repeated=True)
    assert (await ask(store, "a", at=LATER)).reply == first.reply
    assert await close(store, first.escalation) is None
    assert (await ask(store, "a")).is_repeated, "a request that comes again at once"
    again = await ask(store, "a", at=LATER)
    assert (again.is_repeated, again.escalation != first.escalation) == (False, True)


async def test_a_customer_has_one_open_case(store: Store) -> None:
    """At any place of any conversation; another customer has another."""
    first = await ask(store, "a")
    joined = await ask(store, "b", at=LATER)
    assert (joined.escalation, joined.is_repeated) == (first.escalation, False)
    assert (await ask(store, "a", subject="6" * 64)).escalation == first.escalation, "places name their customer"
    assert (await ask(store, "c", subject="6" * 64)).escalation != first.escalation


async def test_without_a_customer_a_conversation_is_its_places(store: Store) -> None:
    """The same words again are the same request for a while; later they are somebody else's. Who asked at an earlier
    place of this conversation has a case already."""
    first = await ask(store, "a", subject="")
    assert (await ask(store, "a", subject="")).is_repeated
    assert (await ask(store, "b", "a", subject="", at=LATER)).escalation == first.escalation
    other = await ask(store, "a", subject="", at=LATER)
    assert other.escalation != first.escalation
    assert (await ask(store, "x", subject="")).escalation not in (first.escalation, other.escalation)
    assert await close(store, other.escalation) is None
    assert (await ask(store, "c", "a", subject="", at=LATER)).escalation not in (first.escalation, other.escalation)


async def test_people_who_take_no_other_case_get_none(store: Store) -> None:
    """The record says what was answered instead; nothing is remembered of the place; cases of calls count, too."""
    await store.commit([Entry(decided(), escalation=draft(subject="s"))])
    first = await ask(store, "a", open_max=1)
    full = await ask(store, "b", subject="", open_max=1)
    assert (first.escalation is not None, full) == (True, Handed(None, "full", NOW))
    assert (await ask(store, "b", subject="")).escalation is not None


async def test_many_at_once_open_one_case(state: Path) -> None:
    """Two processes' stores on one folder: one case, one reply, and both chains verify."""
    async with await asyncio.to_thread(open_store, state) as one, await asyncio.to_thread(open_store, state) as two:
        asked = [ask(store, "a", at=NOW + timedelta(seconds=n)) for n, store in enumerate([one, two] * 8)]
        handed = await asyncio.gather(*asked)
        assert len({(each.escalation, each.reply, each.time) for each in handed}) == 1
        assert sum(not each.is_repeated for each in handed) == 1
        assert len(await one.read(lambda reader: reader.escalations())) == 1
        assert (await one.read(lambda reader: reader.verify())).findings == ()
        (line, *_) = await one.read(lambda reader: reader.receipts(kind=Kind.HANDED_OFF))
        assert line.payload is not None
        assert line.payload["escalation"] == handed[0].escalation


@pytest.mark.parametrize(("closes", "approves"), [(False, True), (False, False)])
async def test_a_case_without_a_call_is_only_closed(store: Store, closes: bool, approves: bool) -> None:
    """It is neither approved nor rejected, and a case of a call is not closed."""
    handed = await ask(store, "a")
    assert await close(store, handed.escalation, closes=closes, approves=approves) is Unanswerable.NO_CALL
    (done,) = await store.commit([Entry(decided(), escalation=draft(subject="s"))])
    assert await close(store, done.escalation_id) is Unanswerable.IS_CALL
    assert await close(store, handed.escalation) is None
    assert await close(store, handed.escalation) is Unanswerable.CLOSED


async def test_what_is_known_of_a_place_goes_with_its_case(store: Store, state: Path) -> None:
    """By retention and by erasure; no text of a customer and no name stands in the table."""
    await ask(store, "a place")
    await ask(store, "b", subject="")

    def rows() -> list[tuple[str, ...]]:
        with closing(sqlite3.connect(state / "callgate.db")) as connection:
            return connection.execute("SELECT name, escalation, reply FROM handoffs").fetchall()

    found = await asyncio.to_thread(rows)
    assert len(found) == 2
    assert "a place" not in str(found)
    await store.retain(receipts_before=NOW, payloads_before=NOW + timedelta(days=1), at=NOW + timedelta(days=2))
    assert await asyncio.to_thread(rows) == []
