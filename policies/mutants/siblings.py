"""Wrong paths: what stands beside the right one, `args.fee` for `args.amount`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.mutants.edits import Edit, scalar, shown
from policies.mutants.tables import UNSEEN
from policies.nodes import MappingNode, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.mutants.edits import Steps
    from policies.nodes import Node

PATHS: Final = frozenset(
    {
        "sum",
        "value",
        "segment",
        "case",
        "amount",
        "paid",
        "price",
        "departure",
        "arrival",
        "event",
        "cancelled_at",
        "confidence",
        "argument",
        "tool",
    }
)
"""Keys that hold one path, or one name."""


def siblings(root: MappingNode) -> Iterator[Edit]:
    """Each such path with another last step, of those that stand beside it in the policy."""
    for node, steps in _paths(root, ()):
        for other in _beside(root, steps, node.spelling):
            wrong = scalar(node, other)
            yield Edit(f"{node.path}: {shown(node)} -> {shown(wrong)}", steps, wrong, node.origin)


def _paths(node: Node, steps: Steps) -> Iterator[tuple[ScalarNode, Steps]]:
    if isinstance(node, MappingNode):
        for key, inner in node.entries.items():
            if key in UNSEEN:
                continue
            place = (*steps, key)
            # `facts` of a tool, and of `cases`, name a fact each with the path of its key.
            if isinstance(inner, ScalarNode) and (key in PATHS or (len(steps) > 1 and steps[-1] == "facts")):
                yield inner, place
            yield from _paths(inner, place)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            yield from _paths(item, (*steps, index))


def _beside(root: MappingNode, steps: Steps, text: str) -> Iterator[str]:
    if steps[:-1] == ("cases", "case"):
        known = _names(root, "tools") if steps[-1] == "tool" else _arguments(root, _case_tool(root))
        yield from (name for name in known if name != text)
        return
    start, dot, last = text.partition(".")
    if not dot or not last.isidentifier():
        return
    if start == "args":
        known = _arguments(root, str(steps[1])) if steps[0] == "tools" else _arguments(root, str(steps[-2]))
    else:
        known = _names(root, start) if start in ("session", "constants") else _names(root, "facts", start, "fields")
    yield from (f"{start}.{name}" for name in known if name != last)


def _case_tool(root: MappingNode) -> str:
    node = _at(root, "cases", "case", "tool")
    return node.spelling if isinstance(node, ScalarNode) else ""


def _arguments(root: MappingNode, tool: str) -> tuple[str, ...]:
    return _names(root, "tools", tool, "arguments")


def _names(root: MappingNode, *steps: str) -> tuple[str, ...]:
    node = _at(root, *steps)
    return tuple(node.entries) if isinstance(node, MappingNode) else ()


def _at(root: MappingNode, *steps: str) -> Node | None:
    node: Node | None = root
    for step in steps:
        node = node.get(step) if isinstance(node, MappingNode) else None
    return node
