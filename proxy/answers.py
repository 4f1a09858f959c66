"""From a judgment to what stands in the call's place: who answers, and what repetition makes of it (DESIGN 5)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from interceptors.calls import ToolCall
from interceptors.causes import RefusalCause
from interceptors.confirmation import CONFIRM
from interceptors.results import HANDED_OVER, structured_result
from interceptors.strict_json import canonical
from policies.model import OnRefusal, Ruling
from proxy.once import OncePerRevision
from proxy.wire.events import RELEASED, Answer, Released, Replaced, Returned

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from interceptors.calls import Proposal
    from interceptors.decisions import Decision
    from policies.model import Policy
    from proxy.judge import Judgment
    from proxy.policy_source import Revision

AGAIN = " It was refused before, unchanged; a third time ends the turn."
SCHEMA_INVALID = "schema_invalid"
_ALWAYS_CODE = frozenset(("repeated", CONFIRM))
_TOLD = 2
_ENDED = 3


def answer(judgment: Judgment, identity: str | None) -> Answer:
    """What the gate is told of a judged call."""
    decision = judgment.decision
    if decision.ruling is Ruling.ALLOW:
        changed = judgment.as_released
        if (refused := judgment.instead_of) is not None:
            return _handed_over(judgment, refused)
        return RELEASED if changed is None else Released(changed.raw)
    result = canonical(structured_result(decision, judgment.receipt, judgment.escalation)).decode()
    if not hears_model(judgment.proposal, decision, judgment.revision.policy, identity):
        return Replaced(decision.reply, result)
    return Returned(result, decision.reply)


def _handed_over(judgment: Judgment, refused: Judgment) -> Answer:
    """A call of the agent's escalation tool; the model hears that its own was refused, and what became of that."""
    call = judgment.as_released or judgment.proposal.call
    assert isinstance(call, ToolCall)
    told = structured_result(refused.decision, refused.receipt, refused.escalation)
    return Released(call.raw, call.name, canonical({**told, HANDED_OVER: {"to": call.name}}).decode())


def hears_model(proposal: Proposal, decision: Decision, policy: Policy, identity: str | None) -> bool:
    """Whether the model is to hear of this refusal. A malformed call cannot be put back, so code answers it.

    Code asks the customer for a yes: it counts only where the gate's own question stands before it.
    """
    if decision.reason == SCHEMA_INVALID and decision.ruling is Ruling.FORBID:
        return True  # no rule refused it: it is asked for again
    if not isinstance(proposal.call, ToolCall) or decision.reason in _ALWAYS_CODE:
        return False
    tool = policy.tool(proposal.call.name) or policy.unknown_tool
    who = policy.identities.get(identity) if identity is not None else None
    return tool.answers(autonomous=who is not None and who.autonomous) is OnRefusal.MODEL


def may_hear_model(revision: Revision, identity: str | None) -> bool:
    """Whether any refusal of this policy could go to the model of this identity."""
    policy = revision.policy
    who = policy.identities.get(identity) if identity is not None else None
    return _hears_alone(policy) if who is not None and who.autonomous else _hears(policy)


def _any_hears(policy: Policy, *, autonomous: bool) -> bool:
    tools = (*policy.tools.values(), policy.unknown_tool)
    return any(tool.answers(autonomous=autonomous) is OnRefusal.MODEL for tool in tools)


_hears = OncePerRevision(partial(_any_hears, autonomous=False))
_hears_alone = OncePerRevision(partial(_any_hears, autonomous=True))
injects = OncePerRevision(lambda policy: any(tool.injects for tool in policy.tools.values()))
"""Whether a call of this policy may leave with other arguments than the model's own."""


def with_repetition(
    proposal: Proposal,
    decision: Decision,
    revision: Revision,
    identity: str | None,
    heard: MutableMapping[tuple[str, str], int],
) -> Decision:
    """The decision on a call that may have been refused before: the second time says so, the third ends the turn.

    `heard` counts, by tool and argument digest, the refusals that the model has heard in this conversation. A forbid
    never becomes an escalation by repetition.
    """
    if decision.ruling is Ruling.ALLOW or not hears_model(proposal, decision, revision.policy, identity):
        return decision
    key = decision.tool, decision.digest
    count = heard.get(key, 0) + 1
    heard[key] = count
    if count >= _ENDED:
        refused = revision.pipeline.refuse(proposal, RefusalCause.REPEATED)
        verdicts = (*decision.verdicts, *refused.verdicts)
        return structs.replace(refused, verdicts=verdicts, arguments=decision.arguments, digest=decision.digest)
    return structs.replace(decision, message=decision.message + AGAIN) if count == _TOLD else decision
