"""What a person gets with a case: the facts as they were read, field by field."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from interceptors.context import Context, FactDocument, FactFailed, FactFailure, FactKey, FactResult
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


TWO = load_policy_text("""
language: 1
policy: p
reasons: {big: {category: escalated}, closed: {category: policy}}
facts:
  account: {key: {pattern: '[a-z]+'}, file: a.json, fields: {name: string}}
  order: {key: {pattern: '[a-z]+'}, file: o.json, fields: {open: boolean}}
tools:
  pay:
    facts: {account: args.who, order: args.who}
    arguments: {who: {pattern: '[a-z]+'}, n: {type: integer}}
    rules:
      - {escalate: big, when: args.n > 1}
      - {forbid: closed, unless: order.open}
    escalation: {gather: [account, order]}
""")


@pytest.mark.parametrize("failure", [FactFailure.TIMEOUT, FactFailure.UNAVAILABLE, FactFailure.INVALID])
@pytest.mark.parametrize(
    ("failing", "n", "is_open", "answer"),
    [
        ("account", 2, True, (Ruling.ESCALATE, "big")),
        ("account", 2, False, (Ruling.FORBID, "closed")),
        ("account", 1, True, (Ruling.FORBID, "facts_unavailable")),
        ("order", 2, True, (Ruling.FORBID, "facts_unavailable")),
    ],
)
def test_a_fact_for_people_only_keeps_no_case_from_them(
    failing: str, n: int, is_open: bool, answer: tuple[Ruling, str], failure: FactFailure
) -> None:
    """Its source fails: what is passed on for another reason is passed on, and the case says so; a rule that forbids
    still does; where nothing passes the call on, and where a rule reads the fact, the call waits."""
    now = datetime(2026, 11, 30, tzinfo=UTC)
    facts: dict[FactKey, FactResult] = {
        FactKey("account", "ann"): FactDocument({"name": "Ann"}, now),
        FactKey("order", "ann"): FactDocument({"open": is_open}, now),
    }
    facts[FactKey(failing, "ann")] = FactFailed(failure, now)
    found = Pipeline(TWO).decide(proposal("pay", f'{{"who": "ann", "n": {n}}}'), Context(now, tenant="t"), facts)
    assert isinstance(found, Decision)
    assert (found.ruling, found.reason) == answer
    if found.ruling is Ruling.ESCALATE:
        assert (found.summary["account"], found.summary["order.open"]) == (NOT_AVAILABLE, "true")


def test_a_record_that_is_missing_is_answered_as_its_fact_says() -> None:
    """That nobody knows it is an answer, and no failure of the source."""
    now = datetime(2026, 11, 30, tzinfo=UTC)
    policy = load_policy_text(
        "language: 1\npolicy: p\nreasons: {big: {category: escalated}, none: {category: policy}}\n"
        "facts: {a: {key: {pattern: a}, file: a.json, missing: {forbid: none}, fields: {x: string}}}\n"
        "tools: {t: {facts: {a: args.a}, arguments: {a: string}, rules: [{escalate: big}],"
        " escalation: {gather: [a]}}}\n"
    )
    facts = {FactKey("a", "a"): FactFailed(FactFailure.MISSING, now)}
    found = Pipeline(policy).decide(proposal("t", '{"a": "a"}'), Context(now, tenant="t"), facts)
    assert isinstance(found, Decision)
    assert (found.ruling, found.reason) == (Ruling.FORBID, "none")
