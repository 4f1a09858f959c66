"""Vertex's door of the scripted provider: Google's models and Anthropic's, by the paths that name them.

The path says which model is asked and whether the answer is a stream; Anthropic's body states its version.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from proxy.demo import anthropic_wire
from proxy.demo.admission import Admitted, admitted_anthropic
from proxy.demo.asked import anthropic_asked
from proxy.demo.delivery import deliver
from proxy.demo.documents import read_plain
from proxy.demo.gemini_server import GeminiServer
from proxy.demo.turns import Delivery, HttpError

if TYPE_CHECKING:
    from aiohttp import web

    from proxy.demo.provider import Provider

_MODELS: Final = "/projects/{project}/locations/{location}/publishers/%s/models/{model}"
_VERSIONS: Final = ("vertex-2023-10-16", "2026-10-21")
"""That of the documentation, and what Anthropic's own client puts in."""
_UNAUTHENTICATED: Final = (
    "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid "
    "authentication credential."
)


@dataclass(frozen=True, slots=True)
class VertexServer:
    provider: Provider

    def add_to(self, app: web.Application) -> None:
        for version in ("/v1", "/v1beta1"):
            GeminiServer(self.provider).add_model(app, version + _MODELS % "google")
        app.router.add_post(f"/v1{_MODELS % 'anthropic'}".replace("{model}", "count-tokens:rawPredict"), self._counted)
        for way in ("rawPredict", "streamRawPredict"):
            app.router.add_post(f"/v1{_MODELS % 'anthropic'}:{way}", self._claude)

    async def _claude(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        streamed = request.path.endswith(":streamRawPredict")
        checked = self._checked(request, raw, streamed=streamed)
        number = self.provider.record(request, raw, checked.message if isinstance(checked, HttpError) else "")
        if isinstance(checked, HttpError):
            body = anthropic_wire.error_body(checked, self.provider.identifiers.next("req_vrtx_", 22))
            return await deliver(request, checked.status, {"Content-Type": "application/json"}, [body], Delivery())
        asked = replace(anthropic_asked(checked.body), streamed=streamed)
        return await self.provider.reply(request, number, checked, asked)

    async def _counted(self, request: web.Request) -> web.StreamResponse:
        self.provider.record(request, await request.read())
        return await deliver(request, 200, {"Content-Type": "application/json"}, [b'{"input_tokens":42}'], Delivery())

    def _checked(self, request: web.Request, raw: bytes, *, streamed: bool) -> Admitted | HttpError:
        if not request.headers.get("Authorization", "").startswith("Bearer "):
            return HttpError(401, "authentication_error", _UNAUTHENTICATED)
        try:
            body = read_plain(raw.decode())
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return HttpError(400, "invalid_request_error", "The request body is not valid JSON")
        if body.pop("anthropic_version", None) not in _VERSIONS:
            return HttpError(400, "invalid_request_error", "anthropic_version: Field required")
        if "model" in body:
            return HttpError(400, "invalid_request_error", "model: Extra inputs are not permitted")
        if "max_tokens" not in body:
            return HttpError(400, "invalid_request_error", "max_tokens: Field required")
        if body.get("stream") is True and not streamed:
            return HttpError(400, "invalid_request_error", "stream: streaming is not supported by rawPredict")
        betas = ",".join(request.headers.getall("anthropic-beta", []))
        body["model"] = request.match_info["model"]
        return admitted_anthropic(body, betas, self.provider.anthropic)
