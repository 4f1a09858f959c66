"""A change that an answer suggests: it says what it changes, touches nothing else, and is valid; or there is none."""

from __future__ import annotations

import subprocess
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from policies import load_policy_text
from policies.proposals import Case, ProposalError, propose
from policies.values import Money

if TYPE_CHECKING:
    from pathlib import Path

AMOUNT = Money(Decimal("847.00"), "USD")
HEAD = """\
language: 1
policy: desk                   # a comment
constants:
  self_service: 500.00 USD     # agreed with finance
reasons:
  not_yours:
    category: permission
  over_limit: {category: escalated}
facts:
  order:
    key: {pattern: '[A-Z]'}
    file: orders.json
    missing: {forbid: not_yours}
    fields: {paid: {money: USD, unit: minor}}
tools:
  pay:
    effect: write
    facts: {order: args.id}
    arguments: {id: {pattern: '[A-Z]'}, amount: {money: USD, unit: major}}
    rules:
"""


def _change(text: str, *, approved: bool, rule: str = "pay.rules[0]", amount: Money = AMOUNT) -> tuple[str, list[str]]:
    change = propose(
        load_policy_text(text), {"policy.yaml": text}, Case("pay", rule, "amount", amount), approved=approved
    )
    marked = [line for line in change.diff.split("\n") if line[:1] in "+-" and line[:3] not in ("+++", "---", "")]
    return "; ".join(change.sentences), marked


def _block(condition: str) -> str:
    return HEAD + f"      - escalate: over_limit\n        when: {condition}\n"


def test_an_approval_raises_the_figure_of_the_rule() -> None:
    """Where the rule says no more than that, its constant changes, and its comment stays."""
    said, lines = _change(_block("args.amount > constants.self_service"), approved=True)

    assert "rises from 500.00 USD to 847.00 USD" in said
    assert lines == [
        "-  self_service: 500.00 USD     # agreed with finance",
        "+  self_service: 847.00 USD     # agreed with finance",
    ]


@pytest.mark.parametrize(
    ("condition", "after"),
    [
        ("args.amount > 500.00 USD", "(args.amount > 500.00 USD) and args.amount > 847.00 USD"),
        (
            "args.amount >= constants.self_service and order.paid > 1.00 USD",
            "(args.amount >= constants.self_service and order.paid > 1.00 USD) and args.amount > 847.00 USD",
        ),
        ("args.amount * 2 > order.paid", "(args.amount * 2 > order.paid) and args.amount > 847.00 USD"),
    ],
)
def test_an_approval_narrows_any_other_condition(condition: str, after: str) -> None:
    """The rule passes on what is above the amount only; whatever else it says stays."""
    said, lines = _change(_block(condition), approved=True)

    assert lines == [f"-        when: {condition}", f"+        when: {after}"]
    assert said


def test_an_approval_narrows_an_unless() -> None:
    """What is up to the amount is not passed on."""
    text = HEAD + "      - {escalate: over_limit, unless: order.paid >= args.amount}\n"

    _, lines = _change(text, approved=True)

    assert lines[1] == (
        "+      - {escalate: over_limit, unless: (order.paid >= args.amount) or args.amount <= 847.00 USD}"
    )


def test_a_rejection_becomes_a_rule_that_forbids() -> None:
    """Behind the rule that passed the call on, with a reason of its own; the rule itself stays for smaller amounts."""
    said, lines = _change(_block("args.amount > constants.self_service"), approved=False)

    assert lines == [
        "+  over_limit_refused: {category: policy}",
        "+      - forbid: over_limit_refused",
        "+        when: (args.amount > constants.self_service) and args.amount >= 847.00 USD",
    ]
    assert "over_limit_refused" in said


@pytest.mark.parametrize("approved", [True, False])
def test_the_diff_applies(tmp_path: Path, approved: bool) -> None:
    """`git apply` takes it, and what results is what was read back; also without a line feed at the end."""
    for text in (_block("args.amount > constants.self_service"), _block("args.amount > 500.00 USD").rstrip("\n")):
        (tmp_path / "policy.yaml").write_text(text)
        change = propose(
            load_policy_text(text),
            {"policy.yaml": text},
            Case("pay", "pay.rules[0]", "amount", AMOUNT),
            approved=approved,
        )
        command = ["git", "apply", "--unsafe-paths", f"--directory={tmp_path}", "-"]
        subprocess.run(command, input=change.diff, text=True, check=True, cwd="/", timeout=20)

        assert "847.00 USD" in (tmp_path / "policy.yaml").read_text()
        assert load_policy_text((tmp_path / "policy.yaml").read_text()).name == "desk"


@pytest.mark.parametrize(
    ("text", "approved", "rule", "why"),
    [
        (_block("args.amount > 500.00 USD"), True, "pay.limits[0]", "no rule of the policy"),
        (_block("args.amount > 500.00 USD"), True, "pay.rules[7]", "no rule of the policy"),
        (HEAD + "      - escalate: over_limit\n", True, "pay.rules[0]", "no single condition"),
        (
            _block("args.amount > constants.self_service").replace("500.00", "900.00"),
            True,
            "pay.rules[0]",
            "no such amount on any more",
        ),
        (HEAD + "      - escalate: over_limit\n", False, "pay.rules[0]", "no `when` alone"),
        (HEAD + "      - {forbid: not_yours, when: args.amount > 5.00 USD}\n", True, "pay.rules[0]", "no rule of the"),
        (
            HEAD.rstrip("\n") + " [{escalate: over_limit, when: args.amount > 5.00 USD}]\n",
            False,
            "pay.rules[0]",
            "lines of their own",
        ),
        (
            HEAD + '      - escalate: over_limit\n        when: "args.amount >\\x20 5.00 USD"\n',
            True,
            "pay.rules[0]",
            "not found",
        ),
    ],
)
def test_where_nothing_can_be_proposed_it_says_why(text: str, approved: bool, rule: str, why: str) -> None:
    """A rule of another kind, or a text that is not where it was read: no guess."""
    with pytest.raises(ProposalError, match=why):
        _change(text, approved=approved, rule=rule)
