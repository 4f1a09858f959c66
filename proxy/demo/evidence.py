"""What Callgate's receipts say of the demo's calls. Nothing here is guessed from what was seen elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from proxy.demo.documents import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from proxy.demo.lanes import Played


_OUTCOMES = ("released", "substituted", "aborted")


@dataclass(frozen=True, slots=True)
class Receipt:
    """One decided call. `rule` is the rule that fired for the reason; `outcome` what left the gate, if recorded."""

    id: str
    time: datetime
    tool: str
    arguments: dict[str, Any]
    ruling: str
    reason: str
    rule: str
    outcome: str


def receipts(exported: str) -> list[Receipt]:
    """The receipts of `callgate receipts export`, in the order in which they were written."""
    records = [read(line.encode()) for line in exported.split("\n") if line]
    outcomes = {record["receipt"]: record["kind"] for record in records if record["kind"] in _OUTCOMES}
    return [_receipt(record, outcomes) for record in records if record["kind"] == "decided"]


def _receipt(record: dict[str, Any], outcomes: dict[str, str]) -> Receipt:
    payload = record["payload"]
    return Receipt(
        id=record["receipt"],
        time=datetime.fromisoformat(record["time"]),
        tool=payload["tool"],
        arguments=payload["arguments"] or {},
        ruling=payload["ruling"],
        reason=payload["reason"],
        rule=_fired(payload["verdicts"], payload["ruling"], payload["reason"]),
        outcome=outcomes.get(record["receipt"], ""),
    )


def _fired(verdicts: Iterable[dict[str, Any]], ruling: str, reason: str) -> str:
    """The rule, or else the interceptor, that gave this answer."""
    for verdict in verdicts:
        if verdict["ruling"] == ruling and verdict["reason"] == reason and reason:
            return str(verdict["rule"] or verdict["interceptor"])
    return ""


def of_case(played: Played, found: Sequence[Receipt]) -> tuple[Receipt, ...]:
    """The receipts of one case: those written while it ran, since cases run one after the other."""
    return tuple(receipt for receipt in found if played.began <= receipt.time <= played.ended)
