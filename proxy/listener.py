"""The agent listener: a request is admitted, sent up, and its response handed to an `Exchange`, or relayed."""

from __future__ import annotations

import asyncio
import time
from functools import lru_cache
from typing import TYPE_CHECKING, assert_never

from interceptors.history import EMPTY
from interceptors.receipts import Refused
from proxy import headers, routes
from proxy.admission import Admission, Asking, RefusedError
from proxy.downstream import error_reply
from proxy.exchange import Exchange, guarded
from proxy.handoff import Handoffs
from proxy.http1.requests import Reply
from proxy.judge import Scene
from proxy.logs import Event
from proxy.onward import Onward
from proxy.passage import Passage, tell
from proxy.preparation import Ready, prepare
from proxy.provider_head import is_stream, read_error, refuse_odd_head
from proxy.provider_tools import STRIPPED, mind, refuse_unless_allowed
from proxy.records import edited, observed, unexamined
from proxy.services import Holding, Room, Services
from proxy.store import Entry, StoreError, new_receipt_id
from proxy.store.ids import new_exchange_id
from proxy.summary import Ending
from proxy.texts import text_rules
from proxy.upstream import kept_target
from proxy.viewing import Viewing
from proxy.wire import envelope
from proxy.wire.dialect import Dialect, Fault, RequestView

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interceptors.receipts import Record
    from proxy.http1.answers import Answer
    from proxy.http1.requests import Answering, Request

_PATHS_KEPT, _PATH_KEPT_MAX = 512, 256
_RETRYABLE = frozenset({Fault.OVERLOADED, Fault.UPSTREAM_FAILED, Fault.UPSTREAM_TIMEOUT})


