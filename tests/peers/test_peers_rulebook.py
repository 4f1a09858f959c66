"""What went wrong in other gates with rules, amounts and payments, as claims on decisions and on the store of money."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.calls import ToolCall
from interceptors.decisions import Decision, Evidence, EvidenceKind, Grounded, Needs, Scheduled
from interceptors.kinds import MoneyState
from interceptors.obligations import injected, injection_of
from interceptors.pipeline import Pipeline
from interceptors.results import structured_result
from interceptors.strict_json import digest
from interceptors.usage import unused
from policies import load_policy_text
from policies.model import Ruling
from proxy.store import Store, open_store
from tests.interceptors.builders import HEAD, NOW, context, decided, facts, pipeline, proposal
from tests.interceptors.conversations import assistant, call, history, result, user
from tests.proxy.money_desk import OVER_PAID, TWICE, open_desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from interceptors.history import Entry

WALKS = Path(__file__).parents[2] / "fixtures" / "fees" / "harbour-walks"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await asyncio.to_thread(open_store, tmp_path / "state") as opened:
        yield opened


def decide(deciding: Pipeline, asked: str, *, tool: str = "refund", known: Any = None, **about: Any) -> Decision:
    """The decision on these arguments where nothing was used before."""
    used: dict[Any, Any] = {}
    while isinstance(
        answer := deciding.decide(proposal(tool, asked), context(**about), {} if known is None else known, used), Needs
    ):
        assert answer.usages
        used |= {key: unused(key) for key in answer.usages}
    return answer


def leaving(decision: Decision, asked: str) -> ToolCall:
    """The call as it leaves."""
    proposed, injection = proposal("refund", asked).call, injection_of(decision)
    assert isinstance(proposed, ToolCall)
    assert injection is not None
    return injected(proposed, injection)


# 46

STALE = """\
reasons:
  refunded: {category: policy}
facts:
  order:
    key: {pattern: '[A-Z][0-9]+'}
    file: orders.json
    fields: {refunded: {money: USD, unit: minor}}
tools:
  look: {effect: read, result: {fields: {refunded: {money: USD, unit: minor}}}}
  refund:
    facts: {order: args.order_id}
    arguments:
      order_id: {pattern: '[A-Z][0-9]+'}
      amount: {money: USD, unit: major}
    rules:
      - {forbid: refunded, when: order.refunded > 0 USD}
"""


@pytest.mark.parametrize(("now_refunded", "ruling"), [(6000, Ruling.FORBID), (0, Ruling.ALLOW)])
def test_46_a_read_beside_a_write_showed_what_was_before_it(now_refunded: int, ruling: Ruling) -> None:
    """A read that ran in one batch with a write says what was before: no rule reads it, only the fact of now."""
    reads: list[Entry] = [
        call("look", "c1"),
        call("refund", "c2", arguments={"order_id": "A1", "amount": 60}),
        result('{"refunded": 0}', "c1"),
        result('{"status": "paid"}', "c2"),
    ]
    about = history(user("Refund A1."), *reads, user("Again."))
    known = facts(order__A1={"refunded": now_refunded})
    asked = '{"order_id": "A1", "amount": 60}'
    assert decide(pipeline(STALE), asked, known=known, history=about).ruling is ruling


async def test_46_an_uncertain_write_was_retried(store: Store) -> None:
    """A 408 after the write: the write again is refused, not as something that a retry may cure, and holds nothing."""
    desk = await open_desk(store, (OVER_PAID, TWICE))
    [first] = await desk.turn("60")
    await desk.settle(first, MoneyState.UNKNOWN)
    [again] = await desk.turn("60")
    told = structured_result(again.decision, again.receipt)
    assert (told["reason"], told["isRetryable"]) == ("pending_reconciliation", False)
    assert "not repeat" in str(told["next"])
    assert await desk.held() == 6000


# 50

DENIED = pipeline(
    "unknown_tools: forbid\nreasons: {never: {category: policy}}\ntools: {wipe: {rules: [forbid: never]}}\n"
)


WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)


@given(st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | WHOLE | st.text(max_size=20), max_size=5))
def test_50_arguments_were_varied_until_a_refused_tool_gave_way(arguments: dict[str, Any]) -> None:
    """No readable arguments bring a tool through that is always refused: one answer for all, which invites no try."""
    asked = json.dumps(arguments)
    for tool, reason in (("wipe", "never"), ("drop_tables", "unknown_tool")):
        decision = decided(DENIED.screen(proposal(tool, asked), context()))
        told = structured_result(decision, "rc_1")
        assert (decision.ruling, told["reason"], told["isRetryable"]) == (Ruling.FORBID, reason, False)
        empty = decided(DENIED.screen(proposal(tool), context()))
        assert told == structured_result(empty, "rc_1"), "an answer that varies with the arguments is a hint"


# 54

TERMS = """\
reasons: {wrong_amount: {category: validation}}
facts:
  booking:
    key: {pattern: 'B[0-9]+'}
    file: bookings.json
    fields: {paid: {money: EUR, unit: minor}, departs_on: date}
