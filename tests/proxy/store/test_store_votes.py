"""Answers of people in the store: one transaction each, sealed, used once, and forgotten with what they are about."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from interceptors.calls import Proposer
from interceptors.grants import Asks, Binding, Grant
from interceptors.obligations import VoidGrant
from interceptors.usage import GrantKey, GrantUse
from policies.model import Ruling
from proxy.store import Answering, Entry, EscalationDraft, EscalationStatus, Granting, Unanswerable, open_store
from proxy.store.voting import vote
from tests.proxy.store.samples import decided, draft

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.store import Answer, Store
    from proxy.store.transaction import Transaction

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BINDING = Binding(("rules/t.rules[0]/over",), {"order.paid": "d" * 64}, "r" * 64)
KEY = GrantKey("whose call it is")


def case(**fields: object) -> EscalationDraft:
    made = draft(subject="s")
    about = {"asks": Asks(KEY.name, BINDING), "answer_by": NOW + timedelta(days=3), "policy": "p"} | fields
    return replace(made, **about)  # type: ignore[arg-type] # fields by name


async def opened(store: Store, **fields: object) -> str:
    [done] = await store.commit([Entry(decided(ruling=Ruling.ESCALATE), escalation=case(**fields))])
    assert done.escalation_id is not None
    return done.escalation_id


def answering(escalation: str, by: str = "anna", *, approves: bool = True, **fields: object) -> Answering:
    made = Answering(
        escalation=escalation,
        by=by,
        approves=approves,
        reason="looked at it",
        at=NOW,
        quorum=1,
        valid_for=timedelta(days=1),
    )
    return replace(made, **fields)  # type: ignore[arg-type] # fields by name


async def granted(store: Store) -> Grant | None:
    use = (await store.usages([KEY]))[KEY]
    assert isinstance(use, GrantUse)
    return use.grant


async def use(store: Store, grant: Grant, at: datetime = NOW) -> bool:
    """Whether a call that rests on the approval was let pass."""
    instead = decided(ruling=Ruling.ESCALATE)
    using = Granting(name=KEY.name, grant=grant.id, escalation=grant.escalation, at=at, anew=lambda: Entry(instead))
    [done] = await store.commit([Entry(decided(), granting=using)])
    return not done.anew


async def test_one_approval_makes_a_grant_that_is_used_once(store: Store) -> None:
    """The call of exactly this name is let pass once, and never again, whoever asks."""
    escalation = await opened(store)
    answer = await store.answer(answering(escalation))
    assert answer.problem is None
    assert answer.case is not None
    assert answer.case.status is EscalationStatus.APPROVED

    grant = await granted(store)
    assert grant is not None
    assert (grant.escalation, grant.binding, grant.by, grant.approves) == (escalation, BINDING, ("anna",), True)

    assert [await use(store, grant), await use(store, grant)] == [True, False]
    assert await granted(store) is None
    assert await store.case_status(escalation) is EscalationStatus.USED


async def test_the_first_of_two_who_race_wins(store: Store) -> None:
    """An approval and a refusal at the same time: one is written, the other hears that the case is closed."""
    escalation = await opened(store)

    answers = await asyncio.gather(
        store.answer(answering(escalation)), store.answer(answering(escalation, "ben", approves=False))
    )

    assert sorted(str(each.problem) for each in answers) == ["None", str(Unanswerable.CLOSED)]
    said = await store.read(lambda reader: reader.votes(escalation))
    assert [each.person for each in said] == ["anna" if answers[0].problem is None else "ben"]


async def test_a_quorum_is_of_different_people(store: Store) -> None:
    """Two approvals of one person are one; a grant is made by the second person, and names both."""
    escalation = await opened(store)

    first = await store.answer(answering(escalation, quorum=2))
    again = await store.answer(answering(escalation, quorum=2))
    assert (first.missing, again.problem, await granted(store)) == (1, Unanswerable.ALREADY, None)

    second = await store.answer(answering(escalation, "ben", quorum=2))
    grant = await granted(store)
    assert second.missing == 0
    assert grant is not None
    assert grant.by == ("anna", "ben")


async def test_one_refusal_is_enough(store: Store) -> None:
    """Whatever was approved before, a refusal closes the case."""
    escalation = await opened(store)
    await store.answer(answering(escalation, quorum=2))

    answer = await store.answer(answering(escalation, "ben", approves=False, quorum=2))

    assert answer.case is not None
    assert answer.case.status is EscalationStatus.REJECTED
    grant = await granted(store)
    assert grant is not None
    assert not grant.approves
    assert not await use(store, grant), "a refusal lets nothing pass"


@pytest.mark.parametrize(
    ("fields", "about", "problem"),
    [
        ({"answer_by": NOW}, {}, Unanswerable.EXPIRED),
        ({"proposer": Proposer.OPERATOR, "proposed_by": "anna"}, {}, Unanswerable.OWN),
        ({"proposer": Proposer.OPERATOR, "proposed_by": "ben"}, {}, None),
        ({"proposer": Proposer.OPERATOR, "proposed_by": "anna"}, {"approves": False}, None),
        ({"proposer": Proposer.MODEL, "proposed_by": "anna"}, {}, None),
        ({"asks": None}, {}, Unanswerable.NO_APPROVAL),
        ({"asks": None}, {"approves": False}, None),
    ],
)
async def test_who_may_not_answer_what(
    store: Store, fields: dict[str, object], about: dict[str, object], problem: Unanswerable | None
) -> None:
    """Four eyes, time, and cases of which no approval would let the call run: nothing is written then."""
    escalation = await opened(store, **fields)

    answer = await store.answer(answering(escalation, **about))  # type: ignore[arg-type] # fields by name

    assert answer.problem is problem
    assert bool(await store.read(lambda reader: reader.votes(escalation))) is (problem is None)
    assert (await store.answer(answering("esc_none"))).problem is Unanswerable.NOT_FOUND


async def test_an_expired_grant_lets_nothing_pass_and_says_so(store: Store) -> None:
    """At its last moment it holds, a moment later it does not; the case then reads `expired`."""
    escalation = await opened(store)
    await store.answer(answering(escalation))
    grant = await granted(store)
    assert grant is not None

    assert not await use(store, grant, grant.expires)
    assert await store.expire_cases(at=grant.expires - timedelta(microseconds=1)) == 0
    assert await store.expire_cases(at=grant.expires) == 1
    assert await store.case_status(escalation) is EscalationStatus.EXPIRED
    assert await use(store, grant, grant.expires - timedelta(microseconds=1))


async def test_a_case_that_nobody_answers_expires(store: Store) -> None:
    """It is then no open case: the next call opens another."""
    escalation = await opened(store, answer_by=NOW)

    assert await store.expire_cases(at=NOW) == 1
    assert await store.case_status(escalation) is EscalationStatus.EXPIRED
    assert await opened(store) != escalation


async def test_a_call_that_never_left_gives_its_grant_back(store: Store) -> None:
    """What was undone before a byte of the call left may be done with the same approval."""
    escalation = await opened(store)
    await store.answer(answering(escalation))
    grant = await granted(store)
    assert grant is not None
    receipt = decided()
    using = Granting(name=KEY.name, grant=grant.id, escalation=escalation, at=NOW, anew=lambda: Entry(decided()))
    await store.commit([Entry(receipt, granting=using)])

    await store.free([receipt.receipt], at=NOW)

    assert await granted(store) == grant
    assert await store.case_status(escalation) is EscalationStatus.APPROVED


async def test_a_grant_that_is_taken_back_is_gone(store: Store) -> None:
    """In the transaction of the refusal, and the case says why."""
    escalation = await opened(store)
    await store.answer(answering(escalation))
    grant = await granted(store)
    assert grant is not None
    taken = VoidGrant(grant.id, escalation, "order.paid changed")

    [done] = await store.commit([Entry(decided(ruling=Ruling.ESCALATE), escalation=case(), voiding=taken)])

    assert (await granted(store), await use(store, grant)) == (None, False)
    shown = await store.read(lambda reader: reader.escalation(escalation))
    assert shown is not None
    assert (shown.status, shown.note) == (EscalationStatus.VOID, "order.paid changed")
    assert done.escalation_id not in (None, escalation), "people decide anew"


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE grants SET content = replace(content, 'anna', 'eve')",
        "UPDATE grants SET content = replace(content, '2026-12', '2036-12'), expires = '2036-12-31T00:00:00.000000Z'",
        "UPDATE grants SET seal = '00'",
        "UPDATE grants SET name = 'another'",
    ],
)
async def test_a_forged_grant_is_none(store: Store, state: Path, forgery: str) -> None:
    """Whoever writes the database, and not the key beside it, can neither make an approval nor stretch one."""
    await store.answer(answering(await opened(store)))
    grant = await granted(store)
    assert grant is not None
    with closing(sqlite3.connect(state / "callgate.db")) as connection, connection:
        connection.execute(forgery)

    assert await granted(store) is None
    assert not await use(store, grant)


async def test_erasure_takes_the_answers_with_it(store: Store) -> None:
    """What people said about a customer goes with the customer, and approves nothing any more."""
    subject = store.subject_digest("c1")
    escalation = await opened(store, subject=subject)
    await store.answer(answering(escalation))

    await store.erase("c1", by="anna", at=NOW)

    assert await granted(store) is None
    assert await store.read(lambda reader: reader.votes(escalation)) == ()


async def test_one_case_too_many_is_refused(store: Store) -> None:
    """Beyond the bound of the policy nothing is opened, and the refusal that stands in is written; a call that joins an
    open case is not one more."""
    escalation = await opened(store, open_max=1)
    full = decided(ruling=Ruling.FORBID)
    other = replace(case(open_max=1), tool="other")

    [joined] = await store.commit([Entry(decided(ruling=Ruling.ESCALATE), escalation=case(open_max=1))])
    [done] = await store.commit([Entry(decided(ruling=Ruling.ESCALATE), escalation=other, when_full=lambda: full)])

    assert joined.escalation_id == escalation
    assert (done.full, done.escalation_id) == (True, None)
    assert len(await store.read(lambda reader: reader.receipt(full.receipt))) == 1


async def test_an_answer_is_a_record_of_the_chain(store: Store) -> None:
    """Who said what, and why, under the receipt of the refusal; the chain verifies."""
    escalation = await opened(store)
    await store.answer(answering(escalation))

    shown = await store.read(lambda reader: reader.escalation(escalation))
    assert shown is not None
    records = await store.read(lambda reader: reader.receipt(shown.receipt))
    assert [record.kind for record in records][-1:] == ["answered"]
    assert (await store.read(lambda reader: reader.verify())).findings == ()


async def test_two_stores_use_one_grant_once(store: Store, state: Path) -> None:
    """Two stores on one folder race for one approval, many times: exactly one wins each time."""
    async with await asyncio.to_thread(open_store, state) as other:
        for _ in range(10):
            await store.answer(answering(await opened(store)))
            grant = await granted(other)
            assert grant is not None
            assert sorted(await asyncio.gather(use(store, grant), use(other, grant))) == [False, True]


async def test_answers_of_one_transaction_see_each_other(store: Store) -> None:
    """Two persons' answers that share a commit are one after the other all the same."""
    escalation = await opened(store)

    def both(transaction: Transaction) -> list[Answer]:
        return [vote(transaction, store._key, answering(escalation, by)) for by in ("anna", "ben")]

    answers = await store._writer.run(both)

    assert [each.problem for each in answers] == [None, Unanswerable.CLOSED]
