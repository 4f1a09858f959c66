"""The agents' side of HTTP/1.1: what is read, what is refused, and what a client gets, byte for byte."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.http1.heads import HeadError, HeadLimits, head_bytes
from proxy.http1.hub import Hub, MalformedBodyError
from proxy.http1.incoming import Incoming
from proxy.http1.outgoing import Outgoing
from proxy.http1.requests import Reply, Request
from proxy.http1.server import Server
from proxy.http1.serving import ServerConnection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Handler = Callable[[Request], Awaitable[Reply | None]]

LIMITS = HeadLimits(field_bytes=8190, fields=32)
POST = b"POST /v1/messages?beta=true HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-a:  2 \r\n"


async def whole(request: Request) -> bytes:
    parts = []
    while data := await request.content.readany():
        parts.append(data)
    return b"".join(parts)


async def echo(request: Request) -> Reply:
    body = await whole(request)
    return Reply(200, (("Date", "x"), ("Content-Type", "text/plain")), request.method.encode() + b" " + body)


@asynccontextmanager
async def serving(handle: Handler, drain: float = 5) -> AsyncIterator[tuple[Server, int]]:
    server = Server(handle, LIMITS, keepalive_seconds=75)
    port = await server.start("127.0.0.1", 0)
    try:
        yield server, port
    finally:
        await server.close(drain)


async def said(port: int, *parts: bytes) -> bytes:
    """What comes back on one connection, to its end; the client says that it is done sending by nothing."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        async with asyncio.timeout(20):
            return await reader.read()
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


def closing(request: bytes) -> bytes:
    return request.replace(b"Host: h\r\n", b"Host: h\r\nConnection: close\r\n")


WHOLE = (
    closing(POST) + b"Content-Length: 5\r\n\r\nhello",
    closing(POST) + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nX-T: 1\r\n\r\n",
)


