"""Turns a recorded refusal that is passed to people into a call of the agent's own escalation tool (`escalate_with`).

The case is open before anything is offered. What is offered is a proposal of that tool: judged on fresh facts, recorded
and reserved like any other. Where it may not run, the refusal that is recorded already stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from interceptors.calls import Proposer, ToolCall
from interceptors.handed_over import Refused, handed_over
from interceptors.readings import read_field
from interceptors.strict_json import digest
from policies.model import Category, Ruling, folded
from proxy.once import OncePerRevision
from proxy.wire.events import TextKey
from proxy.wire.positional import is_positional, named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.decisions import Decision
    from policies.escalate_with import EscalateWith
    from policies.model import Policy
    from proxy.judge import Judge, Judgment, Scene
    from proxy.wire.events import Key


def _hands_over(policy: Policy) -> bool:
    return any(tool.passed_on.escalate_with is not None for tool in (*policy.tools.values(), policy.unknown_tool))


hands_over = OncePerRevision(_hands_over)
"""Whether a call of this policy may leave as one of another tool."""


class HandOver:
    """Of one exchange. `can`: the calls of a turn leave each by itself, and what left in place of one is put back."""

    def __init__(self, judge: Judge, scene: Scene, *, can: bool) -> None:
        self._judge = judge
        self._scene = scene
        self._can = can

    def may(self, key: Key, judgment: Judgment) -> bool:
        """Whether the agent may get a call of its escalation tool in the place of this refusal."""
        return self._can and not isinstance(key, TextKey) and self._becomes(judgment) is not None

    async def offered(self, recorded: Mapping[Key, Judgment]) -> dict[Key, Judgment]:
        """The judgments on the calls that these recorded refusals become; those that are refused have no effect but
        their record."""
        calls = {key: call for key, each in recorded.items() if (call := self._call(key, each)) is not None}
        if not calls:
            return {}
        scene = structs.replace(self._scene, heard={}, proposer=Proposer.GATE)
        judged = await self._judge.decide(calls, scene)
        return {
            key: structs.replace(each, decision=_alone(each.decision), instead_of=recorded[key])
            for key, each in judged.items()
        }

    def _becomes(self, judgment: Judgment) -> EscalateWith | None:
        call, policy = judgment.proposal.call, judgment.revision.policy
        if judgment.decision.ruling is not Ruling.ESCALATE or not isinstance(call, ToolCall):
            return None
        found = (policy.tool(judgment.decision.tool) or policy.unknown_tool).passed_on.escalate_with
        if found is None or call.freeform or call.is_question:
            return None
        return found if self._is_function(call.name) and self._is_function(found.tool) else None

    def _is_function(self, name: str) -> bool:
        """Whether the request declares it as a function of its own: other kinds of calls have other members."""
        declared = self._scene.declared.get(folded(name))
        return declared is not None and declared.schema is not None and "/" not in declared.name

    def _call(self, key: Key, judgment: Judgment) -> ToolCall | None:
        if not self.may(key, judgment) or judgment.escalation is None:
            return None
        found, place, policy = self._becomes(judgment), judgment.proposal.call, judgment.revision.policy
        assert found is not None, "asked by may"
        assert isinstance(place, ToolCall), "asked by may"
        signed = {name: read_field(self._scene.claims, one.at, one.type) for name, one in policy.session.items()}
        refused = Refused(judgment.decision, judgment.receipt, judgment.escalation, signed)
        call = handed_over(refused, found, policy, place, self._scene.declared[folded(found.tool)].name)
        if call is None or not is_positional(call.id):
            return call
        return structs.replace(call, id=named(call.name, digest(dict(call.arguments)), ()))


def _alone(decision: Decision) -> Decision:
    """What the escalation tool may not do opens no case, and asks nobody: the one that is open already stands."""
    if decision.ruling is Ruling.ALLOW:
        return decision
    category = decision.category
    if decision.ruling is not Ruling.FORBID:
        category = Category.POLICY
    return structs.replace(decision, ruling=Ruling.FORBID, category=category, obligations=(), asks=None, summary={})
