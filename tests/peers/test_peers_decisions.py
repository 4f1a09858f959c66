"""What went wrong in other gates between a call and its answer: records, refusals, money."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from unittest import mock

import pytest

from interceptors.receipts import decided_record
from interceptors.results import structured_result
from policies.model import Category, Ruling
from tests.interceptors.builders import NOW, context, decided, malformed, pipeline, proposal

POLICY = """\
unknown_tools: forbid
reasons:
  over_limit: {category: escalated}
  too_small: {category: policy, reply: {en: "That is too small."}}
tools:
  pay:
    effect: write
    arguments:
      amount: {money: USD, unit: UNIT}
    rules:
      - escalate: over_limit
        when: args.amount > 500.00 USD
      - forbid: too_small
        when: args.amount < 1.00 USD
  look: {effect: read}
"""
MAJOR = POLICY.replace("UNIT", "major")
CALLS = {
    "allowed": proposal("pay", '{"amount": 20}'),
    "escalated": proposal("pay", '{"amount": 731.17}'),
    "forbidden": proposal("pay", '{"amount": 0.5}'),
    "read": proposal("look"),
    "unknown": proposal("drop_table", "{}"),
    "malformed": malformed("pay"),
}
NUMERIC = {"allowed", "escalated", "forbidden"}


@pytest.mark.parametrize("call", CALLS)
def test_12_the_record_says_which_interceptors_ran(call: str) -> None:
    """Rails of tools never ran and nothing in the log said so: here no record is without the interceptors that ran."""
    decision = decided(pipeline(MAJOR).screen(CALLS[call], context()))
    circumstances: Any = dict.fromkeys(decided_record.__annotations__, "")
    assert circumstances
    ran = {verdict.interceptor for verdict in decision.verdicts}
    assert "shape" in ran
    assert ("rules" in ran) == (call in NUMERIC)


@pytest.mark.parametrize("call", CALLS)
def test_12_a_call_that_nothing_looked_at_is_no_allowed_call(call: str) -> None:
    """No interceptor at all is a fault of the gate, and a fault is a refusal."""
    bare = pipeline(MAJOR)
    with mock.patch.object(bare, "_interceptors", ()):
        decision = bare.screen(CALLS[call], context())
        if not hasattr(decision, "ruling"):
            decision = bare.decide(CALLS[call], context(), {})
    assert decided(decision).ruling is Ruling.FORBID


@pytest.mark.parametrize("call", ["escalated", "forbidden", "unknown", "malformed"])
def test_51_a_refusal_says_what_why_and_what_next(call: str) -> None:
    """A bare denial ends in a dead end or in hedging; this one is structured, and gives no threshold away."""
    decision = decided(pipeline(MAJOR).screen(CALLS[call], context()))
    result = structured_result(decision, "rc_1")
    assert list(result)[:7] == ["isError", "errorCategory", "isRetryable", "reason", "message", "next", "receipt"]
    for member in ("reason", "message", "next", "receipt"):
        assert result[member], member
    words = f"{decision.reply} {result}"
    assert decision.reply
    assert "500" not in words
    assert "731" not in words


def test_53_a_refused_call_cannot_be_taken_for_an_executed_one() -> None:
    """Executed, failed and not executed are three things: a refusal is an error of a closed set of categories."""
    seen = set()
    for call in ("escalated", "forbidden", "unknown", "malformed"):
        decision = decided(pipeline(MAJOR).screen(CALLS[call], context()))
        result = structured_result(decision, "rc_1")
        assert result["isError"] is True
        assert result["errorCategory"] in {category.value for category in Category}
        seen.add(result["errorCategory"])
    assert len(seen) >= 3
    allowed = decided(pipeline(MAJOR).screen(CALLS["allowed"], context(now=NOW)))
    with pytest.raises(ValueError, match="allowed"):
        structured_result(allowed, "rc_1")


@pytest.mark.parametrize(
    ("unit", "amount", "ruling"),
    [
        ("major", "500", Ruling.ALLOW),
        ("major", "500.00", Ruling.ALLOW),
        ("major", '"500.00"', Ruling.ALLOW),
        ("major", "500.01", Ruling.ESCALATE),
        ("minor", "50000", Ruling.ALLOW),
        ("minor", "50001", Ruling.ESCALATE),
        ("milli", "500000", Ruling.ALLOW),
        ("milli", "500010", Ruling.ESCALATE),
        ("minor", "99", Ruling.FORBID),
    ],
)
def test_63_money_has_the_unit_that_its_tool_declares(unit: str, amount: str, ruling: Ruling) -> None:
    """Cents were divided by 100 and by 1000, and mixed with dollars in one field."""
    decision = decided(
        pipeline(POLICY.replace("UNIT", unit)).screen(proposal("pay", f'{{"amount": {amount}}}'), context())
    )
    assert decision.ruling is ruling


WIDE = "\uff11\uff10\uff10\uff10"
TEXTS = ("1,000", "1.000,00", "-5", WIDE, "1 000", "$5", "5 USD", "0x10", "NaN", "1_000", "1e3", "")


@pytest.mark.parametrize("amount", [*map(json.dumps, TEXTS), "-5", "true", "null", "[5]", "5.001", "5e2", "1E+3"])
def test_63_a_spelling_with_two_meanings_is_no_amount(amount: str) -> None:
    """Thousands separators, signs, wide digits, symbols, fractions of a cent: refused or asked about, never guessed."""
    decision = decided(pipeline(MAJOR).screen(proposal("pay", f'{{"amount": {amount}}}'), context()))
    assert decision.ruling is not Ruling.ALLOW
    assert decision.reason != "over_limit"


def test_63_amounts_are_decimal_and_never_float() -> None:
    """0.1 + 0.2 is 0.3 here: the border is met exactly."""
    text = MAJOR.replace("> 500.00 USD", "!= 0.1 USD + 0.2 USD").replace("< 1.00 USD", "< 0.01 USD")
    assert decided(pipeline(text).screen(proposal("pay", '{"amount": 0.30}'), context())).ruling is Ruling.ALLOW
    assert Decimal("0.1") + Decimal("0.2") == Decimal("0.3")
