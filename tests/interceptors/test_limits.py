"""Limits: what a call adds up to, whose money it is counted with, and when it was done already."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.calls import ToolCall
from interceptors.caps import charges
from interceptors.decisions import Needs
from interceptors.obligations import Inject, injected, injection_of, key_of, reserve_of
from interceptors.usage import (
    CapKey,
    CapUse,
    Charge,
    IntentKey,
    IntentUse,
    OpenIntent,
    text_of,
    units_of,
    unused,
    value_of,
)
from interceptors.windows import window_start
from policies.limits import Calendar
from policies.model import Ruling
from policies.values import Money
from tests.interceptors.builders import NOW, context, decided, declared, facts, pipeline, proposal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

    from interceptors.decisions import Decision
    from interceptors.pipeline import Pipeline
    from interceptors.usage import Usage, UsageKey

HEAD = """\
session: {customer_id: {jwt: sub}}
reasons:
  over_paid: {category: policy}
  daily: {category: escalated}
  busy: {category: escalated}
  top: {category: escalated}
  twice: {category: policy}
constants: {most: 500.00 USD}
facts:
  order:
    key: {pattern: '[A-Z][0-9]+'}
    file: orders.json
    fields: {paid: {money: USD, unit: minor}, refunded: {money: USD, unit: minor}}
tools:
  refund:
    facts: {order: args.order_id}
    arguments:
      order_id: {pattern: '[A-Z][0-9]+'}
      amount: {money: USD, unit: major}
      note: {type: string, optional: true}
