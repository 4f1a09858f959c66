"""The `handoff` section: what is an error, what looks wrong, what people read of it, and what changes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from policies import PolicyError, load_policy_text
from policies.difference import difference
from policies.explain import explain
from policies.lint import FindingCode, lint

if TYPE_CHECKING:
    from policies.model import Policy

HEAD = """
language: 1
policy: p
session: {customer_id: {jwt: sub}}
facts: {account: {key: {pattern: '[a-z]+'}, file: f.json, fields: {tier: string, owner: string}}}
"""
WHOLE = """
handoff:
  languages: [de, en]
  phrases: {de: [zum chef], pl: {only: [czlowiek]}}
  facts: {account: session.customer_id}
  escalation: {gather: [account], recommended_action: "Call."}
"""


def policy(handoff: str, more: str = "") -> Policy:
    return load_policy_text(f"{HEAD}{more}{handoff}")


@pytest.mark.parametrize(
    ("handoff", "said"),
    [
        ("handoff: [en]", "expected a mapping"),
        ("handoff: true", "expected a mapping"),
        ("handoff: {phrase: {en: [x]}}", "phrase"),
        ("handoff: {languages: [xx]}", "there are no built-in words of 'xx'"),
        ("handoff: {languages: [en, en]}", "'en' stands here twice"),
        ("handoff: {phrases: {English: [x]}}", "no language tag"),
        ("handoff: {phrases: {en: []}}", "expected 1 to 200 phrases"),
        ("handoff: {phrases: {en: ['?!']}}", "a phrase is words"),
        ("handoff: {phrases: {en: ['a|b']}}", "a phrase is words"),
        (f"handoff: {{phrases: {{en: ['{'a' * 101}']}}}}", "a phrase is words"),
        ("handoff: {phrases: {en: [x, x]}}", "'x' stands here twice"),
        ("handoff: {phrases: {en: {instead: [x]}}}", "instead"),
        ("handoff: {facts: {orders: session.customer_id}}", "'orders' is not declared"),
        ("handoff: {facts: {account: args.order}}", "args"),
        ("handoff: {escalation: {gather: [account]}}", "the tool does not map the fact 'account'"),
        ('handoff: {escalation: {who: "{account.tier}"}}', "`handoff` does not map this fact"),
        ('handoff: {escalation: {who: "{session.customer_id}"}}', "free text"),
    ],
)
def test_what_is_wrong_is_an_error_with_its_line(handoff: str, said: str) -> None:
    """Each mistake is refused where it stands."""
    with pytest.raises(PolicyError) as error:
        policy(handoff)
    assert said in str(error.value)
    assert "policy.yaml:6" in str(error.value)


def test_it_is_explained_in_sentences() -> None:
    """What finance signs says in which words, what is read, what people get."""
    text = explain(policy(WHOLE), None)
    for line in (
        "the model is not asked",
        "The usual words for that count, in de, en; a negation of them does not.",
        'In de these count, too: "zum chef".',
        'In pl these count: "czlowiek".',
        "For the case the fact account is looked up, by session.customer_id.",
        'The person reads as recommended action: "Call."',
        "The person reads every field of account",
    ):
        assert line in text
    assert "person" not in explain(policy(""), None)
    own = explain(policy(WHOLE, 'reasons: {handoff: {reply: "Wait."}}\n'), None)
    assert 'The customer reads: "Wait."' in own


def test_a_change_of_it_is_told() -> None:
    """Each part of it, and nothing where nothing changes."""
    old = policy(WHOLE)
    assert difference(old, policy(WHOLE)) == []
    assert "the model is not asked" in "".join(difference(policy(""), old))
    assert "No more: " in "".join(difference(old, policy("")))
    changed = "".join(difference(old, policy(WHOLE.replace("zum chef", "zur chefin"))))
    assert "zur chefin" in changed
    assert "zum chef" in changed


def findings(handoff: str, more: str = "", head: str = HEAD) -> list[tuple[FindingCode, str]]:
    found = lint(load_policy_text(f"{head}{more}{handoff}"))
    return [(one.code, one.message) for one in found if "handoff" in one.code.value or "handoff" in one.message]


def test_what_looks_wrong_is_found() -> None:
    """A language without a reply, a fact for nothing, customers that cannot be told apart; nothing in a sound one."""
    reply = "reasons: {handoff: {reply: {%s}}}\n"
    sound = "handoff: {languages: [en, de]}"
    assert findings(sound) == []
    assert findings(sound, reply % "en: A, de: B") == []
    assert findings("handoff: {}", reply % "en: A") == [], "languages that nobody names need no reply"
    assert findings(sound, "reasons: {handoff: {reply: Hello}}\n") == []
    ((code, message),) = findings(sound, reply % "en: A")
    assert code is FindingCode.HANDOFF_WITHOUT_REPLY
    assert "'de'" in message
    ((code, message),) = findings("handoff: {phrases: {pl: [x]}}")
    assert code is FindingCode.HANDOFF_WITHOUT_REPLY
    assert "'pl'" in message
    assert findings("handoff: {phrases: {pt-BR: [x]}}", reply % "pt: A") == []
    ((code, _),) = findings("handoff: {facts: {account: session.customer_id}}")
    assert code is FindingCode.UNUSED_FACT
    ((code, _),) = findings(sound, head="language: 1\npolicy: p\n")
    assert code is FindingCode.HANDOFF_OF_NOBODY
    assert [one.code for one in lint(policy(WHOLE)) if one.code is FindingCode.UNUSED_FACT] == []