class Listener:
    """Handles every request of the agent listener."""

    def __init__(self, services: Services) -> None:
        self._with, limits = services, services.settings.limits
        self._admission = Admission(services)
        self._handoffs, self._viewing = Handoffs(services), Viewing()
        self._room, self._exchange_seconds = Room(limits.bytes_in_flight_max), limits.exchange_ms_max / 1000
        self._kept_route = lru_cache(maxsize=_PATHS_KEPT)(self._route)
        self.is_draining = False

    def _route(self, method: str, raw_path: str, provider: str) -> routes.Route:
        services = self._with
        return routes.route(method, raw_path, provider, services.connected.upstreams, services.settings.pass_through)

    async def handle(self, request: Request) -> Reply | None:
        if request.method == "HEAD" and request.raw_path == "/":
            return Reply(200)
        provider = routes.provider_of(request.fields)
        route = self._kept_route if len(request.raw_path) <= _PATH_KEPT_MAX else self._route
        way = route(request.method, request.raw_path, provider)
        passage = Passage(new_exchange_id(self._with.judge.clock()), request.method, time.monotonic(), way.dialect)
        self._with.metrics.exchange_opened()

        async def broke(error: Exception) -> Reply | None:
            if isinstance(error, RefusedError):
                return await self._refuse(passage, error)
            passage.summary.breach = type(error).__name__
            failed = RefusedError(Fault.INTERNAL, "internal_error", "the gate failed; nothing was sent")
            return await self._refuse(passage, failed)

        try:
            return await guarded(self._admit(request, way, passage), broke)
        except asyncio.CancelledError:
            if passage.summary.ending is Ending.COMPLETE:
                passage.summary.ending = Ending.CLIENT_LOST
            raise
        finally:
            tell(passage, self._with, self._room.held)

    async def _admit(self, request: Request, way: routes.Route, passage: Passage) -> Reply | None:
        fields = self._admission.head(request)
        match way:
            case routes.Refused(message=message):
                raise RefusedError(Fault.NOT_FOUND, "unknown_route", message)
            case routes.Mediated() | routes.Unexamined():
                passage.route, passage.upstream = way.name, way.upstream
            case _:
                assert_never(way)
        passage.asking = await self._admission.who(fields)
        if self.is_draining:
            self._with.metrics.overloaded()
            raise RefusedError(Fault.OVERLOADED, "draining", "the gate is about to end and takes no more requests")
        holding = Holding(self._room)
        try:
            body, is_decoded = await self._admission.body(request, fields, holding, self._deadline(passage))
            passage.bytes_up = len(body)
            up = self._admission.fields_up(fields, way, is_decoded=is_decoded)
            if isinstance(way, routes.Unexamined):
                return await self._pass(request, way, passage, up, body)
            if await self._answered(request, way, passage, fields, body):
                return None
            return await self._mediate(request.answer, way, passage, up, body)
        finally:
            holding.now(0)

    async def _answered(
        self,
        request: Request,
        way: routes.Mediated,
        passage: Passage,
        fields: headers.RequestHeaders,
        body: bytes,
    ) -> bool:
        """The first look at a request: what the gate answers by itself does not go up."""
        passage.view = self._read_request(way, request, body, self._asked(passage).caller.tenant)
        passage.conversation = self._admission.conversation(fields, passage.view)
        return await self._handoffs.answered(request, way.dialect, body, passage)

    async def _mediate(
        self, answer: Answering, way: routes.Mediated, passage: Passage, up: headers.Pairs, body: bytes
    ) -> Reply | None:
        view = passage.view
        if view.tools.provider:
            body, view = await self._mind_tools(way, passage, body)
        ready, scene = await self._prepare(way.dialect, body, passage)
        upstream = await self._open(way, "POST", up, ready.body, self._deadline(passage))
        onward = Onward(way.dialect, ready.prepared, self._with.ledger, self._leg_opener(way, up, view, passage))
        try:
            refuse_odd_head(upstream)
            down = headers.headers_down(upstream.raw_headers)
            if not 200 <= upstream.status < 300:
                return await self._pass_error(upstream, way.dialect, down, passage)
            streamed, first = await is_stream(upstream, way.dialect, view, self._deadline(passage))
            revision = self._asked(passage).revision
            exchange = Exchange(
                answer,
                upstream,
                down,
                first,
                dialect=way.dialect,
                streamed=streamed,
                scene=scene,
                judge=self._with.judge,
                limits=self._with.settings.limits,
                deadline=self._deadline(passage),
                holds=Holding(self._room).now,
                onward=onward,
                revision=revision,
                waits=bool(view.tools.provider),
                texts=text_rules(revision.policy, scene.identity, view),
            )
            passage.summary = exchange.summary
            await exchange.run()
            return None
        finally:
            upstream.close()
            onward.close()

    async def _pass_error(self, upstream: Answer, dialect: Dialect, down: headers.Pairs, passage: Passage) -> Reply:
        """The provider's own error, once it is read to its end and holds no call."""
        self._refuse_redirect(upstream)
        body = await read_error(upstream, dialect, self._deadline(passage))
        passage.summary.status, passage.summary.bytes_down = upstream.status, len(body)
        return Reply(upstream.status, down, body)

    async def _prepare(self, dialect: Dialect, body: bytes, passage: Passage) -> tuple[Ready, Scene]:
        """The request as it goes up, and the scene with what the request says of the past."""
        ready = await prepare(self._with, dialect, body, passage)
        scene = self._scene(passage, ready)
        if edits := edited(ready.prepared, ready.upward, scene, self._with.judge.clock):
            await self._keep(passage, *edits)
        return ready, scene

    def _leg_opener(
        self, way: routes.Mediated, up: headers.Pairs, view: RequestView, passage: Passage
    ) -> Callable[[bytes], Awaitable[Answer | None]]:
        """How a turn goes on: the same request with more behind it; None for any answer that is not one."""

        async def open_leg(body: bytes) -> Answer | None:
            try:
                leg = await self._open(way, "POST", up, body, self._deadline(passage))
            except RefusedError:
                return None
            try:
                refuse_odd_head(leg)
                is_fit = leg.status == 200 and (leg.content_type == way.dialect.framing.content_type) == view.streamed
            except RefusedError:
                is_fit = False
            if is_fit:
                return leg
            leg.close()
            return None

        return open_leg

    def _read_request(self, way: routes.Mediated, request: Request, body: bytes, tenant: str) -> RequestView:
        if (charset := request.charset) is not None and charset.lower() not in ("utf-8", "utf8"):
            raise RefusedError(Fault.INVALID_REQUEST, "invalid_body", "the body must be UTF-8")
        try:
            return self._viewing.view(way.dialect, body, way.at, tenant)
        except envelope.EnvelopeError as error:
            raise RefusedError(Fault.INVALID_REQUEST, "invalid_body", str(error)) from None

    async def _mind_tools(self, way: routes.Mediated, passage: Passage, body: bytes) -> tuple[bytes, RequestView]:
        """The request without what the policy takes out of it; what it lets pass is receipted, not gated."""
        minded = mind(self._asked(passage).revision.policy, way.dialect, body, passage.view, way.at)
        passage.view = minded.view
        scene, now = self._scene(passage), self._with.judge.clock()
        seen = [(tool, "request") for tool in minded.passed] + [(tool, STRIPPED) for tool in minded.taken_out]
        await self._keep(passage, *(observed(tool, scene, now, where) for tool, where in seen))
        return minded.body, minded.view

    async def _pass(
        self, request: Request, way: routes.Unexamined, passage: Passage, up: headers.Pairs, body: bytes
    ) -> Reply | None:
        scene, now = self._scene(passage), self._with.judge.clock()
        passes = [unexamined(request.method, way.name, way.upstream, scene, now)]
        if way.hand:
            refuse_unless_allowed(self._asked(passage).revision.policy, way.hand)
            passes.append(observed(way.hand, scene, now, "request"))
        await self._keep(passage, *passes)
        upstream = await self._open(way, request.method, up, body, self._deadline(passage))
        try:
            await self._relay(request, upstream, headers.headers_down(upstream.raw_headers), passage)
            return None
        finally:
            upstream.close()

    async def _open(
        self, way: routes.Mediated | routes.Unexamined, method: str, up: headers.Pairs, body: bytes, deadline: float
    ) -> Answer:
        url = kept_target(self._with.connected.upstreams[way.upstream].url, way.target)
        has_body = body or method not in ("GET", "HEAD")
        try:
            sent, seconds = body if has_body else None, deadline - time.monotonic()
            return await self._with.upstream.open(method, url, up, sent, seconds=seconds)
        except TimeoutError:
            raise RefusedError(
                Fault.UPSTREAM_TIMEOUT, "upstream_timeout", "the provider did not answer in time"
            ) from None
        except OSError:
            raise RefusedError(Fault.UPSTREAM_FAILED, "upstream_failed", "the provider could not be reached") from None

    async def _relay(self, request: Request, upstream: Answer, down: headers.Pairs, passage: Passage) -> None:
        """The response of a route that passes."""
        self._refuse_redirect(upstream)
        passage.summary.status = upstream.status
        try:
            async with asyncio.timeout(max(0.0, self._deadline(passage) - time.monotonic())):
                await request.answer.begin(upstream.status, down, length=upstream.content_length)
                while chunk := await upstream.content.readany():
                    await request.answer.write(chunk)
                    passage.summary.bytes_down += len(chunk)
                await request.answer.end()
        except OSError as error:
            passage.error = f"cut off: {type(error).__name__}"
            passage.summary.ending = Ending.LIMIT if isinstance(error, TimeoutError) else Ending.UPSTREAM_LOST
            request.answer.abort()

    @staticmethod
    def _refuse_redirect(upstream: Answer) -> None:
        if 300 <= upstream.status < 400:
            raise RefusedError(Fault.UPSTREAM_FAILED, "redirect", "the provider answered with a redirect")

    def _deadline(self, passage: Passage) -> float:
        return passage.began + self._exchange_seconds

    def _scene(self, passage: Passage, ready: Ready | None = None) -> Scene:
        asking, view = self._asked(passage), passage.view
        return Scene(
            exchange=passage.id,
            dialect=passage.dialect.name,
            model=view.model,
            tenant=asking.caller.tenant,
            identity=asking.caller.identity,
            subject=asking.subject,
            claims=asking.claims,
            declared=view.tools.by_name,
            ambiguous=view.tools.ambiguous,
            heard={} if ready is None or not ready.prepared.refusals else dict(ready.prepared.refusals),
            history=EMPTY if ready is None else ready.heard.history,
            read_history=None if ready is None else ready.heard.read,
        )

    @staticmethod
    def _asked(passage: Passage) -> Asking:
        assert passage.asking is not None
        return passage.asking

    async def _keep(self, passage: Passage, *records: Record) -> None:
        """Receipts that must stand before the request goes up."""
        try:
            await self._with.store.commit([Entry(record) for record in records])
        except StoreError:
            raise self._unrecorded("requests") from None
        passage.receipts += [record.receipt for record in records]

    def _unrecorded(self, what: str) -> RefusedError:
        self._with.metrics.store_failed()
        return RefusedError(Fault.OVERLOADED, "store_unavailable", f"the gate cannot record {what} at present")

    async def _refuse(self, passage: Passage, error: RefusedError) -> Reply:
        passage.error = error.reason
        passage.summary.status = error.fault.value
        now, asking = self._with.judge.clock(), passage.asking
        record = Refused(
            receipt=new_receipt_id(now),
            time=now,
            exchange=passage.id,
            tenant=asking.caller.tenant if asking else "",
            dialect=passage.dialect.name,
            status=error.fault.value,
            reason=error.reason,
            identity=asking.caller.identity if asking else None,
            subject=asking.subject if asking else "",
        )
        try:
            await self._with.store.commit([Entry(record)])
            passage.receipts.append(record.receipt)
        except StoreError:
            self._with.metrics.store_failed()
            self._with.logs.event(Event.STORE_FAILED, exchange=passage.id)
        retry = () if error.fault in _RETRYABLE else (("x-should-retry", "false"),)
        return error_reply(passage.dialect, error.fault, f"callgate: {error}", retry)
