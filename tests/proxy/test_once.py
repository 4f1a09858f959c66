"""What is asked of a policy is answered once a revision."""

from __future__ import annotations

from policies import load_policy_text
from proxy.once import OncePerRevision

TEXT = "language: 1\npolicy: p\n"


def test_each_revision_is_asked_once_and_a_new_one_anew() -> None:
    """A policy that was edited is another object, so an old answer cannot stand for it."""
    asked = []
    halted = OncePerRevision(lambda policy: asked.append(policy.mode.value) is None and policy.mode.value == "halt")
    old, new = load_policy_text(TEXT), load_policy_text(TEXT + "mode: halt\n")
    assert [halted(old), halted(old), halted(new), halted(new), halted(old)] == [False, False, True, True, False]
    assert asked == ["enforce", "halt", "enforce"]
