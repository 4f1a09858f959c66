"""The provider's side of HTTP/1.1: what is an answer, when it is whole, and which connection may be used again."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.http1 import client as client_module
from proxy.http1.answers import Answer, UpstreamLostError
from proxy.http1.client import Client, Origin
from proxy.http1.connection import Connection
from proxy.http1.heads import HeadLimits
from tests.e2e.tls import _issued

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

LIMITS = HeadLimits(field_bytes=8190, fields=32)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\no\r\n1\r\nk\r\n0\r\nX: y\r\n\r\n"


class Wire:
    """A transport and its connection; what is fed to it is what a provider sends."""

    def __init__(self) -> None:
        self.freed: list[Connection] = []
        self.lost: list[Connection] = []
        self.written: list[bytes] = []
        self.is_closed = False
        self.connection = Connection(LIMITS, self.freed.append, self.lost.append)
        self.connection.connection_made(cast("Any", self))

    def write(self, data: bytes) -> None:
        self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    abort = close

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    async def ask(self, *parts: bytes, method: str = "POST", lost: bool = False, seconds: float = 30) -> Answer:
        asking = asyncio.ensure_future(self.connection.exchange(method, b"head", b"", seconds=seconds))
        await asyncio.sleep(0)
        for part in parts:
            if not self.is_closed:
                self.connection.data_received(part)
        if lost:
            self.connection.connection_lost(None)
        return await asking


WHOLE = {
    "a length": (OK, b"ok", True),
    "chunks": (CHUNKED, b"ok", True),
    "interim answers": (b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" * 3 + OK, b"ok", True),
    "nothing": (b"HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n", b"", True),
    "said to close": (OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), b"ok", False),
    "an old provider": (OK.replace(b"1.1", b"1.0"), b"ok", False),
}  # fmt: skip # one row each


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(sorted(WHOLE)), cuts=st.lists(st.integers(0, 200), max_size=12))
def test_an_answer_is_the_same_however_its_bytes_come(name: str, cuts: list[int]) -> None:
    """And the connection is free as soon as it is whole, where its provider keeps it."""
    raw, body, is_kept = WHOLE[name]

    async def run() -> None:
        wire = Wire()
        places = [0, *sorted(cut for cut in set(cuts) if 0 < cut < len(raw)), len(raw)]
        answer = await wire.ask(*[raw[start:end] for start, end in pairwise(places)])
        assert (answer.status in (200, 204), await answer.read()) == (True, body)
        assert (bool(wire.freed), wire.is_closed) == (is_kept, not is_kept)
        answer.close()
        assert wire.is_closed is not is_kept, "what was read whole is closed by nobody"

    asyncio.run(run())


CUT = {
    "before its head": b"",
    "in its head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "after an interim one": b"HTTP/1.1 100 Continue\r\n\r\n",
}


@pytest.mark.parametrize("raw", CUT.values(), ids=CUT)
async def test_an_answer_without_a_whole_head_is_none(raw: bytes) -> None:
    """Its request may have been carried out all the same, and is not sent again."""
    wire = Wire()
    with pytest.raises(UpstreamLostError):
        await wire.ask(*([raw] if raw else []), lost=True)
    assert (wire.freed, wire.lost) == ([], [wire.connection])


@pytest.mark.parametrize(
    "head", [b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Connection: close\r\nContent-Length: 5"]
)
async def test_a_body_that_is_cut_off_is_read_as_far_as_it_came_and_is_not_whole(head: bytes) -> None:
    """Whoever reads on hears of it, each time."""
    wire = Wire()
    body = b"2\r\nok\r\n" if b"chunked" in head else b"ok"
    answer = await wire.ask(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + body, lost=True)
    assert await answer.content.readany() == b"ok"
    for _ in range(2):
        with pytest.raises(UpstreamLostError):
            await answer.content.readany()


async def test_a_body_without_a_length_ends_with_its_connection() -> None:
    """Unless the connection failed."""
    for problem in (None, ConnectionResetError()):
        wire = Wire()
        answer = await wire.ask(b"HTTP/1.1 200 OK\r\n\r\nok")
        wire.connection.connection_lost(problem)
        assert await answer.content.readany() == b"ok"
        if problem is None:
            assert await answer.content.readany() == b""
        else:
            with pytest.raises(UpstreamLostError):
                await answer.content.readany()


ODD = {
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "a length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "bare line feeds": b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    "a folded field": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
    "another version": b"HTTP/3.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    "interim answers for ever": b"HTTP/1.1 100 Continue\r\n\r\n" * 40,
    "a long field": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 9000 + b"\r\n\r\n",
    "a field without end": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 50_000,
    "many fields": b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 40 + b"\r\n",
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "another coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "another coding alone": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok",
    "chunked twice": b"HTTP/1.1 200 OK\r\n" + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n2\r\nok\r\n0\r\n\r\n",
    "chunked, then another": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "chunks of an old provider": b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "an interim answer with a length": b"HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n" + OK,
    "an unknown interim answer with a body": b"HTTP/1.1 104 X\r\nContent-Length: %d\r\n\r\n" % len(OK) + OK + OK,
    "an interim answer with chunks": b"HTTP/1.1 104 X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + OK,
    "no status": b"HTTP/1.1 000 X\r\nContent-Length: 2\r\n\r\nok",
}


@pytest.mark.parametrize("raw", ODD.values(), ids=ODD)
async def test_what_could_be_read_in_two_ways_is_no_answer(raw: bytes) -> None:
    """Its connection is closed."""
    wire = Wire()
    with pytest.raises(UpstreamLostError):
        await wire.ask(raw)
    assert (wire.is_closed, wire.freed) == (True, [])


async def test_bytes_that_nobody_asked_for_end_a_connection() -> None:
    """Behind an answer and on an idle connection: they would be taken for the answer to the next request."""
    wire = Wire()
    answer = await wire.ask(OK + OK.replace(b"ok", b"no"))
    assert (await answer.read(), wire.is_closed) == (b"ok", True)

    wire = Wire()
    await wire.ask(OK)
    assert not wire.is_closed
    wire.connection.data_received(OK)
    assert wire.is_closed
    with pytest.raises(UpstreamLostError):
        await wire.connection.exchange("GET", b"head", b"", seconds=30)


async def test_an_answer_that_is_left_takes_its_connection_with_it() -> None:
    """What would still come is nobody's."""
    wire = Wire()
    answer = await wire.ask(OK[:-1])
    answer.close()
    assert (wire.is_closed, wire.freed) == (True, [])


