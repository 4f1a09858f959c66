"""What a tool asks before its calls run, in plain English."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.expressions import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.model import Policy, Tool


def asking_lines(policy: Policy, tool: Tool) -> Iterator[str]:
    """The lines about confidence and confirmation, indented as lines of a tool; nothing where it asks nothing."""
    if tool.confidence is not None:
        sure = tool.confidence
        value = sentence(sure.value, policy.constants)
        yield f"  Asked back (low_confidence) where {value} is below {sure.clarify_below},"
        yield f"  and passed to a person where it is below {sure.escalate_below}, or is no number from 0 to 1."
    if tool.confirm is not None:
        if tool.confirm.when is not None:
            yield f"  Of calls where {sentence(tool.confirm.when, policy.constants)}:"
        yield "  Where all else allows it, the gate asks the customer whether exactly this call is wanted (confirm)."
        yield "  Only a clear yes in the next message counts, for this call only, once, within 15 minutes."


def language_lines(policy: Policy) -> Iterator[str]:
    """In which language the customer reads replies."""
    wanted = policy.reply_language
    if wanted is not None:
        which = f"the language that session.{wanted.field} names" if wanted.field else wanted.tag
        yield f"The customer is answered in {which}, where a reply is written in it, else in English."
