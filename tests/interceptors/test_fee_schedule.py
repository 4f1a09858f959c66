"""The amount of a call is the one that the schedule gives on re-read facts: else it is refused with it, or replaced."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.calls import Proposal, Proposer, ToolCall
from interceptors.decisions import Decision, Needs, Scheduled
from interceptors.obligations import injected, injection_of, reserve_of
from interceptors.pipeline import Pipeline
from interceptors.results import structured_result
from interceptors.strict_json import digest
from interceptors.usage import unused
from policies import load_policy_text
from policies.model import Ruling
from tests.interceptors.builders import HEAD, context, declared, facts, proposal
from tests.policies.fees.drafts import strict

WALKS = Path(__file__).parents[2] / "fixtures" / "fees" / "harbour-walks"
ON_TIME = datetime(2026, 6, 20, 10, tzinfo=UTC)  # 11 days before: interval 3, a fee of 80 %
BOOKING = {
    "owner": "c1",
    "paid": 39900,
    "price": 39900,
    "departs_on": "2026-07-01",
    "moved_to": "2026-08-01",
    "asked_at": "2026-06-20T10:00:00Z",
}
EVIDENCE = {
    "refund": "79.80 EUR",
    "fee": "319.20 EUR",
    "paid": "399.00 EUR",
    "daysBefore": 11,
    "interval": 3,
    "quotation": "14 to 1 days before departure: 80 % of the tour price",
    "place": "source.txt:8 [231,284)",
}
FEES = {
    "source": "source.txt",
    "candidate": "candidate.json",
    "amount": "args.amount",
    "paid": "booking.paid",
    "price": "booking.price",
    "departure": "booking.departs_on",
    "cancelled_at": "now()",
    "zone": "Europe/Berlin",
    "forbid": "wrong_amount",
}
POLICY = """\
session: {{customer_id: {{jwt: sub}}}}
reasons:
  wrong_amount:
    category: validation
    reply: {{en: "The refund is {{fee_schedule.refund}}: {{fee_schedule.quotation}} ({{fee_schedule.place}})."}}
  not_yours: {{category: permission}}
  large: {{category: escalated}}
  full: {{category: policy}}
  no_booking: {{category: validation}}
facts:
  booking:
    key: {{pattern: 'B[0-9]+'}}
    file: bookings.json
    missing: {{forbid: no_booking}}
    fields:
      owner: string
      paid: {{money: EUR, unit: minor}}
      price: {{money: EUR, unit: minor}}
      departs_on: date
      moved_to: date
      asked_at: {{timestamp: iso}}
