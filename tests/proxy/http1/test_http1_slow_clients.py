"""Clients that do not take what they are given: what is kept for them is bounded; a gate that ends waits for them."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
import uvloop

from proxy.http1.heads import HeadLimits
from proxy.http1.requests import Reply, Request
from proxy.http1.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable

LIMITS = HeadLimits(field_bytes=8190, fields=32)
GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
LOOPS = pytest.mark.parametrize("runner", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])


def client(port: int, receives: int = 4096) -> socket.socket:
    """One whose system takes no more than about `receives` bytes that it does not read."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
    sock.connect(("127.0.0.1", port))
    sock.setblocking(False)
    return sock


async def read_slowly(sock: socket.socket) -> int:
    """To the end of the connection, a little at a time; the number of bytes that came."""
    loop, came = asyncio.get_running_loop(), 0
    while data := await loop.sock_recv(sock, 65536):
        came += len(data)
        await asyncio.sleep(0)
    return came


@LOOPS
def test_who_takes_no_answers_is_given_no_more(runner: Callable[[Any], None]) -> None:
    """However many requests it sends; once it reads, each is answered."""

    async def run() -> None:
        handled, count, all_handled = 0, 5000, asyncio.Event()

        async def handle(_: Request) -> Reply:
            nonlocal handled
            handled += 1
            if handled == count:
                all_handled.set()
            return Reply(200, (), b"x" * 4096)

        server = Server(handle, LIMITS, keepalive_seconds=75)
        port = await server.start("127.0.0.1", 0)
        sock, loop = client(port), asyncio.get_running_loop()
        sending = asyncio.ensure_future(loop.sock_sendall(sock, GET * count))
        before = -1
        while before != handled:
            before = handled
            await asyncio.sleep(0.2)
        (connection,) = server._hub.connections
        assert 0 < handled < count / 2, "what the systems between them hold is some megabytes"
        assert connection.transport.get_write_buffer_size() < 128 * 1024
        assert not connection._hub.is_closing
        assert connection.deadline is not None, "it is not waited for without end"
        reading = asyncio.ensure_future(read_slowly(sock))
        async with asyncio.timeout(60):
            await sending
            await all_handled.wait()
        await server.close(5)
        assert await reading > count * 4096
        sock.close()

    runner(run())


@LOOPS
def test_an_answer_that_is_on_its_way_when_the_server_ends_arrives_whole(runner: Callable[[Any], None]) -> None:
    """Its client may be slow, within the time that is given."""

    async def run() -> None:
        size = 8 * 1024 * 1024

        async def handle(_: Request) -> Reply:
            return Reply(200, (), b"x" * size)

        server = Server(handle, LIMITS, keepalive_seconds=75)
        port = await server.start("127.0.0.1", 0)
        sock, loop = client(port), asyncio.get_running_loop()
        await loop.sock_sendall(sock, GET)
        await loop.sock_recv(sock, 1)
        async with asyncio.timeout(60):
            ending = asyncio.ensure_future(server.close(50))
            assert await read_slowly(sock) > size
            await ending
        sock.close()

    runner(run())


@LOOPS
def test_a_server_that_ends_does_not_wait_for_a_client_that_reads_nothing(runner: Callable[[Any], None]) -> None:
    """Beyond the time that is given."""

    async def run() -> None:
        async def handle(_: Request) -> Reply:
            return Reply(200, (), b"x" * 8 * 1024 * 1024)

        server = Server(handle, LIMITS, keepalive_seconds=75)
        sock = client(await server.start("127.0.0.1", 0))
        await asyncio.get_running_loop().sock_sendall(sock, GET)
        await asyncio.get_running_loop().sock_recv(sock, 1)
        async with asyncio.timeout(20):
            await server.close(0.2)
        assert server._hub.connections == set()
        sock.close()

    runner(run())


@LOOPS
def test_a_client_that_sends_its_end_and_reads_nothing_is_cut_off(runner: Callable[[Any], None]) -> None:
    """Its connection is closing and holds what was written; nothing else would ever end it."""

    async def run() -> None:
        async def handle(request: Request) -> None:
            await request.answer.begin(200, ())
            while True:
                await request.answer.write(b"x" * 65536)

        server = Server(handle, LIMITS, keepalive_seconds=0.2)
        sock = client(await server.start("127.0.0.1", 0))
        await asyncio.get_running_loop().sock_sendall(sock, GET)
        await asyncio.get_running_loop().sock_recv(sock, 1)
        await asyncio.sleep(0.1)
        sock.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(20):
            await server._hub.emptied()
        sock.close()
        await server.close(0)

    runner(run())


@LOOPS
def test_what_is_written_down_for_a_client_that_left_is_waited_for(runner: Callable[[Any], None]) -> None:
    """A gate that ends closes its store next."""

    async def run() -> None:
        written, began = [], asyncio.Event()

        async def handle(_: Request) -> Reply:
            began.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(0.2)
                written.append("aborted")
                raise
            return Reply(200)

        server = Server(handle, LIMITS, keepalive_seconds=75)
        port = await server.start("127.0.0.1", 0)
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET)
        await began.wait()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        await server._hub.emptied()
        await server.close(5)
        assert written == ["aborted"]

    runner(run())


@LOOPS
@pytest.mark.parametrize("chunks", [b"zz\r\n", b"5\r\nhello"], ids=["broken", "behind"])
def test_a_client_that_is_refused_for_what_it_sends_reads_why(runner: Callable[[Any], None], chunks: bytes) -> None:
    """It sends all of it first; a connection that was closed meanwhile would have no answer on it."""

    async def run() -> None:
        async def handle(request: Request) -> Reply:
            with suppress(ValueError):
                while await request.content.readany():
                    pass
            return Reply(400, (), b"why")

        server = Server(handle, LIMITS, keepalive_seconds=75)
        sock, loop = client(await server.start("127.0.0.1", 0), 65536), asyncio.get_running_loop()
        post = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
        async with asyncio.timeout(5):
            for part in (post, *[b"x" * 65536] * 64):
                await loop.sock_sendall(sock, part)
                await asyncio.sleep(0)
            came = b""
            while data := await loop.sock_recv(sock, 65536):
                came += data
        assert came.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert came.endswith(b"why")
        sock.close()
        async with asyncio.timeout(5):
            await server._hub.emptied()
        await server.close(0)

    runner(run())
