"""A scripted model provider over HTTP, streamed and not: Anthropic Messages, OpenAI Chat Completions, Gemini, Ollama,
Bedrock, and what of these Vertex and Azure serve.

It refuses what the real ones refuse and records every request. It shares no code with the product, which is tested
against it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aiohttp import web

from proxy.demo import anthropic_wire, chat_wire
from proxy.demo.admission import admitted_anthropic, admitted_chat, parsed
from proxy.demo.asked import anthropic_asked, chat_asked
from proxy.demo.azure_server import AzureServer
from proxy.demo.bedrock_server import BedrockServer
from proxy.demo.delivery import Dialogue, arranged, deliver
from proxy.demo.gemini_server import GeminiServer
from proxy.demo.identifiers import Identifiers
from proxy.demo.ollama_server import OllamaServer
from proxy.demo.saying import said, tokens
from proxy.demo.servers import CLAUDE, OPENAI
from proxy.demo.turns import Delivery, Dialect, HttpError, Stop, Turn, Verbatim
from proxy.demo.vertex_server import VertexServer

if TYPE_CHECKING:
    from proxy.demo.admission import Admitted
    from proxy.demo.saying import Said
    from proxy.demo.servers import AnthropicServer, ChatServer
    from proxy.demo.turns import Asked, Document, Script

_BODY_BYTES_MAX = 64 * 1024 * 1024
_MODELS = {"claude-sonnet-5-5": "Claude Sonnet 5.5", "claude-haiku-5-5": "Claude Haiku 5.5"}
_CHAT_MODELS = ("gpt-5.4", "gpt-5.4-mini")


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came. `target` is the raw path with its query; `body` still has its content encoding.

    `turn` is the assistant message that answered it, as a client should read it: None for anything but a turn. `is_cut`
    says that the token limit ended it.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    refused: str = ""  # the text of the provider's own refusal, if it was one
    turn: Document | None = None
    is_cut: bool = False

    def header(self, name: str) -> str | None:
        """The first value of that header, in any case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(slots=True)
