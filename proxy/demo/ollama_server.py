"""Ollama's door of the scripted provider: `/api/chat`, by lines or whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

from proxy.demo import ollama_wire
from proxy.demo.delivery import Dialogue, arranged, deliver
from proxy.demo.documents import read_plain
from proxy.demo.turns import Delivery, HttpError, Turn, Verbatim

if TYPE_CHECKING:
    from aiohttp import web

    from proxy.demo.provider import Provider
    from proxy.demo.turns import Document

_JSON = {"Content-Type": "application/json; charset=utf-8"}
_FAILED = b'{"error":"an error was encountered while running the model: CUDA error"}\n'


@dataclass(frozen=True, slots=True)
class OllamaServer:
    provider: Provider

    def add_to(self, app: web.Application) -> None:
        app.router.add_post("/api/chat", self._chat)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = self._checked(raw)
        number = self.provider.record(request, raw, body.message if isinstance(body, HttpError) else "")
        if isinstance(body, HttpError):
            return await self._error(request, body, Delivery())
        asked = ollama_wire.asked(body)
        reply = self.provider.script(asked)
        match reply.answer:
            case HttpError() as error:
                return await self._error(request, error, reply.delivery)
            case Verbatim(data, content_type, status, headers):
                return await deliver(request, status, {**headers, "Content-Type": content_type}, [data], reply.delivery)
            case Turn() as turn:
                received = self.provider.received
                received[number] = replace(received[number], turn=ollama_wire.message(turn))
                if not asked.streamed:
                    return await deliver(request, 200, _JSON, [ollama_wire.body(turn, asked.model)], reply.delivery)
                lines = ollama_wire.lines(turn, asked.model, reply.delivery.fragment_chars)
                frames = arranged(lines, reply.delivery, Dialogue(b"", _FAILED))
                return await deliver(request, 200, {"Content-Type": ollama_wire.STREAM_TYPE}, frames, reply.delivery)

    @staticmethod
    def _checked(raw: bytes) -> Document | HttpError:
        try:
            body = read_plain(raw.decode())
        except ValueError:
            return HttpError(400, "", "invalid character in request body")
        if not isinstance(body, dict):
            return HttpError(400, "", "json: cannot unmarshal array into Go value of type api.ChatRequest")
        return ollama_wire.refusal(body) or body

    @staticmethod
    async def _error(request: web.Request, error: HttpError, delivery: Delivery) -> web.StreamResponse:
        body = orjson.dumps({"error": error.message})
        return await deliver(request, error.status, {**_JSON, **error.headers}, [body], delivery)
