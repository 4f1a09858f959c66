"""What people may do with a case from its page: the words for what an approval will do, and the answer itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.bindings import rules_digest
from policies.approvals import OnApproval
from proxy.admin.answers import RefusedError
from proxy.approvals import AnswerRefusedError, Power, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.model import Policy
    from proxy.approvals import Approvals, Shown
    from proxy.console.doorkeeper import Visit
    from proxy.store import Escalation

_NOT_FOR_YOU: Final = frozenset({Refusal.ROLE, Refusal.NOT_AN_APPROVER, Refusal.OWN})
_EFFECTS: Final[Mapping[OnApproval, str]] = {
    OnApproval.NEXT_TIME: "Approving lets exactly this call run once, when proposed again within {within}.",
    OnApproval.INLINE: "Approving lets exactly this call run once: the agent waits now, or proposes it again within "
    "{within}.",
    OnApproval.DELIVER: "Approving hands exactly this call to your back end, once.",
}
_ANEW: Final = "Facts are read again; every other rule still holds."
_STALE: Final = (
    "The rules of this tool have changed since: an approval would not hold. Reject it, and let it be asked anew."
)
_NO_CALL: Final = "A customer asked for a person, and there is no call to decide. Get back to them, then close it here."
_NEVER: Final = "An approval would not let this call run. Deal with it otherwise, then close it here."


class NotTakenError(Exception):
    """An answer that was not taken: the status of the page that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def effect(shown: Shown, policy: Policy) -> str:
    """What an approval of this case will do under this policy."""
    if not shown.case.is_call:
        return _NO_CALL
    if shown.case.asks is None:
        return _NEVER
    tool = policy.tool(shown.case.tool)
    if tool is None or rules_digest(policy, tool) != shown.case.asks.rules:
        return _STALE
    valid_for = policy.people.approvals.valid_for
    hours = int(valid_for.total_seconds() // 3600)
    within = f"{hours} hours" if hours >= 2 else f"{int(valid_for.total_seconds() // 60)} minutes"
    missing = shown.quorum - sum(vote.approves for vote in shown.votes)
    several = f" {missing} approvals are still needed." if missing > 1 else ""
    return f"{_EFFECTS[shown.case.on_approval].format(within=within)} {_ANEW}{several}"


def may(shown: Shown) -> dict[str, bool]:
    """For the buttons of the page."""
    voted = frozenset(shown.powers)
    return {power.value: power in voted for power in (Power.APPROVE, Power.REJECT, Power.CLOSE)}


async def answer(approvals: Approvals, visit: Visit, escalation: str) -> tuple[Escalation, bool]:
    """Take the answer of a form; the case as it stands then, and whether the answer was a yes.

    Raises `NotTakenError` where it was not taken: somebody was faster, it expired, or it is not this person's to give.
    """
    word, reason = visit.form.get("answer", ""), visit.text("reason")
    ways = {"approve": approvals.approve, "reject": approvals.reject, "close": approvals.close}
    if word not in ways:
        raise RefusedError(400, "invalid", "'answer' is approve, reject or close")
    try:
        given = await ways[word](escalation, visit.person, reason)
    except AnswerRefusedError as error:
        if error.refusal is Refusal.NOT_FOUND:
            raise RefusedError(404, "not_found", str(error)) from None
        raise NotTakenError(403 if error.refusal in _NOT_FOR_YOU else 409, f"Not taken: {error}.") from None
    assert given.case is not None, "what was answered is there"
    return given.case, word == "approve"
