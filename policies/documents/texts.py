"""The `structured` section: by the name of a schema, the tool as whose calls answers in that form are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.documents import keys
from policies.model import folded
from policies.nodes import suggestion
from policies.texts import Structured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.documents.tools import Placed
    from policies.nodes import Node
    from policies.problems import Problems

NAME_LENGTH_MAX: Final = 256


def spellings(tools: Mapping[str, Placed | None]) -> dict[str, str]:
    """The spelling of each tool by its folded name; one that is among the problems has that name alone."""
    return {key: key if placed is None else placed.tool.name for key, placed in tools.items()}


def read_structured(section: Node, tools: Mapping[str, Placed | None], problems: Problems) -> dict[str, Structured]:
    """By the name of the schema, which is spelled as requests spell it."""
    found: dict[str, Structured] = {}
    for name, node in section.mapping().entries.items():
        with problems.collect():
            if len(name) > NAME_LENGTH_MAX:
                node.fail(f"the name of a schema has at most {NAME_LENGTH_MAX} characters")
            mapping = node.mapping()
            mapping.check_keys(keys.STRUCTURED, keys.LATER)
            found[name] = Structured(_tool(mapping.require("as"), tools))
    return found


def _tool(node: Node, tools: Mapping[str, Placed | None]) -> str:
    name = node.text()
    key = folded(name)
    if key not in tools:
        node.fail(f"the policy has no tool {name!r}{suggestion(name, spellings(tools).values())}")
    placed = tools[key]
    if placed is not None and placed.tool.injects:
        node.fail(
            f"the gate puts an argument into calls of {placed.tool.name!r}, and an answer leaves as it was written"
        )
    return key
