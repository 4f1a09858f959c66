"""Bedrock's door of the scripted provider: Converse and InvokeModel of Claude, streamed and not, by bearer keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from proxy.demo import anthropic_wire, bedrock_wire
from proxy.demo.admission import Admitted, admitted_anthropic
from proxy.demo.anthropic_thinking import heard
from proxy.demo.asked import anthropic_asked
from proxy.demo.bedrock_history import claude_body, converse_asked, converse_refusal
from proxy.demo.delivery import Dialogue, arranged, deliver
from proxy.demo.documents import read_plain
from proxy.demo.eventstream import CONTENT_TYPE
from proxy.demo.saying import said_anthropic
from proxy.demo.turns import Delivery, Dialect, HttpError, Turn, Verbatim

if TYPE_CHECKING:
    from aiohttp import web

    from proxy.demo.provider import Provider
    from proxy.demo.turns import Asked, Document

_JSON = {"Content-Type": "application/json"}
_VERSIONS = ("bedrock-2023-05-31", "2026-10-21")
"""That of the documentation, and what Anthropic's own client puts in."""


@dataclass(frozen=True, slots=True)
class BedrockServer:
    provider: Provider

    def add_to(self, app: web.Application) -> None:
        for way in ("converse", "converse-stream", "invoke", "invoke-with-response-stream"):
            app.router.add_post(f"/model/{{model}}/{way}", self._answer)
        app.router.add_post("/model/{model}/count-tokens", self._counted)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        checked = self._checked(request, raw)
        number = self.provider.record(request, raw, checked.message if isinstance(checked, HttpError) else "")
        if isinstance(checked, HttpError):
            return await self._error(request, checked, Delivery())
        admitted, asked = checked
        reply = self.provider.script(asked)
        match reply.answer:
            case HttpError() as error:
                return await self._error(request, error, reply.delivery)
            case Verbatim(data, content_type, status, headers):
                return await deliver(request, status, {**headers, "Content-Type": content_type}, [data], reply.delivery)
            case Turn() as turn:
                ready = said_anthropic(turn, admitted, len(raw), self.provider.identifiers)
                message = bedrock_wire.converse_message(ready.turn) if _is_converse(request) else ready.message
                self.provider.received[number] = replace(self.provider.received[number], turn=message)
                return await self._turn(request, ready.turn, asked, reply.delivery)

    async def _turn(self, request: web.Request, turn: Turn, asked: Asked, delivery: Delivery) -> web.StreamResponse:
        identifiers = self.provider.identifiers
        headers = {"x-amzn-RequestId": identifiers.next("", 22)}
        if not asked.streamed:
            is_converse = _is_converse(request)
            body = (
                bedrock_wire.converse_body(turn) if is_converse else anthropic_wire.body(turn, asked.model, identifiers)
            )
            return await deliver(request, 200, {**headers, **_JSON}, [body], delivery)
        if _is_converse(request):
            events = bedrock_wire.converse_events(turn, delivery.fragment_chars)
        else:
            events = bedrock_wire.invoke_events(turn, asked.model, identifiers, delivery.fragment_chars)
        frames = arranged(events, delivery, Dialogue(b"", bedrock_wire.error_event()))
        return await deliver(request, 200, {**headers, "Content-Type": CONTENT_TYPE}, frames, delivery)

    def _checked(self, request: web.Request, raw: bytes) -> tuple[Admitted, Asked] | HttpError:
        refused, body = _document(request, raw)
        if refused is not None:
            return refused
        model = unquote(request.match_info["model"])
        streamed = request.path.endswith("-stream")
        if not _is_converse(request):
            return self._claude({**body, "model": model}, streamed=streamed)
        refusal = converse_refusal(body)
        if refusal is not None:
            return refusal
        claude = claude_body(body, model)
        thinking = heard(claude, frozenset(), self.provider.anthropic)
        if isinstance(thinking, HttpError):
            return thinking
        return Admitted(claude, thinking), converse_asked(body, model, streamed=streamed)

    def _claude(self, body: Document, *, streamed: bool) -> tuple[Admitted, Asked] | HttpError:
        if body.get("anthropic_version") not in _VERSIONS:
            return HttpError(400, "ValidationException", "anthropic_version: Field required")
        admitted = admitted_anthropic(body, ",".join(body.get("anthropic_beta") or ()), self.provider.anthropic)
        if isinstance(admitted, HttpError):
            return admitted
        return admitted, replace(anthropic_asked(body), dialect=Dialect.BEDROCK, streamed=streamed)

    async def _counted(self, request: web.Request) -> web.StreamResponse:
        self.provider.record(request, await request.read())
        return await deliver(request, 200, _JSON, [b'{"inputTokens":42}'], Delivery())

    @staticmethod
    async def _error(request: web.Request, error: HttpError, delivery: Delivery) -> web.StreamResponse:
        headers = {**_JSON, "x-amzn-errortype": error.type, **error.headers}
        return await deliver(request, error.status, headers, [bedrock_wire.error_body(error)], delivery)


def _is_converse(request: web.Request) -> bool:
    return request.path.rpartition("/")[2].startswith("converse")


def _document(request: web.Request, raw: bytes) -> tuple[HttpError | None, Document]:
    if not request.headers.get("Authorization", "").startswith("Bearer "):
        message = "The security token included in the request is invalid."
        return HttpError(403, "UnrecognizedClientException", message), {}
    try:
        body = read_plain(raw.decode())
    except ValueError:
        return HttpError(400, "ValidationException", "Malformed input request, please reformat your input."), {}
    if not isinstance(body, dict):
        return HttpError(400, "ValidationException", "Malformed input request, please reformat your input."), {}
    return None, body