tools:
  note: {{effect: write}}
  refund:
    facts: {{booking: args.booking_id}}
    arguments:
      booking_id: {{pattern: 'B[0-9]+'}}
      amount: {amount}
    fee_schedule: {{{fees}}}
{more}"""


def desk(more: str = "", amount: str = "{money: EUR, unit: major}", **changed: str | None) -> Pipeline:
    """The pipeline of a desk; None takes a key of the schedule away."""
    fees = {key: value for key, value in (FEES | changed).items() if value is not None}
    text = POLICY.format(fees=", ".join(f"{key}: {value}" for key, value in fees.items()), more=more, amount=amount)
    return Pipeline(load_policy_text(HEAD + text, folder=WALKS))


def ask(
    deciding: Pipeline, amount: str, booking: Any = None, *, schema: bytes | None = None, now: datetime = ON_TIME
) -> Decision:
    """The decision on a refund of B1 with this JSON as its amount, none where that is empty."""
    arguments = f'{{"booking_id":"B1","amount":{amount}}}' if amount else '{"booking_id":"B1"}'
    about = context(now=now, subject={"sub": "c1"}, declared=declared(refund=schema) if schema is not None else {})
    known = facts(booking__B1=BOOKING if booking is None else booking)
    used: dict[Any, Any] = {}
    while isinstance(answer := deciding.decide(proposal("refund", arguments), about, known, used), Needs):
        assert not answer.facts
        used |= {key: unused(key) for key in answer.usages}
    return answer


def row(decision: Decision) -> Any:
    [found] = [verdict for verdict in decision.verdicts if verdict.interceptor == "fee_schedule"]
    return found


def leaving(decision: Decision, arguments: dict[str, Any], raw: str) -> dict[str, Any]:
    """The arguments that leave."""
    injection = injection_of(decision)
    assert injection is not None
    return dict(injected(ToolCall("refund", arguments, raw, "call_1", 0), injection).arguments)


@pytest.mark.parametrize("amount", ["79.80", "79.8", '"79.80"'])
def test_the_right_amount_passes_as_it_is(amount: str) -> None:
    """In any spelling that is the same money; nothing is put into the call, and the row says how it came about."""
    for inject in (None, "true"):
        decision = ask(desk(inject=inject), amount)
        assert decision.ruling is Ruling.ALLOW
        assert decision.obligations == ()
        assert row(decision).computed.refund == "79.80 EUR"
        assert row(decision).injected == ""


@pytest.mark.parametrize("amount", ["79.81", "79.79", "199.50", "319.20", "399.00", "0.01"])
def test_any_other_amount_is_refused_with_the_right_one(amount: str) -> None:
    """The customer reads the number and the words of the terms; the agent gets the evidence, the receipt all of it."""
    decision = ask(desk(), amount)

    assert (decision.ruling, decision.reason) == (Ruling.FORBID, "wrong_amount")
    assert decision.reply == f"The refund is 79.80 EUR: {EVIDENCE['quotation']} (source.txt:8)."
    result = structured_result(decision, "rc_1")
    assert result["evidence"] == EVIDENCE
    assert result["isRetryable"] is True
    found = row(decision)
    assert isinstance(found, Scheduled)
    assert found.rule == "refund.fee_schedule"
    assert found.computed is not None
    assert (found.computed.schedule, found.computed.document, found.computed.line) == ("harbour-walks", "source.txt", 8)
    assert (found.computed.cancelled_on, found.computed.reference_date) == ("2026-06-20", "2026-07-01")
    assert (found.computed.start, found.computed.end, len(found.computed.source)) == (231, 284, 64)
    assert found.detail == "not the refund: 11 days before, interval 3: source.txt:8:1 [231,284)"
    assert decision.facts[0].fields == {"departs_on": "2026-07-01", "paid": "399.00 EUR", "price": "399.00 EUR"}


@pytest.mark.parametrize(
    ("now", "amount"),
    [
        ("2026-06-01T21:59:59+00:00", "319.20"),
        ("2026-06-01T22:00:00+00:00", "199.50"),
        ("2026-06-16T21:59:59+00:00", "199.50"),
        ("2026-06-16T22:00:00+00:00", "79.80"),
        ("2026-06-30T21:59:59+00:00", "79.80"),
        ("2026-06-30T22:00:00+00:00", "19.95"),
    ],
)
def test_days_turn_in_the_declared_zone(now: str, amount: str) -> None:
    """A second before and at midnight in Berlin: only the amount of that day passes."""
    every = ("319.20", "199.50", "79.80", "19.95")
    deciding = desk()
    allowed = [one for one in every if ask(deciding, one, now=datetime.fromisoformat(now)).ruling is Ruling.ALLOW]
    assert allowed == [amount]


def test_without_a_zone_the_policys_counts() -> None:
    """The policy says UTC: there the day turns two hours later."""
    at = datetime(2026, 6, 16, 23, tzinfo=UTC)
    assert ask(desk(), "79.80", now=at).ruling is Ruling.ALLOW
    assert ask(desk(zone=None), "199.50", now=at).ruling is Ruling.ALLOW


def test_the_time_of_cancellation_may_be_a_fact() -> None:
    """What the record says counts, not when the call is made."""
    deciding = desk(cancelled_at="booking.asked_at")
    assert ask(deciding, "79.80", now=datetime(2026, 6, 30, tzinfo=UTC)).ruling is Ruling.ALLOW
    assert ask(deciding, "199.50", BOOKING | {"asked_at": "2026-06-10T10:00:00Z"}).ruling is Ruling.ALLOW


@pytest.mark.parametrize(
    ("field", "value", "detail"),
    [
        ("departs_on", None, "the departure date is missing"),
        ("departs_on", "2026-02-30", "the departure date is missing"),
        ("paid", None, "the paid amount is missing"),
        ("paid", "much", "the paid amount is missing"),
        ("price", None, "the price is missing"),
        ("asked_at", None, "the cancellation time is missing"),
        ("asked_at", "2026-06-20", "the cancellation time is missing"),
    ],
)
@pytest.mark.parametrize("inject", [None, "true"])
def test_an_input_that_lacks_is_for_a_person(field: str, value: Any, detail: str, inject: str | None) -> None:
    """No amount passes and none is made up; the row names the input and why it could not be read."""
    deciding = desk(cancelled_at="booking.asked_at", inject=inject)
    decision = ask(deciding, "79.80", BOOKING | {field: value})
    assert (decision.ruling, decision.reason) == (Ruling.ESCALATE, "facts_incomplete")
    assert row(decision).rule == "refund.fee_schedule"
    assert row(decision).detail.startswith(f"{detail}: booking.{field} has no value: ")
    assert decision.obligations == ()
    assert "evidence" not in structured_result(decision, "rc_1")


@pytest.mark.parametrize(
    ("booking", "detail"),
    [
        ({"departs_on": "2026-06-19"}, "the cancellation time is outside the period of the schedule: -1 days"),
        ({"paid": -1}, "the paid amount is no amount of whole minor units from zero up"),
        ({"price": -1}, "the price is no amount of whole minor units from zero up"),
    ],
)
def test_where_the_schedule_gives_no_amount_a_person_decides(booking: dict[str, Any], detail: str) -> None:
    """The record is complete and the schedule does not hold for it: that is no record that lacks something."""
    for inject in (None, "true"):
        decision = ask(desk(inject=inject), "79.80", BOOKING | booking)
        assert (decision.ruling, decision.reason) == (Ruling.ESCALATE, "no_amount")
        assert row(decision).detail.startswith(detail)


@pytest.mark.parametrize(("failure", "reason"), [("missing", "no_booking"), ("timeout", "facts_unavailable")])
def test_a_fact_that_cannot_be_had_speaks_for_itself(failure: str, reason: str) -> None:
    """The schedule, and the rules and limits that rest on it, are not evaluated and hide nothing."""
    more = "    rules:\n      - {escalate: large, when: fee_schedule.refund > 1.00 EUR}\n"
    more += "    limits:\n      - {forbid: full, value: args.amount, max: fee_schedule.refund}\n"
    for inject in (None, "true"):
        decision = ask(desk(more, inject=inject), "79.80", failure)
        assert (decision.ruling, decision.reason) == (Ruling.FORBID, reason)
        assert row(decision).ruling is Ruling.ALLOW
        assert row(decision).detail == "not evaluated: no fact booking"
        rest = [verdict for verdict in decision.verdicts if verdict.rule.startswith(("refund.rules", "refund.limits"))]
        assert {verdict.detail for verdict in rest} == {"not evaluated: no fact fee_schedule"}


def test_another_customers_booking_tells_no_amount() -> None:
    """Whose record it is comes first: neither reply nor result holds a number of it."""
    more = "    rules:\n      - {forbid: not_yours, unless: booking.owner == session.customer_id}\n"
    decision = ask(desk(more), "1", BOOKING | {"owner": "c2"})
    assert decision.reason == "not_yours"
    assert "evidence" not in structured_result(decision, "rc_1")
    assert "79" not in decision.reply + decision.message


def test_the_outcome_is_the_policys() -> None:
    """`escalate` in place of `forbid`."""
    decision = ask(desk(forbid=None, escalate="wrong_amount"), "1")
    assert (decision.ruling, decision.reason) == (Ruling.ESCALATE, "wrong_amount")
    assert structured_result(decision, "rc_1")["evidence"] == EVIDENCE


@pytest.mark.parametrize(
    ("amount", "declaration", "leaves"),
    [
        ("399.00", "{money: EUR, unit: major}", Decimal("79.80")),
        ('"399.00"', "{money: EUR, unit: major}", "79.80"),
        ("39900", "{money: EUR, unit: minor}", 7980),
        ('"39900"', "{money: EUR, unit: minor}", "7980"),
        ("399000", "{money: EUR, unit: milli}", 79800),
        ("", "{money: EUR, unit: major, optional: true}", Decimal("79.80")),
        ("null", "{money: EUR, unit: minor, optional: true}", 7980),
    ],
)
def test_the_right_amount_is_injected(amount: str, declaration: str, leaves: Any) -> None:
    """In the argument's unit, in the form that the model used; both digests are kept, and nothing else changes."""
    decision = ask(desk(amount=declaration, inject="true"), amount)
    assert decision.ruling is Ruling.ALLOW
    proposed = proposal("refund", f'{{"booking_id":"B1","amount":{amount}}}' if amount else '{"booking_id":"B1"}').call
    assert isinstance(proposed, ToolCall)
    sent = leaving(decision, dict(proposed.arguments), proposed.raw)
    assert sent == {"booking_id": "B1", "amount": leaves}
    assert type(sent["amount"]) is type(leaves)
    assert decision.digest == digest(dict(proposed.arguments))
    assert row(decision).injected == digest(sent) != decision.digest
    assert row(decision).detail == "injected: 11 days before, interval 3: source.txt:8:1 [231,284)"


