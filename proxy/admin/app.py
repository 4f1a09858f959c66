"""The admin listener: health, metrics, the halt, erasure, and cases to read. Each answer is JSON but the metrics.

It asks its collaborators and decides nothing of its own but who may ask.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

import orjson
from aiohttp import hdrs, web

from interceptors.kinds import MoneyState
from interceptors.strict_json import StrictJsonError, parse
from proxy.logs import Event
from proxy.metrics import CONTENT_TYPE
from proxy.settings import Role
from proxy.store import EscalationStatus, StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interceptors.calls import Json
    from proxy.admin.access import Persons
    from proxy.clock import Clock
    from proxy.connected import PersonToken
    from proxy.ledger.keeper import Ledger
    from proxy.logs import Logs
    from proxy.metrics import Metrics
    from proxy.policy_source import PolicySource
    from proxy.store import Escalation, Reservation, Store

BODY_BYTES_MAX = 64 * 1024
REASON_LENGTH_MAX = 1000
PAGE_MAX = 500


@dataclass(frozen=True, slots=True)
class Collaborators:
    """What the admin listener asks. `is_draining`: the process is about to end."""

    persons: Persons
    store: Store
    ledger: Ledger
    policy: PolicySource
    metrics: Metrics
    logs: Logs
    clock: Clock
    is_draining: Callable[[], bool]


Answer: TypeAlias = "Callable[[web.Request, PersonToken], Awaitable[web.StreamResponse]]"


class RefusedError(Exception):
    """An answer that is no success: a status, a code, and a message without a value."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def admin_app(collaborators: Collaborators) -> web.Application:
    """The application; its caller starts and stops the listener."""
    listener = _Listener(collaborators)
    app = web.Application(middlewares=[_json_errors], client_max_size=BODY_BYTES_MAX)
    app.router.add_get("/healthz", listener.healthz)
    app.router.add_get("/readyz", listener.readyz)
    app.router.add_get("/metrics", listener.guarded(Role.VIEWER, listener.metrics))
    app.router.add_get("/escalations", listener.guarded(Role.VIEWER, listener.escalations))
    app.router.add_get("/escalations/{id}", listener.guarded(Role.VIEWER, listener.escalation))
    app.router.add_get("/reservations", listener.guarded(Role.VIEWER, listener.reservations))
    app.router.add_post("/reservations/{id}/resolve", listener.guarded(Role.OWNER, listener.resolve))
    app.router.add_post("/halt", listener.guarded(Role.OWNER, listener.halt))
    app.router.add_post("/resume", listener.guarded(Role.OWNER, listener.resume))
    app.router.add_post("/erase", listener.guarded(Role.OWNER, listener.erase))
    return app


class _Listener:
    def __init__(self, collaborators: Collaborators) -> None:
        self._with = collaborators

    def guarded(self, role: Role, answer: Answer) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """`answer` for a person whose role includes `role`; 401 or 403 for all others, before the body is read."""

        async def handle(request: web.Request) -> web.StreamResponse:
            person = self._person(request)
            if person is None:
                raise RefusedError(401, "unauthorized", "a person's token is required: Authorization: Bearer TOKEN")
            if not person.role.includes(role):
                raise RefusedError(403, "forbidden", f"this needs the role {role.value}")
            return await answer(request, person)

        return handle

    async def healthz(self, _: web.Request) -> web.Response:
        return _json({"status": "ok"})

    async def readyz(self, _: web.Request) -> web.Response:
        problems = []
        if not (await self._with.policy.current()).is_available:
            problems.append("policy")
        if not await self._is_store_ready():
            problems.append("store")
        if self._with.is_draining():
            problems.append("draining")
        return _json({"ready": not problems, "problems": problems}, status=503 if problems else 200)

    async def metrics(self, _: web.Request, __: PersonToken) -> web.Response:
        return web.Response(body=self._with.metrics.exposition(), headers={hdrs.CONTENT_TYPE: CONTENT_TYPE})

    async def halt(self, request: web.Request, person: PersonToken) -> web.Response:
        reason = _text(await _body(request, {"reason"}), "reason")
        receipt = await self._with.store.halt(by=person.name, reason=reason, at=self._with.clock())
        self._with.logs.event(Event.HALTED, listener="admin", by=person.name, receipt=receipt)
        return _json({"halted": True, "receipt": receipt})

    async def resume(self, request: web.Request, person: PersonToken) -> web.Response:
        await _body(request, set())
        receipt = await self._with.store.resume(by=person.name, at=self._with.clock())
        if receipt is not None:
            self._with.logs.event(Event.RESUMED, listener="admin", by=person.name, receipt=receipt)
        return _json({"halted": False, "receipt": receipt})

    async def erase(self, request: web.Request, person: PersonToken) -> web.Response:
        subject = _text(await _body(request, {"subject"}), "subject")
        await asyncio.to_thread(self._with.ledger.erase, self._with.store.subject_digest(subject))
        erasure = await self._with.store.erase(subject, by=person.name, at=self._with.clock())
        if erasure.receipt is not None:
            self._with.logs.event(Event.ERASED, listener="admin", by=person.name, receipt=erasure.receipt)
        return _json(asdict(erasure))

    async def escalations(self, request: web.Request, _: PersonToken) -> web.Response:
        unknown = request.query.keys() - {"status", "before", "limit"}
        if unknown or len(set(request.query)) != len(request.query):
            raise RefusedError(400, "invalid", "the query may hold status, before and limit, each once")
        status, limit = _status(request.query.get("status")), _page(request.query.get("limit"))
        before = request.query.get("before")
        found = await self._with.store.read(
            lambda reader: reader.escalations(status=status, before=before, limit=limit)
        )
        return _json({"escalations": [_case(case) for case in found]})

    async def escalation(self, request: web.Request, _: PersonToken) -> web.Response:
        wanted = request.match_info["id"]
        case = await self._with.store.read(lambda reader: reader.escalation(wanted))
        if case is None:
            raise RefusedError(404, "not_found", "there is no such escalation")
        return _json(_case(case))

    async def reservations(self, request: web.Request, _: PersonToken) -> web.Response:
        unknown = request.query.keys() - {"state", "before", "limit"}
        if unknown or len(set(request.query)) != len(request.query):
            raise RefusedError(400, "invalid", "the query may hold state, before and limit, each once")
        state, limit = _state(request.query.get("state")), _page(request.query.get("limit"))
        before = request.query.get("before")
        found = await self._with.store.read(lambda reader: reader.reservations(state=state, before=before, limit=limit))
        return _json({"reservations": [reservation_json(one) for one in found]})

    async def resolve(self, request: web.Request, person: PersonToken) -> web.Response:
        body = await _body(request, {"state", "reason"})
        state, reason = _state(_text(body, "state")), _text(body, "reason")
        if state is None or not state.is_final:
            raise RefusedError(400, "invalid", "'state' is executed or not_executed: a person says which of the two")
        wanted = request.match_info["id"]
        receipt = await self._with.store.resolve(wanted, state, by=person.name, reason=reason, at=self._with.clock())
        if receipt is None:
            raise RefusedError(404, "not_found", "there is no such reservation that is held or unknown")
        self._with.logs.event(Event.RESOLVED, listener="admin", by=person.name, receipt=receipt)
        return _json({"reservation": wanted, "state": state.value, "receipt": receipt})

    def _person(self, request: web.Request) -> PersonToken | None:
        values = request.headers.getall(hdrs.AUTHORIZATION, [])
        if len(values) != 1:
            return None
        scheme, _, token = values[0].partition(" ")
        return self._with.persons.find(token.strip()) if scheme.lower() == "bearer" else None

    async def _is_store_ready(self) -> bool:
        try:
            self._with.store.is_halted()
            await self._with.store.probe()
        except StoreError:
            return False
        return True


