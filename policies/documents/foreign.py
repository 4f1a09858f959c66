"""The `provider_tools` section: by name, what happens to a tool that somebody else than the agent executes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.foreign import ProviderTool
from policies.model import folded

if TYPE_CHECKING:
    from policies.nodes import Node
    from policies.problems import Problems

NAME_LENGTH_MAX: Final = 256


def read_provider_tools(section: Node, problems: Problems) -> dict[str, ProviderTool]:
    """By folded name; two names that fold together are a problem, since one request could then be read in two ways."""
    found: dict[str, ProviderTool] = {}
    spelled: dict[str, str] = {}
    for name, node in section.mapping().entries.items():
        with problems.collect():
            key = folded(name)
            if not key or len(name) > NAME_LENGTH_MAX:
                node.fail(f"the name of a tool has 1 to {NAME_LENGTH_MAX} characters")
            if key in spelled:
                node.fail(f"{name!r} and {spelled[key]!r} are one tool: names that differ in case or separators only")
            spelled[key] = name
            found[key] = node.choice(ProviderTool)
    return found
