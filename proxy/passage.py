"""One request on its way: what is known of it so far, and the line and the figures that tell of it at the end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from proxy.exchange_line import TENANT_LENGTH_MAX, ExchangeLine
from proxy.stakes import stake
from proxy.summary import Summary
from proxy.wire.dialect import Dialect, RequestView
from proxy.wire.stem import NO_STEMS

if TYPE_CHECKING:
    from proxy.admission import Asking
    from proxy.ledger.keeper import Prepared
    from proxy.services import Services


NOTHING_READ = RequestView()


@dataclass(slots=True)
class Passage:
    """What is known of one request so far, for its log line."""

    id: str
    method: str
    began: float
    dialect: Dialect
    route: str = ""
    upstream: str = ""
    asking: Asking | None = None
    view: RequestView = NOTHING_READ
    bytes_up: int = 0
    conversation: str = ""
    restored: int = 0  # hidden turns that were put back
    taken_out: int = 0  # thinking blocks that could not go up
    handed_off: str = ""  # the language in which a person was asked for, and the case
    ambiguous: int = 0  # turns that fit hidden turns of several conversations
    receipts: list[str] = field(default_factory=list)
    summary: Summary = field(default_factory=Summary)
    error: str = ""

    def goes_up(self, prepared: Prepared, taken_out: int = 0) -> None:
        """What became of the history. Its messages are not needed any more: a long request must not be held twice."""
        self.restored, self.ambiguous = prepared.restored, prepared.ambiguous
        self.taken_out = prepared.taken_out + taken_out
        self.view = replace(self.view, messages=b"", stems=NO_STEMS)


def tell(passage: Passage, services: Services, bytes_in_flight: int) -> None:
    """The one line of the exchange, and its metrics."""
    summary = passage.summary
    for judgment in summary.judgments:
        decision = judgment.decision
        services.metrics.decided(
            tool=decision.tool,
            is_known=judgment.revision.policy.tool(decision.tool) is not None,
            ruling=decision.ruling,
            reason=decision.reason,
            hold_seconds=judgment.hold_ms / 1000,
        )
        if (money := stake(judgment.revision.policy, decision.tool, decision.arguments)) is not None:
            services.metrics.business.asked_for(money, decision.ruling)
    for remark in summary.remarks:
        is_known = passage.asking is not None and passage.asking.revision.policy.tool(remark.tool) is not None
        services.metrics.remarked(remark.remark, tool=remark.tool, is_known=is_known)
    outcome = "refused" if passage.error and not summary.bytes_down else summary.ending.value
    services.metrics.exchange_ended(passage.dialect.name, outcome)
    services.metrics.set_bytes_in_flight(bytes_in_flight)
    services.logs.exchange(_line(passage, outcome))


def _line(passage: Passage, outcome: str) -> ExchangeLine:
    summary, asking = passage.summary, passage.asking
    judgments = summary.judgments
    verdicts = [f"{each.decision.tool}:{each.decision.ruling.value}:{each.decision.reason}" for each in judgments]
    if passage.handed_off:
        verdicts.append(passage.handed_off)
    receipts = passage.receipts
    if judgments or summary.remarks:
        receipts = [
            *receipts,
            *[each.receipt for each in judgments if each.receipt],
            *[each.receipt for each in summary.remarks],
        ]
    return ExchangeLine(
        exchange=passage.id,
        dialect=passage.dialect.name,
        route=passage.route,
        method=passage.method,
        status=summary.status,
        streamed=passage.view.streamed,
        model=passage.view.model,
        tenant=asking.caller.tenant[:TENANT_LENGTH_MAX] if asking else "",
        identity=asking.caller.identity if asking else None,
        upstream=passage.upstream,
        receipts=receipts,
        verdicts=verdicts,
        hold_ms=summary.hold_ms if judgments else None,
        duration_ms=round((time.monotonic() - passage.began) * 1000),
        bytes_up=passage.bytes_up,
        bytes_down=summary.bytes_down,
        conversation=passage.conversation,
        restored=passage.restored,
        taken_out=passage.taken_out,
        ambiguous=passage.ambiguous,
        outcome=outcome,
        error=passage.error or summary.breach,
    )
