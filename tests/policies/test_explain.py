"""`explain`: the policy in sentences, from the tree that decides. The golden text is what finance signs."""

from __future__ import annotations

from pathlib import Path

from policies import load_policy, load_policy_text
from policies.explain import explain

FIXTURES = Path(__file__).parents[2].joinpath("fixtures/policies")
HEAD = "language: 1\npolicy: p\n"


def test_the_refund_desk_reads_as_it_was_signed() -> None:
    """The golden text; the revision is of the file, so it stands there in words."""
    policy = load_policy(FIXTURES / "refund_desk.yaml")
    expected = (FIXTURES / "refund_desk.explained.txt").read_text(encoding="utf-8")

    assert explain(policy, None).replace(policy.revision[:12], "REVISION") == expected


def test_one_tool_is_told_alone_and_found_folded() -> None:
    """The name is folded as at the decision; another tool's rules are not in it."""
    policy = load_policy(FIXTURES / "every_key.yaml")
    text = explain(policy, "PAY")
    assert "pay (it changes something)" in text
    assert "look (it only reads)" not in text
    assert 'Asked back (which) when args.area is one of codes ("north", "south"), unless' in text
    assert "may be left out" in text
    assert "?full=1" not in text


def test_unknown_tools_are_told_as_they_are_decided() -> None:
    """What holds for a tool that the policy does not name, in each setting."""
    told = {
        word: explain(load_policy_text(f"{HEAD}unknown_tools: {word}\n"), "other")
        for word in ("forbid", "escalate", "allow")
    }
    assert "Refused (unknown_tool)." in told["forbid"]
    assert "Passed to a person (unknown_tool)." in told["escalate"]
    assert "Allowed." in told["allow"]
    rules = "unknown_tools: allow\ndefaults: {rules: [{forbid: malformed}]}\n"
    assert "1. Refused (malformed) always." in explain(load_policy_text(HEAD + rules), "other")


def test_who_may_call_follows_the_identities() -> None:
    """An identity without `tools` may call every tool; one that names others may not."""
    text = (
        "identities:\n  a: {token: '${A}', tools: [x]}\n  b: {token: '${B}', tools: [y]}\n"
        "tools: {x: {}, y: {}, z: {}}\n"
    )
    policy = load_policy_text(HEAD + text)
    assert "Only a may call it." in explain(policy, "x")
    assert "No agent may call it." in explain(policy, "z")
    assert "Only b and c may call it." in explain(
        load_policy_text(HEAD + text.replace("tools: {x", "  c: {token: '${C}'}\ntools: {x")), "y"
    )


def test_guards_are_told_with_what_they_refuse() -> None:
    """Where a value must come from, what it may be, what may not leave, and what does not count as the user's words."""
    text = explain(load_policy(FIXTURES / "every_key.yaml"), "pay").replace("\n", " ")
    for line in (
        "Quoted lines, fenced and tagged sections are not what the user wrote, nor what matches (?m)^From: .*.",
        "It must be in what the user wrote or accounts[*].iban of a result of look; else it is asked back",
        "an e-mail address in a domain on the list constants.partners (entries: 2); else it is refused (far).",
        "It must be a path of these: /srv/reports, or a text of these: none; else it is refused (not_allowed).",
        "Secrets and personal data may leave in it.",
        "No secret and no personal data of list v1 may leave in it: refused (closed).",
    ):
        assert line in text
    sources = "tools: {x: {arguments: {a: {type: string, from: [text of x, 'text of x.b[*].c']}}}}"
    told = explain(load_policy_text(HEAD + sources), "x")
    assert "read as" not in told
    yaml = sources.replace("x: {arg", "x: {result: {format: yaml}, arg")
    assert "Its results are read as JSON, or as the YAML that s" in explain(load_policy_text(HEAD + yaml), "x")
    assert "It must be in the text of a result of x or in the text of b[*].c of a result of x; else" in told
    assert "what the user wrote" not in explain(load_policy_text(HEAD + "not_user: [a]\ntools: {x: {}}"), None)
    unknown = explain(load_policy_text(HEAD + "unknown_tools: allow\ndefaults: {egress: {list: v1}}"), "other")
    assert "No secret and no personal data of list v1 may leave in it: refused (sensitive_data)." in unknown
    nested = "tools: {x: {arguments: {a: {list: {object: {b: {type: string, from: user}}}}}}}"
    assert "- b: a text\n        It must be in what" in explain(load_policy_text(HEAD + nested), "x")
