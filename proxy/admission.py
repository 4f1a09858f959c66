"""What a request must be before a byte of it goes up: its head, who asks and for whom, its body.

Each refusal is a `RefusedError` with the fault that the dialect states and the code that the receipt keeps.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import msgspec

from proxy import bodies, headers
from proxy.credentials import SignedError, presented, refuse_signature, replaced
from proxy.http1.heads import Fields
from proxy.http1.hub import MalformedBodyError
from proxy.http1.incoming import Whole
from proxy.identity import Caller, UnknownCredentialError, identify
from proxy.once import OncePerHead
from proxy.session_header import SessionHeaderError
from proxy.sessions import conversation_of
from proxy.store import StoreError
from proxy.subjects import subject_of
from proxy.web_pages import is_of_foreign_page
from proxy.wire import envelope
from proxy.wire.dialect import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.calls import Json
    from proxy import routes
    from proxy.headers import RequestHeaders
    from proxy.http1.heads import Head
    from proxy.http1.requests import Request
    from proxy.policy_source import Revision
    from proxy.services import Holding, Services
    from proxy.wire.dialect import RequestView


class RefusedError(Exception):
    """An answer of the gate's own to a request that does not go up. `reason` is a code for the receipt."""

    def __init__(self, fault: Fault, reason: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault
        self.reason = reason


class Asking(msgspec.Struct, frozen=True):
    """Who asks, and for whom."""

    caller: Caller
    claims: Mapping[str, Json]
    subject: str
    revision: Revision


class Admission:
    """One for the process."""

    def __init__(self, services: Services) -> None:
        self._with = services

    def head(self, request: Request) -> RequestHeaders:
        """Its fields; those of a head that this connection sent before are what they were."""
        head = request.head
        if isinstance(head.noted, headers.RequestHeaders):
            return head.noted
        head.noted = fields = self._read_head(head)
        return fields

    def _read_head(self, head: Head) -> RequestHeaders:
        try:
            fields = headers.read_request_headers(head.raw_headers, session_header=self._session_header)
        except headers.HeadersRefusedError as error:
            raise RefusedError(Fault.INVALID_REQUEST, "invalid_headers", str(error)) from None
        if headers.asks_for_upgrade(fields):
            raise RefusedError(
                Fault.UPGRADE_REFUSED, "upgrade", "this gate speaks plain HTTP: send the request as POST"
            )
        return fields

    @property
    def _session_header(self) -> str | None:
        return self._with.connected.session.name if self._with.connected.session else None

    async def who(self, fields: RequestHeaders) -> Asking:
        try:
            policy = self._with.policy
            revision = (policy.unchanged() or await policy.current()).revision
        except StoreError:  # a new revision is in force only with its receipt
            self._with.metrics.store_failed()
            message = "the gate cannot record the change of its policy at present"
            raise RefusedError(Fault.OVERLOADED, "store_unavailable", message) from None
        try:
            caller = _caller(fields, revision.tokens, self._with.tenant_key)
        except SignedError as error:
            raise RefusedError(Fault.FORBIDDEN, "signed_request", str(error)) from None
        except UnknownCredentialError as error:
            raise RefusedError(Fault.UNAUTHENTICATED, "unknown_credential", str(error)) from None
        claims: Mapping[str, Json] = {}
        if self._with.connected.session:
            try:
                claims = self._with.connected.session.subject(fields, self._with.judge.clock())
            except SessionHeaderError as error:
                raise RefusedError(Fault.UNAUTHENTICATED, "invalid_session", str(error)) from None
        subject = subject_of(claims, revision.policy, self._with.store)
        return Asking(caller, claims, subject, revision)

    async def body(
        self, request: Request, fields: RequestHeaders, holding: Holding, deadline: float
    ) -> tuple[bytes, bool]:
        """The body without its content encoding, and whether it had one; `holding` is told what it takes."""
        self._bound(request.content_length or 0, holding)
        if request.content.is_eof():  # nearly always: it came with the head, and nothing is waited for
            arrived = request.content.read_nowait()
            self._bound(len(arrived), holding)
        else:
            arrived = await self._arriving(request, holding, deadline)
        try:
            encoding = bodies.read_encoding(fields.get("content-encoding"))
            decoded_max = self._with.settings.limits.request_decoded_bytes_max
            if encoding is None:
                body = bodies.decode_body(arrived, None, decoded_bytes_max=decoded_max)
            else:
                body = await bodies.decode_body_off_loop(arrived, encoding, decoded_bytes_max=decoded_max)
        except bodies.BodyRefusedError as error:
            fault = Fault.TOO_LARGE if error.problem is bodies.BodyProblem.TOO_LARGE else Fault.INVALID_REQUEST
            raise RefusedError(fault, "invalid_body", str(error)) from None
        self._take(holding, len(body))
        return body, encoding is not None

    async def _arriving(self, request: Request, holding: Holding, deadline: float) -> bytes:
        whole = Whole()
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                while await request.content.some():
                    for part in request.content.take():
                        whole.add(part)
                    self._bound(whole.size, holding)
        except TimeoutError:
            message = "the request did not arrive within exchange_ms_max"
            raise RefusedError(Fault.INVALID_REQUEST, "slow_body", message) from None
        except MalformedBodyError:
            raise RefusedError(Fault.INVALID_REQUEST, "malformed_body", "the body's framing is broken") from None
        return whole.joined()

    def _bound(self, size: int, holding: Holding) -> None:
        if size > self._with.settings.limits.request_bytes_max:
            raise RefusedError(Fault.TOO_LARGE, "too_large", "the request is larger than request_bytes_max")
        self._take(holding, size)

    def _take(self, holding: Holding, size: int) -> None:
        """A body takes the room that it states, and what it is found to need beyond."""
        if not holding.grow(size):
            self._with.metrics.overloaded()
            raise RefusedError(Fault.OVERLOADED, "overloaded", "the gate has no room for another request")

    def fields_up(
        self, fields: RequestHeaders, way: routes.Mediated | routes.Unexamined, *, is_decoded: bool
    ) -> headers.Pairs:
        key = self._with.connected.upstreams[way.upstream].key
        is_open = key is not None and not self._with.policy.last().revision.tokens
        return _fields_up(fields, self._session_header, is_decoded, key, is_open, way.dialect.provider)

    def conversation(self, fields: RequestHeaders, view: RequestView) -> str:
        """What the request calls its conversation."""
        try:
            return conversation_of(fields, view, self._with.settings.conversation_header)
        except envelope.EnvelopeError as error:
            raise RefusedError(Fault.INVALID_REQUEST, "invalid_body", str(error)) from None


def _identified(fields: RequestHeaders, tokens: Mapping[str, bytes], tenant_key: bytes) -> Caller:
    refuse_signature(fields)
    return identify(presented(fields), tokens, tenant_key)


def _replaced(
    fields: RequestHeaders, session_header: str | None, is_decoded: bool, key: str | None, is_open: bool, provider: str
) -> Fields:
    """What goes up to `provider`, with `key` where the gate holds one; `is_open`: for anybody who can reach it."""
    up = headers.headers_up(fields, session_header=session_header, decoded=is_decoded)
    if key is None:
        return Fields(up)
    if is_open and is_of_foreign_page(fields):
        message = "without identities the provider's key is for this machine only: the host or the origin is another"
        raise RefusedError(Fault.FORBIDDEN, "foreign_page", message)
    return Fields(replaced(up, key, provider=provider, credentials=presented(fields)))


_caller = OncePerHead(_identified)
_fields_up = OncePerHead(_replaced)
