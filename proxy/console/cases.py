"""The queue of cases, and the page of one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from interceptors.kinds import Kind
from policies.proposals import ProposalError
from proxy.admin.answers import RefusedError
from proxy.console.answering import NotTakenError, answer, effect, may
from proxy.console.decided import read_decided
from proxy.console.doorkeeper import Doorkeeper, Visit, go, only
from proxy.console.earlier import decided_by
from proxy.console.wording import money_of, money_text
from proxy.store import payload_of
from proxy.store.glances import waiting, waiting_count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiohttp import web

    from policies.values import Money
    from proxy.console.proposals import Proposals
    from proxy.store import Escalation

QUEUE_MAX: Final = 200
_PLACED: Final = frozenset({"tool", "reason", "amount", "root_cause", "recommended_action"})


@dataclass(frozen=True, slots=True)
class Waiting:
    """A case in the queue. `stake` is None where no money of the call is known."""

    case: Escalation
    stake: Money | None

    @property
    def money(self) -> str:
        return "" if self.stake is None else money_text(self.stake)


class Cases:
    """Pages about escalations."""

    def __init__(self, keeper: Doorkeeper, proposals: Proposals) -> None:
        self._keeper = keeper
        self._proposals = proposals

    async def queue(self, visit: Visit) -> web.StreamResponse:
        only(visit.request.query, "by")
        by = visit.request.query.get("by", "age")
        if by not in ("age", "money"):
            raise RefusedError(400, "invalid", "'by' is age or money")
        cases, count = await self._keeper.collaborators.store.read(
            lambda reader: reader.ask(lambda connection: (waiting(connection, QUEUE_MAX), waiting_count(connection)))
        )
        lines = [Waiting(case, money_of(case.summary.get("amount", ""))) for case in cases]
        if by == "money":
            lines.sort(key=_by_money)
        values = {"lines": lines, "count": count, "by": by, "totals": _totals(lines), "oldest": cases[:1]}
        return await self._keeper.page(visit, "queue.html", values)

    async def show(self, visit: Visit) -> web.StreamResponse:
        only(visit.request.query)
        return await self._show(visit, visit.request.match_info["id"])

    async def decide(self, visit: Visit) -> web.StreamResponse:
        """A person's answer; where it is not taken, the page says why, and shows the case as it stands."""
        wanted = visit.request.match_info["id"]
        try:
            case, approved = await answer(self._keeper.collaborators.approvals, visit, wanted)
        except NotTakenError as error:
            return await self._show(visit, wanted, str(error), error.status)
        if "propose" not in visit.form:
            return go(f"/console/cases/{wanted}")
        try:
            await self._proposals.make(visit, case, approved=approved)
        except ProposalError as error:
            return await self._show(visit, wanted, f"Your answer stands. No rule is proposed: {error}.")
        return go(f"/console/proposals/{wanted}")

    async def _show(self, visit: Visit, wanted: str, problem: str = "", status: int = 200) -> web.Response:
        with_ = self._keeper.collaborators
        shown = await with_.approvals.show(wanted, visit.person)
        if shown is None:
            raise RefusedError(404, "not_found", "there is no such case")
        records = await with_.store.read(lambda reader: reader.receipt(shown.case.receipt))
        payload = next((payload_of(one) for one in records if one.kind == Kind.DECIDED.value), None)
        policy = (await with_.policy.current()).revision.policy
        decided = None
        if payload is not None:
            decided = read_decided(payload, await decided_by(with_.store, payload, policy))
        stake = money_of(shown.case.summary.get("amount", ""))
        values = {
            "problem": problem,
            "case": shown.case,
            "votes": shown.votes,
            "may": may(shown),
            "effect": effect(shown, policy),
            "decided": decided,
            "money": "" if stake is None else money_text(stake),
            "more": [(name, text) for name, text in shown.case.summary.items() if name not in _PLACED],
        }
        return await self._keeper.page(visit, "case.html", values, status=status)


def _by_money(line: Waiting) -> tuple[bool, str, Decimal]:
    """Most money first, currency by currency; what has no money comes last, the oldest first as it was."""
    stake = line.stake
    return (True, "", Decimal(0)) if stake is None else (False, stake.currency, -stake.amount)


def _totals(lines: Iterable[Waiting]) -> list[str]:
    sums: dict[str, Decimal] = {}
    for line in lines:
        if line.stake is not None:
            sums[line.stake.currency] = sums.get(line.stake.currency, Decimal(0)) + line.stake.amount
    return [f"{amount:,} {currency}" for currency, amount in sorted(sums.items())]