tools:
  refund:
    facts: {booking: args.booking_id}
    arguments:
      booking_id: {pattern: 'B[0-9]+'}
      amount: {money: EUR, unit: major}
    fee_schedule:
      source: source.txt
      candidate: candidate.json
      amount: args.amount
      paid: booking.paid
      price: booking.paid
      departure: booking.departs_on
      cancelled_at: now()
      zone: Europe/Berlin
      forbid: wrong_amount
"""
WRONG = '{"booking_id": "B1", "amount": 399}'


def terms(more: str = "") -> Decision:
    """On a refund of the whole price eleven days before the tour."""
    deciding = Pipeline(load_policy_text(HEAD + TERMS + more, folder=WALKS))
    known = facts(booking__B1={"paid": 39900, "departs_on": "2026-12-11"})
    return decide(deciding, WRONG, known=known)


def test_54_an_edited_call_looked_like_the_one_of_the_model() -> None:
    """An amount is put right only where the policy says so, and then the record holds both digests and the reason."""
    refused = terms()
    assert (refused.ruling, refused.reason, refused.obligations) == (Ruling.FORBID, "wrong_amount", ())

    edited = terms("      inject: true\n")
    assert edited.ruling is Ruling.ALLOW
    left = leaving(edited, WRONG)
    assert left.arguments == {"booking_id": "B1", "amount": Decimal("79.80")}
    [row] = [one for one in edited.verdicts if isinstance(one, Scheduled)]
    proposed = proposal("refund", WRONG).call
    assert isinstance(proposed, ToolCall)
    assert edited.digest == digest(dict(proposed.arguments))
    assert row.injected == digest(dict(left.arguments)) != edited.digest
    assert row.detail.startswith("injected: ")
    assert row.computed is not None
    assert row.computed.quotation in (WALKS / "source.txt").read_text(encoding="utf-8")


# 60


async def test_60_a_payment_was_planned_anew_as_another_call(store: Store) -> None:
    """34 s later, under a new id, in another spelling of the amount: the same payment, until a result came and after.

    Another amount or another order is another payment.
    """
    desk = await open_desk(store, (TWICE,))
    desk.orders["A2"] = desk.orders["A1"]
    [first] = await desk.turn("60")
    for other, spelled in enumerate(("60", "60.0", "60.00", '"60.00"', '"60"')):
        desk.later(seconds=34)
        assert await desk.said(f"{other + 1}", spelled) == ["allow", "pending_reconciliation"]
    await desk.settle(first, MoneyState.EXECUTED)
    assert await desk.said("9", "60.00") == ["allow", "twice"]
    assert await desk.said("60", order="A2") == ["allow"]


# 61

KEYED = """\
reasons: {twice: {category: policy}}
tools:
  refund:
    arguments:
      order_id: {pattern: '[A-Z][0-9]+'}
      amount: {money: USD, unit: major}
      idempotency_key: {type: string, optional: true}
    limits:
      - {forbid: twice, once_per: [args.order_id, args.amount], within: 24h}
    inject: idempotency_key
