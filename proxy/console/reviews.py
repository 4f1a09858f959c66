"""One of a hundred allowed writes, for a person's word: was it right to let it run?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.strict_json import parse
from proxy.admin.answers import RefusedError
from proxy.console.decided import read_decided
from proxy.console.doorkeeper import Doorkeeper, Visit, go, only
from proxy.console.earlier import decided_by
from proxy.console.wording import money_text
from proxy.stakes import stake
from proxy.store.reviews import agreement, sample, say

if TYPE_CHECKING:
    from aiohttp import web

_ANSWERS = {"agree": True, "disagree": False}


class Reviews:
    """The page of the sample."""

    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper

    async def show(self, visit: Visit) -> web.StreamResponse:
        only(visit.request.query)
        return await self._page(visit)

    async def say(self, visit: Visit) -> web.StreamResponse:
        """A word on one call. Who disagrees says why; a second word changes nothing."""
        agrees = _ANSWERS.get(visit.form.get("answer", ""))
        if agrees is None:
            raise RefusedError(400, "invalid", "'answer' is agree or disagree")
        note = visit.text("note", required=not agrees)
        with_, receipt, by = self._keeper.collaborators, visit.request.match_info["id"], visit.session.name
        said = await with_.store.write(
            lambda transaction: say(transaction, receipt, agrees=agrees, by=by, note=note, at=with_.clock())
        )
        if not said:
            return await self._page(visit, "That call has a word already, or is not in the sample.", status=409)
        return go("/console/reviews")

    async def _page(self, visit: Visit, problem: str = "", *, status: int = 200) -> web.Response:
        with_ = self._keeper.collaborators
        found, said = await with_.store.read(
            lambda reader: reader.ask(lambda connection: (sample(connection, 1), agreement(connection)))
        )
        policy = (await with_.policy.current()).revision.policy
        one = found[0] if found else None
        payload = parse(one.payload.encode()) if one is not None else None
        decided, money = None, ""
        if isinstance(payload, dict):
            decided = read_decided(payload, await decided_by(self._keeper.collaborators.store, payload, policy))
            amount = stake(policy, str(payload.get("tool")), payload.get("arguments"))
            money = "" if amount is None else money_text(amount)
        values = {"one": one, "decided": decided, "money": money, "said": said, "problem": problem}
        return await self._keeper.page(visit, "reviews.html", values, status=status)