"""
ORDER = {"paid": 10000, "refunded": 0}
SUBJECT = {"sub": "c1"}


def desk(*limits: str, more: str = "") -> Pipeline:
    return pipeline(HEAD + "    limits:\n" + "".join(f"      - {{{limit}}}\n" for limit in limits) + more)


def ask(
    deciding: Pipeline, amount: str = "60", *, usages: Mapping[UsageKey, Usage] | None = None, **about: Any
) -> Decision:
    """The decision; what is not said to be used is unused."""
    order = about.pop("order", ORDER)
    call = proposal("refund", f'{{"order_id":"{about.pop("order_id", "A1")}","amount":{amount}}}')
    seen: dict[UsageKey, Usage] = {}
    asked = {"subject": SUBJECT, **about}
    while True:
        answer = deciding.decide(call, context(**asked), facts(order__A1=order, order__A2=order), seen)
        if not isinstance(answer, Needs):
            return decided(answer)
        assert answer.usages
        known = usages or {}
        seen |= {key: known.get(key, unused(key)) for key in answer.usages}


def used(deciding: Pipeline, use: Usage, *, kind: type = CapKey, **about: Any) -> dict[UsageKey, Usage]:
    """`use` under the one key of its kind that a call asks for."""
    reserve = reserve_of(ask(deciding, **about))
    assert reserve is not None
    [key] = [key for key in reserve.rests_on if isinstance(key, kind)]
    return {key: use}


def cap(*units: int, counted: int | None = None, currency: str = "USD") -> CapUse:
    return CapUse(tuple(Charge(currency, each, counted) for each in units))


OVER_PAID = "forbid: over_paid, sum: args.amount, per: args.order_id, max: order.paid"
DAILY = "escalate: daily, sum: args.amount, per: session.customer_id, each: day, max: 1000.00 USD"
TWICE = "forbid: twice, once_per: [args.order_id, args.amount], within: 24h"


@pytest.mark.parametrize(
    ("limit", "use", "outcome"),
    [
        (OVER_PAID, cap(), (Ruling.ALLOW, "")),
        (OVER_PAID, cap(4000), (Ruling.ALLOW, "")),
        (OVER_PAID, cap(4001), (Ruling.FORBID, "over_paid")),
        (DAILY, cap(94001), (Ruling.ESCALATE, "daily")),
        (DAILY, cap(94000), (Ruling.ALLOW, "")),
        ("escalate: busy, count: true, within: 1h, max: 3", cap(2_000_000, currency=""), (Ruling.ALLOW, "")),
        ("escalate: busy, count: true, within: 1h, max: 3", cap(3_000_000, currency=""), (Ruling.ESCALATE, "busy")),
        (OVER_PAID, cap(1, currency="EUR"), (Ruling.ESCALATE, "facts_incomplete")),
    ],
)
def test_a_call_fits_under_its_caps_or_not(limit: str, use: CapUse, outcome: tuple[Ruling, str]) -> None:
    """To the cent: what is used and what is asked may reach the cap and not pass it; other currencies never mix."""
    deciding = desk(limit)
    decision = ask(deciding, usages=used(deciding, use))
    assert (decision.ruling, decision.reason) == outcome


def test_a_ceiling_bounds_one_call_and_keeps_no_count() -> None:
    """`value` is about this call alone, and obliges to nothing."""
    deciding = desk("escalate: top, value: args.amount, max: constants.most")
    assert ask(deciding, "500").obligations == ()
    assert (ask(deciding, "500.01").ruling, ask(deciding, "500.01").reason) == (Ruling.ESCALATE, "top")


def test_splitting_does_not_pass() -> None:
    """847 are 499 and 348: the second meets what the first holds."""
    deciding = desk("escalate: daily, sum: args.amount, per: session.customer_id, each: day, max: constants.most")
    assert ask(deciding, "847").ruling is Ruling.ESCALATE
    assert ask(deciding, "499").ruling is Ruling.ALLOW
    after = used(deciding, cap(49900))
    assert ask(deciding, "348", usages=after).ruling is Ruling.ESCALATE


@pytest.mark.parametrize(
    "about",
    [
        {"tenant": "other"},
        {"identity": None, "model": "another"},
    ],
)
def test_a_cap_knows_no_identity(about: dict[str, Any]) -> None:
    """Another tenant, model or credential: the same names, so the same cap and the same intent."""
    deciding = desk(OVER_PAID, TWICE)
    one, two = reserve_of(ask(deciding)), reserve_of(ask(deciding, **about))
    assert one is not None
    assert one == two


def test_a_cap_is_for_whom_it_says() -> None:
    """Another order, customer or tool has a cap of its own; another amount has not."""
    deciding = desk(OVER_PAID, DAILY)
    base = reserve_of(ask(deciding))
    assert base is not None
    names = [charge.name for charge in base.charges]
    for about, same in (
        ({"amount": "1"}, [True, True]),
        ({"order_id": "A2"}, [False, True]),
        ({"subject": {"sub": "c2"}}, [True, False]),
    ):
        other = reserve_of(ask(deciding, **about))
        assert other is not None
        assert [a.name == b for a, b in zip(other.charges, names, strict=True)] == same


def test_an_edit_of_the_bound_empties_no_cap() -> None:
    """Bound, window, outcome, reason and place are no part of a cap's name; what is measured is."""
    one = reserve_of(ask(desk(OVER_PAID)))
    two = reserve_of(
        ask(
            desk(
                DAILY,
                OVER_PAID.replace("forbid: over_paid", "escalate: daily").replace(
                    "order.paid", "900.00 USD, within: 24h"
                ),
            )
        )
    )
    assert one is not None
    assert two is not None
    assert one.charges[0].name == two.charges[1].name


@pytest.mark.parametrize(
    ("limit", "about"),
    [
        (DAILY, {"subject": {}}),
        (OVER_PAID, {"order": {"refunded": 0}}),
        (OVER_PAID.replace("max: order.paid", "max: order.paid - order.refunded"), {"order": {"paid": 10000}}),
        ("forbid: twice, once_per: [session.customer_id]", {"subject": {}}),
        (f"{OVER_PAID}, fact_counts: order.refunded", {"order": {"paid": 10000}}),
        (f"{OVER_PAID}, fact_counts: order.refunded", {"order": {"paid": 10000, "refunded": -1}}),
        ("escalate: daily, sum: args.amount - order.paid, max: constants.most", {}),
        ("escalate: daily, sum: args.amount * 0.3333, max: constants.most", {}),
    ],
)
def test_what_cannot_be_read_is_for_a_person(limit: str, about: dict[str, Any]) -> None:
    """An error in any of a limit's expressions, a negative or too fine amount: escalate, and nothing is held."""
    decision = ask(desk(limit), **about)
    assert (decision.ruling, decision.reason, decision.obligations) == (Ruling.ESCALATE, "facts_incomplete", ())


