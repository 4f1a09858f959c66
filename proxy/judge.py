"""Judges the calls of an exchange and writes the decisions down: the pipeline between facts, halt, policy, store.

Pure decisions come from `interceptors.pipeline`; this file fetches what they need and keeps the order of DESIGN 3:
facts are read only after the screen, and nothing is released that was not recorded.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from interceptors.calls import Call, Proposal, Proposer, ToolCall
from interceptors.causes import RefusalCause
from interceptors.context import Context, DeclaredTool
from interceptors.decisions import Decision, Needs
from interceptors.history import EMPTY, History
from interceptors.obligations import injected, injection_of
from policies.approvals import OnApproval
from policies.model import Mode, Ruling
from proxy.answers import with_repetition
from proxy.informant import Basis, Informant
from proxy.recording import Holding
from proxy.store import Entry, Store, StoreError, new_receipt_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from interceptors.calls import Json
    from proxy.clock import Clock
    from proxy.facts_reader import FactsReader
    from proxy.ledger.materials import Materials
    from proxy.outcomes import Outcomes
    from proxy.policy_source import PolicySource, Revision
    from proxy.wire.events import Key

_ALLOW = Ruling.ALLOW


class Scene(msgspec.Struct, frozen=True):
    """Who and what an exchange is about. `subject` is a keyed digest, empty where there is none."""

    exchange: str
    dialect: str
    model: str
    tenant: str
    identity: str | None
    subject: str
    claims: Mapping[str, Json]
    declared: Mapping[str, DeclaredTool] = msgspec.field(default_factory=dict)
    ambiguous: frozenset[str] = frozenset()
    history: History = EMPTY
    read_history: Callable[[], Awaitable[History]] | None = None  # where `history` was not read yet
    proposer: Proposer = Proposer.MODEL
    operator: str | None = None  # of the policy, where no model proposes
    heard: dict[tuple[str, str], int] = msgspec.field(
        default_factory=dict
    )  # refusals that the model has heard, by call


class Judgment(msgspec.Struct, frozen=True):
    """A decision on one call and the revision that made it; after `record`, with its receipt."""

    proposal: Proposal
    decision: Decision
    revision: Revision
    hold_ms: int
    receipt: str = ""
    escalation: str | None = None
    basis: Basis | None = None
    instead_of: Judgment | None = None  # the recorded refusal in whose place the agent gets this call

    @property
    def is_allowed(self) -> bool:
        return self.decision.ruling is _ALLOW

    def as_recorded(self, receipt: str, escalation: str | None = None, basis: Basis | None = None) -> Judgment:
        """The same, with what the record of it made known."""
        return structs.replace(self, receipt=receipt, escalation=escalation, basis=basis)

    @property
    def as_released(self) -> ToolCall | None:
        """The call as it is to leave where the gate puts an argument into it; None where it leaves as it came."""
        injection, call = injection_of(self.decision), self.proposal.call
        return None if injection is None or not isinstance(call, ToolCall) else injected(call, injection)


@dataclass(frozen=True, slots=True)
class Judge:
    """One for the process. `injects`: whoever releases a call does so `as_released`; else such a call is refused."""

    policy: PolicySource
    facts: FactsReader
    store: Store
    outcomes: Outcomes
    clock: Clock
    hold_ms_max: int
    injects: bool = False
    tells: bool = False  # somebody else hears of new cases
    materials: Materials | None = None  # keeps what approved calls are delivered with

    async def decide(self, calls: Mapping[Key, Call], scene: Scene) -> dict[Key, Judgment]:
        """Decide these calls together, one read of a fact serving all of them, within `hold_ms_max`."""
        began = time.monotonic()
        in_force = self.policy.last()
        proposals = {key: Proposal(call, scene.proposer) for key, call in calls.items()}
        basis: Basis | None = None
        try:
            if (unchanged := self.policy.unchanged()) is not None:
                in_force = unchanged
            else:
                async with self._limit(began):
                    in_force = await self.policy.current()
            decisions, basis = await self._decide(proposals, scene, in_force.revision, began)
        except TimeoutError:
            decisions = self._refuse(proposals, in_force.revision, RefusalCause.HOLD_LIMIT)
        except StoreError:  # of the halt, or of the receipt without which a new revision is not in force
            decisions = self._refuse(proposals, in_force.revision, RefusalCause.STORE_DOWN)
        revision = in_force.revision
        if not in_force.is_available:
            writes = {key: proposals[key] for key, decision in decisions.items() if decision.is_write}
            decisions |= self._refuse(writes, revision, RefusalCause.POLICY_UNAVAILABLE)
        if not self.injects:
            changed = {key: proposals[key] for key, decision in decisions.items() if injection_of(decision) is not None}
            decisions |= self._refuse(changed, revision, RefusalCause.RAISED)
        for key, decision in decisions.items():
            decisions[key] = with_repetition(proposals[key], decision, revision, scene.identity, scene.heard)
        hold_ms = round((time.monotonic() - began) * 1000)
        return {
            key: Judgment(proposals[key], decision, revision, hold_ms, basis=basis)
            for key, decision in decisions.items()
        }

    def refuse(self, calls: Mapping[Key, Call], cause: RefusalCause) -> dict[Key, Judgment]:
        """Refuse calls for something outside them. It waits for nothing, since that may be what broke."""
        revision = self.policy.last().revision
        proposals = {key: Proposal(call, Proposer.MODEL) for key, call in calls.items()}
        refused = self._refuse(proposals, revision, cause)
        return {key: Judgment(proposals[key], decision, revision, 0) for key, decision in refused.items()}

    async def free(self, receipts: Sequence[str]) -> None:
        """Undo what calls hold that were never handed to the socket; what cannot be undone now is unknown in time."""
        if receipts:
            with suppress(StoreError):
                await self.store.free(receipts, at=self.clock())

    async def record(self, judgments: Mapping[Key, Judgment], scene: Scene) -> dict[Key, Judgment]:
        """Write the decisions down, durably, with the outcomes that wait; what comes back is what holds.

        A halt that came in between, what others used meanwhile, or a store that fails, turns an allow into a refusal.
        The store's refusal has no receipt: there is nowhere to keep it.
        """
        writes = {key: each for key, each in judgments.items() if each.is_allowed and each.decision.is_write}
        if writes and self.policy.unchanged() is None:
            judgments = await self._unless_halted(judgments, writes)
        now = self.clock()
        held: dict[Key, Holding] = {}
        outcomes = self.outcomes.take()
        entries = [Entry(outcome) for outcome in outcomes]
        for key, judgment in judgments.items():
            receipt = new_receipt_id(now)
            refused = partial(self._with, judgment, receipt=receipt)
            held[key] = Holding(
                judgment.as_recorded(receipt, basis=judgment.basis), refused, scene, self.clock, tells=self.tells
            )
            entries.append(held[key].entry())
        try:
            committed = await self.store.commit(entries)
        except StoreError:
            self.outcomes.add(outcomes)
            return {key: self._with(judgment, RefusalCause.STORE_DOWN, "") for key, judgment in judgments.items()}
        results: dict[Key, Judgment] = {}
        for (key, holding), done in zip(held.items(), committed[len(outcomes) :], strict=True):
            results[key] = stands = holding.stands(done)
            if stands.escalation is not None:
                await self._keep(stands.escalation, stands, scene)
        return results

    async def _keep(self, case: str, judgment: Judgment, scene: Scene) -> None:
        """Keep the call of a case that is delivered once people approve it, before they can."""
        call, tool = judgment.proposal.call, judgment.revision.policy.tool(judgment.decision.tool)
        if self.materials is None or not isinstance(call, ToolCall) or tool is None:
            return
        if tool.passed_on.on_approval is OnApproval.DELIVER:
            history = scene.history if judgment.basis is None else judgment.basis.context.history
            await self.materials.keep(case, call, structs.replace(scene, history=history))

    async def _unless_halted(
        self, judgments: Mapping[Key, Judgment], writes: Mapping[Key, Judgment]
    ) -> Mapping[Key, Judgment]:
        """The halt of the policy's `mode` is looked at again, as the operator's is: a call may be held for long."""
        try:
            async with asyncio.timeout(self.hold_ms_max / 1000):
                in_force = await self.policy.current()
        except (TimeoutError, StoreError):
            cause = RefusalCause.POLICY_UNAVAILABLE
        else:
            if in_force.is_available and in_force.revision.policy.mode is not Mode.HALT:
                return judgments
            cause = RefusalCause.HALTED if in_force.is_available else RefusalCause.POLICY_UNAVAILABLE
        return {**judgments, **{key: self._with(judgment, cause, "") for key, judgment in writes.items()}}

    async def _decide(
        self, proposals: Mapping[Key, Proposal], scene: Scene, revision: Revision, began: float
    ) -> tuple[dict[Key, Decision], Basis]:
        """Each answer, and what all of them were made on: one reading of each fact, one snapshot of what was used."""
        context = Context(
            now=self.clock(),
            tenant=scene.tenant,
            identity=scene.identity,
            subject=scene.claims,
            declared=scene.declared,
            ambiguous=scene.ambiguous,
            halted=self.store.is_halted(),
            model=scene.model,
            history=scene.history,
            operator=scene.operator,
            answers_kept=True,
        )
        pipeline = revision.pipeline
        answers = {key: pipeline.screen(proposal, context) for key, proposal in proposals.items()}
        basis = Basis(context, {}, {})
        if any(isinstance(answer, Needs) for answer in answers.values()):
            async with self._limit(began):
                basis = await Informant(self.facts, self.store, revision, scene.read_history).inform(
                    answers, proposals, context
                )
        decisions = {key: answer for key, answer in answers.items() if isinstance(answer, Decision)}
        return decisions, basis

    def _limit(self, began: float) -> asyncio.Timeout:
        """What is left of the time that calls may be held; a timer is made only where something is waited for."""
        return asyncio.timeout(max(0.0, self.hold_ms_max / 1000 - (time.monotonic() - began)))

    @staticmethod
    def _refuse(proposals: Mapping[Key, Proposal], revision: Revision, cause: RefusalCause) -> dict[Key, Decision]:
        return {key: revision.pipeline.refuse(proposal, cause) for key, proposal in proposals.items()}

    @staticmethod
    def _with(judgment: Judgment, cause: RefusalCause, receipt: str) -> Judgment:
        context = judgment.basis.context if judgment.basis is not None else None
        decision = judgment.revision.pipeline.refuse(judgment.proposal, cause, context)
        return Judgment(judgment.proposal, decision, judgment.revision, judgment.hold_ms, receipt)
