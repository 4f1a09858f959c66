"""What leaves for a provider is what was asked for, byte for byte, once, and nothing is done with what comes back."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from proxy.limits import Limits
from proxy.upstream import Target, Upstream, UpstreamUrlError, kept_target, read_upstream_url, target

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from proxy.headers import Pairs
    from proxy.http1.answers import Answer


@dataclass
class Wire:
    """A server on a bare socket: it notes the bytes it got and answers with the bytes it was given."""

    answers: list[bytes]
    got: list[bytes] = field(default_factory=list)
    connections: int = 0
    url: str = ""
    delay: float = 0.0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.closing(writer):
            while head := await self._head(reader):
                fields = (line.partition(b":") for line in head.split(b"\r\n"))
                length = next((int(value) for name, _, value in fields if name.lower() == b"content-length"), 0)
                self.got.append(head + await reader.readexactly(length))
                await asyncio.sleep(self.delay)
                if not self.answers:
                    return
                writer.write(self.answers.pop(0))
                await writer.drain()

    async def _head(self, reader: asyncio.StreamReader) -> bytes:
        try:
            return await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""


async def _open(
    upstream: Upstream, method: str, target: Target, headers: Pairs, body: bytes | None, *, seconds: float = 30
) -> Answer:
    return await upstream.open(method, target, headers, body, seconds=seconds)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@asynccontextmanager
async def _wire(*answers: bytes, limits: Limits | None = None) -> AsyncIterator[tuple[Wire, Upstream]]:
    wire = Wire(list(answers))
    server = await asyncio.start_server(wire.handle, "127.0.0.1", 0)
    wire.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    upstream = Upstream(limits or Limits())
    try:
        yield wire, upstream
    finally:
        await upstream.close()
        server.close()
        await server.wait_closed()
        await asyncio.sleep(wire.delay + 0.01)  # what still answers has ended


@pytest.mark.parametrize("body", [gzip.compress(b"{}"), bytes(range(256)) * 12_289], ids=["small", "in parts"])
async def test_nothing_is_added_to_a_request_but_its_host_and_length(body: bytes) -> None:
    """Header names keep their case and order, repeated ones stay, and no default of the client's gets in."""
    pairs = (("X-B", "1"), ("x-a", "2"), ("X-B", "3"), ("Accept-Encoding", "identity"), ("Content-Encoding", "gzip"))
    async with _wire(OK) as (wire, upstream):
        response = await _open(upstream, "POST", target(wire.url, "/v1/messages?beta=true"), pairs, body)
        assert await response.read() == b"{}"

    head, _, sent = wire.got[0].partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"POST /v1/messages?beta=true HTTP/1.1"
    names = [line.partition(b":")[0] for line in lines[1:]]
    assert b"Content-Length: %d" % len(body) in lines
    assert [name for name in names if name not in (b"Host", b"Content-Length")] == [
        b"X-B",
        b"x-a",
        b"X-B",
        b"Accept-Encoding",
        b"Content-Encoding",
    ]
    assert sent == body


@pytest.mark.parametrize(
    "raw", ["/v1/a%3Ab", "/v1/a%2Fb", "/v1/%7euser", "/v1/x?a=%20&b=+&b=%2B", "/v1/x?", "/v1/a:b;c", "/v1/x?%zz", "/"]
)
async def test_the_path_and_query_go_up_as_they_came(raw: str) -> None:
    """No percent-encoding is undone or made; an empty query is the same request."""
    async with _wire(OK) as (wire, upstream):
        response = await _open(upstream, "GET", target(wire.url, raw), (), None)
        response.close()

    assert wire.got[0].split(b" ")[1].decode().rstrip("?") == raw.rstrip("?")


async def test_a_redirect_comes_back_as_it_is() -> None:
    """The request, with its credential, goes to the configured provider and to nobody else."""
    moved = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    async with _wire(moved) as (wire, upstream):
        response = await _open(upstream, "POST", target(wire.url, "/"), (), b"{}")

    assert (response.status, len(wire.got)) == (307, 1)


async def test_a_compressed_body_is_not_unfolded_and_a_cookie_not_kept() -> None:
    """The bytes are the provider's; a cookie of one tenant never reaches the next request."""
    body = gzip.compress(b"{}")
    answer = (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nSet-Cookie: a=1; Path=/\r\nContent-Length: %d\r\n\r\n"
        % len(body)
    )
    async with _wire(answer + body, OK) as (wire, upstream):
        response = await _open(upstream, "GET", target(wire.url, "/"), (), None)
        assert await response.read() == body
        await (await _open(upstream, "GET", target(wire.url, "/"), (), None)).read()

    assert b"ookie" not in wire.got[1]


