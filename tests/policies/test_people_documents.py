"""What a policy says of people: read strictly, told in sentences, told when it changes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from policies import load_policy_text
from policies.approvals import Approvals, OnApproval, OperatorKind
from policies.difference import difference
from policies.explain import explain
from policies.problems import DocumentError

HEAD = "language: 1\npolicy: p\n"
PEOPLE = """\
approvals: {approvers: [anna, ben], quorum: 2, answer_within: 2h, valid_for: 1h, open_max: 5}
operators: {desk: {token: '${T}', tools: [t]}, page: {token: '${P}', kind: customer}}
tools: {t: {on_approval: deliver}}
"""


def test_what_is_said_is_what_holds() -> None:
    """And nothing said is the default of each."""
    policy = load_policy_text(HEAD + PEOPLE)
    two, one = timedelta(hours=2), timedelta(hours=1)
    assert policy.people.approvals == Approvals(("anna", "ben"), 2, two, one, 5)
    assert [each.kind for each in policy.people.operators.values()] == [OperatorKind.OPERATOR, OperatorKind.CUSTOMER]
    assert policy.tools["t"].passed_on.on_approval is OnApproval.DELIVER
    assert load_policy_text(HEAD).people.approvals == Approvals()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("approvals: {quorum: 0}", "at least 1"),
        ("approvals: {approvers: []}", "names nobody"),
        ("approvals: {approvers: [anna, anna]}", "stands here twice"),
        ("approvals: {approvers: [Anna]}", "no name of a person"),
        ("approvals: {approvers: [anna], quorum: 2}", "2 approvals are asked for, and there are 1"),
        ("approvals: {answer_within: 91d}", "at most 90d"),
        ("approvals: {open_max: 0}", "at least 1"),
        ("approvals: {who: [anna]}", "who"),
        ("operators: {a: {}}", "token"),
        ("operators: {a: {token: '${T}'}, b: {token: '${T}'}}", "the same token as 'a'"),
        ("identities: {a: {token: '${T}'}}\noperators: {a: {token: '${U}'}}", "is an identity too"),
        ("identities: {a: {token: '${T}'}}\noperators: {b: {token: '${T}'}}", "the same token as 'a'"),
        ("operators: {a: {token: '${T}', tools: [x]}}", "no tool 'x'"),
        ("operators: {a: {token: '${T}', kind: robot}}", "robot"),
        ("tools: {t: {on_approval: later}}", "later"),
        ("tools: {t: {on_approval: deliver, confirm: user, arguments: {a: {type: integer}}}}", "asks the customer"),
        ("tools: {t: {escalate_with: u}, u: {}}", "declares no `arguments`"),
    ],
)
def test_what_cannot_be_honoured_is_an_error(text: str, message: str) -> None:
    """At load, and not when somebody waits for an answer."""
    with pytest.raises(DocumentError, match=message):
        load_policy_text(HEAD + text + "\n")


def test_it_is_told_in_sentences() -> None:
    """Who signs the policy reads who approves, how many, how long."""
    told = explain(load_policy_text(HEAD + PEOPLE), None)
    assert "needs approvals of 2 different persons, by anna or ben, within 2h; an answer holds for 1h." in told
    assert "While 5 cases wait, what would be passed to people is refused (queue_full)." in told
    assert "desk and page may propose it" in told
    assert "hands it to the owner's back end" in told


def test_a_change_is_told() -> None:
    """Of the law, of an operator, and of how a call goes on."""
    old = load_policy_text(HEAD + PEOPLE)
    new = load_policy_text(
        HEAD + PEOPLE.replace("quorum: 2", "quorum: 1").replace("${P}", "${Q}").replace("deliver", "inline")
    )
    told = " ".join(difference(old, new))
    assert "How many must approve what is passed to people falls from 2 to 1." in told
    assert "page shows another token at the admin listener." in told
    assert "approve a call of t, it leaves in the streamed answer that waits for it; before: the gate hands it" in told
