"""What people do with cases: list, show, approve, reject, close, each by a person with a role. Every way in calls
this one.

Who may answer a case is said here, of the policy in force; who wins a race is said by the store's transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from interceptors.calls import Proposer
from proxy.logs import Event
from proxy.settings import Role
from proxy.store import Answering, EscalationStatus, Unanswerable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from proxy.clock import Clock
    from proxy.connected import PersonToken
    from proxy.logs import Logs
    from proxy.policy_source import PolicySource
    from proxy.store import Answer, Escalation, Store, Vote


class Power(Enum):
    """What a person may do with a case."""

    SEE = "see"
    APPROVE = "approve"
    REJECT = "reject"
    CLOSE = "close"


class Refusal(Enum):
    """Why a person's answer was not taken. The value is a code for clients."""

    NOT_FOUND = "not_found"
    ROLE = "forbidden"
    NOT_AN_APPROVER = "not_an_approver"
    OWN = "own_proposal"
    CLOSED = "closed"
    EXPIRED = "expired"
    ALREADY = "already_answered"
    NO_APPROVAL = "cannot_be_approved"
    NO_CALL = "no_call"
    IS_CALL = "is_call"


_TOLD: Final[Mapping[Refusal, str]] = {
    Refusal.NOT_FOUND: "there is no such case",
    Refusal.ROLE: "this needs the role reviewer",
    Refusal.NOT_AN_APPROVER: "the policy names who approves, and you are not among them",
    Refusal.OWN: "you proposed this call, so another person must approve it",
    Refusal.CLOSED: "the case is closed",
    Refusal.EXPIRED: "the case has expired: nobody answered in time",
    Refusal.ALREADY: "you have answered this case already",
    Refusal.NO_APPROVAL: "an approval would not let this call run: deal with it otherwise, then reject it",
    Refusal.NO_CALL: "a customer asked for a person, and there is no call to approve or to reject: close the case",
    Refusal.IS_CALL: "this case is about a call: approve or reject it",
}
_FOUND: Final[Mapping[Unanswerable, Refusal]] = {
    Unanswerable.NOT_FOUND: Refusal.NOT_FOUND,
    Unanswerable.CLOSED: Refusal.CLOSED,
    Unanswerable.EXPIRED: Refusal.EXPIRED,
    Unanswerable.ALREADY: Refusal.ALREADY,
    Unanswerable.OWN: Refusal.OWN,
    Unanswerable.NO_APPROVAL: Refusal.NO_APPROVAL,
    Unanswerable.NO_CALL: Refusal.NO_CALL,
    Unanswerable.IS_CALL: Refusal.IS_CALL,
}


class AnswerRefusedError(Exception):
    """A person's answer was not taken, and nothing was written. `case` is as it stands, where there is one."""

    def __init__(self, refusal: Refusal, case: Escalation | None = None) -> None:
        told = _TOLD[refusal]
        if refusal is Refusal.CLOSED and case is not None:
            told = f"{told}: {case.note or case.status.value}"
        super().__init__(told)
        self.refusal = refusal
        self.case = case


@dataclass(frozen=True, slots=True)
class Shown:
    """A case with what was said of it, and what this person may do with it. `quorum`: approvals that make it whole."""

    case: Escalation
    votes: tuple[Vote, ...]
    powers: frozenset[Power]
    quorum: int


class Approvals:
    """One for the process. `answered` is told each case that people closed."""

    def __init__(
        self, store: Store, policy: PolicySource, clock: Clock, logs: Logs, answered: Callable[[Escalation], None]
    ) -> None:
        self._store = store
        self._policy = policy
        self._clock = clock
        self._logs = logs
        self._answered = answered

    async def list(
        self, *, status: EscalationStatus | None = None, before: str | None = None, limit: int = 50
    ) -> tuple[Escalation, ...]:
        """The newest cases first; `before` is the id at which the last page ended. Raises `StoreError`."""
        return await self._store.read(lambda reader: reader.escalations(status=status, before=before, limit=limit))

    async def show(self, escalation: str, person: PersonToken) -> Shown | None:
        """One case; None where there is none. Raises `StoreError`."""
        case, votes = await self._store.read(lambda reader: (reader.escalation(escalation), reader.votes(escalation)))
        if case is None:
            return None
        quorum = self._policy.last().revision.policy.people.approvals.quorum
        return Shown(case, votes, await self.powers(person, case), quorum)

    async def powers(self, person: PersonToken, case: Escalation) -> frozenset[Power]:
        """What this person may do with the case as it stands."""
        if case.status is not EscalationStatus.OPEN or await self._against(person) is not None:
            return frozenset({Power.SEE})
        if not case.is_call:
            return frozenset({Power.SEE, Power.CLOSE})
        own = case.proposer is not Proposer.MODEL and case.proposed_by == person.name
        approves = {Power.APPROVE} if case.can_be_approved and not own else set()
        return frozenset({Power.SEE, Power.REJECT, *approves})

    async def approve(self, escalation: str, person: PersonToken, reason: str) -> Answer:
        """Say yes. The answer's `missing` says how many more approvals the policy asks for; 0: the call may run.

        Raises:
            AnswerRefusedError: it was not taken, and why.
            StoreError: it could not be written.
        """
        return await self._answer(escalation, person, reason, approves=True)

    async def reject(self, escalation: str, person: PersonToken, reason: str) -> Answer:
        """Say no; one person's word is enough. Raises as `approve`."""
        return await self._answer(escalation, person, reason, approves=False)

    async def close(self, escalation: str, person: PersonToken, reason: str) -> Answer:
        """Say that a case without a call is dealt with, and how. Raises as `approve`."""
        return await self._answer(escalation, person, reason, approves=False, closes=True)

    async def _answer(
        self, escalation: str, person: PersonToken, reason: str, *, approves: bool, closes: bool = False
    ) -> Answer:
        if (refusal := await self._against(person)) is not None:
            raise AnswerRefusedError(refusal)
        approvals = self._policy.last().revision.policy.people.approvals
        answer = await self._store.answer(
            Answering(
                escalation=escalation,
                by=person.name,
                approves=approves,
                reason=reason,
                at=self._clock(),
                quorum=approvals.quorum,
                valid_for=approvals.valid_for,
                closes=closes,
            )
        )
        if answer.problem is not None:
            raise AnswerRefusedError(_FOUND[answer.problem], answer.case)
        assert answer.case is not None
        self._logs.event(
            _told(approves=approves, closes=closes), listener="admin", by=person.name, receipt=answer.receipt
        )
        if answer.case.status is not EscalationStatus.OPEN:
            self._answered(answer.case)
        return answer

    async def _against(self, person: PersonToken) -> Refusal | None:
        if not person.role.includes(Role.REVIEWER):
            return Refusal.ROLE
        named = (await self._policy.current()).revision.policy.people.approvals.approvers
        return None if named is None or person.name in named else Refusal.NOT_AN_APPROVER


def _told(*, approves: bool, closes: bool) -> Event:
    if closes:
        return Event.CLOSED
    return Event.APPROVED if approves else Event.REJECTED
