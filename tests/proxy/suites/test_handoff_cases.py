"""Cases about what a customer says: each key of `handoff` alone changes one, and a suite notices what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from policies import load_policy_text
from policies.files import read_snapshot
from policies.problems import DocumentError
from proxy.cli import cli
from proxy.suites.coverage import covered
from proxy.suites.handoffs import AskingTrial, run_asking
from proxy.suites.reader import read_suite
from proxy.suites.survival import survive

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """language: 1
policy: p
session: {customer_id: {jwt: sub}}
identities: {bot: {token: '${B}', autonomous: true}, desk: {token: '${D}'}}
facts:
  account: {key: {pattern: '[a-z]+'}, file: f.json, fields: {tier: string, owner: string}}
  owner: {key: {pattern: '[a-z]+'}, file: g.json, fields: {phone: string}}
"""
FACTS = "facts: {account: session.customer_id, owner: account.owner}"
SUITE = """suite: p
now: 2026-11-30T18:00:00Z
defaults: {session: {sub: ada}, facts: {account/ada: {tier: gold, owner: bob}, owner/bob: {phone: '5'}}}
cases:
"""
READS = "name: x, says: I want a human, expect: {handoff: true"


def trial(handoff: str, case: str, more: str = "") -> AskingTrial:
    suite = read_suite(f"{SUITE}  - {{{case}}}\n".encode(), "suite.yaml")
    (one,) = suite.asking
    return run_asking(load_policy_text(f"{HEAD}{more}handoff: {{{handoff}}}\n"), one)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("", "languages: [en]", "Ich will einen Menschen"),
        ("", "phrases: {en: [ops please]}", "ops please"),
        ("phrases: {en: [ops please]}", "phrases: {en: {only: [ops please]}}", "I want a human"),
        ("", FACTS, "I want a human"),
        (FACTS, f"{FACTS}, escalation: {{gather: [account]}}", "I want a human"),
    ],
)
def test_each_key_alone_changes_what_is_decided(before: str, after: str, says: str) -> None:
    """`languages`, `phrases`, `only`, `facts`, `escalation`."""
    case = f"name: x, says: {says}, expect: {{handoff: true}}"
    found = [trial(handoff, case) for handoff in (before, after)]
    seen = [(one.made is not None, one.reads, one.made.summary if one.made else {}) for one in found]
    assert seen[0] != seen[1]


def test_a_fact_that_cannot_be_read_is_said_so_and_the_case_opens() -> None:
    """Also the one whose key stands in it; the others are read on."""
    made = trial(
        f"{FACTS}, escalation: {{gather: [account, owner]}}",
        f"{READS}}}, facts: {{account/ada: unavailable}}",
    ).made
    assert made is not None
    assert {key: made.summary[key] for key in ("account", "owner")} == {
        "account": "not available",
        "owner": "not available",
    }
    read = trial(f"{FACTS}, escalation: {{gather: [account, owner]}}", f"{READS}}}").made
    assert read is not None
    assert (read.summary["account.tier"], read.summary["owner.phone"]) == ("gold", "5")
    nobody = trial(f"{FACTS}, escalation: {{gather: [account]}}", f"{READS}}}, session: {{sub: 7}}").made
    assert nobody is not None
    assert nobody.summary["account"] == "not available"


def test_the_reply_is_in_the_language_of_the_words_or_in_the_one_that_is_signed() -> None:
    """The policy's own reply first, its first one where it has none of that language; else the built-in one."""
    german = "name: x, says: Ich will einen Menschen, expect: {handoff: true}"
    own = 'reasons: {handoff: {reply: {en: "Wait.", de: "Warten."}}}\n'

    def reply(case: str, more: str = "") -> str:
        made = trial("", case, more).made
        assert made is not None
        return made.reply

    assert reply(german).startswith("Ich habe Ihr Anliegen")
    assert reply(german, own) == "Warten."
    assert reply(german, 'reasons: {handoff: {reply: {en: "Wait."}}}\n') == "Wait."
    assert reply(german, f"{own}reply_language: en\n") == "Wait."
    assert reply(f"{READS}}}", f"{own}reply_language: de\n") == "Warten."
    made = trial("", german).made
    assert made is not None
    assert made.full.startswith("Zurzeit")


def test_an_autonomous_agent_asks_for_nobody() -> None:
    """No customer speaks through it."""
    assert trial("", f"{READS}}}, identity: desk").passed
    assert not trial("", f"{READS}}}, identity: bot").passed


@pytest.mark.parametrize(
    ("case", "against"),
    [
        ("name: x, says: Hello, expect: {handoff: true}", "expected that a person is asked for, and nobody is"),
        ("name: x, says: I want a human, expect: {handoff: false}", "expected that nobody is asked for"),
        (f"{READS}, language: de}}", "expected the language 'de', got 'en'"),
        (f"{READS}, reply: Hello}}", "expected the reply 'Hello'"),
        (f"{READS}, summary: {{a: b}}}}", "summary: expected"),
        (f"{READS}, reads: []}}", "expected to read nothing, got account/ada, owner/bob"),
        (f"{READS}}}, session: {{sub: eve}}", "account/eve is read, and the case does not say"),
    ],
)
def test_what_is_not_as_expected_is_said(case: str, against: str) -> None:
    """One line for each."""
    assert against in " ".join(trial(FACTS, case).against)


@pytest.mark.parametrize(
    "case",
    [
        "name: x, says: [a], expect: {handoff: true}",
        "name: x, says: Hello, expect: {handoff: false, reply: x}",
        "name: x, says: Hello, call: t, expect: {handoff: false}",
        "name: x, says: Hello, expect: {outcome: allow}",
    ],
)
def test_what_is_no_such_case_is_an_error(case: str) -> None:
    """An expectation that nothing could meet is refused when it is read."""
    with pytest.raises(DocumentError):
        read_suite(f"{SUITE}  - {{{case}}}\n".encode(), "suite.yaml")


POLICY = "language: 1\npolicy: p\nhandoff: {languages: [en], phrases: {pl: [ops please]}}\n"
CASES = """suite: p
now: 2026-11-30T18:00:00Z
cases:
  - {name: built in, says: I want a human, expect: {handoff: true}}
  - {name: own, says: ops please, expect: {handoff: true}}
  - {name: nobody, says: no human please, expect: {handoff: false}}
"""


def test_a_suite_runs_covers_and_kills_mutants(tmp_path: Path) -> None:
    """`callgate test` counts these cases; words that ask and words that do not are covered; a phrase or a language that
    is taken out is noticed."""
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "policy_test.yaml").write_text(CASES, encoding="utf-8")
    ran = CliRunner().invoke(cli, ["test", str(tmp_path / "policy.yaml"), "--mutate"])
    assert ran.exit_code == 0, ran.output
    assert "3 cases, 0 failed, coverage 100 %" in ran.output
    suite, policy = read_suite(CASES.encode(), "suite.yaml"), load_policy_text(POLICY)
    trials = [run_asking(policy, one) for one in suite.asking]
    assert covered(policy, [], trials[:2]).percent == 50
    survival = survive(read_snapshot(tmp_path / "policy.yaml"), suite)
    assert (survival.made, survival.killed) == (2, 2)
