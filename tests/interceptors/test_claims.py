"""A claim is false where the text says that a tool's work is done and no call of it was released."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.claims import Claim, false_claims
from interceptors.history import EMPTY
from policies.documents.claims import read_claims
from policies.problems import Problems
from policies.yaml_reader import read_yaml
from tests.interceptors.conversations import assistant, call, history, result, user

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.history import Entry
    from policies.patterns import Pattern

TOOLS = {"processrefund": "process_refund", "mail": "mail"}


def read(text: str) -> tuple[Mapping[str, tuple[Pattern, ...]], list[str]]:
    problems = Problems()
    found = read_claims(read_yaml(text.encode(), "f.yaml"), TOOLS, problems)
    return found, [problem.message for problem in problems.found]


PATTERNS, _ = read("{process_refund: ['(?i)\\brefunded\\b', '(?i)refund (has been|is) (issued|done)'], mail: [sent]}")


@pytest.mark.parametrize(
    ("text", "entries", "tools"),
    [
        ("I have Refunded you.", [], ["processrefund"]),
        ("Your refund is done, and I sent a mail.", [], ["processrefund", "mail"]),
        ("I can refund you.", [], []),
        ("I have refunded you.", [call("Process-Refund"), result("{}")], []),
        ("I have refunded you.", [call("process_refund", released=""), result("{}")], ["processrefund"]),
        ("I have refunded you.", [call("mail"), result("{}")], ["processrefund"]),
        ("I have refunded you.", [user("refunded"), assistant("refunded")], ["processrefund"]),
        ("", [], []),
    ],
)
def test_a_claim_without_a_released_call_is_false(text: str, entries: list[Entry], tools: list[str]) -> None:
    """Each tool by itself; a call of another tool, or one that was not released, is no ground."""
    assert [claim.tool for claim in false_claims(PATTERNS, text, history(*entries))] == tools


def test_a_call_of_the_same_turn_counts() -> None:
    """The text may come before the call that it speaks of."""
    assert false_claims(PATTERNS, "refunded", EMPTY, ["PROCESS_REFUND"]) == ()
    assert false_claims(PATTERNS, "so: refund is done, refunded", EMPTY, ["mail"]) == (Claim("processrefund", 4, 18),)


@given(st.text(max_size=60), st.lists(st.sampled_from(["process_refund", "mail"])))
def test_any_text_has_an_answer_and_a_released_call_only_clears(text: str, released: list[str]) -> None:
    """No text raises; each released tool takes its own claim away and no other."""
    before = false_claims(PATTERNS, text + " refunded", EMPTY)
    after = false_claims(PATTERNS, text + " refunded", EMPTY, released)
    assert [claim for claim in before if claim.tool not in {name.replace("_", "") for name in released}] == list(after)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{refund: [a]}", "the policy has no tool 'refund'"),
        ("{mail: []}", "expected 1 to 64 patterns"),
        ("{mail: ['a*']}", "the pattern matches the empty text"),
        ("{mail: ['(']}", "is not a pattern"),
        ("{mail: [a], Mail: [b]}", "the tool 'Mail' stands here twice"),
        ("[a]", "expected a mapping"),
    ],
)
def test_what_claims_nothing_is_an_error(text: str, message: str) -> None:
    """A tool that is not there, and patterns that match nothing or everything."""
    if text.startswith("["):
        with pytest.raises(ValueError, match=message):
            read(text)
    else:
        assert any(message in told for told in read(text)[1])