def test_a_missing_fact_speaks_first() -> None:
    """Where a fact could not be had its own verdict decides, and the limit says that it was not looked at."""
    deciding = desk(OVER_PAID)
    call = proposal("refund", '{"order_id":"A1","amount":60}')
    decision = decided(deciding.decide(call, context(subject=SUBJECT), facts(order__A1="timeout")))
    assert decision.reason == "facts_unavailable"
    assert [row.detail for row in decision.verdicts if row.interceptor == "limits"] == ["not evaluated: no fact order"]


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60)), max_size=8),
    st.integers(0, 30),
)
def test_a_fact_that_counts_neither_frees_nor_doubles(steps: list[tuple[int, int]], outside: int) -> None:
    """With a fact that has counted any part of what was paid: what we allow never passes the cap, and once the fact has
    caught up, exactly what is left is allowed.
    """
    deciding = desk(f"{OVER_PAID}, fact_counts: order.refunded")
    [key] = used(deciding, cap())
    charges: list[Charge] = []
    paid, shown = 0, outside * 100
    for amount, catches_up in steps:
        order = {"paid": 10000, "refunded": shown}
        use = {key: CapUse(tuple(charges))}
        if ask(deciding, str(amount), usages=use, order=order).ruling is Ruling.ALLOW:
            charges.append(Charge("USD", amount * 100, shown))
            paid += amount * 100
        assert outside * 100 + paid <= 10000 or paid == 0
        shown = min(outside * 100 + paid, shown + catches_up * 100)
    left = 10000 - outside * 100 - paid
    order = {"paid": 10000, "refunded": outside * 100 + paid}
    use = {key: CapUse(tuple(charges))}
    if left > 0:
        assert ask(deciding, f"{left / 100:.2f}", usages=use, order=order).ruling is Ruling.ALLOW
    assert ask(deciding, f"{left / 100 + 0.01:.2f}", usages=use, order=order).ruling is Ruling.FORBID


def test_an_intent_is_open_executed_or_new() -> None:
    """Executed: the rule's reason; held or unknown: `pending_reconciliation`; `within` ends only the first."""
    deciding = desk(TWICE)

    def outcome(use: IntentUse) -> tuple[Ruling, str]:
        decision = ask(deciding, usages=used(deciding, use, kind=IntentKey))
        return decision.ruling, decision.reason

    assert outcome(IntentUse(1)) == (Ruling.ALLOW, "")
    assert outcome(IntentUse(1, NOW - timedelta(hours=23))) == (Ruling.FORBID, "twice")
    assert outcome(IntentUse(1, NOW - timedelta(hours=24))) == (Ruling.ALLOW, "")
    open_ = OpenIntent("rs_1", 0, same_terms=True)
    assert outcome(IntentUse(1, None, open_)) == (Ruling.FORBID, "pending_reconciliation")
    assert outcome(IntentUse(2, NOW - timedelta(days=900), open_)) == (Ruling.FORBID, "pending_reconciliation")
    forever = desk(TWICE.removesuffix(", within: 24h"))
    use = used(forever, IntentUse(1, NOW - timedelta(days=900)), kind=IntentKey)
    assert ask(forever, usages=use).reason == "twice"


INJECT = "    inject: idempotency_key\n"


def test_an_open_intent_with_a_key_is_handed_out_again() -> None:
    """The same reservation, the same key and no second charge, though the caps are full; other amounts are refused."""
    deciding = desk(OVER_PAID, "forbid: twice, once_per: args.order_id", more=INJECT)
    first = ask(deciding)
    reserve, key = reserve_of(first), injection_of(first)
    assert reserve is not None
    assert key is not None
    [intent] = [key for key in reserve.rests_on if isinstance(key, IntentKey)]
    full: dict[UsageKey, Usage] = {one: cap(10000) for one in reserve.rests_on if isinstance(one, CapKey)}

    again = ask(deciding, usages=full | {intent: IntentUse(1, None, OpenIntent("rs_1", 0, same_terms=True))})
    assert again.ruling is Ruling.ALLOW
    assert injection_of(again) == key
    assert (found := reserve_of(again)) is not None
    assert (found.renews, found.ordinal) == ("rs_1", 0)

    other = ask(deciding, usages={intent: IntentUse(1, None, OpenIntent("rs_1", 0, same_terms=False))})
    assert other.reason == "pending_reconciliation"
    renewed = ask(deciding, usages={intent: IntentUse(1)})
    assert (injection_of(renewed) or key).values != key.values, "a new payment of the same intent has a key of its own"


