"""The two doubles around a gate, in one server: the provider that says what was recorded, and the source of facts.

The provider knows a run by the agent's API key; the facts of a gate stand below a path of its own, since a source of
facts is told nothing but the key of a record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import orjson
from aiohttp import web

if TYPE_CHECKING:
    from benchmarks.replays.family import Message, World

SILENCE = {"role": "assistant", "content": "I cannot go on."}
"""What the model says to a refusal that goes back to it: how the run would have gone on, no recording tells."""


@dataclass(slots=True)
class Doubles:
    """`saying` holds the next turn of each API key, `worlds` the world that each gate's facts are read from."""

    saying: dict[str, Message] = field(default_factory=dict)
    worlds: dict[str, World] = field(default_factory=dict)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", self._say)
        app.router.add_get("/facts/{lane}/{kind}/{key}", self._tell)
        return app

    async def _say(self, request: web.Request) -> web.Response:
        await request.read()
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        turn = self.saying.pop(key, SILENCE)
        return _json(_completion(turn))

    async def _tell(self, request: web.Request) -> web.Response:
        _, _, lane, kind, key = request.rel_url.raw_path.split("/")
        world = self.worlds.get(lane)
        record = None if world is None else world.fact(kind, unquote(key))
        return _json({"error": "not found"}, status=404) if record is None else _json(record)


def _json(value: object, *, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(value), status=status, content_type="application/json")


def _completion(turn: Message) -> dict[str, Any]:
    message = {"role": "assistant", "content": turn.get("content")}
    calls = turn.get("tool_calls")
    if calls:
        message["tool_calls"] = calls
    return {
        "id": "chatcmpl-recorded",
        "object": "chat.completion",
        "created": 0,
        "model": "recorded",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }
