"""`escalate_with`: what it means, what is wrong with it, and what people read of it."""

from __future__ import annotations

import pytest

from policies.compile import PolicyError
from policies.difference import difference
from policies.escalate_with import EscalateWith, SummaryField
from policies.explain import explain
from policies.json_schema.people import DEFAULT_FORMS
from policies.loader import load_policy_text

HEAD = "language: 1\npolicy: p\n"
TAKES = "h: {arguments: {reason: string, money: {money: USD, unit: major, optional: true}}}"
EURO = "arguments: {m: {money: EUR, unit: major}}"
WITH = "escalate_with: {tool: h, arguments: {money: amount, reason: reason}}"
BY_NAME = EscalateWith("h", {"reason": SummaryField.REASON})


def test_a_name_alone_fills_what_is_named_alike() -> None:
    """The arguments of the tool that have the name of a field, and no other."""
    policy = load_policy_text(f"{HEAD}tools: {{t: {{escalate_with: h}}, {TAKES}}}\n")
    assert policy.tools["t"].passed_on.escalate_with == BY_NAME
    assert policy.tools["h"].passed_on.escalate_with is None
    assert "escalate_with" in DEFAULT_FORMS


def test_in_defaults_it_holds_for_all_but_escalation_tools() -> None:
    """Unknown tools included; what a tool says itself goes first, and its end does not escalate with the default."""
    text = f"{HEAD}defaults: {{escalate_with: h}}\ntools: {{t: {{}}, u: {{escalate_with: i}}, {TAKES},"
    policy = load_policy_text(f"{text} i: {{arguments: {{who: string}}}}}}\n")
    found = {name: tool.passed_on.escalate_with for name, tool in policy.tools.items()}
    assert found == {"t": BY_NAME, "u": EscalateWith("i", {"who": SummaryField.WHO}), "h": None, "i": None}
    assert policy.unknown_tool.passed_on.escalate_with == BY_NAME


@pytest.mark.parametrize(
    ("tools", "why"),
    [
        (f"t: {{escalate_with: hh}}, {TAKES}", "the policy has no tool 'hh'"),
        (f"t: {{escalate_with: H}}, {TAKES}", "the tool is spelled 'h'"),
        ("t: {escalate_with: t, arguments: {reason: string}}", "cannot escalate with itself"),
        (f"t: {{escalate_with: i}}, i: {{escalate_with: h, arguments: {{who: string}}}}, {TAKES}", "with another tool"),
        ("t: {escalate_with: h}, h: {}", "declares no `arguments`"),
        ("t: {escalate_with: h}, h: {arguments: {note: string}}", "needs note"),
        ("t: {escalate_with: h}, h: {arguments: {note: {type: string, optional: true}}}", "takes anything"),
        ("t: {escalate_with: h}, h: {arguments: {reason: integer}}", "it is no string"),
        (f"t: {{escalate_with: {{tool: h, arguments: {{money: who, reason: who}}}}}}, {TAKES}", "it is no string"),
        (f"t: {{escalate_with: {{tool: h, arguments: {{reson: who}}}}}}, {TAKES}", "has no argument 'reson'"),
        (f"t: {{escalate_with: {{tool: h, arguments: {{reason: transcript}}}}}}, {TAKES}", "transcript"),
        (f"t: {{{EURO}, {WITH}}}, {TAKES}", "takes USD, and 't' moves EUR"),
    ],
)
def test_what_could_not_be_called_is_an_error(tools: str, why: str) -> None:
    """At load, with the place: never a call that its own policy must refuse for its shape."""
    with pytest.raises(PolicyError) as error:
        load_policy_text(f"{HEAD}tools: {{{tools}}}\n")
    assert why in str(error.value)


def test_a_default_may_not_end_in_a_tool_that_goes_on() -> None:
    """No chains."""
    tools = f"i: {{escalate_with: h, arguments: {{who: string}}}}, {TAKES}"
    text = f"{HEAD}defaults: {{escalate_with: i}}\ntools: {{{tools}}}\n"
    with pytest.raises(PolicyError, match="escalates with another tool itself"):
        load_policy_text(text)


def test_people_read_it() -> None:
    """In what finance signs, and in what a change of the policy tells."""
    old = load_policy_text(f"{HEAD}tools: {{t: {{}}, {TAKES}}}\n")
    new = load_policy_text(f"{HEAD}tools: {{t: {{escalate_with: h}}, {TAKES}}}\n")
    assert "the agent gets a call of h instead, with reason (reason)" in explain(new, "t")
    assert any("becomes a call of h with reason (reason)" in line for line in difference(old, new))
    assert any("becomes a reply instead of a call of h" in line for line in difference(new, old))