async def test_the_answer_to_a_head_has_no_body() -> None:
    """Whatever its length says; the connection ends, since nobody knows whether bytes come behind it."""
    wire = Wire()
    answer = await wire.ask(OK[:-2], method="HEAD")
    assert (answer.content_length, await answer.read(), wire.is_closed) == (2, b"", True)


async def test_a_cancelled_request_leaves_a_connection_of_which_the_next_one_knows_nothing() -> None:
    """The answer to the one is never given to the other, and one that came whole meanwhile does not harm it."""
    wire = Wire()
    asking = asyncio.ensure_future(wire.connection.exchange("POST", b"head", b"", seconds=30))
    await asyncio.sleep(0)
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking
    assert wire.is_closed

    wire = Wire()
    first = asyncio.ensure_future(wire.connection.exchange("POST", b"head", b"", seconds=30))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(wire.connection.exchange("POST", b"head", b"", seconds=30))
    wire.connection.data_received(OK)  # whole, and the second is sent before the first one hears of it
    first.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    wire.connection.data_received(OK.replace(b"ok", b"2!"))
    assert await (await second).read() == b"2!"


class Provider:
    """On a real socket. `serve` answers one connection."""

    def __init__(self, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]) -> None:
        self.serve = serve
        self.connections = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self.serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def provided(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any],
) -> AsyncIterator[tuple[Provider, Origin, Client]]:
    provider = Provider(serve)
    server = await asyncio.start_server(provider.handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = Client(LIMITS, connect_seconds=5)
    try:
        yield provider, Origin("127.0.0.1", port, False, f"127.0.0.1:{port}"), client
    finally:
        await client.close()
        server.close()
        await server.wait_closed()


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, count: int = 100) -> None:
    """So many requests without a body."""
    for _ in range(count):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        await writer.drain()


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_a_connection_is_used_again_and_a_large_body_leaves_whole(runner: Callable[[Any], None]) -> None:
    """One connection for requests one after the other; megabytes arrive as they were."""
    body = bytes(range(256)) * 4096 * 5
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(3):
            await reader.readuntil(b"\r\n\r\n")
            got.append(await reader.readexactly(len(body)))
            writer.write(OK)
            await writer.drain()

    async def run() -> None:
        async with provided(serve) as (provider, origin, client):
            for _ in range(3):
                answer = await client.request("POST", origin, "/", (), body, seconds=30)
                assert await answer.read() == b"ok"
            assert provider.connections == 1

    runner(run())
    assert got == [body] * 3


