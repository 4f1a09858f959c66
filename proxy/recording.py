"""Judgments on their way to the disk: their records, the cases they open, and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from interceptors.calls import Proposer
from interceptors.causes import RefusalCause
from interceptors.decisions import Needs
from interceptors.obligations import asking_of, confirmation_of, grant_of, injection_of, reserve_of, voided_of
from interceptors.receipts import Record, decided_record
from interceptors.results import structured_result
from interceptors.strict_json import canonical
from interceptors.usage import ConfirmationUse, GrantUse
from policies.model import Mode, Ruling
from proxy.store import (
    Asking,
    Committed,
    Confirming,
    Entry,
    EscalationDraft,
    Granting,
    ReleaseDraft,
    Reserving,
    new_escalation_id,
    new_reservation_id,
)
from proxy.wire.positional import kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from interceptors.usage import Usages
    from proxy.clock import Clock
    from proxy.judge import Judgment, Scene


class Holding:
    """One judgment to write. The transaction makes it anew where what it rests on is no longer so.

    `made` holds, unless the transaction says that it wrote `anew`, or what `halted` makes, in its place.
    """

    def __init__(
        self,
        made: Judgment,
        refused: Callable[[RefusalCause], Judgment],
        scene: Scene,
        clock: Clock,
        *,
        tells: bool = False,
    ) -> None:
        self._refused = refused
        self._tells = tells
        self._scene = scene
        self._clock = clock
        self.made = made
        self.anew = made

    def halted(self) -> Judgment:
        """What holds where a halt came first."""
        return self._refused(RefusalCause.HALTED)

    def full(self) -> Judgment:
        """What holds where people cannot take another case."""
        return self._refused(RefusalCause.QUEUE_FULL)

    def stands(self, done: Committed) -> Judgment:
        """The judgment that holds, now that this was written."""
        if done.halted or done.full:
            judgment = self.halted() if done.halted else self.full()
        else:
            judgment = self.anew if done.anew else self.made
        return judgment.as_recorded(judgment.receipt, done.escalation_id)

    def entry(self) -> Entry:
        return self._entry(self.made)

    def _decide_anew(self, usages: Usages) -> Entry:
        made, basis = self.made, self.made.basis
        assert basis is not None, "nothing but a decision of the pipeline holds anything"
        pipeline = made.revision.pipeline
        answer = pipeline.decide(made.proposal, basis.context, basis.facts, {**basis.usages, **usages})
        if isinstance(answer, Needs):  # the same call asks the same questions
            answer = pipeline.refuse(made.proposal, RefusalCause.RAISED)
        self.anew = structs.replace(made, decision=answer)
        return self._entry(self.anew)

    def _entry(self, judgment: Judgment) -> Entry:
        scene, now = self._scene, self._clock()
        escalates = judgment.decision.ruling is Ruling.ESCALATE
        is_write_allowed = judgment.is_allowed and judgment.decision.is_write
        entry = Entry(
            _record(judgment, scene, now),
            when_halted=(lambda: _record(self.halted(), scene, now)) if is_write_allowed else None,
            escalation=_case(judgment, scene, now, tells=self._tells) if escalates else None,
            release=_release(judgment, scene, now) if judgment.is_allowed else None,
            when_full=(lambda: _record(self.full(), scene, now)) if escalates else None,
        )
        if not judgment.decision.obligations:
            return entry
        return structs.replace(
            entry,
            reserving=self._reserving(judgment, now),
            confirming=self._confirming(judgment),
            granting=self._granting(judgment, now),
            voiding=voided_of(judgment.decision),
            asking=None if (asking := asking_of(judgment.decision)) is None else Asking(asking.key.name, asking.at),
        )

    def _confirming(self, judgment: Judgment) -> Confirming | None:
        used = confirmation_of(judgment.decision)
        if used is None:
            return None
        gone: Usages = {used.key: ConfirmationUse()}
        return Confirming(name=used.key.name, asked_at=used.asked_at, anew=lambda: self._decide_anew(gone))

    def _granting(self, judgment: Judgment, now: datetime) -> Granting | None:
        used = grant_of(judgment.decision)
        if used is None:
            return None
        gone: Usages = {used.key: GrantUse()}
        return Granting(
            name=used.key.name,
            grant=used.grant,
            escalation=used.escalation,
            at=now,
            anew=lambda: self._decide_anew(gone),
        )

    def _reserving(self, judgment: Judgment, now: datetime) -> Reserving | None:
        obligation, injection = reserve_of(judgment.decision), injection_of(judgment.decision)
        if obligation is None:
            return None
        return Reserving(
            id=new_reservation_id(now),
            policy=judgment.decision.policy,
            obligation=obligation,
            anew=self._decide_anew,
            injected="" if injection is None else injection.digest,
        )


def _record(judgment: Judgment, scene: Scene, now: datetime) -> Record:
    decision, call = judgment.decision, judgment.proposal.call
    result = "" if judgment.is_allowed else canonical(structured_result(decision, judgment.receipt)).decode()
    return decided_record(
        decision,
        receipt=judgment.receipt,
        time=now,
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


def _release(judgment: Judgment, scene: Scene, now: datetime) -> ReleaseDraft:
    decision, injection = judgment.decision, injection_of(judgment.decision)
    return ReleaseDraft(
        receipt=judgment.receipt,
        tenant=scene.tenant,
        call_id=kept(judgment.proposal.call.id),
        tool=decision.tool,
        argument_digest=decision.digest if injection is None else injection.digest,
        subject=scene.subject,
        time=now,
    )


def _case(judgment: Judgment, scene: Scene, now: datetime, *, tells: bool) -> EscalationDraft:
    decision, policy, proposal = judgment.decision, judgment.revision.policy, judgment.proposal
    approvals, tool = policy.people.approvals, policy.tool(decision.tool) or policy.unknown_tool
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
        policy=policy.name,
        proposer=proposal.proposer,
        proposed_by="" if proposal.proposer is Proposer.MODEL else scene.tenant,
        asks=decision.asks,
        answer_by=now + approvals.answer_within,
        on_approval=tool.passed_on.on_approval,
        tells=tells,
        open_max=approvals.open_max,
    )
