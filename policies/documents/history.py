"""What a policy says of a whole conversation: `resume_after`, `broken_pairs`, `compact_above`, ..."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from policies.documents.limits import duration
from policies.upkeep import BrokenPairs, HistoryRules, ServerHeld

if TYPE_CHECKING:
    from policies.nodes import MappingNode
    from policies.problems import Problems

RESUME_MAX: Final = timedelta(days=30)
COMPACT_MIN, COMPACT_MAX = 100, 10_000_000
"""Tokens."""


def read_history(root: MappingNode, problems: Problems) -> HistoryRules:
    """The rules; what is wrong in one is among the problems."""
    resume_after, broken_pairs, server_held, compact_above = None, None, ServerHeld.REFUSE, None
    with problems.collect():
        if (node := root.get("resume_after")) is not None:
            resume_after = duration(node, RESUME_MAX)
    with problems.collect():
        if (node := root.get("broken_pairs")) is not None:
            broken_pairs = node.choice(BrokenPairs)
    with problems.collect():
        if (node := root.get("server_held")) is not None:
            server_held = node.choice(ServerHeld)
    with problems.collect():
        if (node := root.get("compact_above")) is not None:
            compact_above = node.integer(COMPACT_MIN, COMPACT_MAX)
    return HistoryRules(resume_after, broken_pairs, server_held, compact_above)