async def test_an_answer_that_comes_before_all_was_sent_is_the_answer() -> None:
    """The rest of the request is not sent, and its connection is not used again."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK.replace(b"200 OK", b"413 Too Large"))
        await writer.drain()
        await over.wait()  # and reads no more

    over = asyncio.Event()
    async with provided(serve) as (provider, origin, client):
        for _ in range(2):
            async with asyncio.timeout(20):
                answer = await client.request("POST", origin, "/", (), b"x" * 64 * 1024 * 1024, seconds=30)
                assert (answer.status, await answer.read()) == (413, b"ok")
        assert provider.connections == 2
        over.set()


@pytest.mark.parametrize("size", [900_000, 64_000_000], ids=["whole", "in parts"])
@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_a_provider_that_takes_no_more_of_a_request_holds_no_connection(
    runner: Callable[[Any], None], size: int
) -> None:
    """Its answer is whole; what it did not take is not kept for it, and neither is the place of its connection."""

    async def run() -> None:
        over = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            await reader.readuntil(b"\r\n\r\n")
            writer.write(OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            await over.wait()  # and neither reads nor ends

        async with provided(serve) as (_, origin, client):
            answer = await client.request("POST", origin, "/", (), b"x" * size, seconds=30)
            assert await answer.read() == b"ok"
            await asyncio.sleep(0.05)
            assert client._origins == {}
            over.set()

    runner(run())


@pytest.mark.parametrize(
    ("method", "is_sent_again"), [("GET", True), ("HEAD", True), ("POST", False), ("DELETE", False)]
)
async def test_only_what_reads_is_sent_again_where_an_idle_connection_was_closed(
    method: str, is_sent_again: bool
) -> None:
    """Just as the request left; a second POST could pay twice."""
    async with provided(partial(answering, count=1)) as (provider, origin, client):
        connection = await client._connect(origin, 30)
        kept = iter([connection])
        await (await connection.exchange("GET", b"GET / HTTP/1.1\r\n\r\n", b"", seconds=30)).read()
        client._kept = lambda _: next(kept, None)  # type: ignore[method-assign] # as if it were not seen to be closed
        asking = client.request(method, origin, "/", (), None, seconds=30)
        if is_sent_again:
            assert (await asking).status == 200
        else:
            with pytest.raises(UpstreamLostError):
                await asking
        assert provider.connections == (2 if is_sent_again else 1)


async def test_there_are_no_more_connections_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who finds no room waits for it; an idle connection makes room for another provider."""
    monkeypatch.setattr(client_module, "_CONNECTIONS_MAX", 1)
    async with provided(answering) as (_, one, client), provided(answering) as (_, other, _unused):
        await (await client.request("GET", one, "/", (), None, seconds=30)).read()
        async with asyncio.timeout(20):
            await (await client.request("GET", other, "/", (), None, seconds=30)).read()
        assert list(client._origins.values()) == [other]


async def test_who_waits_for_a_connection_has_one_as_soon_as_another_request_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where its provider keeps it."""
    monkeypatch.setattr(client_module, "_CONNECTIONS_MAX", 1)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(0.05)
            writer.write(OK)

    async with provided(serve) as (_, origin, client), asyncio.timeout(4):

        async def ask() -> bytes:
            return await (await client.request("GET", origin, "/", (), None, seconds=30)).read()

        assert await asyncio.gather(*[ask() for _ in range(4)]) == [b"ok"] * 4


async def test_a_provider_that_is_not_there_or_does_not_answer_the_connection_is_an_error() -> None:
    """Within the time that connecting may take."""
    client = Client(LIMITS, connect_seconds=0.2)
    with pytest.raises(OSError, match=r".+"):
        await client.request("GET", Origin("127.0.0.1", 1, False, "h"), "/", (), None, seconds=30)

    async def mute(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)

    async with provided(mute) as (_, origin, _unused):
        with pytest.raises(TimeoutError):
            await client.request("GET", Origin(origin.host, origin.port, True, "h"), "/", (), None, seconds=30)
    assert client._origins == {}
    await client.close()


@pytest.mark.parametrize("body", [b"{}", b"x" * 64 * 1024 * 1024], ids=["whole", "in parts"])
async def test_a_provider_that_keeps_silent_is_given_up(body: bytes) -> None:
    """In time, also while it does not take what is sent; its connection is not used again."""

    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await over.wait()

    over = asyncio.Event()
    async with provided(serve) as (_, origin, client):
        with pytest.raises(TimeoutError):
            await client.request("POST", origin, "/", (), body, seconds=0.1)
        assert client._idle == {}
        over.set()


async def test_a_closed_client_leaves_no_connection() -> None:
    """Neither idle ones nor those in use; who waits on one hears of it."""

    came = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        came.set()
        await reader.read()

    async with provided(serve) as (_, origin, client):
        asking = asyncio.ensure_future(client.request("POST", origin, "/", (), b"{}", seconds=30))
        await came.wait()
        await client.close()
        with pytest.raises(UpstreamLostError):
            await asking
        assert client._origins == {}


async def test_a_provider_over_tls_is_the_one_that_its_certificate_names(tmp_path: Path) -> None:
    """Of an authority that is trusted; a certificate of another host, and one that nobody vouches for, are refused."""
    certificate, key = _issued(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(Provider(answering).handle, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    trusting, wary = Client(LIMITS, connect_seconds=20), Client(LIMITS, connect_seconds=20)
    trusting._tls = ssl.create_default_context(cafile=certificate)
    answer = await trusting.request("GET", Origin("127.0.0.1", port, True, "h"), "/", (), None, seconds=30)
    assert await answer.read() == b"ok"
    for client, host in ((trusting, "localhost"), (wary, "127.0.0.1")):
        with pytest.raises(ssl.SSLCertVerificationError):
            await client.request("GET", Origin(host, port, True, "h"), "/", (), None, seconds=30)
    assert wary._origins == {}
    await trusting.close()
    await wary.close()
    server.close()
    await server.wait_closed()
