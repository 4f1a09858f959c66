"""What changes in how a refused call of a tool is answered, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.approvals import OnApproval
from policies.difference.figures import moved, told_apart
from policies.expressions import sentence
from policies.model import Batch, OnRefusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.escalate_with import EscalateWith
    from policies.model import Policy, Tool

_BY_EFFECT: Final = "whoever its effect and the agent say"
_RESUMES: Final = {
    OnApproval.NEXT_TIME: "it runs when it is made again",
    OnApproval.INLINE: "it leaves in the streamed answer that waits for it",
    OnApproval.DELIVER: "the gate hands it to the owner's back end",
}
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
    if before.inject is not None:
        return f"The key of the intent is put into {after.inject} of {name} instead of {before.inject}."
    return f"The key of the intent is put into {after.inject} of {name}."


def told_passed_on(name: str, before: Tool, after: Tool) -> Iterator[str]:
    if before.passed_on.on_approval is not after.passed_on.on_approval:
        now, then = _RESUMES[after.passed_on.on_approval], _RESUMES[before.passed_on.on_approval]
        yield f"Once people approve a call of {name}, {now}; before: {then}."
    then_to, now_to = before.passed_on.escalate_with, after.passed_on.escalate_with
    if then_to != now_to:
        yield f"A call of {name} that is passed to people becomes {_becomes(now_to)} instead of {_becomes(then_to)}."


def _becomes(handed: EscalateWith | None) -> str:
    if handed is None:
        return "a reply"
    filled = ", ".join(f"{argument} ({field.value})" for argument, field in handed.arguments.items())
    return f"a call of {handed.tool} with {filled}"
