"""Judges the calls of an exchange and writes the decisions down: the pipeline between facts, halt, policy, store.

Pure decisions come from `interceptors.pipeline`; this file fetches what they need and keeps the order of DESIGN 3:
facts are read only after the screen, and nothing is released that was not recorded.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interceptors.calls import Call, Proposal, Proposer
from interceptors.causes import RefusalCause
from interceptors.context import Context, DeclaredTool, FactKey, FactResult
from interceptors.decisions import Decision, Needs
from interceptors.receipts import Record, decided_record
from interceptors.results import structured_result
from interceptors.strict_json import canonical
from policies.model import Mode, Ruling
from proxy.store import Entry, EscalationDraft, Store, StoreError, new_escalation_id, new_receipt_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interceptors.calls import Json
    from proxy.clock import Clock
    from proxy.facts_reader import FactsReader
    from proxy.outcomes import Outcomes
    from proxy.policy_source import PolicySource, Revision
    from proxy.wire.events import Key


@dataclass(frozen=True, slots=True)
class Scene:
    """Who and what an exchange is about. `subject` is a keyed digest, empty where there is none."""

    exchange: str
    dialect: str
    model: str
    tenant: str
    identity: str | None
    subject: str
    claims: Mapping[str, Json]
    declared: Mapping[str, DeclaredTool] = field(default_factory=dict)
    ambiguous: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Judgment:
    """A decision on one call and the revision that made it; after `record`, with its receipt."""

    proposal: Proposal
    decision: Decision
    revision: Revision
    hold_ms: int
    receipt: str = ""
    escalation: str | None = None

    @property
    def is_allowed(self) -> bool:
        return self.decision.ruling is Ruling.ALLOW


@dataclass(frozen=True, slots=True)
class Judge:
    """One for the process."""

    policy: PolicySource
    facts: FactsReader
    store: Store
    outcomes: Outcomes
    clock: Clock
    hold_ms_max: int

    async def decide(self, calls: Mapping[Key, Call], scene: Scene) -> dict[Key, Judgment]:
        """Decide these calls together, one read of a fact serving all of them, within `hold_ms_max`."""
        began = time.monotonic()
        in_force = self.policy.last()
        proposals = {key: Proposal(call, Proposer.MODEL) for key, call in calls.items()}
        try:
            async with asyncio.timeout(self.hold_ms_max / 1000):
                in_force = await self.policy.current()
                decisions = await self._decide(proposals, scene, in_force.revision)
        except TimeoutError:
            decisions = self._refuse(proposals, in_force.revision, RefusalCause.HOLD_LIMIT)
        except StoreError:  # of the halt, or of the receipt without which a new revision is not in force
            decisions = self._refuse(proposals, in_force.revision, RefusalCause.STORE_DOWN)
        revision = in_force.revision
        if not in_force.is_available:
            writes = {key: proposals[key] for key, decision in decisions.items() if decision.is_write}
            decisions |= self._refuse(writes, revision, RefusalCause.POLICY_UNAVAILABLE)
        hold_ms = round((time.monotonic() - began) * 1000)
        return {key: Judgment(proposals[key], decision, revision, hold_ms) for key, decision in decisions.items()}

    def refuse(self, calls: Mapping[Key, Call], cause: RefusalCause) -> dict[Key, Judgment]:
        """Refuse calls for something outside them. It waits for nothing, since that may be what broke."""
        revision = self.policy.last().revision
        proposals = {key: Proposal(call, Proposer.MODEL) for key, call in calls.items()}
        refused = self._refuse(proposals, revision, cause)
        return {key: Judgment(proposals[key], decision, revision, 0) for key, decision in refused.items()}

    async def record(self, judgments: Mapping[Key, Judgment], scene: Scene) -> dict[Key, Judgment]:
        """Write the decisions down, durably, with the outcomes that wait; what comes back is what holds.

        A halt that came in between, or a store that fails, turns an allow into a refusal. The store's refusal has no
        receipt: there is nowhere to keep it.
        """
        now = self.clock()
        sealed: dict[Key, tuple[Judgment, Judgment]] = {}
        outcomes = self.outcomes.take()
        entries = [Entry(outcome) for outcome in outcomes]
        for key, judgment in judgments.items():
            receipt = new_receipt_id(now)
            halted = self._with(judgment, RefusalCause.HALTED, receipt)
            kept = Judgment(judgment.proposal, judgment.decision, judgment.revision, judgment.hold_ms, receipt)
            sealed[key] = kept, halted
            entries.append(self._entry(kept, halted, scene))
        try:
            committed = await self.store.commit(entries)
        except StoreError:
            self.outcomes.add(outcomes)
            return {key: self._with(judgment, RefusalCause.STORE_DOWN, "") for key, judgment in judgments.items()}
        results: dict[Key, Judgment] = {}
        for (key, (kept, halted)), done in zip(sealed.items(), committed[len(outcomes) :], strict=True):
            judgment = halted if done.halted else kept
            escalation = done.escalation_id
            results[key] = Judgment(
                judgment.proposal, judgment.decision, judgment.revision, judgment.hold_ms, judgment.receipt, escalation
            )
        return results

    async def _decide(self, proposals: Mapping[Key, Proposal], scene: Scene, revision: Revision) -> dict[Key, Decision]:
        context = Context(
            now=self.clock(),
            tenant=scene.tenant,
            identity=scene.identity,
            subject=scene.claims,
            declared=scene.declared,
            ambiguous=scene.ambiguous,
            halted=self.store.is_halted(),
            model=scene.model,
        )
        pipeline = revision.pipeline
        answers = {key: pipeline.screen(proposal, context) for key, proposal in proposals.items()}
        facts: dict[FactKey, FactResult] = {}
        while waiting := {key: answer for key, answer in answers.items() if isinstance(answer, Needs)}:
            facts |= await self.facts.read(_unread(waiting.values(), facts), revision.facts)
            answers |= {key: pipeline.decide(proposals[key], context, facts) for key in waiting}
        return {key: answer for key, answer in answers.items() if isinstance(answer, Decision)}

    @staticmethod
    def _refuse(proposals: Mapping[Key, Proposal], revision: Revision, cause: RefusalCause) -> dict[Key, Decision]:
        return {key: revision.pipeline.refuse(proposal, cause) for key, proposal in proposals.items()}

    @staticmethod
    def _with(judgment: Judgment, cause: RefusalCause, receipt: str) -> Judgment:
        decision = judgment.revision.pipeline.refuse(judgment.proposal, cause)
        return Judgment(judgment.proposal, decision, judgment.revision, judgment.hold_ms, receipt)

    def _entry(self, kept: Judgment, halted: Judgment, scene: Scene) -> Entry:
        is_write_allowed = kept.is_allowed and kept.decision.is_write
        return Entry(
            self._record(kept, scene),
            when_halted=self._record(halted, scene) if is_write_allowed else None,
            escalation=self._case(kept, scene) if kept.decision.ruling is Ruling.ESCALATE else None,
        )

    def _record(self, judgment: Judgment, scene: Scene) -> Record:
        decision, call = judgment.decision, judgment.proposal.call
        result = "" if judgment.is_allowed else canonical(structured_result(decision, judgment.receipt)).decode()
        return decided_record(
            decision,
            receipt=judgment.receipt,
            time=self.clock(),
            exchange=scene.exchange,
            turn=0,
            position=call.position,
            tenant=scene.tenant,
            identity=scene.identity,
            subject=scene.subject,
            proposer=judgment.proposal.proposer,
            dialect=scene.dialect,
            model=scene.model,
            call_id=call.id,
            mode=Mode.HALT if decision.reason == "halted" else judgment.revision.policy.mode,
            latencies={"hold": judgment.hold_ms},
            result=result,
        )

    def _case(self, judgment: Judgment, scene: Scene) -> EscalationDraft:
        now, decision = self.clock(), judgment.decision
        return EscalationDraft(
            id=new_escalation_id(now),
            tenant=scene.tenant,
            subject=scene.subject,
            tool=decision.tool,
            argument_digest=decision.digest,
            summary=decision.summary,
            reason=decision.reason,
            receipt=judgment.receipt,
            created=now,
        )


def _unread(waiting: Iterable[Needs], facts: Mapping[FactKey, FactResult]) -> list[FactKey]:
    wanted = dict.fromkeys(key for needs in waiting for key in needs.facts)
    unread = [key for key in wanted if key not in facts]
    assert unread, "the pipeline asked again for facts that were read"
    return unread
