"""What people answer to a case, one transaction an answer: of several who race, the first one closes the case.

An answer is a record of the chain. Approvals make a grant once there are as many as the policy in force asks for; one
refusal is enough.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from interceptors.answered import Answered
from interceptors.calls import Proposer
from interceptors.chain import stamp
from interceptors.grants import Binding, Grant
from policies.approvals import OnApproval
from proxy.store import grants, outbox
from proxy.store.cases import Answer, EscalationStatus, Unanswerable
from proxy.store.escalations import show, votes
from proxy.store.ids import new_grant_id

if TYPE_CHECKING:
    from proxy.store.cases import Answering, Escalation
    from proxy.store.folder import SubjectKey
    from proxy.store.transaction import Transaction

_NAME = "SELECT name FROM escalations WHERE id = ?"
_VOTE = "INSERT INTO votes (escalation, person, approves, reason, time) VALUES (?, ?, ?, ?, ?)"
_CLOSE = "UPDATE escalations SET status = ?, closed_at = ?, note = ? WHERE id = ?"


def vote(transaction: Transaction, key: SubjectKey, answering: Answering) -> Answer:
    """Take a person's answer, or say why it cannot be taken."""
    connection = transaction.connection
    case = show(connection, answering.escalation)
    if case is None:
        return Answer(None, Unanswerable.NOT_FOUND)
    before = votes(connection, case.id)
    if (problem := _problem(case, answering, {each.person for each in before})) is not None:
        return Answer(case, problem)
    connection.execute(_VOTE, (case.id, answering.by, int(answering.approves), answering.reason, stamp(answering.at)))
    by = (*(each.person for each in before if each.approves), answering.by)
    is_whole = not answering.approves or len(by) >= answering.quorum
    grant = _grant(case, answering, by) if is_whole else None
    if grant is not None:
        (name,) = connection.execute(_NAME, (case.id,)).fetchone()
        if name:
            grants.write(connection, key, name, grant, answering.at)
        status = _status(answering)
        closed = None if answering.approves else stamp(answering.at)
        if answering.approves and case.on_approval is OnApproval.DELIVER:
            outbox.put(connection, outbox.MessageKind.CALL, case.id, answering.at)
        connection.execute(_CLOSE, (status.value, closed, f"{status.value} by {', '.join(grant.by)}", case.id))
    transaction.append(
        Answered(
            receipt=case.receipt,
            time=answering.at,
            escalation=case.id,
            by=answering.by,
            approves=answering.approves,
            reason=answering.reason,
            grant=grant.id if grant is not None and grant.approves else "",
            expires=grant.expires if grant is not None else None,
            subject=case.subject,
        )
    )
    missing = 0 if is_whole else answering.quorum - len(by)
    return Answer(show(transaction.connection, case.id), receipt=case.receipt, missing=missing)


def _status(answering: Answering) -> EscalationStatus:
    if answering.closes:
        return EscalationStatus.CLOSED
    return EscalationStatus.APPROVED if answering.approves else EscalationStatus.REJECTED


def _problem(case: Escalation, answering: Answering, voted: set[str]) -> Unanswerable | None:
    if case.is_call is answering.closes:
        return Unanswerable.IS_CALL if case.is_call else Unanswerable.NO_CALL
    if case.status is EscalationStatus.EXPIRED:
        return Unanswerable.EXPIRED
    if case.status is not EscalationStatus.OPEN:
        return Unanswerable.CLOSED
    if case.answer_by and datetime.fromisoformat(case.answer_by) <= answering.at:
        return Unanswerable.EXPIRED
    if case.proposer is not Proposer.MODEL and case.proposed_by == answering.by and answering.approves:
        return Unanswerable.OWN
    if answering.by in voted:
        return Unanswerable.ALREADY
    return Unanswerable.NO_APPROVAL if answering.approves and not case.can_be_approved else None


def _grant(case: Escalation, answering: Answering, by: tuple[str, ...]) -> Grant:
    """What the answers make together. Of a case that nothing can be approved of, it says no and is not kept."""
    return Grant(
        id=new_grant_id(answering.at),
        escalation=case.id,
        approves=answering.approves,
        binding=case.asks or Binding((), {}, ""),
        by=by if answering.approves else (answering.by,),
        expires=answering.at + answering.valid_for,
    )
