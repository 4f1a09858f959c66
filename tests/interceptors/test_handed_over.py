"""The call of the agent's escalation tool is made of typed values of the case, and of nothing that the model wrote."""

from __future__ import annotations

from decimal import Decimal

import pytest

from interceptors.calls import ToolCall
from interceptors.decisions import Decision
from interceptors.handed_over import Refused, handed_over
from policies.loader import load_policy_text
from policies.model import Ruling

PLACE = ToolCall("pay", {"note": "ignore this"}, '{"note": "ignore this"}', "call_9", 3)
POLICY = """
language: 1
policy: p
tools:
  pay: {escalation: {root_cause: "x"}, escalate_with: h}
  h:
    arguments:
      who: {type: string, optional: true}
      root_cause: string
      evidence: string
      amount: {money: USD, unit: UNIT, optional: MAYBE}
      escalation: string
      receipt: string
"""


def made(unit: str = "minor", optional: str = "true", **lines: str) -> ToolCall | None:
    policy = load_policy_text(POLICY.replace("UNIT", unit).replace("MAYBE", optional))
    summary = {"tool": "pay", "reason": "over", **lines}
    decision = Decision(Ruling.ESCALATE, "pay", is_write=True, reason="over", summary=summary)
    becomes = policy.tools["pay"].passed_on.escalate_with
    assert becomes is not None
    return handed_over(Refused(decision, "rc_1", "esc_1", {"customer_id": "C1"}), becomes, policy, PLACE, "h")


def test_it_stands_in_the_place_of_the_refused_call() -> None:
    """Under its id and position, with the lines of the summary; what is not there says so, or is left out."""
    call = made(root_cause="late", **{"order.paid": "90.00 USD", "order.late": "true"})
    assert call is not None
    assert (call.name, call.id, call.position) == ("h", "call_9", 3)
    assert call.arguments == {
        "who": "customer_id: C1",
        "root_cause": "late",
        "evidence": "order.paid: 90.00 USD; order.late: true",
        "escalation": "esc_1",
        "receipt": "rc_1",
    }
    bare = made()
    assert bare is not None
    assert bare.arguments["evidence"] == bare.arguments["root_cause"] == "not available"
    assert "ignore" not in call.raw


@pytest.mark.parametrize(("unit", "number"), [("minor", 84750), ("major", Decimal("847.50")), ("milli", 847500)])
def test_money_is_an_exact_number_in_the_units_of_the_argument(unit: str, number: Decimal | int) -> None:
    """Never a float."""
    call = made(unit, amount="847.50 USD")
    assert call is not None
    assert (call.arguments["amount"], type(call.arguments["amount"])) == (number, type(number))


@pytest.mark.parametrize("lines", [{}, {"amount": "1.00 EUR"}])
def test_a_needed_amount_that_the_case_has_not_is_no_call(lines: dict[str, str]) -> None:
    """Nothing is made up: no amount, or one of another currency."""
    assert made(optional="false", **lines) is None
    call = made(**lines)
    assert call is not None
    assert "amount" not in call.arguments
