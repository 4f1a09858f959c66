"""The refund-desk pack decides the demo's cases, and the ones between them, as its README says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import orjson
import pytest

from interceptors.calls import Proposal, Proposer, ToolCall
from interceptors.context import Context, FactDocument, FactFailed, FactFailure
from interceptors.decisions import Needs
from interceptors.history import Author, History, Said
from interceptors.pipeline import Pipeline
from interceptors.strict_json import parse
from interceptors.usage import Usage, UsageKey, unused
from policies.loader import load_policy
from policies.model import Ruling
from proxy.demo.backend import Order
from proxy.demo.cases import LANES, cases, orders
from proxy.demo.gate_process import PACK
from proxy.demo.turns import Call

NOW = datetime(2026, 11, 30, 15, tzinfo=UTC)
PIPELINE = Pipeline(load_policy(PACK))
ADA = {"sub": "cus_ada"}
ORDER = Order("A1001", "cus_ada", "Ada", "Kettle", 60000, 5)
CALL = {"order_id": "A1001", "amount": Decimal("120.00"), "reason": "damaged"}


def decide(name, arguments, known, subject=ADA, says=""):
    """The decision, with the facts that it asks for read from `known`; and the keys of those facts.

    Nothing was paid before, and the customer says `says`, or else names the order.
    """
    raw = orjson.dumps(arguments, default=lambda number: orjson.Fragment(str(number)))
    call = ToolCall(name, parse(raw), raw.decode(), "toolu_1", 0)
    history = History((Said(Author.USER, says or f"about {arguments.get('order_id')}", 0),))
    proposal, context = Proposal(call, Proposer.MODEL), Context(NOW, "tenant", subject=subject, history=history)
    answer = PIPELINE.screen(proposal, context)
    if not isinstance(answer, Needs):
        return answer, ()
    facts = {}
    for key in answer.facts:
        order = known.get(key.key)
        document = None if order is None else parse(orjson.dumps(order.document(NOW)))
        missing = FactFailed(FactFailure.MISSING, NOW)
        facts[key] = missing if document is None else FactDocument(document, NOW)
    usages: dict[UsageKey, Usage] = {}
    decision = PIPELINE.decide(proposal, context, facts)
    while isinstance(decision, Needs):  # the limits, and then when the customer was asked
        assert not usages.keys() & set(decision.usages)
        usages |= {key: unused(key) for key in decision.usages}
        decision = PIPELINE.decide(proposal, context, facts, usages)
    return decision, answer.facts


@pytest.mark.parametrize("lane", LANES, ids=lambda lane: lane.letter)
def test_the_cases_of_the_demo(lane) -> None:
    """Each call of each case gets the verdict, the reason and the words that the demo expects."""
    known, subject = orders(), {"sub": lane.customer_id}
    for case in cases(lane):
        calls = [part for part in case.turns[0].parts if isinstance(part, Call)]
        decided = [decide(call.name, parse(call.arguments.encode()), known, subject, case.says) for call in calls]
        found = [(one.tool, one.ruling.value, one.reason) for one, _ in decided]

        proposed = case.verdicts[: len(calls)]  # what follows an answer of the customer is decided by the whole gate
        assert found == [(one.tool, one.ruling, one.reason) for one in proposed], case.title
        replies = " ".join(one.reply for one, _ in decided if one.ruling is not Ruling.ALLOW)
        assert not replies or case.reads in replies
        assert not case.untouched or not any(asked for _, asked in decided)


TABLE = [
    ("as it should be", {}, {}, ADA, "allow", ""),
    ("the whole of what was paid", {"amount": Decimal("600.00")}, {"paid": 60000}, ADA, "escalate", "over_limit"),
    ("the most that is paid unasked", {"amount": Decimal("250.00")}, {}, ADA, "allow", ""),
    ("a cent more", {"amount": Decimal("250.01")}, {}, ADA, "clarify", "confirm"),
    ("exactly the limit", {"amount": Decimal("500.00")}, {}, ADA, "clarify", "confirm"),
    ("a cent above the limit", {"amount": Decimal("500.01")}, {}, ADA, "escalate", "over_limit"),
    ("the last day of the window", {}, {"delivered_days_ago": 14}, ADA, "allow", ""),
    ("a day later", {}, {"delivered_days_ago": 15}, ADA, "forbid", "outside_window"),
    (
        "over the limit and late",
        {"amount": Decimal(550)},
        {"delivered_days_ago": 47},
        ADA,
        "forbid",
        "outside_window",
    ),
    ("a cent more than was paid", {"amount": Decimal("120.01")}, {"paid": 12000}, ADA, "forbid", "over_paid"),
    ("more than was paid, above the limit", {"amount": Decimal(900)}, {}, ADA, "forbid", "over_paid"),
    ("final sale", {}, {"refund_eligible": False}, ADA, "forbid", "non_refundable"),
    ("a stranger's", {}, {"customer_id": "cus_ben"}, ADA, "forbid", "not_yours"),
    ("nobody is signed in", {}, {}, {}, "escalate", "facts_incomplete"),
    ("delivered tomorrow", {}, {"delivered_days_ago": -1}, ADA, "escalate", "facts_incomplete"),
    ("nothing at all", {"amount": Decimal(0)}, {}, ADA, "clarify", "invalid_parameter"),
    ("a negative amount", {"amount": Decimal(-5)}, {}, ADA, "clarify", "invalid_parameter"),
    ("a malformed number", {"order_id": "1001"}, {}, ADA, "clarify", "invalid_parameter"),
    ("a path", {"order_id": "A1001/.."}, {}, ADA, "clarify", "invalid_parameter"),
    ("a reason of its own", {"reason": "approved by a supervisor"}, {}, ADA, "clarify", "invalid_parameter"),
    ("an argument of its own", {"approved": True}, {}, ADA, "forbid", "undeclared_parameter"),
]


@pytest.mark.parametrize(
    ("arguments", "changes", "subject", "ruling", "reason"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_refunds(arguments, changes, subject, ruling: str, reason: str) -> None:
    """Each rule at its border, and what wins where two speak."""
    decision, _ = decide("process_refund", CALL | arguments, {"A1001": replace(ORDER, **changes)}, subject)

    assert (decision.ruling.value, decision.reason) == (ruling, reason)


def test_looking_is_for_owners() -> None:
    """An order is shown to its owner; to a stranger, and to nobody in particular, it is not."""
    known = {"A1001": ORDER}
    answers = [decide("lookup_order", {"order_id": "A1001"}, known, who)[0] for who in (ADA, {"sub": "cus_ben"}, {})]

    assert [one.ruling.value for one in answers] == ["allow", "forbid", "escalate"]
    assert decide("delete_order", {"order_id": "A1001"}, known)[0].reason == "unknown_tool"


def test_an_escalation_can_be_decided_in_ten_seconds() -> None:
    """Whoever approves reads the cause, the amount, the order and what was paid for it."""
    decision, _ = decide("process_refund", CALL | {"amount": Decimal("512.50")}, {"A1001": ORDER})

    told = " ".join(decision.summary.values())
    assert all(word in told for word in ("damaged", "512.50", "A1001", "600.00")), told
