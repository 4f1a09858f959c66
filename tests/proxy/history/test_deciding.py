"""What a policy has to do with the history of a request at all."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from policies import load_policy_text
from proxy.history.deciding import decide, uses
from proxy.history.view import View
from proxy.wire.chat_turn import CHAT_CONTINUATION

NOW = datetime(2026, 11, 30, tzinfo=UTC)
HEAD = "language: 1\npolicy: p\n"


@pytest.mark.parametrize(
    ("text", "is_used"),
    [
        ("tools: {t: {effect: read, result: {fields: {a: string}}}}", False),
        ("tools: {t: {effect: read, result: {keep: [a]}}}", True),
        ("tools: {t: {effect: read, result: {errors: standard}}}", True),
        ("tools: {t: {effect: read, result: {fresh_for: 0}}}", True),
        ("tools: {t: {arguments: {a: string}, writes: {x: args.a}}}", True),
        ("resume_after: 1m", True),
    ],
)
def test_a_policy_without_these_keys_pays_nothing(text: str, *, is_used: bool) -> None:
    """Nothing is read, kept or written for it."""
    assert uses(load_policy_text(HEAD + text)) is is_used


def test_the_first_request_decides_nothing_but_when_it_was() -> None:
    """There is no result yet."""
    policy = load_policy_text(HEAD + "resume_after: 1m")
    found = View(CHAT_CONTINUATION.transcript(b'{"messages":[{"role":"user","content":"x"}]}'))
    decision = decide(found, 0, policy, {}, (), NOW)
    assert (decision.results, decision.notice, decision.at) == ((), "", NOW.timestamp())
