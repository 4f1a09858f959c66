"""The structured result that stands in the place of a refused call (DESIGN 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.model import Category, Ruling

if TYPE_CHECKING:
    from interceptors.calls import Json
    from interceptors.decisions import Decision


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
    return result
