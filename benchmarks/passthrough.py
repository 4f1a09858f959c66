"""What the gate is measured against: a reverse proxy that decides nothing, as one would write it with aiohttp.

It reads the request's body whole, as any proxy must that wants its length, and passes the answer on as it comes.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import uvloop
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, web
from yarl import URL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

HOP_BY_HOP = frozenset(
    {"connection", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length"}
)
UNADDED = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")
BODY_BYTES_MAX = 64 * 1024 * 1024


def _forwarder(session: ClientSession, upstream: str) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    async def forward(request: web.BaseRequest) -> web.StreamResponse:
        headers = [(name, value) for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP]
        url = URL(upstream + request.raw_path, encoded=True)
        body = await request.read()
        async with session.request(
            request.method, url, headers=headers, data=body, skip_auto_headers=UNADDED, allow_redirects=False
        ) as answer:
            response = web.StreamResponse(status=answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in HOP_BY_HOP:
                    response.headers.add(name, value)
            response.content_length = answer.content_length
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    return forward


async def _serve(upstream: str) -> None:
    loop = asyncio.get_running_loop()

    def request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=BODY_BYTES_MAX)

    connector = TCPConnector(limit=0, keepalive_timeout=60)
    async with ClientSession(
        connector=connector, timeout=ClientTimeout(total=None), cookie_jar=DummyCookieJar(), auto_decompress=False
    ) as session:
        server = web.Server(
            _forwarder(session, upstream), request_factory=request, handler_cancellation=True, access_log=None
        )
        runner = web.ServerRunner(server)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print(f"listening on http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(_serve(sys.argv[1]))
