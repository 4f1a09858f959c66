"""What people answered about a call that was passed to them, and what a decision makes of it (DESIGN 8).

An approval opens nothing by itself: everything is decided anew, on fresh facts, and it discharges exactly the rows that
it names. A refusal of people stands as long as what it rested on is the same. Who wins a race is the transaction's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.bindings import changed_since, name_of
from interceptors.causes import RefusalCause, answer
from interceptors.chain import stamp
from interceptors.confirmation import CONFIRM
from interceptors.decisions import Needs, Verdict
from interceptors.obligations import UseGrant, VoidGrant
from interceptors.usage import GrantKey, GrantUse
from policies.model import Ruling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interceptors.case import Case
    from interceptors.grants import Grant
    from interceptors.obligations import Obligation

_NAME: Final = "people"


def escalating(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """The rows that pass the call to people."""
    return tuple(verdict.row for verdict in verdicts if verdict.ruling is Ruling.ESCALATE)


def ask_people(case: Case) -> Grant | Needs | None:
    """The newest answer about exactly this call, which the store must be asked for first; None where there is none."""
    if not case.context.answers_kept:
        return None
    key = GrantKey(name_of(case))
    if key not in case.usages:
        return Needs((), (key,))
    use = case.usages[key]
    assert isinstance(use, GrantUse)
    return use.grant


def against_answer(case: Case, grant: Grant, rules: str) -> Verdict | None:
    """The row where the answer approves nothing: it says no, or it is too old."""
    if case.context.now >= grant.expires:
        until = f"it held until {stamp(grant.expires)[:19]}Z"
        return _row(RefusalCause.APPROVAL_EXPIRED, grant, until) if grant.approves else None
    if not grant.approves and not changed_since(case, grant.binding, rules):
        return _row(RefusalCause.REJECTED, grant, f"refused by {', '.join(grant.by)}")
    return None


def changed_answer(case: Case, grant: Grant, rules: str) -> Verdict | None:
    """The row where the approval rested on something else than what is so now."""
    changed = changed_since(case, grant.binding, rules)
    return _row(RefusalCause.APPROVAL_VOID, grant, changed) if changed else None


def approved(grant: Grant) -> Verdict:
    """The row that names who approved."""
    return Verdict(_NAME, Ruling.ALLOW, rule=grant.escalation, detail=f"approved by {', '.join(grant.by)}")


def obligations(
    case: Case, ruling: Ruling, reason: str, *, uses: Grant | None, voids: VoidGrant | None
) -> tuple[Obligation, ...]:
    """What must be done for the decision to stand."""
    if ruling is Ruling.ALLOW and uses is not None:
        return (*case.obligations, UseGrant(GrantKey(name_of(case)), uses.id, uses.escalation))
    if ruling is Ruling.ALLOW:
        return case.obligations
    if voids is not None:
        return (voids,)
    return (case.asking,) if reason == CONFIRM and case.asking is not None else ()


def voiding(grant: Grant, against: Verdict) -> VoidGrant | None:
    """What takes an approval back that this row stands against; a refusal of people stays what it is."""
    return VoidGrant(grant.id, grant.escalation, against.detail) if grant.approves else None


def _row(cause: RefusalCause, grant: Grant, detail: str) -> Verdict:
    given = answer(cause)
    return Verdict(_NAME, given.ruling, given.reason, grant.escalation, detail)
