"""An amount whose currency stands beside it: in the declared one it is read, in any other it is no value at all."""

from __future__ import annotations

from typing import Any

import pytest

from interceptors.history import PastResult
from interceptors.kinds import MoneyState
from interceptors.readings import read_declared
from interceptors.settlement import state_of
from policies import PolicyError, load_policy_text
from policies.expressions import Unreadable
from policies.fact_fields import FactField
from policies.model import Ruling
from policies.values import parse_money
from tests.interceptors.builders import context, decided, facts, pipeline, proposal
from tests.interceptors.conversations import call, history, result, user

HEAD = "language: 1\npolicy: currencies\n"
POLICY = """\
reasons: {over_paid: {category: policy}}
facts:
  order:
    key: {pattern: '[a-z0-9]+'}
    file: orders.json
    fields:
      paid: {money: USD, unit: minor, currency: order.currency}
      currency: {at: total.currency, type: string}
      parts: {at: "lines[*].price", money: USD, unit: minor, currency: order.currencies}
      currencies: {at: "lines[*].currency", type: string}
tools:
  look: {effect: read, result: {fields: {paid: {money: USD, unit: minor, currency: result.currency}, currency: string}}}
  pay:
    facts: {order: args.order}
    arguments: {order: string, amount: {money: USD, unit: major}}
    rules: [{forbid: over_paid, when: args.amount > order.paid or args.amount > sum(order.parts)}]
  settle:
    arguments: {order: string}
    limits: [{forbid: over_paid, once_per: args.order}]
    result: {fields: {fee: {money: USD, unit: minor, currency: result.currency}, currency: string}}
    not_executed_when: result.fee == 0.00 USD
  give:
    arguments: {amount: {money: USD, unit: major, from: result of look.paid}}
"""
LINES = [{"price": 300, "currency": "USD"}, {"price": 700, "currency": "USD"}]
IN_DOLLARS = {"paid": 1000, "total": {"currency": "USD"}, "lines": LINES}
PAY = proposal("pay", '{"order":"a1","amount":10.00}')


def ruling(record: dict[str, Any]) -> tuple[Ruling, str]:
    found = decided(pipeline(POLICY).decide(PAY, context(), facts(order__a1=record)))
    return found.ruling, found.reason


INCOMPLETE = (Ruling.ESCALATE, "facts_incomplete")


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({}, (Ruling.ALLOW, "")),
        ({"paid": 999}, (Ruling.FORBID, "over_paid")),
        ({"total": {"currency": "EUR"}}, INCOMPLETE),
        ({"total": {"currency": "usd"}}, INCOMPLETE),
        ({"total": {"currency": "USD "}}, INCOMPLETE),
        ({"total": {"currency": ["USD"]}}, INCOMPLETE),
        ({"total": {"currency": 840}}, INCOMPLETE),
        ({"total": {"currency": None}}, INCOMPLETE),
        ({"total": {}}, INCOMPLETE),
        ({"lines": [*LINES, {"price": 5, "currency": "EUR"}]}, INCOMPLETE),
        ({"lines": [*LINES, {"price": 5}]}, INCOMPLETE),
    ],
)
def test_another_currency_is_no_amount(changed: dict[str, Any], wanted: tuple[Ruling, str]) -> None:
    """A thousand euros are no thousand dollars: a person decides, whatever the figures say."""
    assert ruling(IN_DOLLARS | changed) == wanted


def test_the_record_says_why_and_not_what() -> None:
    """The message names the declared currency, never what the source wrote."""
    policy = load_policy_text(HEAD + POLICY)
    field = policy.facts["order"].fields["paid"]

    assert read_declared(IN_DOLLARS, field) == parse_money("10.00 USD")
    assert read_declared({**IN_DOLLARS, "total": {"currency": "EUR"}}, field) == Unreadable(
        "is in another currency than USD"
    )
    assert read_declared({"paid": 1000}, field) == Unreadable("does not say its currency")


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ({"fee": 0, "currency": "USD"}, MoneyState.NOT_EXECUTED),
        ({"fee": 0, "currency": "EUR"}, MoneyState.UNKNOWN),
        ({"fee": 0}, MoneyState.UNKNOWN),
        ({"fee": 5, "currency": "USD"}, MoneyState.EXECUTED),
    ],
)
def test_a_result_in_another_currency_frees_nothing(said: dict[str, Any], state: MoneyState) -> None:
    """Money comes free only by what was surely said."""
    policy = load_policy_text(HEAD + POLICY)

    assert (
        state_of(policy, policy.tools["settle"], PastResult("c", said, False, 0, is_new=True), context().now) is state
    )


@pytest.mark.parametrize(
    ("currency", "wanted"), [("USD", Ruling.ALLOW), ("EUR", Ruling.CLARIFY), (None, Ruling.CLARIFY)]
)
def test_an_amount_of_a_result_grounds_in_its_currency_only(currency: str | None, wanted: Ruling) -> None:
    """The same figure in another currency is another amount."""
    said = '{"paid":1000' + (f',"currency":"{currency}"}}' if currency else "}")
    told = history(user("Give me that back."), call("look"), result(said), user("go on"))
    found = decided(pipeline(POLICY).screen(proposal("give", '{"amount":10.00}'), context(history=told)))

    assert found.ruling is wanted


@pytest.mark.parametrize(
    ("field", "why"),
    [
        ("{type: string, currency: order.currency}", "'currency' goes with 'money' only"),
        ("{money: USD, unit: minor, currency: currency}", "expected a text field beside it"),
        ("{money: USD, unit: minor, currency: other.currency}", "expected a text field beside it"),
        ("{money: USD, unit: minor, currency: order.gone}", "(order.currency, order.currencies)"),
        ("{money: USD, unit: minor, currency: order.paid}", "expected a text field beside it"),
        ("{money: USD, unit: minor, currency: order.currencies}", "one of the two is a list"),
    ],
)
def test_what_could_not_say_a_currency_is_an_error(field: str, why: str) -> None:
    """A field of the same record, a text, and a list where the amount is one."""
    with pytest.raises(PolicyError) as caught:
        load_policy_text(HEAD + POLICY.replace("{money: USD, unit: minor, currency: order.currency}", field))

    assert why in str(caught.value)


def test_fields_without_a_currency_are_as_they_were() -> None:
    """Where nothing is said the policy's own word holds."""
    policy = load_policy_text(HEAD + POLICY.replace(", currency: order.currency}", "}"))
    field = policy.facts["order"].fields["paid"]

    assert isinstance(field, FactField)
    assert field.currency_path == ()
    assert read_declared({"paid": 5, "total": {"currency": "EUR"}}, field) == parse_money("0.05 USD")
