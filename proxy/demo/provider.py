"""A scripted model provider: Anthropic Messages and OpenAI Chat Completions over HTTP, streamed and not.

It refuses what the real ones refuse and records every request. It shares no code with the product, which is tested
against it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson
from aiohttp import web

from proxy.demo import anthropic_wire, chat_wire
from proxy.demo.anthropic_history import anthropic_refusal
from proxy.demo.asked import anthropic_asked, chat_asked
from proxy.demo.chat_history import chat_refusal
from proxy.demo.delivery import Dialogue, arranged, deliver
from proxy.demo.documents import read
from proxy.demo.encodings import decoded
from proxy.demo.identifiers import Identifiers
from proxy.demo.turns import Delivery, Dialect, HttpError, Reply, Turn, Verbatim

if TYPE_CHECKING:
    from proxy.demo.turns import Asked, Document, Script

_BODY_BYTES_MAX = 64 * 1024 * 1024
_MODELS = {"claude-sonnet-5-5": "Claude Sonnet 5.5", "claude-haiku-5-5": "Claude Haiku 5.5"}
_CHAT_MODELS = ("gpt-5.4", "gpt-5.4-mini")


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came. `target` is the raw path with its query; `body` still has its content encoding."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    refused: str = ""  # the text of the provider's own refusal, if it was one

    def header(self, name: str) -> str | None:
        """The first value of that header, in any case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(slots=True)
