"""The structured result that stands in the place of a refused call (DESIGN 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.decisions import Scheduled
from policies.model import Category, Ruling

if TYPE_CHECKING:
    from interceptors.calls import Json
    from interceptors.decisions import Decision

HANDED_OVER: Final = "handedOver"
"""In the result of a call that became one of the agent's escalation tool: `to` that tool, which gave this `answer`."""


def structured_result(decision: Decision, receipt: str, escalation: str | None = None) -> dict[str, Json]:
    """The fields of a refusal, in the order of DESIGN 5; `escalation` only where there is a case. Not for an ALLOW."""
    if decision.ruling is Ruling.ALLOW:
        raise ValueError("an allowed call has no refusal")
    result: dict[str, Json] = {
        "isError": True,
        "errorCategory": (decision.category or Category.INTERNAL).value,
        "isRetryable": decision.is_retryable,
        "reason": decision.reason,
        "message": decision.message,
        "next": decision.next,
        "receipt": receipt,
    }
    if escalation is not None:
        result["escalation"] = escalation
    evidence = _evidence(decision)
    if evidence is not None:
        result["evidence"] = evidence
    return result


def _evidence(decision: Decision) -> dict[str, Json] | None:
    """How the right amount came about, where a wrong one is why the call is refused: never beside another reason, which
    may be that the record is not the caller's.
    """
    for verdict in decision.verdicts:
        if isinstance(verdict, Scheduled) and verdict.reason == decision.reason and verdict.computed is not None:
            found = verdict.computed
            return {
                "refund": found.refund,
                "fee": found.fee,
                "paid": found.paid,
                "daysBefore": found.days,
                "interval": found.interval,
                "quotation": found.quotation,
                "place": f"{found.document}:{found.line} [{found.start},{found.end})",
            }
    return None