async def test_a_post_is_sent_once_even_where_the_connection_dies() -> None:
    """A second send could pay twice: on a fresh connection and on one that the provider had closed."""
    async with _wire() as (wire, upstream):
        with pytest.raises(ConnectionError):
            await _open(upstream, "POST", target(wire.url, "/"), (), b"{}")
        assert len(wire.got) == 1

    async with _wire(OK) as (wire, upstream):
        await (await _open(upstream, "POST", target(wire.url, "/"), (), b"{}")).read()
        with pytest.raises(ConnectionError):
            await _open(upstream, "POST", target(wire.url, "/"), (), b"{}")
        assert (len(wire.got), wire.connections) == (2, 1)


async def test_a_header_longer_than_the_limit_is_an_error_and_a_long_one_within_it_is_not() -> None:
    """The default of the client is far below what providers send."""
    for length, fits in ((20_000, True), (70_000, False)):
        answer = b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * length + b"\r\nContent-Length: 2\r\n\r\n{}"
        async with _wire(answer) as (wire, upstream):
            if fits:
                response = await _open(upstream, "GET", target(wire.url, "/"), (), None)
                assert len(response.get(b"x-long") or "") == length
                await response.read()
            else:
                with pytest.raises(ConnectionError):
                    await _open(upstream, "GET", target(wire.url, "/"), (), None)


async def test_a_silent_provider_and_one_that_is_not_there_end_in_an_error() -> None:
    """Silence lasts for the exchange's limit at most."""
    async with _wire(OK) as (wire, upstream):
        wire.delay = 0.2
        with pytest.raises(TimeoutError):
            await _open(upstream, "POST", target(wire.url, "/"), (), b"{}", seconds=0.1)
        with pytest.raises(ConnectionError):
            await _open(upstream, "POST", target("http://127.0.0.1:1", "/"), (), b"{}")


async def test_the_environments_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where requests go is said in one place."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with _wire(OK) as (wire, upstream):
        response = await _open(upstream, "GET", target(wire.url, "/"), (), None)

    assert response.status == 200


@pytest.mark.parametrize(
    ("base", "raw", "expected"),
    [
        ("https://h", "/v1/messages", "https://h/v1/messages"),
        ("https://h/base", "/v1/messages?x=1", "https://h/base/v1/messages?x=1"),
        ("https://h/base/", "/v1", "https://h/base/v1"),
        ("http://[::1]:8080", "/", "http://[::1]:8080/"),
    ],
)
def test_the_request_is_appended_to_the_base(base: str, raw: str, expected: str) -> None:
    """A base may hold a path; its last slash is not doubled."""
    assert str(target(read_upstream_url(base), raw)) == expected


@pytest.mark.parametrize(
    ("base", "host"),
    [
        ("https://xn--strae-oqa.example", "xn--strae-oqa.example"),
        ("http://[::1]:8080", "::1"),
        ("http://[fe80::1%25eth0]", "fe80::1%eth0"),
        ("https://H.example", "H.example"),
    ],
)
def test_the_host_is_the_one_that_is_written(base: str, host: str) -> None:
    """`xn--strae-oqa` is `straße`, which the system's rules for names would look up as `strasse`: somebody else's
    host, with a certificate of its own, would be sent the provider's key."""
    assert target(read_upstream_url(base), "/").origin.host == host


@pytest.mark.parametrize("raw", ["", "v1", "//evil.example/", "http://evil.example/", "@evil.example/", "\\evil"])
def test_a_target_cannot_name_another_host(raw: str) -> None:
    """Only what begins with one slash is a path."""
    with pytest.raises(ValueError, match="one slash"):
        target("https://h", raw)


@pytest.mark.parametrize(
    "text",
    ["", "h", "//h", "https:/h", "https://", "https://:80", "ftp://h", "https://h?", "https://h/#", "https://@h",
     "https://u@h", "https://h:x", "https://h:70000", "https://h /", "https://h\n", "https://hé", "https://h\\@e"],
)  # fmt: skip # one row
def test_what_is_no_base_url_is_refused(text: str) -> None:
    """What could be read in another way by another parser is not a base."""
    with pytest.raises(UpstreamUrlError):
        read_upstream_url(text)


@pytest.mark.parametrize("raw", ["/v1/messages", "/v1/messages?beta=true#part", "/" + "x" * 400])
def test_a_target_that_is_remembered_is_what_it_was(raw: str) -> None:
    """Of each base its own; one that begins with no slash is refused each time."""
    for base in ("https://a.test", "https://b.test/up", "https://a.test"):
        assert kept_target(base, raw) == target(base, raw) == kept_target(base, raw)
    for _ in range(2):
        with pytest.raises(ValueError, match="one slash"):
            kept_target("https://a.test", "v1")