"""
DECLARED = pipeline(KEYED)
UNDECLARED = pipeline(KEYED.replace("      idempotency_key: {type: string, optional: true}\n", ""))


@given(st.text(max_size=40))
def test_61_each_try_had_a_fresh_idempotency_key(written: str) -> None:
    """Whatever the model or an SDK mints, the key that leaves is the one of the payment, and of no other payment.

    Where the policy does not name the argument, a call with a key of its own is refused.
    """

    def key(**asked: Any) -> Any:
        text = json.dumps({"order_id": "A1", "amount": 60} | asked)
        return leaving(decide(DECLARED, text), text).arguments["idempotency_key"]

    assert key(idempotency_key=written) == key() != written
    assert key(amount=61, idempotency_key=written) != key()
    assert key(order_id="A2", idempotency_key=written) != key()
    own = json.dumps({"order_id": "A1", "amount": 60, "idempotency_key": written})
    assert decide(UNDECLARED, own).reason == "undeclared_parameter"


# 62


async def test_62_a_budget_was_overshot_by_calls_at_once(store: Store) -> None:
    """Fifty at once against twelve: twelve. What is known not to be executed frees its place, to the call; silence
    frees none.
    """
    desk = await open_desk(store, (OVER_PAID.replace("order.paid", "120.00 USD"),))

    async def fifty() -> list[Any]:
        turns = await asyncio.gather(*(desk.turn("10") for _ in range(50)))
        allowed = [one for turn in turns for one in turn if one.is_allowed]
        refused = Counter(one.decision.reason for turn in turns for one in turn if not one.is_allowed)
        assert refused == {"over_paid": 50 - len(allowed)}
        return allowed

    first = await fifty()
    assert (len(first), await desk.held()) == (12, 12000)
    await asyncio.gather(*(desk.settle(one, MoneyState.NOT_EXECUTED) for one in first[:5]))
    await asyncio.gather(*(desk.settle(one, MoneyState.EXECUTED) for one in first[5:8]))
    await asyncio.gather(*(desk.settle(one, MoneyState.UNKNOWN) for one in first[8:10]))
    assert (len(await fifty()), await desk.held()) == (5, 12000)
    desk.later(minutes=15)
    assert await store.expire(at=desk.now) == 7
    assert (len(await fifty()), await desk.held()) == (0, 12000)


# 63


@pytest.mark.parametrize(
    ("currency", "unit", "amount", "ruling"),
    [
        ("JPY", "minor", "500", Ruling.ALLOW),
        ("JPY", "minor", "501", Ruling.ESCALATE),
        ("JPY", "major", "500", Ruling.ALLOW),
        ("JPY", "milli", "500000", Ruling.ALLOW),
        ("JPY", "milli", "501000", Ruling.ESCALATE),
        ("BHD", "minor", "500000", Ruling.ALLOW),
        ("BHD", "minor", "500001", Ruling.ESCALATE),
        ("BHD", "milli", "500001", Ruling.ESCALATE),
        ("BHD", "major", "500.001", Ruling.ESCALATE),
        ("JPY", "major", "499.5", None),
        ("JPY", "milli", "499500", None),
        ("BHD", "major", "499.9999", None),
    ],
)
def test_63_every_currency_was_taken_to_have_cents(
    currency: str, unit: str, amount: str, ruling: Ruling | None
) -> None:
    """A minor unit is the currency's own, none for yen and a thousandth for dinars; finer than that is no amount."""
    text = f"""\
reasons: {{large: {{category: escalated}}}}
tools:
  pay:
    arguments: {{amount: {{money: {currency}, unit: {unit}}}}}
    rules: [{{escalate: large, when: args.amount > 500 {currency}}}]
"""
    decision = decided(pipeline(text).screen(proposal("pay", f'{{"amount": {amount}}}'), context(now=NOW)))
    if ruling is None:
        assert decision.ruling is not Ruling.ALLOW
        assert decision.reason != "large"
    else:
        assert decision.ruling is ruling


# 64

GROUNDED = pipeline("""\
tools:
  find: {effect: read}
  open:
    arguments: {record: {pattern: '[A-Z0-9]+', from: [user, 'result of find.id']}}
""")
IDS = st.from_regex(r"[A-Z]{2}[0-9]{4}", fullmatch=True)


@given(IDS, IDS)
def test_64_an_id_was_made_up(made: str, real: str) -> None:
    """An id that only the model wrote, or that came from a call of no session of ours, is asked back; with the user's
    words or a released result behind it, the record says where it stands.
    """
    asked = f'{{"record": "{made}"}}'

    def opened(*entries: Entry) -> Decision:
        return decided(GROUNDED.screen(proposal("open", asked), context(history=history(*entries))))

    weather = [user("Summarise the weather."), assistant(f"I will look at {made}.")]
    elsewhere = [call("find", released=""), result(f'{{"id": "{made}"}}')]
    for entries in (weather, weather + elsewhere, [call("find"), result(f'{{"id": "{real}"}}')]):
        if made != real or entries[:2] == weather:
            assert opened(*entries).reason == "ungrounded"

    def evidence(decision: Decision) -> list[Evidence]:
        assert decision.ruling is Ruling.ALLOW
        return [one for row in decision.verdicts if isinstance(row, Grounded) for one in row.evidence]

    [said] = evidence(opened(*weather, user(f"Open {made}.")))
    assert (said.kind, said.turn, said.start, said.end) == (EvidenceKind.USER, 2, 5, 11)
    [found] = evidence(opened(user("Find it."), call("find", released="rc_7"), result(f'{{"id": "{made}"}}')))
    assert (found.kind, found.path, found.receipt) == (EvidenceKind.RESULT, "id", "rc_7")