def test_whole_amounts_are_injected_as_integers() -> None:
    """No `80.0`: a whole number has one spelling."""
    booking = BOOKING | {"paid": 40000, "price": 40000}
    sent = leaving(ask(desk(inject="true"), "1", booking), {"booking_id": "B1", "amount": 1}, "{}")
    assert sent["amount"] == 80
    assert type(sent["amount"]) is int


def test_rules_and_limits_judge_what_leaves() -> None:
    """With injection they see the right amount, and hold it; what the model wrote counts for nothing."""
    more = "    rules:\n      - {escalate: large, when: args.amount > 79.80 EUR}\n"
    more += "    limits:\n      - {forbid: full, sum: args.amount, per: args.booking_id, max: 79.80 EUR}\n"
    decision = ask(desk(more, inject="true"), "399.00")
    assert decision.ruling is Ruling.ALLOW
    reserve = reserve_of(decision)
    assert reserve is not None
    assert [charge.amount for charge in reserve.charges] == ["79.80 EUR"]
    assert injection_of(decision) is not None

    tighter = ask(desk(more.replace("max: 79.80", "max: 79.79"), inject="true"), "1.00")
    assert (tighter.ruling, tighter.reason) == (Ruling.FORBID, "full")
    strict = ask(desk(more.replace("> 79.80", "> 79.79"), inject="true"), "1.00")
    assert (strict.ruling, strict.reason) == (Ruling.ESCALATE, "large")
    assert strict.summary["amount"] == "79.80 EUR", "a person reads the amount that would leave"
    assert strict.obligations == ()


