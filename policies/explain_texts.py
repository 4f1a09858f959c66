"""What a policy says of texts, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.model import folded
from policies.texts import TextCalls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.model import Policy, Tool


def text_lines(policy: Policy) -> Iterator[str]:
    """The lines that hold for every text."""
    if policy.text_calls is TextCalls.FORBID:
        yield "A text in the shape of a call does not leave; the customer reads a reply (text_call)."
    if not policy.claims:
        return
    held = [one.name for one in policy.identities.values() if one.hold_text]
    named = ", ".join(policy.tools[key].name for key in policy.claims)
    replaced = f", and of {', '.join(held)} it does not leave (false_claim)" if held else ""
    yield f"A text that claims the work of {named} without a released call is recorded{replaced}."


def tool_text_lines(policy: Policy, tool: Tool) -> Iterator[str]:
    """The lines of one tool."""
    names = [name for name, one in policy.structured.items() if one.tool == folded(tool.name)]
    if names:
        yield f"  Answers in the form of the schema {' or '.join(names)} are judged as calls of it."
