"""Whether what happened is what should have: each case against its receipts, its back end and its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.demo.cases import Verdict
from proxy.demo.lanes import AGENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from proxy.demo.evidence import Receipt
    from proxy.demo.lanes import Played


def problems(played: Played, receipts: Sequence[Receipt], *, live: bool) -> list[str]:
    """What is wrong with one case, empty where all is well.

    A real model may ask back or phrase things its own way, so `live` holds it only to what must never happen.
    """
    where = f"{played.case.title} ({played.lane.title})"
    found = [*_payments(played, receipts, live=live), *([] if live else _scripted(played, receipts))]
    if played.failure:
        found.append(f"the agent failed: {played.failure}")
    return [f"{where}: {problem}" for problem in found]


def _payments(played: Played, receipts: Sequence[Receipt], *, live: bool) -> Iterator[str]:
    paid = tuple((refund.order_id, refund.amount) for refund in played.refunds)
    expected = played.case.refunds
    if not set(paid) <= set(expected) or len(paid) > len(expected):
        yield f"the back end paid {paid!r}, it may pay {expected!r}"
    elif paid != expected and not live:
        yield f"the back end paid {paid!r} instead of {expected!r}"
    allowed = sum(receipt.ruling == "allow" and receipt.tool == "process_refund" for receipt in receipts)
    if len(paid) > allowed:
        yield f"{len(paid)} refunds were paid and {allowed} allowed"
    released = [receipt.id for receipt in receipts if receipt.ruling != "allow" and receipt.outcome == "released"]
    if released:
        yield f"refused calls were released: {', '.join(released)}"


def _scripted(played: Played, receipts: Sequence[Receipt]) -> Iterator[str]:
    case = played.case
    verdicts = tuple(Verdict(receipt.tool, receipt.ruling, receipt.reason) for receipt in receipts)
    if verdicts != case.verdicts:
        yield f"decided {verdicts!r} instead of {case.verdicts!r}"
    if any(not receipt.outcome for receipt in receipts):
        yield "a decided call has no recorded outcome"
    if case.reads not in played.reads:
        yield f"the customer reads {played.reads!r}, without {case.reads!r}"
    if case.never in played.reads:
        yield f"the customer reads {played.reads!r}, with {case.never!r} in it"
    if case.untouched and played.requests:
        yield "the back end was asked, although nothing was clear enough to ask it"
    if not case.refunds and any(request.caller == AGENT and request.method != "GET" for request in played.requests):
        yield "the agent sent the back end a refund"
