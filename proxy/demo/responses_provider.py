"""A scripted OpenAI Responses server: it stores what it answers, and refuses what the real one refuses.

It shares no code with the product, which is tested against it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson
from aiohttp import web

from proxy.demo import chat_wire
from proxy.demo.azure_server import azure_refusal
from proxy.demo.documents import read
from proxy.demo.identifiers import Identifiers
from proxy.demo.responses_history import Issued, context_of
from proxy.demo.responses_wire import body, events, items_of, response_of
from proxy.demo.turns import HttpError, Stop, Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from proxy.demo.turns import Document

ResponsesScript: TypeAlias = "Callable[[list[dict[str, Any]]], Turn | HttpError]"
"""From all the items that the model sees to its turn."""
_BODY_BYTES_MAX = 64 * 1024 * 1024
_FRAGMENT_CHARS = 7


@dataclass(slots=True)
class ResponsesProvider:
    """`received` are the requests as they came, parsed; `contexts` what the model saw of each that was answered;
    `refused` the texts of the provider's own refusals; `issued` what it stores."""

    script: ResponsesScript
    received: list[Document] = field(default_factory=list)
    contexts: list[list[Document]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    issued: Issued = field(default_factory=Issued)
    identifiers: Identifiers = field(default_factory=Identifiers)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=_BODY_BYTES_MAX)
        for root in ("/v1/responses", "/responses", "/openai/v1/responses", "/openai/responses"):
            app.router.add_post(root, self._create)
            app.router.add_post(f"{root}/compact", self._compact)
            app.router.add_post(f"{root}/input_tokens", self._count)
        return app

    async def _create(self, request: web.Request) -> web.StreamResponse:
        """Azure's path without a version in it has it in its query."""
        asked: Document = read(await request.read())
        self.received.append(asked)
        at = request.path
        refused = azure_refusal(request, versioned=at == "/openai/responses") if at.startswith("/openai/") else None
        context = refused or context_of(asked, self.issued)
        answer = context if isinstance(context, HttpError) else self.script(context)
        if isinstance(context, HttpError) or isinstance(answer, HttpError):
            error = context if isinstance(context, HttpError) else answer
            assert isinstance(error, HttpError)
            self.refused.append(error.message)
            return web.Response(status=error.status, body=chat_wire.error_body(error), content_type="application/json")
        self.contexts.append(context)
        assert isinstance(answer, Turn)
        return await self._send(request, asked, context, answer)

    async def _send(
        self, request: web.Request, asked: Document, context: list[Document], turn: Turn
    ) -> web.StreamResponse:
        stored = asked.get("store", True) is not False
        encrypted = not stored and "reasoning.encrypted_content" in (asked.get("include") or [])
        output = items_of(turn, self.identifiers, encrypted=encrypted)
        status = "incomplete" if turn.stop is Stop.LENGTH else "completed"
        response = response_of(self.identifiers.next("resp_", 48), asked, output, turn, status)
        conversation = response["conversation"]
        name = conversation["id"] if conversation else ""
        self.issued.keep(response["id"], name, context, output, stored=stored)
        if asked.get("stream") is not True:
            return web.Response(body=body(response), content_type="application/json")
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await stream.prepare(request)
        for frame in events(response, _FRAGMENT_CHARS):
            await stream.write(frame)
        await stream.write_eof()
        return stream

    async def _compact(self, request: web.Request) -> web.StreamResponse:
        """The newest user's message stays; the rest is one item that only the provider can read."""
        asked: Document = read(await request.read())
        self.received.append(asked)
        context = context_of(asked, self.issued)
        if isinstance(context, HttpError):
            self.refused.append(context.message)
            return web.Response(
                status=context.status, body=chat_wire.error_body(context), content_type="application/json"
            )
        self.contexts.append(context)
        own = {"id": self.identifiers.next("cmp_", 48), "type": "compaction"}
        item = own | {"encrypted_content": self.identifiers.next("gAAAAA", 60)}
        self.issued.kept[item["id"]] = item
        document = {"id": self.identifiers.next("resp_", 48), "object": "response.compaction", "output": [item]}
        return web.Response(body=orjson.dumps(document), content_type="application/json")

    async def _count(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        document = {"object": "response.input_tokens", "input_tokens": len(raw) // 4}
        return web.Response(body=orjson.dumps(document), content_type="application/json")