@web.middleware
async def _json_errors(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except RefusedError as error:
        response = _json({"error": {"code": error.code, "message": str(error)}}, status=error.status)
        if error.status == 401:
            response.headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
        return response
    except StoreError:
        return _json({"error": {"code": "store", "message": "the store could not do it"}}, status=503)
    except web.HTTPException as error:
        code = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}.get(error.status, "invalid")
        response = _json({"error": {"code": code, "message": error.reason.lower()}}, status=error.status)
        if hdrs.ALLOW in error.headers:
            response.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
        return response


async def _body(request: web.Request, keys: set[str]) -> dict[str, Json]:
    """The object of a request's body, with exactly these keys; an empty body is an empty object."""
    data = await request.read()
    try:
        body = parse(data) if data else {}
    except StrictJsonError as error:
        raise RefusedError(400, "invalid", f"the body is refused: {error}") from None
    if not isinstance(body, dict) or body.keys() != keys:
        wanted = f"a JSON object with {', '.join(sorted(keys))}" if keys else "empty"
        raise RefusedError(400, "invalid", f"the body must be {wanted}")
    return body


def _text(body: dict[str, Json], key: str) -> str:
    value = body[key]
    if not isinstance(value, str) or not value.strip() or len(value) > REASON_LENGTH_MAX:
        raise RefusedError(400, "invalid", f"{key!r} must be a text of at most {REASON_LENGTH_MAX} characters")
    return value


def _status(text: str | None) -> EscalationStatus | None:
    try:
        return None if text is None else EscalationStatus(text)
    except ValueError:
        known = ", ".join(status.value for status in EscalationStatus)
        raise RefusedError(400, "invalid", f"'status' is one of {known}") from None


def _state(text: str | None) -> MoneyState | None:
    try:
        return None if text is None else MoneyState(text)
    except ValueError:
        known = ", ".join(state.value for state in MoneyState)
        raise RefusedError(400, "invalid", f"'state' is one of {known}") from None


def _page(text: str | None) -> int:
    if text is None:
        return 50
    if not text.isascii() or not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= PAGE_MAX:
        raise RefusedError(400, "invalid", f"'limit' is a number from 1 to {PAGE_MAX}")
    return int(text)


def _case(case: Escalation) -> dict[str, object]:
    return {
        "id": case.id,
        "status": case.status.value,
        "created": case.created,
        "tool": case.tool,
        "reason": case.reason,
        "summary": dict(case.summary),
        "receipt": case.receipt,
        "tenant": case.tenant,
    }


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


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(
        body=orjson.dumps(value),
        status=status,
        headers={hdrs.CONTENT_TYPE: "application/json", hdrs.CACHE_CONTROL: "no-store"},
    )