class Provider:
    """`script` may be replaced between requests; `received` grows by one with each request.

    `anthropic` and `chat` say which servers it doubles.
    """

    script: Script
    anthropic: AnthropicServer = CLAUDE
    chat: ChatServer = OPENAI
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
        GeminiServer(self).add_to(app)
        OllamaServer(self).add_to(app)
        BedrockServer(self).add_to(app)
        VertexServer(self).add_to(app)
        AzureServer(self).add_to(app)
        app.router.add_route("*", "/{rest:.*}", self._not_found)
        return app

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        return await self._answer(request, Dialect.ANTHROPIC)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._answer(request, Dialect.CHAT)

    async def _answer(self, request: web.Request, dialect: Dialect) -> web.StreamResponse:
        checked, number = await self._checked(request, dialect)
        if isinstance(checked, HttpError):
            return await self.send_error(request, dialect, checked, Delivery())
        asked = anthropic_asked(checked.body) if dialect is Dialect.ANTHROPIC else chat_asked(checked.body)
        return await self.reply(request, number, checked, asked)

    async def reply(self, request: web.Request, number: int, checked: Admitted, asked: Asked) -> web.StreamResponse:
        """What the script says to a request that was recorded under that number."""
        dialect, reply = asked.dialect, self.script(asked)
        match reply.answer:
            case HttpError() as error:
                return await self.send_error(request, dialect, error, reply.delivery)
            case Verbatim(body, content_type, status, headers):
                return await deliver(request, status, {**headers, "Content-Type": content_type}, [body], reply.delivery)
            case Turn() as turn:
                ready = said(
                    turn,
                    checked,
                    dialect,
                    request_bytes=len(self.received[number].body),
                    identifiers=self.identifiers,
                    server=self.chat,
                )
                is_cut = ready.turn.stop is Stop.LENGTH
                self.received[number] = replace(self.received[number], turn=ready.message, is_cut=is_cut)
                return await self._send_turn(request, asked, ready, checked, reply.delivery)

    async def _checked(self, request: web.Request, dialect: Dialect) -> tuple[Admitted | HttpError, int]:
        """The request, or the provider's refusal of it; either way it is recorded, under that number."""
        raw = await request.read()
        result = self._admitted(request, raw, dialect)
        refused = result.message if isinstance(result, HttpError) else ""
        return result, self.record(request, raw, refused)

    def _admitted(self, request: web.Request, raw: bytes, dialect: Dialect) -> Admitted | HttpError:
        body = parsed(request.headers, raw, dialect, counting=request.path.endswith("/count_tokens"))
        if isinstance(body, HttpError):
            return body
        if dialect is Dialect.CHAT:
            return admitted_chat(body, self.chat)
        return admitted_anthropic(body, ",".join(request.headers.getall("anthropic-beta", [])), self.anthropic)

    def record(self, request: web.Request, raw: bytes, refused: str = "") -> int:
        """Keep a request; the number under which it is kept."""
        headers = tuple((key.decode("latin-1"), value.decode("latin-1")) for key, value in request.raw_headers)
        self.received.append(Received(request.method, request.raw_path, headers, raw, refused))
        return len(self.received) - 1

    async def _send_turn(
        self, request: web.Request, asked: Asked, ready: Said, checked: Admitted, delivery: Delivery
    ) -> web.StreamResponse:
        headers = _headers(asked.dialect, self.identifiers)
        if not asked.streamed:
            headers["Content-Type"] = "application/json"
            return await deliver(request, 200, headers, [self._body(asked, ready, checked)], delivery)
        headers |= {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
        frames = self._frames(asked, ready, checked, delivery)
        return await deliver(request, 200, headers, frames, delivery)

    def _body(self, asked: Asked, ready: Said, checked: Admitted) -> bytes:
        if asked.dialect is Dialect.CHAT:
            return chat_wire.body(ready.turn, asked.model, self.identifiers, self.chat)
        return anthropic_wire.body(ready.turn, asked.model, self.identifiers, _transformations(checked))

    def _frames(self, asked: Asked, ready: Said, checked: Admitted, delivery: Delivery) -> list[bytes]:
        chars = delivery.fragment_chars
        if asked.dialect is Dialect.ANTHROPIC:
            told = _transformations(checked)
            events = anthropic_wire.events(ready.turn, asked.model, self.identifiers, chars, told)
            return arranged(events, delivery, Dialogue(anthropic_wire.PING, anthropic_wire.error_event()))
        usage = bool((asked.body.get("stream_options") or {}).get("include_usage"))
        events = chat_wire.events(
            ready.turn, asked.model, self.identifiers, chars, include_usage=usage, server=self.chat
        )
        return arranged(events, delivery, Dialogue(chat_wire.PING, chat_wire.error_event()))

    async def send_error(
        self, request: web.Request, dialect: Dialect, error: HttpError, delivery: Delivery
    ) -> web.StreamResponse:
        """An error in the dialect's own shape."""
        headers = {**_headers(dialect, self.identifiers), "Content-Type": "application/json", **error.headers}
        if dialect is Dialect.ANTHROPIC:
            body = anthropic_wire.error_body(error, headers["request-id"])
        else:
            body = chat_wire.error_body(error)
        return await deliver(request, error.status, headers, [body], delivery)

    async def _count_tokens(self, request: web.Request) -> web.StreamResponse:
        checked, number = await self._checked(request, Dialect.ANTHROPIC)
        if isinstance(checked, HttpError):
            return await self.send_error(request, Dialect.ANTHROPIC, checked, Delivery())
        counted = tokens(len(self.received[number].body))
        return web.json_response({"input_tokens": counted}, headers=_headers(Dialect.ANTHROPIC, self.identifiers))

    async def _models(self, request: web.Request) -> web.StreamResponse:
        self.record(request, await request.read())
        if _speaks(request) is Dialect.CHAT:
            return web.json_response({"object": "list", "data": [_chat_model(name) for name in _CHAT_MODELS]})
        names = list(_MODELS)
        page = {"data": [_anthropic_model(name) for name in names], "has_more": False}
        return web.json_response(page | {"first_id": names[0], "last_id": names[-1]})

    async def _model(self, request: web.Request) -> web.StreamResponse:
        self.record(request, await request.read())
        name, dialect = request.match_info["model"], _speaks(request)
        if dialect is Dialect.CHAT and name in _CHAT_MODELS:
            return web.json_response(_chat_model(name))
        if dialect is Dialect.ANTHROPIC and name in _MODELS:
            return web.json_response(_anthropic_model(name))
        kind = "invalid_request_error" if dialect is Dialect.CHAT else "not_found_error"
        return await self.send_error(request, dialect, HttpError(404, kind, f"model: {name}"), Delivery())

    async def _not_found(self, request: web.Request) -> web.StreamResponse:
        self.record(request, await request.read())
        dialect = _speaks(request)
        if dialect is Dialect.CHAT:
            text = f"Invalid URL ({request.method} {request.path})"
            return await self.send_error(request, dialect, HttpError(404, "invalid_request_error", text), Delivery())
        return await self.send_error(request, dialect, HttpError(404, "not_found_error", "Not found"), Delivery())


def _speaks(request: web.Request) -> Dialect:
    return Dialect.ANTHROPIC if "anthropic-version" in request.headers else Dialect.CHAT


def _headers(dialect: Dialect, identifiers: Identifiers) -> dict[str, str]:
    if dialect is Dialect.ANTHROPIC:
        return {"request-id": identifiers.next("req_01", 22), "anthropic-organization-id": "scripted"}
    return {"x-request-id": identifiers.next("req_", 32), "openai-version": "2020-10-01", "openai-processing-ms": "7"}


def _transformations(checked: Admitted) -> list[Document] | None:
    return checked.heard.transformations if checked.heard is not None else None


def _anthropic_model(name: str) -> Document:
    fields = {"type": "model", "id": name, "display_name": _MODELS[name], "created_at": "2026-09-01T00:00:00Z"}
    return fields | {"lifecycle": "active"}


def _chat_model(name: str) -> Document:
    return {"id": name, "object": "model", "created": chat_wire.CREATED, "owned_by": "scripted"}
