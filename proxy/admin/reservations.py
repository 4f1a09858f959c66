"""The admin listener about money: what calls hold, and a person's word on what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.kinds import MoneyState
from proxy.admin.answers import RefusedError, answered, body_of, page_of, text_of
from proxy.logs import Event

if TYPE_CHECKING:
    from aiohttp import web

    from proxy.admin.app import Collaborators
    from proxy.connected import PersonToken
    from proxy.store import Reservation


class Reservations:
    """Two routes; who may ask is looked at before."""

    def __init__(self, collaborators: Collaborators) -> None:
        self._with = collaborators

    async def listed(self, request: web.Request, _: PersonToken) -> web.Response:
        unknown = request.query.keys() - {"state", "before", "limit"}
        if unknown or len(set(request.query)) != len(request.query):
            raise RefusedError(400, "invalid", "the query may hold state, before and limit, each once")
        state, limit = _state(request.query.get("state")), page_of(request.query.get("limit"))
        before = request.query.get("before")
        found = await self._with.store.read(lambda reader: reader.reservations(state=state, before=before, limit=limit))
        return answered({"reservations": [reservation_json(one) for one in found]})

    async def resolved(self, request: web.Request, person: PersonToken) -> web.Response:
        body = await body_of(request, {"state", "reason"})
        state, reason = _state(text_of(body, "state")), text_of(body, "reason")
        if state is None or not state.is_final:
            raise RefusedError(400, "invalid", "'state' is executed or not_executed: a person says which of the two")
        wanted = request.match_info["id"]
        receipt = await self._with.store.resolve(wanted, state, by=person.name, reason=reason, at=self._with.clock())
        if receipt is None:
            raise RefusedError(404, "not_found", "there is no such reservation that is held or unknown")
        self._with.logs.event(Event.RESOLVED, listener="admin", by=person.name, receipt=receipt)
        return answered({"reservation": wanted, "state": state.value, "receipt": receipt})


def _state(text: str | None) -> MoneyState | None:
    try:
        return None if text is None else MoneyState(text)
    except ValueError:
        known = ", ".join(state.value for state in MoneyState)
        raise RefusedError(400, "invalid", f"'state' is one of {known}") from None


def reservation_json(one: Reservation) -> dict[str, object]:
    """A reservation as the listener and `callgate reservations list --json` show it."""
    return {
        "id": one.id,
        "state": one.state.value,
        "policy": one.policy,
        "tool": one.tool,
        "held": [{"limit": each.limit, "amount": each.amount} for each in one.held],
        "receipt": one.receipt,
        "time": one.time,
        "settleBy": one.settle_by,
        "settledAt": one.settled_at,
    }