class Transport:
    """What a connection needs of one; nothing is sent."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.is_paused = self.is_closed = False

    def write(self, data: bytes) -> None:
        self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    abort = close

    def can_write_eof(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

    def get_write_buffer_size(self) -> int:
        return 0


@settings(max_examples=60, deadline=None)
@given(raw=st.sampled_from(WHOLE), cuts=st.lists(st.integers(0, 250), max_size=12))
def test_a_request_is_the_same_however_its_bytes_come(raw: bytes, cuts: list[int]) -> None:
    """Method, target, fields in order with their case, and body."""

    async def run() -> None:
        seen: list[tuple[Any, ...]] = []

        async def handle(request: Request) -> Reply:
            seen.append((request.method, request.raw_path, request.head.raw_headers[:4], await whole(request)))
            return Reply(204)

        connection, transport = connected(handle)
        places = [0, *sorted(cut for cut in set(cuts) if cut < len(raw)), len(raw)]
        for start, end in pairwise(places):
            if start < end:
                connection.data_received(raw[start:end])
                await asyncio.sleep(0)
        while connection.task is not None:
            await connection.task
        fields = ((b"Host", b"h"), (b"Connection", b"close"), (b"X-A", b"1"), (b"x-a", b"2"))
        assert seen == [("POST", "/v1/messages?beta=true", fields, b"hello")]
        assert transport.written[0].startswith(b"HTTP/1.1 204 No Content\r\n")

    asyncio.run(run())


def connected(handle: Handler) -> tuple[ServerConnection, Transport]:
    hub = Hub(handle, LIMITS, lambda: "Date: now\r\n", keepalive_seconds=75)
    connection, transport = ServerConnection(hub), Transport()
    connection.connection_made(cast("Any", transport))
    return connection, transport


REFUSED = {
    "two lengths": POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "a length and chunks": POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n",
    "another coding": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "bare line feeds": b"GET / HTTP/1.1\nHost: h\n\n",
    "a folded field": POST + b"X-B: a\r\n b\r\n\r\n",
    "a space before the colon": POST + b"Content-Length : 1\r\n\r\nx",
    "chunks of an old client": POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a NUL": POST + b"X-B: a\0b\r\n\r\n",
    "another version": b"GET / HTTP/2.0\r\nHost: h\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "a long line": b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: h\r\n\r\n",
    "a long field": POST + b"X-B: " + b"x" * 9000 + b"\r\n\r\n",
    "a field without end": POST + b"X-B: " + b"x" * 50_000,
    "many fields": POST + b"X-B: a\r\n" * 40 + b"\r\n",
}


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
async def test_what_two_servers_could_read_in_two_ways_is_answered_400_and_nothing_more_is_read(raw: bytes) -> None:
    """No handler sees it, and what stands behind it on the connection is not taken for a request."""
    seen = []

    async def handle(request: Request) -> Reply:
        seen.append(request.raw_path)
        return Reply(200)

    async with serving(handle) as (_, port):
        answer = await said(port, raw + WHOLE[0])
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"Connection: close\r\n" in answer
    assert seen == []


async def test_trailers_without_end_end_the_connection() -> None:
    """They are kept by nobody, however many come."""
    async with serving(echo) as (_, port):
        head = closing(POST) + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
        answer = await said(port, head, *[b"X-T: " + b"x" * 4000 + b"\r\n"] * 40)
    assert b"200 OK" not in answer


async def test_requests_that_come_together_are_answered_in_order() -> None:
    """Each has its own body; none is handled before the one ahead of it was answered."""
    order: list[str] = []

    async def handle(request: Request) -> Reply:
        order.append("in")
        await asyncio.sleep(0)
        body = await whole(request)
        order.append("out")
        return Reply(200, (), body)

    one = POST + b"Content-Length: 1\r\n\r\n"
    async with serving(handle) as (_, port):
        answer = await said(port, one + b"a" + one + b"b" + closing(one) + b"c")
    assert [part[-1:] for part in answer.split(b"HTTP/1.1 200 OK")[1:]] == [b"a", b"b", b"c"]
    assert order == ["in", "out"] * 3


async def test_a_client_that_leaves_cancels_what_is_done_for_it() -> None:
    """At once, and whoever reads its body hears that no more will come."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def handle(request: Request) -> Reply:
        began.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            with pytest.raises(ConnectionResetError):
                await request.content.readany()
            ended.set()
            raise
        return Reply(200)

    async with serving(handle) as (_, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(POST + b"Content-Length: 5\r\n\r\n")
        await began.wait()
        writer.close()
        await writer.wait_closed()
        async with asyncio.timeout(20):
            await ended.wait()


async def test_a_client_that_is_answered_early_reads_its_answer() -> None:
    """It sends all of a large body first, which nobody reads; the connection then ends."""

    async def handle(_: Request) -> Reply:
        return Reply(413, (), b"too large")

    async with serving(handle) as (_, port):
        size = 8 * 1024 * 1024
        answer = await said(port, POST + b"Content-Length: %d\r\n\r\n" % size, *[b"x" * (1024 * 1024)] * 8)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert answer.endswith(b"too large")


@pytest.mark.parametrize("behind", [WHOLE[0], b"\0", b""], ids=["a request", "no HTTP", "nothing"])
async def test_what_stands_behind_a_body_that_nobody_read_is_not_answered(behind: bytes) -> None:
    """The client was told that the connection ends; a second answer would be taken for that of another request."""
    seen = []

    async def handle(request: Request) -> Reply:
        seen.append(request.raw_path)
        return Reply(413, (), b"too large")

    async with serving(handle) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(POST + b"Content-Length: 5\r\n\r\nhe")
        head = await reader.readuntil(b"too large")
        writer.write(b"llo" + behind)
        async with asyncio.timeout(20):
            assert await reader.read() == b""
        writer.close()
    assert (len(seen), b"Connection: close" in head) == (1, True)


async def test_a_sender_waits_for_a_reader_that_does_not_come() -> None:
    """No more than some is kept; it goes on as soon as that is read."""
    connection, transport = connected(lambda _: asyncio.sleep(3600))
    connection.data_received(POST + b"Content-Length: 5000000\r\n\r\n")
    sent = 0
    while not transport.is_paused:
        connection.data_received(b"x" * 65536)
        sent += 65536
        assert sent < 1_000_000
    assert connection._incoming is not None
    assert len(connection._incoming.read_nowait()) == sent
    assert not transport.is_paused
    connection.connection_lost(None)
    await asyncio.sleep(0)


FORMS = {
    "a whole answer": (b"POST", b"1.1", b"Content-Length: 2\r\n", b"ok"),
    "a head alone": (b"HEAD", b"1.1", b"Content-Length: 2\r\n", b""),
    "an old client": (b"POST", b"1.0", b"Content-Length: 2\r\n", b"ok"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_an_answer_states_its_length_and_adds_no_more_than_a_date(form: tuple[bytes, ...]) -> None:
    """Fields leave as they were given; the end of the connection is said where it ends."""
    method, version, length, body = form

    async def handle(_: Request) -> Reply:
        return Reply(200, (("X-B", "1"), ("x-b", "2")), b"ok")

    async with serving(handle) as (_, port):
        answer = await said(port, method + b" / HTTP/" + version + b"\r\nHost: h\r\nConnection: close\r\n\r\n")
    head, _, came = answer.partition(b"\r\n\r\n")
    line, *fields = head.split(b"\r\n")
    assert (line, came) == (b"HTTP/1.1 200 OK", body)
    assert fields[:2] == [b"X-B: 1", b"x-b: 2"]
    assert [field for field in fields[2:] if not field.startswith(b"Date: ")] == [length.strip(), b"Connection: close"]


@pytest.mark.parametrize("status", [204, 304])
async def test_an_answer_that_has_no_body_has_none(status: int) -> None:
    """Whatever it was given: a client would take it for the next answer."""

    async def handle(request: Request) -> Reply | None:
        if request.raw_path == "/parts":
            await request.answer.begin(status, ())
            await request.answer.end()
            return None
        return Reply(status, (), b"never")

    async with serving(handle) as (_, port):
        answer = await said(port, b"GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /parts HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 %d" % status) == 2
    assert b"never" not in answer
    assert b"chunked" not in answer


@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
async def test_a_body_of_unknown_length_is_chunked_or_ends_with_the_connection(version: bytes) -> None:
    """An old client cannot read chunks."""

    async def handle(request: Request) -> None:
        await request.answer.begin(200, ())
        for part in (b"one", b"", b"two"):
            await request.answer.write(part)
        await request.answer.end()

    async with serving(handle) as (_, port):
        answer = await said(port, b"GET / HTTP/" + version + b"\r\nConnection: close\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    is_chunked = version == b"1.1"
    assert body == (b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n" if is_chunked else b"onetwo")
    assert (b"Transfer-Encoding: chunked" in head) == is_chunked


@pytest.mark.parametrize("ends", ["never", "short", "raises"])
async def test_an_answer_that_is_not_whole_cannot_be_taken_for_one(ends: str) -> None:
    """Its connection ends without the end of the body."""

    async def handle(request: Request) -> None:
        await request.answer.begin(200, (), length=8 if ends == "short" else None)
        await request.answer.write(b"part")
        if ends == "short":
            await request.answer.end()
        if ends == "raises":
            raise ConnectionResetError

    async with serving(handle) as (_, port):
        with suppress(ConnectionResetError):
            answer = await said(port, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert not answer.endswith(b"0\r\n\r\n")


async def test_more_than_was_stated_does_not_leave() -> None:
    """It would be the next answer."""
    answer = Outgoing(cast("Any", Link()), is_head=False, is_old=False, keeps=True)
    await answer.begin(200, (), length=2)
    with pytest.raises(HeadError):
        await answer.write(b"abc")


class Link:
    """A client's end."""

    def __init__(self) -> None:
        self.transport = Transport()
        self.is_full = False

    def date(self) -> str:
        return ""

    def stays(self) -> bool:
        return True


@pytest.mark.parametrize(
    "field", [("X", "a\r\nSet-Cookie: b"), ("X\r\nY", "a"), ("X", "a\nb"), ("X", "a\0"), ("X", "\r")]
)
def test_a_field_cannot_become_two(field: tuple[str, str]) -> None:
    """Neither towards a client nor towards a provider."""
    with pytest.raises(HeadError):
        head_bytes("HTTP/1.1 200 OK", (("A", "b"), field))


async def test_another_protocol_gets_one_answer_and_no_ear() -> None:
    """What follows the head is not HTTP, and is not read as such."""
    seen = []

    async def handle(request: Request) -> Reply:
        seen.append(request.raw_path)
        return Reply(426)

    upgrade = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    async with serving(handle) as (_, port):
        for raw in (upgrade, b"CONNECT a:443 HTTP/1.1\r\nHost: h\r\n\r\n"):
            answer = await said(port, raw + b"GET /second HTTP/1.1\r\nHost: h\r\n\r\n")
            assert answer.count(b"HTTP/1.1 426") == 1
            assert b"Connection: close" in answer
    connection, transport = connected(handle)
    connection.data_received(upgrade)
    connection.data_received(b"GET /third HTTP/1.1\r\nHost: h\r\n\r\n")
    while connection.task is not None:
        await connection.task
    assert (seen, len(transport.written)) == (["/", "a:443", "/"], 1)


async def test_a_body_whose_chunks_are_broken_is_no_body() -> None:
    """Whoever reads it is told; what stands behind it is nobody's."""
    found: list[str] = []

    async def handle(request: Request) -> Reply:
        try:
            await whole(request)
        except MalformedBodyError:
            found.append("malformed")
        return Reply(400)

    async with serving(handle) as (_, port):
        raw = POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\nzz\r\n"
        answer = await said(port, raw + WHOLE[0])
    assert (found, answer.count(b"HTTP/1.1 ")) == (["malformed"], 1)


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_a_server_that_ends_lets_answers_end_and_nothing_else(runner: Callable[[Any], None]) -> None:
    """Idle connections are closed at once, one that is answered when it was, one that takes too long is cut off."""

    async def run() -> None:
        go, slow = asyncio.Event(), asyncio.Event()
        both = asyncio.Barrier(3)

        async def handle(request: Request) -> Reply:
            await both.wait()
            await (go if request.raw_path == "/go" else slow).wait()
            return Reply(200, (), b"done")

        server = Server(handle, LIMITS, keepalive_seconds=75)
        port = await server.start("127.0.0.1", 0)
        idle, busy, late = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        busy[1].write(b"GET /go HTTP/1.1\r\nHost: h\r\n\r\n")
        late[1].write(b"GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
        await both.wait()
        ending = asyncio.ensure_future(server.close(0.5))
        assert await idle[0].read() == b""
        go.set()
        answer = await busy[0].read()
        assert answer.endswith(b"done")
        assert b"Connection: close" in answer
        with suppress(ConnectionError):
            assert await late[0].read() == b""
        await ending
        for _, writer in (idle, busy, late):
            writer.close()
        assert server._hub.connections == set()

    runner(run())


async def test_a_connection_on_which_nothing_happens_is_ended_and_one_that_is_busy_is_not() -> None:
    """Also one whose head never comes to its end, and a client that does not read its answer."""
    connection, transport = connected(lambda _: asyncio.sleep(3600))
    now = asyncio.get_running_loop().time()
    connection.end_if_overdue(now + 74)
    assert not transport.is_closed
    connection.data_received(b"GET / HTTP/1.1\r\nHost:")
    connection.end_if_overdue(now + 76)
    assert transport.is_closed

    connection, transport = connected(lambda _: asyncio.sleep(3600))
    connection.data_received(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    connection.end_if_overdue(now + 1000)
    assert not transport.is_closed
    connection.connection_lost(None)
    await asyncio.sleep(0)


async def test_who_waits_for_a_body_hears_that_nothing_came() -> None:
    """And waits no longer than it said; what came, an end or a failure is heard at once."""
    body = Incoming(cast("Any", Transport()))
    assert not await body.arrives(0)
    asyncio.get_running_loop().call_soon(body.feed, b"a")
    assert await body.arrives(3600)
    assert (await body.arrives(0), await body.readany()) == (True, b"a")
    asyncio.get_running_loop().call_soon(body.fail, ConnectionResetError)
    assert await body.arrives(3600)
    with pytest.raises(ConnectionResetError):
        await body.readany()
    body = Incoming(cast("Any", Transport()))
    asyncio.get_running_loop().call_soon(body.end)
    assert (await body.arrives(3600), await body.readany()) == (True, b"")


async def test_what_came_before_a_failure_is_read_before_it() -> None:
    """Nothing that a provider sent is lost; a body that had ended fails no more."""
    body = Incoming(cast("Any", Transport()))
    body.feed(b"a")
    body.fail(ConnectionResetError)
    assert await body.readany() == b"a"
    for _ in range(2):
        with pytest.raises(ConnectionResetError):
            await body.readany()
    body = Incoming(cast("Any", Transport()))
    body.end()
    body.fail(ConnectionResetError)
    assert (await body.readany(), body.is_eof()) == (b"", True)
