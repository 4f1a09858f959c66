"""A receiver of webhooks as its owner would write it: it verifies each message, by the text of the standard alone."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
from aiohttp import web

from proxy.demo.serving import serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

KEY = "a-key-of-the-webhooks-which-is-long-enough"


@dataclass
class Receiver:
    """`got` are the messages that verified, each with its headers; `answers` says what each attempt is answered."""

    url: str = ""
    got: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    answers: Callable[[int], Awaitable[web.Response]] | None = None

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        sent = {name.lower(): value for name, value in request.headers.items()}
        signed = f"{sent['webhook-id']}.{sent['webhook-timestamp']}.".encode() + body
        expected = base64.b64encode(hmac.new(KEY.encode(), signed, hashlib.sha256).digest()).decode()
        if sent["webhook-signature"] != f"v1,{expected}" or abs(time.time() - int(sent["webhook-timestamp"])) > 300:
            return web.json_response({"error": "signature"}, status=401)
        self.got.append((sent, orjson.loads(body)))
        if self.answers is not None:
            return await self.answers(len(self.got))
        return web.json_response({"status": "ok"})

    async def wait(self, count: int = 1, *, within: float = 10.0) -> list[dict[str, Any]]:
        """The bodies, once there are so many."""
        deadline = time.monotonic() + within
        while len(self.got) < count:
            assert time.monotonic() < deadline, f"{len(self.got)} of {count} messages"
            await asyncio.sleep(0.02)
        return [body for _, body in self.got]


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/hook", receiver.handle)
    async with serving(app, shutdown_seconds=0.1) as url:
        receiver.url = f"{url}/hook"
        yield receiver


def webhooks(**targets: Receiver) -> str:
    """The section of a configuration."""
    rows = [f"  {name}: {{url: '{one.url}', key: {KEY}}}" for name, one in targets.items()]
    return "webhooks:\n" + "\n".join(rows) + "\n"
