"""The admin listener: health, metrics, the halt, erasure, and cases for people. Each answer is JSON but the metrics.

It asks its collaborators and decides nothing of its own but who may ask.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

from aiohttp import hdrs, web

from proxy.admin.answers import RefusedError, answered, body_of, text_of
from proxy.admin.decide import Decide
from proxy.admin.escalations import Escalations
from proxy.admin.reservations import Reservations
from proxy.console.gauges import read_gauges
from proxy.logs import Event
from proxy.metrics import CONTENT_TYPE
from proxy.settings import Role
from proxy.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from proxy.admin.access import Persons
    from proxy.admin.decide import Deciding
    from proxy.approvals import Approvals
    from proxy.clock import Clock
    from proxy.connected import PersonToken
    from proxy.ledger.keeper import Ledger
    from proxy.logs import Logs
    from proxy.metrics import Metrics
    from proxy.policy_source import PolicySource
    from proxy.store import Store

BODY_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class Collaborators:
    """What the admin listener asks. `is_draining`: the process is about to end."""

    persons: Persons
    approvals: Approvals
    store: Store
    ledger: Ledger
    policy: PolicySource
    metrics: Metrics
    logs: Logs
    clock: Clock
    is_draining: Callable[[], bool]
    deciding: Deciding | None = None


Answer: TypeAlias = "Callable[[web.Request, PersonToken], Awaitable[web.StreamResponse]]"


def admin_app(collaborators: Collaborators) -> web.Application:
    """The application; its caller starts and stops the listener."""
    listener, held = _Listener(collaborators), Reservations(collaborators)
    cases, proposals = Escalations(collaborators), Decide(collaborators)
    app = web.Application(middlewares=[_json_errors], client_max_size=BODY_BYTES_MAX)
    app.router.add_get("/healthz", listener.healthz)
    app.router.add_get("/readyz", listener.readyz)
    app.router.add_get("/metrics", listener.guarded(Role.VIEWER, listener.metrics))
    app.router.add_get("/escalations", listener.guarded(Role.VIEWER, cases.listed))
    app.router.add_get("/escalations/{id}", listener.guarded(Role.VIEWER, cases.shown))
    app.router.add_post("/escalations/{id}/approve", listener.guarded(Role.REVIEWER, cases.approved))
    app.router.add_post("/escalations/{id}/reject", listener.guarded(Role.REVIEWER, cases.rejected))
    app.router.add_post("/escalations/{id}/close", listener.guarded(Role.REVIEWER, cases.closed))
    app.router.add_post("/decide", proposals.decided)
    app.router.add_post("/decide/{id}/result", proposals.resulted)
    app.router.add_get("/reservations", listener.guarded(Role.VIEWER, held.listed))
    app.router.add_post("/reservations/{id}/resolve", listener.guarded(Role.OWNER, held.resolved))
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
        return answered({"status": "ok"})

    async def readyz(self, _: web.Request) -> web.Response:
        problems = []
        if not (await self._with.policy.current()).is_available:
            problems.append("policy")
        if not await self._is_store_ready():
            problems.append("store")
        if self._with.is_draining():
            problems.append("draining")
        return answered({"ready": not problems, "problems": problems}, status=503 if problems else 200)

    async def metrics(self, _: web.Request, __: PersonToken) -> web.Response:
        await read_gauges(self._with.store, self._with.metrics, self._with.clock)
        return web.Response(body=self._with.metrics.exposition(), headers={hdrs.CONTENT_TYPE: CONTENT_TYPE})

    async def halt(self, request: web.Request, person: PersonToken) -> web.Response:
        reason = text_of(await body_of(request, {"reason"}), "reason")
        receipt = await self._with.store.halt(by=person.name, reason=reason, at=self._with.clock())
        self._with.logs.event(Event.HALTED, listener="admin", by=person.name, receipt=receipt)
        return answered({"halted": True, "receipt": receipt})

    async def resume(self, request: web.Request, person: PersonToken) -> web.Response:
        await body_of(request, set())
        receipt = await self._with.store.resume(by=person.name, at=self._with.clock())
        if receipt is not None:
            self._with.logs.event(Event.RESUMED, listener="admin", by=person.name, receipt=receipt)
        return answered({"halted": False, "receipt": receipt})

    async def erase(self, request: web.Request, person: PersonToken) -> web.Response:
        subject = text_of(await body_of(request, {"subject"}), "subject")
        await asyncio.to_thread(self._with.ledger.erase, self._with.store.subject_digest(subject))
        erasure = await self._with.store.erase(subject, by=person.name, at=self._with.clock())
        if erasure.receipt is not None:
            self._with.logs.event(Event.ERASED, listener="admin", by=person.name, receipt=erasure.receipt)
        return answered(asdict(erasure))

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
        response = answered({"error": {"code": error.code, "message": str(error)}}, status=error.status)
        if error.status == 401:
            response.headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
        return response
    except StoreError:
        return answered({"error": {"code": "store", "message": "the store could not do it"}}, status=503)
    except web.HTTPException as error:
        code = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}.get(error.status, "invalid")
        response = answered({"error": {"code": code, "message": error.reason.lower()}}, status=error.status)
        if hdrs.ALLOW in error.headers:
            response.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
        return response
