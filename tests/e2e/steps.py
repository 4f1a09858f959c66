"""A provider that stops before each event of its answer and asks what to do: go on, end, or lose the connection."""

from __future__ import annotations

import socket
import struct
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from aiohttp import web

from proxy.demo import anthropic_wire, chat_wire
from proxy.demo.identifiers import Identifiers
from proxy.demo.turns import Dialect, Turn

FRAGMENT_CHARS = 12


class Cut(Enum):
    """How a response ends early."""

    END = auto()  # in order, as if it were whole
    LOST = auto()  # the connection closes, the body is not complete
    RESET = auto()  # the connection is reset


Before: TypeAlias = Callable[[int], Awaitable["Cut | None"]]


async def go_on(_: int) -> Cut | None:
    return None


def events_of(dialect: Dialect, turn: Turn) -> list[bytes]:
    """The events of a streamed turn as the scripted provider writes them."""
    if dialect is Dialect.ANTHROPIC:
        return anthropic_wire.events(turn, "scripted", Identifiers(), FRAGMENT_CHARS)
    return chat_wire.events(turn, "scripted", Identifiers(), FRAGMENT_CHARS, include_usage=True)


@dataclass(slots=True)
class Steps:
    """`before` is asked before each event, and once more before the end. `gone` counts clients that left."""

    events: Sequence[bytes]
    before: Before = go_on
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    asked: int = 0

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/{path:.*}", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        await request.read()
        response = web.StreamResponse(headers=self.headers)
        await response.prepare(request)
        for number in range(len(self.events) + 1):
            cut = await self.before(number)
            if cut is not None:
                return await _cut(request, response, cut)
            if number < len(self.events):
                await response.write(self.events[number])
        await response.write_eof()
        return response


async def _cut(request: web.Request, response: web.StreamResponse, cut: Cut) -> web.StreamResponse:
    transport = request.transport
    if cut is Cut.END or transport is None:
        await response.write_eof()
        return response
    if cut is Cut.RESET:
        raw = transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    else:
        transport.close()
    return response