def test_the_key_is_put_into_the_arguments_and_they_are_checked_again() -> None:
    """Whatever the model wrote there; a request's schema that has no place for it refuses the call."""
    deciding = desk("forbid: twice, once_per: args.order_id", more=INJECT)
    decision = ask(deciding)
    injection = injection_of(decision)
    assert isinstance(injection, Inject)
    proposed = proposal("refund", '{"order_id":"A1","amount":60}').call
    assert isinstance(proposed, ToolCall)
    call = injected(proposed, injection)
    assert call.arguments == {"order_id": "A1", "amount": 60, **injection.values}
    key = injection.values["idempotency_key"]
    assert call.raw == f'{{"amount":60,"idempotency_key":"{key}","order_id":"A1"}}'
    assert injection.digest != decision.digest

    closed = b'{"properties":{"order_id":{},"amount":{}},"additionalProperties":false}'
    refused = ask(deciding, declared=declared(refund=closed))
    assert (refused.ruling, refused.reason) == (Ruling.FORBID, "unusable_schema")


def test_keys_are_of_one_form_and_never_shared() -> None:
    """A UUID; another intent or another payment of it has another."""
    keys = {key_of(intent, ordinal) for intent in ("a", "b", "ab") for ordinal in range(20)}
    assert len(keys) == 60
    assert all(len(key) == 36 and key[14] == "8" and key[19] in "89ab" for key in keys)
    assert key_of("a", 1) == key_of("a", 1)


@given(st.sampled_from(["USD", "JPY", "BHD", ""]), st.integers(0, 10**15 - 1))
def test_units_are_exact(currency: str, units: int) -> None:
    """What is counted in whole units is the same amount again, in each currency and without."""
    assert units_of(value_of(currency, units)) == (currency, units)
    assert text_of("USD", 6000) == "60.00 USD"
    assert text_of("", 2_500_000) == "2.5"


@pytest.mark.parametrize(
    "value", [Money(Decimal("-0.01"), "USD"), Money(Decimal("0.001"), "USD"), Decimal("0.0000001"), Decimal(10) ** 10]
)
def test_what_cannot_be_counted_is_refused(value: Money | Decimal) -> None:
    """Negative, finer than the currency's smallest unit, or beyond all bounds."""
    with pytest.raises(ValueError, match="amount"):
        units_of(value)


@given(st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - hypothesis adds it
def test_windows_begin_on_the_calendar_of_the_policy(now: datetime) -> None:
    """A day begins at its midnight and a month on its first, in the policy's zone; a duration rolls."""
    zone: ZoneInfo | None = replace(pipeline("").policy).time_zone
    day, month = window_start(Calendar.DAY, now, zone), window_start(Calendar.MONTH, now, zone)
    assert day is not None
    assert month is not None
    assert month <= day <= now < day + timedelta(days=1)
    assert (day.hour, day.minute, month.day) == (0, 0, 1)
    assert window_start(timedelta(hours=1), now, zone) == now - timedelta(hours=1)
    assert window_start(None, now, zone) is None


def test_two_limits_that_measure_the_same_share_a_charge() -> None:
    """A day and a month of one sum are one cap: what is held is held once, with what the fact counted if one does."""
    sum_ = "sum: args.amount, per: args.order_id"
    deciding = desk(f"escalate: daily, {sum_}, each: day, max: 80.00 USD", f"{OVER_PAID}, fact_counts: order.refunded")
    reserve = reserve_of(ask(deciding))
    assert reserve is not None
    [one] = reserve.charges
    assert (one.charge, len(reserve.rests_on)) == (Charge("USD", 6000, 0), 2)
    assert charges([]) == ()


def test_all_unnamed_tools_share_a_cap() -> None:
    """What a tool that the policy does not name is called is the model's to choose."""
    deciding = pipeline(
        "unknown_tools: allow\nreasons: {busy: {category: escalated}}\n"
        "defaults: {limits: [{escalate: busy, count: true, max: 1}]}\n"
    )
    keys = [deciding.decide(proposal(name), context(), {}) for name in ("one", "two")]
    assert isinstance(keys[0], Needs)
    assert keys[0] == keys[1]