def test_an_amount_and_a_key_are_injected_together() -> None:
    """One canonical form with both, under one digest."""
    deciding = Pipeline(
        load_policy_text(
            HEAD
            + POLICY.format(
                fees=", ".join(f"{key}: {value}" for key, value in (FEES | {"inject": "true"}).items()),
                amount="{money: EUR, unit: major}\n      key: {type: string, optional: true}",
                more="    limits: [{forbid: full, once_per: args.booking_id}]\n    inject: key\n",
            ),
            folder=WALKS,
        )
    )
    decision = ask(deciding, "1.00")
    injection = injection_of(decision)
    assert injection is not None
    assert set(injection.values) == {"amount", "key"}
    sent = leaving(decision, {"booking_id": "B1", "amount": 1}, "{}")
    assert sent["amount"] == Decimal("79.80")
    assert injection.digest == digest(sent)


def test_a_refund_of_nothing_is_no_call() -> None:
    """Where the schedule leaves nothing and the argument takes no zero, the call is refused in the policy's words."""
    booking = BOOKING | {"paid": 10000}
    for inject in (None, "true"):
        decision = ask(desk(inject=inject), "100.00", booking)
        assert (decision.ruling, decision.reason) == (Ruling.FORBID, "wrong_amount")
        assert "0.00 EUR" in decision.reply
    assert "no amount that the argument accepts" in row(decision).detail
    from_zero = desk(amount="{money: EUR, unit: major, min: 0.00 EUR}", inject="true")
    assert leaving(ask(from_zero, "100.00", booking), {"booking_id": "B1"}, "{}")["amount"] == 0


def test_a_schema_without_a_place_for_the_amount_refuses_the_call() -> None:
    """The request's own schema is checked with the amount in it, and a call that passes it is released."""
    schema = b'{"properties":{"amount":{"type":"number","minimum":%s}}}'
    refused = ask(desk(inject="true"), "399.00", schema=schema % b"100")
    assert (refused.ruling, refused.reason) == (Ruling.FORBID, "unusable_schema")
    assert (
        row(refused).detail == "with what is put into 'amount': argument 'amount': the schema's 'minimum' is violated"
    )
    assert ask(desk(inject="true"), "399.00", schema=schema % b"1").ruling is Ruling.ALLOW


