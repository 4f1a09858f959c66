"""What passes without being read: the provider's own errors, and the routes that the configuration names."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import aiohttp
import orjson
import pytest
from aiohttp import web
from yarl import URL

from proxy.demo.turns import Call, Dialect, Text, Turn, Verbatim, always
from tests.e2e.client import BOTH, PATHS, ask, request_body, request_headers
from tests.e2e.harness import ALLOW_ALL, DENY_ALL, desk
from tests.e2e.steps import Steps, events_of

if TYPE_CHECKING:
    from pathlib import Path


IDS = [dialect.value for dialect in BOTH]
PASSES = "pass_through: [POST /v1/embeddings, GET /v1/files]\n"


def _answering(status: int, parts: int, seconds: float, *, lost: bool) -> web.Application:
    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(status=status, headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for _ in range(parts):
            await response.write(b" ")
            await asyncio.sleep(seconds)
        if lost:
            assert request.transport is not None
            request.transport.close()
            return response
        await response.write(b"{}")
        await response.write_eof()
        return response

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", answer)
    return app


async def test_what_is_relayed_is_bounded_in_time(tmp_path: Path) -> None:
    """What drips on is cut at `exchange_ms_max`, and the client sees that it is cut."""
    app = _answering(200, 200, 0.05, lost=False)
    limits = {"exchange_ms_max": 1000}
    async with desk(tmp_path, always(Turn(())), ALLOW_ALL, upstream=app, limits=limits, extra=PASSES) as gate:
        began = time.monotonic()
        data, fields = request_body(Dialect.CHAT, "x", streamed=True), request_headers(Dialect.CHAT)
        with pytest.raises(aiohttp.ClientError):
            async with gate.session.post(gate.url + "/v1/embeddings", data=data, headers=fields) as got:
                await got.read()
        assert time.monotonic() - began < 10
        (line,) = gate.lines()
        assert line["outcome"] != "complete"


@pytest.mark.parametrize(("chunks", "is_lost", "status"), [(2, True, 502), (200, False, 504)])
async def test_a_providers_error_that_is_lost_or_drips_is_an_error_of_the_gates(
    tmp_path: Path, chunks: int, is_lost: bool, status: int
) -> None:
    """Half an error body must not look like a whole one, and is not waited for beyond `exchange_ms_max`."""
    app = _answering(500, chunks, 0.05, lost=is_lost)
    async with desk(tmp_path, always(Turn(())), ALLOW_ALL, upstream=app, limits={"exchange_ms_max": 1000}) as gate:
        data, fields = request_body(Dialect.CHAT, "x", streamed=True), request_headers(Dialect.CHAT)
        async with gate.session.post(gate.url + PATHS[Dialect.CHAT], data=data, headers=fields) as got:
            assert got.status == status
            assert b"callgate" in await got.read()
        assert gate.lines()[0]["error"]


async def test_an_unexamined_route_passes_with_a_receipt_and_the_others_do_not(tmp_path: Path) -> None:
    """Only what the configuration names, by method and path, to the letter."""
    async with desk(tmp_path, always(Turn(())), DENY_ALL, extra=PASSES) as gate:
        fields = request_headers(Dialect.CHAT)
        async with gate.session.post(gate.url + "/v1/embeddings?a=%20b", data=b"{}", headers=fields) as got:
            assert got.status == 404  # the provider's own
            assert b"Invalid URL" in await got.read()
        assert gate.provider.received[0].target == "/v1/embeddings?a=%20b"
        assert [each["kind"] for each in await gate.records()] == ["unexamined"]
        for method, path in (
            ("GET", "/v1/embeddings"),
            ("POST", "/v1/embeddings/"),
            ("POST", "/v1//embeddings"),
            ("POST", "/v1/audio/speech"),
            ("POST", "/v1/files"),
            ("DELETE", "/v1/chat/completions"),
            ("POST", "/v1/x/../chat/completions"),
        ):
            url = URL(gate.url + path, encoded=True)
            async with gate.session.request(method, url, data=b"{}", headers=fields) as got:
                assert got.status == 404, (method, path)
                assert "error" in orjson.loads(await got.read())
        assert len(gate.provider.received) == 1


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_provider_that_leads_elsewhere_is_not_followed(tmp_path: Path, dialect: Dialect, status: int) -> None:
    """Neither by the gate nor by the client: a redirect would lead round the gate."""
    answer = Verbatim(b"", "text/plain", status=status, headers={"Location": "http://127.0.0.1:1/v1/messages"})
    async with desk(tmp_path, always(answer), ALLOW_ALL) as gate:
        heard = await ask(gate, dialect)
        assert heard.status == 502
        assert "location" not in heard.headers
        assert heard.error is not None


@pytest.mark.parametrize("dialect", BOTH, ids=IDS)
async def test_a_stream_where_a_body_was_asked_for_and_the_reverse(tmp_path: Path, dialect: Dialect) -> None:
    """A call gets out in neither form: a stream that nobody asked for is refused, a body in a stream's place judged."""
    turn = Turn((Call("drop_tables", '{"text": "alpha-mark"}'),))
    stream = b"".join(events_of(dialect, turn))
    async with desk(tmp_path / "one", always(Verbatim(stream, "text/event-stream")), DENY_ALL) as gate:
        heard = await ask(gate, dialect, streamed=False)
        assert heard.status == 502
        assert b"alpha-mark" not in heard.body
    from proxy.demo import anthropic_wire, chat_wire
    from proxy.demo.identifiers import Identifiers

    wire = anthropic_wire if dialect is Dialect.ANTHROPIC else chat_wire
    body = wire.body(turn, "scripted", Identifiers())
    for content_type in ("application/json", "text/plain", "application/octet-stream"):
        answer = Verbatim(b" \n" + body, content_type)
        async with desk(tmp_path / content_type.replace("/", "-"), always(answer), DENY_ALL) as gate:
            heard = await ask(gate, dialect, streamed=True)
            assert b"drop_tables" not in heard.body
            assert b"alpha-mark" not in heard.body


async def test_a_client_that_does_not_read_is_given_up(tmp_path: Path) -> None:
    """A client that takes nothing holds its exchange for `exchange_ms_max` and no longer; what it got is told."""
    turn = Turn((Text("x" * 30_000_000), Call("note", "{}")))
    steps = Steps([*events_of(Dialect.CHAT, Turn((Text("x"),)))[:1]])
    big = events_of(Dialect.CHAT, Turn((Text("x" * 12),)))[1].replace(b"x" * 12, b"x" * 1_000_000)
    steps.events = [*steps.events, *[big] * 40, b"data: [DONE]\n\n"]
    limits = {"exchange_ms_max": 1000}
    async with desk(tmp_path, always(turn), ALLOW_ALL, upstream=steps.app(), limits=limits) as gate:
        address = urlsplit(gate.url)
        raw = socket.create_connection((address.hostname, address.port))
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        try:
            body = request_body(Dialect.CHAT, "x", streamed=True)
            fields = request_headers(Dialect.CHAT, {"host": address.netloc, "content-length": str(len(body))})
            head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            raw.sendall(f"POST {PATHS[Dialect.CHAT]} HTTP/1.1\r\n{head}\r\n".encode() + body)
            began = time.monotonic()
            while not gate.lines():
                assert time.monotonic() - began < 4, "the exchange hangs on a client that does not read"
                await asyncio.sleep(0.05)
        finally:
            raw.close()
        assert gate.lines()[0]["outcome"] != "complete"
        assert gate.listener._room.held == 0