class Provider:
    """`script` may be replaced between requests; `received` grows by one with each request."""

    script: Script
    received: list[Received] = field(default_factory=list)
    identifiers: Identifiers = field(default_factory=Identifiers)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=_BODY_BYTES_MAX)
        for prefix in ("/v1", ""):
            app.router.add_post(f"{prefix}/messages", self._messages)
            app.router.add_post(f"{prefix}/messages/count_tokens", self._count_tokens)
            app.router.add_post(f"{prefix}/chat/completions", self._chat)
            app.router.add_get(f"{prefix}/models", self._models)
            app.router.add_get(f"{prefix}/models/{{model}}", self._model)
        app.router.add_route("*", "/{rest:.*}", self._not_found)
        return app

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        return await self._answer(request, Dialect.ANTHROPIC)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._answer(request, Dialect.CHAT)

    async def _answer(self, request: web.Request, dialect: Dialect) -> web.StreamResponse:
        checked = await self._checked(request, dialect)
        if isinstance(checked, HttpError):
            return await self._send_error(request, dialect, checked, Delivery())
        asked = anthropic_asked(checked) if dialect is Dialect.ANTHROPIC else chat_asked(checked)
        reply = self.script(asked)
        match reply.answer:
            case HttpError() as error:
                return await self._send_error(request, dialect, error, reply.delivery)
            case Verbatim(body, content_type, status, headers):
                return await deliver(request, status, {**headers, "Content-Type": content_type}, [body], reply.delivery)
            case Turn() as turn:
                return await self._send_turn(request, asked, turn, reply)

    async def _checked(self, request: web.Request, dialect: Dialect) -> Document | HttpError:
        """The parsed body, or the provider's refusal of it; either way the request is recorded."""
        raw = await request.read()
        result = _parsed(request, raw, dialect)
        refused = result.message if isinstance(result, HttpError) else ""
        self._record(request, raw, refused)
        return result

    def _record(self, request: web.Request, raw: bytes, refused: str = "") -> None:
        headers = tuple((key.decode("latin-1"), value.decode("latin-1")) for key, value in request.raw_headers)
        self.received.append(Received(request.method, request.raw_path, headers, raw, refused))

    async def _send_turn(self, request: web.Request, asked: Asked, turn: Turn, reply: Reply) -> web.StreamResponse:
        delivery, identifiers = reply.delivery, self.identifiers
        headers = _headers(asked.dialect, identifiers)
        if not asked.streamed:
            headers["Content-Type"] = "application/json"
            wire = anthropic_wire if asked.dialect is Dialect.ANTHROPIC else chat_wire
            return await deliver(request, 200, headers, [wire.body(turn, asked.model, identifiers)], delivery)
        if asked.dialect is Dialect.ANTHROPIC:
            events = anthropic_wire.events(turn, asked.model, identifiers, delivery.fragment_chars)
            dialogue = Dialogue(anthropic_wire.PING, anthropic_wire.error_event())
        else:
            usage = bool((asked.body.get("stream_options") or {}).get("include_usage"))
            events = chat_wire.events(turn, asked.model, identifiers, delivery.fragment_chars, include_usage=usage)
            dialogue = Dialogue(chat_wire.PING, chat_wire.error_event())
        headers |= {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
        return await deliver(request, 200, headers, arranged(events, delivery, dialogue), delivery)

    async def _send_error(
        self, request: web.Request, dialect: Dialect, error: HttpError, delivery: Delivery
    ) -> web.StreamResponse:
        headers = {**_headers(dialect, self.identifiers), "Content-Type": "application/json", **error.headers}
        if dialect is Dialect.ANTHROPIC:
            body = anthropic_wire.error_body(error, headers["request-id"])
        else:
            body = chat_wire.error_body(error)
        return await deliver(request, error.status, headers, [body], delivery)

    async def _count_tokens(self, request: web.Request) -> web.StreamResponse:
        checked = await self._checked(request, Dialect.ANTHROPIC)
        if isinstance(checked, HttpError):
            return await self._send_error(request, Dialect.ANTHROPIC, checked, Delivery())
        tokens = len(orjson.dumps(checked.get("messages"))) // 4
        return web.json_response({"input_tokens": tokens}, headers=_headers(Dialect.ANTHROPIC, self.identifiers))

    async def _models(self, request: web.Request) -> web.StreamResponse:
        self._record(request, await request.read())
        if _speaks(request) is Dialect.CHAT:
            return web.json_response({"object": "list", "data": [_chat_model(name) for name in _CHAT_MODELS]})
        names = list(_MODELS)
        page = {"data": [_anthropic_model(name) for name in names], "has_more": False}
        return web.json_response(page | {"first_id": names[0], "last_id": names[-1]})

    async def _model(self, request: web.Request) -> web.StreamResponse:
        self._record(request, await request.read())
        name, dialect = request.match_info["model"], _speaks(request)
        if dialect is Dialect.CHAT and name in _CHAT_MODELS:
            return web.json_response(_chat_model(name))
        if dialect is Dialect.ANTHROPIC and name in _MODELS:
            return web.json_response(_anthropic_model(name))
        kind = "invalid_request_error" if dialect is Dialect.CHAT else "not_found_error"
        return await self._send_error(request, dialect, HttpError(404, kind, f"model: {name}"), Delivery())

    async def _not_found(self, request: web.Request) -> web.StreamResponse:
        self._record(request, await request.read())
        dialect = _speaks(request)
        if dialect is Dialect.CHAT:
            text = f"Invalid URL ({request.method} {request.path})"
            return await self._send_error(request, dialect, HttpError(404, "invalid_request_error", text), Delivery())
        return await self._send_error(request, dialect, HttpError(404, "not_found_error", "Not found"), Delivery())


def _speaks(request: web.Request) -> Dialect:
    return Dialect.ANTHROPIC if "anthropic-version" in request.headers else Dialect.CHAT


def _headers(dialect: Dialect, identifiers: Identifiers) -> dict[str, str]:
    if dialect is Dialect.ANTHROPIC:
        return {"request-id": identifiers.next("req_01", 22), "anthropic-organization-id": "scripted"}
    return {"x-request-id": identifiers.next("req_", 32), "openai-version": "2020-10-01", "openai-processing-ms": "7"}


def _parsed(request: web.Request, raw: bytes, dialect: Dialect) -> Document | HttpError:
    refusal = _unauthorised(request, dialect)
    if refusal is not None:
        return refusal
    try:
        text = decoded(raw, request.headers.get("Content-Encoding", ""))
        body = read(text)
    except ValueError as error:
        return HttpError(400, "invalid_request_error", f"The request body is not valid JSON: {error}")
    if not isinstance(body, dict):
        return HttpError(400, "invalid_request_error", "Input should be a valid dictionary")
    required = ("model", "max_tokens") if dialect is Dialect.ANTHROPIC else ("model",)
    counting = request.path.endswith("/count_tokens")
    for key in required:
        if key not in body and not (counting and key == "max_tokens"):
            return _missing(key, dialect)
    return (anthropic_refusal(body) if dialect is Dialect.ANTHROPIC else chat_refusal(body)) or body


def _missing(key: str, dialect: Dialect) -> HttpError:
    if dialect is Dialect.ANTHROPIC:
        return HttpError(400, "invalid_request_error", f"{key}: Field required")
    return HttpError(400, "invalid_request_error", f"you must provide a {key} parameter")


def _unauthorised(request: web.Request, dialect: Dialect) -> HttpError | None:
    headers = request.headers
    bearer = headers.get("Authorization", "").startswith("Bearer ")
    if dialect is Dialect.CHAT:
        if bearer or "api-key" in headers:
            return None
        return HttpError(401, "invalid_request_error", "You didn't provide an API key.")
    if not bearer and "x-api-key" not in headers:
        return HttpError(401, "authentication_error", "x-api-key header is required")
    if "anthropic-version" not in headers:
        return HttpError(400, "invalid_request_error", "anthropic-version: header is required")
    return None


def _anthropic_model(name: str) -> Document:
    fields = {"type": "model", "id": name, "display_name": _MODELS[name], "created_at": "2026-09-01T00:00:00Z"}
    return fields | {"lifecycle": "active"}


def _chat_model(name: str) -> Document:
    return {"id": name, "object": "model", "created": chat_wire.CREATED, "owned_by": "scripted"}
