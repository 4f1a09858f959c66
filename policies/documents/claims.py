"""The `claims` section: by tool, the patterns of a text that says the tool's work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.model import folded
from policies.nodes import suggestion
from policies.patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.nodes import Node
    from policies.problems import Problems

PATTERNS_MAX: Final = 64  # of one tool


def read_claims(section: Node, tools: Mapping[str, str], problems: Problems) -> dict[str, tuple[Pattern, ...]]:
    """The patterns that are well-formed, by the folded name of their tool. `tools` are the policy's: the spelling of
    each by its folded name.

    A pattern may match anywhere in a text; `(?i)` before it makes case not count.
    """
    found: dict[str, tuple[Pattern, ...]] = {}
    for name, node in section.mapping().entries.items():
        with problems.collect():
            if folded(name) not in tools:
                node.fail(f"the policy has no tool {name!r}{suggestion(name, tools.values())}")
            if folded(name) in found:
                node.fail(f"the tool {name!r} stands here twice")
            found[folded(name)] = _patterns(node, problems)
    return found


def _patterns(node: Node, problems: Problems) -> tuple[Pattern, ...]:
    items = node.sequence()
    if not items or len(items) > PATTERNS_MAX:
        node.fail(f"expected 1 to {PATTERNS_MAX} patterns")
    found: list[Pattern] = []
    for item in items:
        with problems.collect():
            pattern = item.convert(Pattern.compile)
            if pattern.accepts_empty:
                item.fail("the pattern matches the empty text")
            found.append(pattern)
    return tuple(found)
