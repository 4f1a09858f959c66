"""The admin listener about cases: to read them, and to answer them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from proxy.admin.answers import RefusedError, answered, body_of, page_of, text_of
from proxy.approvals import AnswerRefusedError, Refusal
from proxy.store import EscalationStatus

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from aiohttp import web

    from proxy.admin.app import Collaborators
    from proxy.approvals import Shown
    from proxy.connected import PersonToken
    from proxy.store import Answer, Escalation, Vote

_FORBIDDEN: Final = frozenset({Refusal.ROLE, Refusal.NOT_AN_APPROVER, Refusal.OWN})


class Escalations:
    """Five routes; who may ask is looked at before, who may answer by `Approvals`."""

    def __init__(self, collaborators: Collaborators) -> None:
        self._with = collaborators

    async def listed(self, request: web.Request, _: PersonToken) -> web.Response:
        unknown = request.query.keys() - {"status", "before", "limit"}
        if unknown or len(set(request.query)) != len(request.query):
            raise RefusedError(400, "invalid", "the query may hold status, before and limit, each once")
        found = await self._with.approvals.list(
            status=_status(request.query.get("status")),
            before=request.query.get("before"),
            limit=page_of(request.query.get("limit")),
        )
        return answered({"escalations": [case_json(case) for case in found]})

    async def shown(self, request: web.Request, person: PersonToken) -> web.Response:
        shown = await self._with.approvals.show(request.match_info["id"], person)
        if shown is None:
            raise RefusedError(404, "not_found", "there is no such escalation")
        return answered(shown_json(shown))

    async def approved(self, request: web.Request, person: PersonToken) -> web.Response:
        return await self._answered(self._with.approvals.approve, request, person)

    async def rejected(self, request: web.Request, person: PersonToken) -> web.Response:
        return await self._answered(self._with.approvals.reject, request, person)

    async def closed(self, request: web.Request, person: PersonToken) -> web.Response:
        return await self._answered(self._with.approvals.close, request, person)

    @staticmethod
    async def _answered(
        answer: Callable[[str, PersonToken, str], Awaitable[Answer]], request: web.Request, person: PersonToken
    ) -> web.Response:
        reason = text_of(await body_of(request, {"reason"}), "reason")
        try:
            given = await answer(request.match_info["id"], person, reason)
        except AnswerRefusedError as error:
            status = 404 if error.refusal is Refusal.NOT_FOUND else 403 if error.refusal in _FORBIDDEN else 409
            raise RefusedError(status, error.refusal.value, str(error)) from None
        assert given.case is not None
        return answered({**case_json(given.case), "missing": given.missing})


def _status(text: str | None) -> EscalationStatus | None:
    try:
        return None if text is None else EscalationStatus(text)
    except ValueError:
        known = ", ".join(status.value for status in EscalationStatus)
        raise RefusedError(400, "invalid", f"'status' is one of {known}") from None


def case_json(case: Escalation) -> dict[str, object]:
    """A case as the listener and `callgate escalations --json` show it."""
    return {
        "id": case.id,
        "kind": "call" if case.is_call else "handoff",
        "status": case.status.value,
        "created": case.created,
        "answerBy": case.answer_by or None,
        "tool": case.tool,
        "reason": case.reason,
        "summary": dict(case.summary),
        "receipt": case.receipt,
        "tenant": case.tenant,
        "proposer": case.proposer.value,
        "proposedBy": case.proposed_by or None,
        "canBeApproved": case.can_be_approved,
        "onApproval": case.on_approval.value,
        "validUntil": case.valid_until,
        "closedAt": case.closed_at,
        "note": case.note or None,
    }


def votes_json(votes: Iterable[Vote]) -> list[dict[str, object]]:
    """What people said of a case."""
    return [{"person": one.person, "approves": one.approves, "reason": one.reason, "time": one.time} for one in votes]


def shown_json(shown: Shown) -> dict[str, object]:
    """A case with what people said of it, and what the one who asks may do with it."""
    binding = shown.case.asks
    return {
        **case_json(shown.case),
        "rules": [] if binding is None else list(binding.rows),
        "restsOn": [] if binding is None else sorted(binding.facts),
        "quorum": shown.quorum,
        "answers": votes_json(shown.votes),
        "youMay": sorted(power.value for power in shown.powers),
    }
