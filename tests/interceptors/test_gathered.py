"""What a person gets with a case: the facts as they were read, field by field."""

from __future__ import annotations

from datetime import UTC, datetime

from interceptors.context import Context, FactDocument, FactKey
from interceptors.decisions import Decision
from interceptors.gathered import NOT_AVAILABLE, fact_lines
from interceptors.pipeline import Pipeline
from policies import load_policy_text
from policies.expressions import Unreadable
from policies.model import Ruling
from tests.interceptors.builders import proposal

POLICY = load_policy_text("""
language: 1
policy: p
reasons: {big: {category: escalated}}
facts:
  account:
    key: {pattern: '[a-z]+'}
    file: a.json
    fields: {name: string, paid: {money: USD, unit: minor}, orders: integer}
tools:
  pay:
    facts: {account: args.who}
    arguments: {who: {pattern: '[a-z]+'}}
    rules: [{escalate: big}]
    escalation: {root_cause: "It is big.", gather: [account]}
""")


def test_the_facts_stand_in_the_case() -> None:
    """Every declared field, whether a rule reads it or not; nothing that the record holds beside them."""
    document = FactDocument({"name": "Ann", "paid": 1250, "secret": "x"}, datetime(2026, 11, 30, tzinfo=UTC))
    context = Context(datetime(2026, 11, 30, tzinfo=UTC), tenant="t")
    found = Pipeline(POLICY).decide(proposal("pay", '{"who": "ann"}'), context, {FactKey("account", "ann"): document})
    assert isinstance(found, Decision)
    assert found.ruling is Ruling.ESCALATE
    assert found.summary == {
        "tool": "pay",
        "reason": "big",
        "root_cause": "It is big.",
        "account.name": "Ann",
        "account.paid": "12.50 USD",
        "account.orders": NOT_AVAILABLE,
    }


def test_several_records_and_none() -> None:
    """A list of records is numbered; what was not read says so."""
    records = ({"a": "x"}, {"a": Unreadable("gone")})
    assert fact_lines("f", records, POLICY) == {"f.1.a": "x", "f.2.a": NOT_AVAILABLE}
    assert fact_lines("f", None, POLICY) == {"f": NOT_AVAILABLE}
