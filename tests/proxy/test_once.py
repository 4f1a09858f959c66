"""What is asked with every request is answered once: for a revision of the policy, or for a head."""

from __future__ import annotations

import pytest

from policies import load_policy_text
from proxy.headers import RequestHeaders, read_request_headers
from proxy.once import OncePerHead, OncePerRevision

TEXT = "language: 1\npolicy: p\n"


def test_each_revision_is_asked_once_and_a_new_one_anew() -> None:
    """A policy that was edited is another object, so an old answer cannot stand for it."""
    asked = []
    halted = OncePerRevision(lambda policy: asked.append(policy.mode.value) is None and policy.mode.value == "halt")
    old, new = load_policy_text(TEXT), load_policy_text(TEXT + "mode: halt\n")
    assert [halted(old), halted(old), halted(new), halted(new), halted(old)] == [False, False, True, True, False]
    assert asked == ["enforce", "halt", "enforce"]


def test_each_head_is_asked_once_for_the_same_others_and_errors_are_not_kept() -> None:
    """What was worked out belongs to one head and to what it was asked with; what failed is tried again."""
    asked: list[tuple[str, int]] = []

    def work(fields: RequestHeaders, number: int) -> int:
        asked.append((fields.get("a") or "", number))
        if number < 0:
            raise ValueError
        return number * 2

    once = OncePerHead(work)
    one, other = (read_request_headers([(b"A", value)]) for value in (b"1", b"2"))
    assert [once(one, 1), once(one, 1), once(other, 1), once(one, 2), once(one, 2), once(one, 1)] == [2, 2, 2, 4, 4, 2]
    assert asked == [("1", 1), ("2", 1), ("1", 2), ("1", 1)]
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^$"):
            once(one, -1)
    assert asked[-2:] == [("1", -1), ("1", -1)]
