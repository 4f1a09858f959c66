"""Money that calls hold: what is unknown waits for a person who says what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.kinds import MoneyState
from proxy.admin.answers import RefusedError
from proxy.console.doorkeeper import Doorkeeper, Visit, go, only
from proxy.logs import Event
from proxy.settings import Role

if TYPE_CHECKING:
    from aiohttp import web

    from proxy.store import Reservation

PAGE: Final = 50
_DECIDED = tuple(state for state in MoneyState if state.is_final)


class MoneyPages:
    """Pages about reservations."""

    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper

    async def listed(self, visit: Visit) -> web.StreamResponse:
        query = visit.request.query
        only(query, "state", "before")
        text, before = query.get("state", MoneyState.UNKNOWN.value), query.get("before") or None
        state = None if text == "all" else _state(text, tuple(MoneyState))
        found = await self._keeper.collaborators.store.read(
            lambda reader: reader.reservations(state=state, before=before, limit=PAGE + 1)
        )
        values = {
            "lines": found[:PAGE],
            "state": text,
            "states": [each.value for each in MoneyState],
            "older": found[PAGE - 1].id if len(found) > PAGE else None,
        }
        return await self._keeper.page(visit, "money.html", values)

    async def show(self, visit: Visit) -> web.StreamResponse:
        only(visit.request.query)
        return await self._page(visit)

    async def resolve(self, visit: Visit) -> web.StreamResponse:
        """A person says what became of it; where another was faster, the page says so and nothing is changed."""
        reason, state = visit.text("reason"), _state(visit.form.get("state", ""), _DECIDED)
        wanted, with_ = visit.request.match_info["id"], self._keeper.collaborators
        by = visit.session.name
        receipt = await with_.store.resolve(wanted, state, by=by, reason=reason, at=with_.clock())
        if receipt is None:
            return await self._page(visit, "It is settled already. Nothing was changed.", status=409)
        with_.logs.event(Event.RESOLVED, listener="admin", by=by, receipt=receipt)
        return go(f"/console/money/{wanted}")

    async def _page(self, visit: Visit, problem: str = "", *, status: int = 200) -> web.Response:
        wanted = visit.request.match_info["id"]
        one: Reservation | None = await self._keeper.collaborators.store.read(lambda reader: reader.reservation(wanted))
        if one is None:
            raise RefusedError(404, "not_found", "there is no such reservation")
        may_resolve = not one.state.is_final and visit.session.role.includes(Role.OWNER)
        values = {"one": one, "problem": problem, "may_resolve": may_resolve}
        return await self._keeper.page(visit, "reservation.html", values, status=status)


def _state(text: str, known: tuple[MoneyState, ...]) -> MoneyState:
    for state in known:
        if state.value == text:
            return state
    raise RefusedError(400, "invalid", f"'state' is one of {', '.join(state.value for state in known)}")
