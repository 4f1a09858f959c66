"""What changes for customers who ask for a person, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.explain_handoff import handoff_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.model import Policy


def told_handoff(old: Policy, new: Policy) -> Iterator[str]:
    """The sentences that hold no more, and those that do now."""
    before, after = ([line.strip() for line in handoff_lines(policy, with_reply=False)] for policy in (old, new))
    yield from (f"No more: {line}" for line in before if line not in after)
    yield from (line for line in after if line not in before)
