"""Gemini's door of the scripted provider: its paths, its keys, its two answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from proxy.demo import gemini_wire
from proxy.demo.delivery import Dialogue, arranged, deliver
from proxy.demo.documents import read_plain
from proxy.demo.gemini_history import gemini_asked, gemini_refusal
from proxy.demo.turns import Delivery, HttpError, Turn, Verbatim

if TYPE_CHECKING:
    from aiohttp import web

    from proxy.demo.provider import Provider
    from proxy.demo.turns import Document

_NO_KEY = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)
_HEADERS = {"x-gemini-service-tier": "standard", "Server": "scaffolding on HTTPServer2"}


@dataclass(frozen=True, slots=True)
class GeminiServer:
    provider: Provider

    def add_to(self, app: web.Application) -> None:
        for version in ("/v1beta", "/v1"):
            self.add_model(app, f"{version}/models/{{model}}")

    def add_model(self, app: web.Application, path: str) -> None:
        """The create calls of the models at that path."""
        app.router.add_post(f"{path}:generateContent", self._whole)
        app.router.add_post(f"{path}:streamGenerateContent", self._streamed)

    async def _whole(self, request: web.Request) -> web.StreamResponse:
        return await self._answer(request, streamed=False)

    async def _streamed(self, request: web.Request) -> web.StreamResponse:
        return await self._answer(request, streamed=True)

    async def _answer(self, request: web.Request, *, streamed: bool) -> web.StreamResponse:
        raw = await request.read()
        body = self._checked(request, raw)
        number = self.provider.record(request, raw, body.message if isinstance(body, HttpError) else "")
        if isinstance(body, HttpError):
            return await self._error(request, body, Delivery())
        model = request.match_info["model"]
        reply = self.provider.script(gemini_asked(body, model, streamed=streamed))
        match reply.answer:
            case HttpError() as error:
                return await self._error(request, error, reply.delivery)
            case Verbatim(data, content_type, status, headers):
                return await deliver(request, status, {**headers, "Content-Type": content_type}, [data], reply.delivery)
            case Turn() as turn:
                received = self.provider.received
                received[number] = replace(received[number], turn=gemini_wire.message(turn))
                return await self._turn(request, turn, model, reply.delivery, streamed=streamed)

    async def _turn(
        self, request: web.Request, turn: Turn, model: str, delivery: Delivery, *, streamed: bool
    ) -> web.StreamResponse:
        identifiers = self.provider.identifiers
        if not streamed:
            headers = {**_HEADERS, "Content-Type": "application/json; charset=UTF-8"}
            return await deliver(request, 200, headers, [gemini_wire.body(turn, model, identifiers)], delivery)
        events = gemini_wire.events(turn, model, identifiers, delivery.fragment_chars)
        error = HttpError(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
        failed = b"data: " + gemini_wire.error_body(error).replace(b"\n", b" ") + b"\r\n\r\n"
        frames = arranged(events, delivery, Dialogue(b"", failed))
        return await deliver(request, 200, {**_HEADERS, "Content-Type": gemini_wire.STREAM_TYPE}, frames, delivery)

    @staticmethod
    def _checked(request: web.Request, raw: bytes) -> Document | HttpError:
        if not request.headers.get("x-goog-api-key") and "Authorization" not in request.headers:
            return HttpError(403, "PERMISSION_DENIED", _NO_KEY)
        try:
            body = read_plain(raw.decode())
        except ValueError:
            return HttpError(400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unexpected token.")
        if not isinstance(body, dict):
            return HttpError(400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unexpected token.")
        return gemini_refusal(body) or body

    @staticmethod
    async def _error(request: web.Request, error: HttpError, delivery: Delivery) -> web.StreamResponse:
        headers = {**_HEADERS, "Content-Type": "application/json; charset=UTF-8", **error.headers}
        return await deliver(request, error.status, headers, [gemini_wire.error_body(error)], delivery)
