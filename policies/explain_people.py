"""What a policy says of people, in sentences: who answers what is passed to them, and who proposes calls itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.approvals import Approvals, OnApproval, OperatorKind
from policies.model import folded
from policies.nodes import listed
from policies.values import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.model import Policy, Tool

KINDS = {
    OperatorKind.OPERATOR: "a person at a desk",
    OperatorKind.CUSTOMER: "the customer, by a page of the application",
    OperatorKind.BACK_END: "a back end",
}


def people_lines(policy: Policy) -> Iterator[str]:
    """The lines of the whole policy; nothing where it says nothing of people."""
    approvals = policy.people.approvals
    if approvals != Approvals():
        who = "any reviewer" if approvals.approvers is None else " or ".join(approvals.approvers)
        many = "one approval" if approvals.quorum == 1 else f"approvals of {approvals.quorum} different persons"
        within, valid = render(approvals.answer_within), render(approvals.valid_for)
        yield f"What is passed to people needs {many}, by {who}, within {within}; an answer holds for {valid}."
    if approvals.open_max is not None:
        yield f"While {approvals.open_max} cases wait, what would be passed to people is refused (queue_full)."
    for one in policy.people.operators.values():
        yield f"{one.name} proposes calls through the admin listener, as {KINDS[one.kind]}."


def tool_people_lines(policy: Policy, tool: Tool) -> Iterator[str]:
    """The lines of one tool, indented."""
    key = folded(tool.name)
    names = [one.name for one in policy.people.operators.values() if one.tools is None or key in one.tools]
    if names:
        yield f"  Through the admin listener {' and '.join(names)} may propose it."
    match tool.passed_on.on_approval:
        case OnApproval.INLINE:
            yield "  Where it is passed to a person, a streamed answer waits a while for the approval."
        case OnApproval.DELIVER:
            yield "  Once people approve it, the gate decides it anew and hands it to the owner's back end."
        case OnApproval.NEXT_TIME:
            pass
    if (handed := tool.passed_on.escalate_with) is not None:
        filled = listed([f"{argument} ({field.value})" for argument, field in handed.arguments.items()])
        yield f"  Where it is passed to a person, the agent gets a call of {handed.tool} instead, with {filled}."
