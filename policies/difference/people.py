"""What changes in who decides, and who proposes, in sentences."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from policies.difference.figures import moved, names_of_both
from policies.difference.handoff import told_handoff
from policies.difference.meaning import changed
from policies.explain_people import KINDS, people_lines
from policies.model import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.approvals import Approvals, Operator
    from policies.model import Policy


def told_people(old: Policy, new: Policy) -> Iterator[str]:
    """Of approvals what they need, of operators what they may, and what customers get who ask for a person."""
    yield from _approvals(old.people.approvals, new.people.approvals)
    before, after = old.people.operators, new.people.operators
    for name in names_of_both(before, after):
        if name not in after:
            yield f"{name} proposes no calls through the admin listener any more; it was {KINDS[before[name].kind]}."
        elif name not in before:
            yield from (line for line in people_lines(new) if line.startswith(f"{name} proposes "))
        else:
            yield from _operator(old, new, before[name], after[name])
    yield from told_handoff(old, new)


def _approvals(before: Approvals, after: Approvals) -> Iterator[str]:
    for field in changed(before, after):
        match field:
            case "approvers":
                yield f"What is passed to people is approved by {_who(after)} instead of {_who(before)}."
            case "quorum":
                yield moved("How many must approve what is passed to people", *_numbers(before.quorum, after.quorum))
            case "answer_within":
                yield moved("How long a case waits for people", before.answer_within, after.answer_within)
            case "valid_for":
                yield moved("How long an approval holds", before.valid_for, after.valid_for)
            case _:
                now, then = _bound(after), _bound(before)
                yield f"Of cases {now} may wait instead of {then}; what would be passed on beyond that is refused."


def _numbers(*numbers: int) -> tuple[Decimal, ...]:
    return tuple(map(Decimal, numbers))


def _who(approvals: Approvals) -> str:
    return "any reviewer" if approvals.approvers is None else " or ".join(approvals.approvers)


def _bound(approvals: Approvals) -> str:
    return "any number" if approvals.open_max is None else f"at most {approvals.open_max}"


def _operator(old: Policy, new: Policy, before: Operator, after: Operator) -> Iterator[str]:
    for field in changed(before, after):
        match field:
            case "kind":
                yield f"{after.name} proposes calls as {KINDS[after.kind]} instead of {KINDS[before.kind]}."
            case "tools":
                now, then = may_use(new, after.tools), may_use(old, before.tools)
                yield f"{after.name} may propose {now} instead of {then}."
            case _:
                yield f"{after.name} shows another token at the admin listener."


def may_use(policy: Policy, tools: frozenset[str] | None) -> str:
    """The tools as the policy spells them."""
    if tools is None:
        return "every tool"
    spelled = {folded(tool.name): tool.name for tool in policy.tools.values()}
    return ", ".join(sorted(spelled.get(key, key) for key in tools)) or "no tool"
