"""What changes in how a refused call of a tool is answered, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.difference.figures import moved, told_apart
from policies.expressions import sentence
from policies.model import Batch, OnRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.model import Policy, Tool

_BY_EFFECT: Final = "whoever its effect and the agent say"
_ANSWERS: Final = {OnRefusal.CODE: "the policy's reply", OnRefusal.MODEL: "the model", None: _BY_EFFECT}


def told_on_refusal(name: str, before: Tool, after: Tool) -> str:
    now, then = _ANSWERS[after.on_refusal], _ANSWERS[before.on_refusal]
    return f"A refused call of {name} is answered by {now} instead of {then}."


def told_batch(name: str, after: Tool) -> str:
    if after.batch is Batch.ALL_OR_NOTHING:
        return f"Where {name} is called, one refusal of the turn refuses all its calls."
    return f"A refusal beside {name} refuses it no more."


def told_confirm(old: Policy, new: Policy, before: Tool, after: Tool, name: str) -> str:
    """Of which calls the customer is asked, and was."""
    asked = f"The customer is asked for a yes to {name}"
    now, then = _asked_of(new, after), _asked_of(old, before)
    if not now or not then:
        return f"{asked} {now or 'no more'}."
    figures = told_apart(then, now)
    if figures is not None:
        return moved(f"The figure by which the customer is asked for a yes to {name}", *figures)
    return f"{asked} {now} instead of {then}."


def _asked_of(policy: Policy, tool: Tool) -> str:
    if tool.confirm is None:
        return ""
    when = tool.confirm.when
    return "before each call" if when is None else f"where {sentence(when, policy.constants)}"


def told_inject(name: str, before: Tool, after: Tool) -> str:
    if after.inject is None:
        return f"No key is put into {before.inject} of {name} any more."
    return f"The key of the intent is put into {after.inject} of {name}."


def told_passed_on(name: str, before: Tool, after: Tool) -> Iterator[str]:
    if before.passed_on.on_approval is not after.passed_on.on_approval:
        yield f"An approved call of {name} goes on by `{after.passed_on.on_approval.value}` now."
    then, now = before.passed_on.escalate_with, after.passed_on.escalate_with
    if now is None and then is not None:
        yield f"A call of {name} that is passed to people becomes a call of {then.tool} no more."
    elif now is not None and then != now:
        filled = ", ".join(f"{argument} ({field.value})" for argument, field in now.arguments.items())
        yield f"A call of {name} that is passed to people becomes a call of {now.tool} with {filled}."
