"""Azure's door of the scripted provider: Chat of a deployment, with the verdicts of its content filter (WIRE.md 2).

The path names the deployment, the query the version of the API; a stream begins with a chunk that has no choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from proxy.demo.admission import admitted_chat, parsed
from proxy.demo.asked import chat_asked
from proxy.demo.turns import Delivery, Dialect, HttpError

if TYPE_CHECKING:
    from aiohttp import web

    from proxy.demo.admission import Admitted
    from proxy.demo.provider import Provider


def azure_refusal(request: web.Request, *, versioned: bool) -> HttpError | None:
    """What the resource says to a head that is not one of its own, or None. `versioned` paths state their version."""
    is_known = request.headers.get("Authorization", "").startswith("Bearer ") or "api-key" in request.headers
    if not is_known:
        message = "Access denied due to invalid subscription key or wrong API endpoint."
        return HttpError(401, "invalid_request_error", message, "401")
    if versioned and not request.query.get("api-version"):
        return HttpError(404, "invalid_request_error", "Resource not found", "404")
    return None


@dataclass(frozen=True, slots=True)
class AzureServer:
    provider: Provider

    def add_to(self, app: web.Application) -> None:
        app.router.add_post("/openai/deployments/{deployment}/chat/completions", self._chat)
        app.router.add_post("/openai/v1/chat/completions", self._chat)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        checked = self._checked(request, raw)
        number = self.provider.record(request, raw, checked.message if isinstance(checked, HttpError) else "")
        if isinstance(checked, HttpError):
            return await self.provider.send_error(request, Dialect.CHAT, checked, Delivery())
        filtering = replace(self.provider, chat=replace(self.provider.chat, filters=True))
        return await filtering.reply(request, number, checked, chat_asked(checked.body))

    def _checked(self, request: web.Request, raw: bytes) -> Admitted | HttpError:
        deployment = request.match_info.get("deployment")
        refused = azure_refusal(request, versioned=deployment is not None)
        if refused is not None:
            return refused
        body = parsed(request.headers, raw, Dialect.CHAT, counting=False, model=deployment)
        return body if isinstance(body, HttpError) else admitted_chat(body, self.provider.chat)
