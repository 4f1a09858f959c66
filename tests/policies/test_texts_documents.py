"""The keys about texts: what they may say, what is told of them, and what looks wrong."""

from __future__ import annotations

import pytest

from policies import load_policy_text
from policies.explain import explain
from policies.lint import FindingCode, lint
from policies.problems import DocumentError
from policies.texts import Structured, TextCalls

HEAD = (
    "language: 1\npolicy: p\ntools: {refund: {arguments: {key: {type: string}}}, keyed: {arguments: {key: %s}, %s}}\n"
)
PLAIN = HEAD % ("{type: string}", "effect: read")
WHO = "identities: {bot: {token: '${T}', hold_text: true}}\n"
CLAIMS = "claims: {refund: ['(?i)i have refunded']}\n"


def test_silence_holds_no_text() -> None:
    """A policy that says nothing of texts lets them pass."""
    policy = load_policy_text(PLAIN)
    assert (policy.structured, policy.text_calls, policy.claims) == ({}, TextCalls.PASS, {})
    assert not policy.reads_history


def test_the_keys_are_in_the_compiled_policy() -> None:
    """Tools are found whatever their spelling; claims make the conversation be read."""
    policy = load_policy_text(PLAIN + CLAIMS + WHO + "text_calls: forbid\nstructured: {Intent: {as: RE_FUND}}\n")
    assert policy.structured == {"Intent": Structured("refund")}
    assert policy.text_calls is TextCalls.FORBID
    assert [pattern.source for pattern in policy.claims["refund"]] == ["(?i)i have refunded"]
    assert policy.identities["bot"].hold_text
    assert policy.reads_history


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("structured: {x: {as: refnd}}", "the policy has no tool 'refnd', did you mean 'refund'"),
        (f"structured: {{{'x' * 257}: {{as: refund}}}}", "the name of a schema has at most 256 characters"),
        ("structured: {x: {}}", "'as' is required"),
        ("structured: {x: {as: refund, schema: {}}}", "unknown key 'schema'"),
        ("structured: {x: refund}", "expected a mapping"),
        ("text_calls: maybe", "'maybe'"),
        ("claims: {nothing: [a]}", "the policy has no tool 'nothing'"),
        ("claims: {refund: []}", "expected 1 to 64 patterns"),
        ("claims: {refund: ['a*']}", "the pattern matches the empty text"),
    ],
)
def test_what_makes_no_sense_is_an_error(text: str, message: str) -> None:
    """At load, with its place."""
    with pytest.raises(DocumentError, match=message):
        load_policy_text(PLAIN + text + "\n")


def test_a_tool_into_which_the_gate_puts_an_argument_judges_no_answer() -> None:
    """An answer leaves as it was written, or not at all."""
    limits = "limits: [{forbid: malformed, once_per: [args.key]}], inject: key"
    text = HEAD % ("{type: string, optional: true}", limits)
    with pytest.raises(DocumentError, match="an answer leaves as it was written"):
        load_policy_text(text + "structured: {x: {as: keyed}}\n")


def test_what_is_judged_of_texts_is_told() -> None:
    """Finance reads of each key, and of none that is not there."""
    told = explain(load_policy_text(PLAIN + CLAIMS + WHO + "text_calls: forbid\nstructured: {i: {as: refund}}\n"), None)
    assert "A text in the shape of a call does not leave" in told
    assert "the work of refund without a released call is recorded, and of bot it does not leave" in told
    assert "Answers in the form of the schema i are judged as calls of it." in told
    silent = explain(load_policy_text(PLAIN), None)
    assert "text" not in silent.replace("a text", "")
    assert "schema" not in silent.replace("its own JSON schema", "").replace("the request's own schema", "")


def test_holding_for_no_claim_looks_wrong() -> None:
    """`hold_text` without `claims` holds nothing."""
    assert FindingCode.HELD_FOR_NOTHING in {finding.code for finding in lint(load_policy_text(PLAIN + WHO))}
    assert FindingCode.HELD_FOR_NOTHING not in {each.code for each in lint(load_policy_text(PLAIN + CLAIMS + WHO))}
