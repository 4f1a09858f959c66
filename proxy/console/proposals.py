"""Decide and propose the rule: a person's answer as a change of the policy, for its owner to read and to apply."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp import hdrs, web

from interceptors.chain import stamp
from policies.proposals import Case, ProposalError, propose
from proxy.admin.answers import RefusedError
from proxy.console.doorkeeper import Doorkeeper, Visit, only
from proxy.console.wording import money_of
from proxy.stakes import money_argument
from proxy.store import proposals, revisions
from proxy.store.proposals import KeptProposal

if TYPE_CHECKING:
    from policies.model import Policy
    from proxy.store import Escalation


class Proposals:
    """Makes them, and shows them."""

    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper

    async def make(self, visit: Visit, case: Escalation, *, approved: bool) -> None:
        """Keep the change that this answer suggests. Raises `ProposalError` where there is none."""
        with_ = self._keeper.collaborators
        policy = (await with_.policy.current()).revision.policy
        kept = await with_.store.read(lambda reader: reader.ask(lambda each: revisions.newest(each, 1)))
        if not kept or kept[0].revision != policy.revision:
            raise ProposalError("the text of the policy in force was not kept")
        asked = _asked(policy, case)
        change = await asyncio.to_thread(propose, policy, kept[0].files, asked, approved=approved)
        made = KeptProposal(
            escalation=case.id,
            by=visit.session.name,
            approved=approved,
            reason=visit.text("reason"),
            revision=policy.revision,
            diff=change.diff,
            sentences=change.sentences,
            findings=change.findings,
            time=stamp(with_.clock()),
        )
        await with_.store.write(lambda transaction: proposals.write(transaction, made))

    async def show(self, visit: Visit) -> web.StreamResponse:
        only(visit.request.query)
        return await self._keeper.page(visit, "proposal.html", {"one": await self._found(visit)})

    async def download(self, visit: Visit) -> web.StreamResponse:
        """The diff as `git apply` and `patch -p1` take it."""
        found = await self._found(visit)
        response = web.Response(body=found.diff.encode(), content_type="text/x-diff", charset="utf-8")
        response.headers[hdrs.CONTENT_DISPOSITION] = f'attachment; filename="{found.escalation}.diff"'
        return response

    async def _found(self, visit: Visit) -> KeptProposal:
        wanted = visit.request.match_info["id"]
        found = await self._keeper.collaborators.store.read(
            lambda reader: reader.ask(lambda connection: proposals.show(connection, wanted))
        )
        if found is None:
            raise RefusedError(404, "not_found", "there is no such proposal")
        return found


def _asked(policy: Policy, case: Escalation) -> Case:
    amount, tool = money_of(case.summary.get("amount", "")), policy.tool(case.tool)
    argument = None if tool is None else money_argument(tool)
    if amount is None or argument is None:
        raise ProposalError("the call moves no money that the policy types, so there is no figure to propose")
    rows = () if case.asks is None else case.asks.rows
    rules = [row.split("/")[1] for row in rows if row.count("/") >= 2]
    if len(rules) != 1:
        raise ProposalError("not exactly one rule passed this call on")
    return Case(case.tool, rules[0], argument.name, amount)