def test_a_freeform_call_has_no_amount_to_replace() -> None:
    """Its input is a text: nothing is put into it."""
    call = ToolCall("refund", {"booking_id": "B1", "amount": 1}, "{}", "call_1", 0, freeform=True)
    about = context(now=ON_TIME, subject={"sub": "c1"})
    decision = desk(inject="true").decide(Proposal(call, Proposer.MODEL), about, facts(booking__B1=BOOKING))
    assert isinstance(decision, Decision)
    assert decision.ruling is not Ruling.ALLOW


def test_rules_read_what_was_computed() -> None:
    """`fee_schedule` is a root of the tool's own expressions, typed; where nothing was computed it has no value."""
    fields = "refund fee paid days interval cancelled_on reference_date"
    holds = (
        "fee_schedule.refund == 79.80 EUR and fee_schedule.fee == 319.20 EUR and fee_schedule.paid == 399.00 EUR",
        "fee_schedule.days == 11 and fee_schedule.interval == 3",
        "days_between(fee_schedule.cancelled_on, fee_schedule.reference_date) == 11",
    )
    more = f"    rules: [{{escalate: large, unless: '{' and '.join(holds)}'}}]\n"
    assert all(f"fee_schedule.{name}" in more for name in fields.split())
    assert ask(desk(more), "79.80").ruling is Ruling.ALLOW
    blocked = ask(desk(more), "79.80", BOOKING | {"departs_on": None})
    assert [verdict.reason for verdict in blocked.verdicts if verdict.interceptor == "rules"] == ["facts_incomplete"]


def test_a_tool_without_a_schedule_has_no_row() -> None:
    """The gate computes nothing where the policy asks for nothing."""
    decision = desk().decide(proposal("note"), context(now=ON_TIME), {})
    assert isinstance(decision, Decision)
    assert decision.ruling is Ruling.ALLOW
    assert all(verdict.interceptor != "fee_schedule" for verdict in decision.verdicts)


@pytest.mark.parametrize("name", ["gasthof-lindenau", "kiln-workshop"])
def test_schedules_from_arrivals_and_events_without_a_price(name: str) -> None:
    """Each example of the golden schedules: the refund passes and a cent more does not, on the date of its own kind."""
    folder = WALKS.parent / name
    kind = strict((folder / "candidate.json").read_text(encoding="utf-8"))["reference"]["kind"]
    fees = FEES | {kind: "booking.departs_on", "cancelled_at": "booking.asked_at"}
    for one in strict((folder / "expected.json").read_text(encoding="utf-8"))["cases"]:
        said = {
            key: value for key, value in (fees | {"zone": one["zone"]}).items() if key not in ("price", "departure")
        }
        text = POLICY.format(
            fees=", ".join(f"{key}: {value}" for key, value in said.items()),
            more="",
            amount="{money: EUR, unit: major, min: 0.00 EUR}",
        )
        booking = BOOKING | {
            "paid": int(Decimal(one["paid"]) * 100),
            "departs_on": one["reference_date"],
            "asked_at": one["cancelled_at"],
        }
        deciding = Pipeline(load_policy_text(HEAD + text, folder=folder))
        assert ask(deciding, one["refund"], booking).ruling is Ruling.ALLOW
        assert ask(deciding, str(Decimal(one["refund"]) + Decimal("0.01")), booking).reason == "wrong_amount"


DESK = desk(amount="{money: EUR, unit: minor, min: 0.00 EUR}")


@given(
    paid=st.integers(0, 10**7),
    price=st.integers(0, 10**7),
    days=st.integers(0, 500),
    proposed=st.integers(0, 10**7),
    off_by=st.sampled_from((-100, -1, 1, 100)),
)
def test_exactly_one_amount_passes(paid: int, price: int, days: int, proposed: int, off_by: int) -> None:
    """For any booking and any day: the amount that a refusal names passes, and none beside it."""
    booking = BOOKING | {"paid": paid, "price": price, "departs_on": str(date(2026, 6, 20) + timedelta(days=days))}
    first = ask(DESK, str(proposed), booking)
    right = int(Decimal(row(first).computed.refund.removesuffix(" EUR")) * 100)
    assert (first.ruling is Ruling.ALLOW) is (proposed == right)
    assert 0 <= right <= paid
    assert ask(DESK, str(right), booking).ruling is Ruling.ALLOW
    if right + off_by >= 0:
        assert ask(DESK, str(right + off_by), booking).reason == "wrong_amount"
