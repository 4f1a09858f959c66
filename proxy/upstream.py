"""The one HTTP client that speaks to providers: no cookies, no redirects, no decompression, nothing rewritten.

It opens requests; what the bytes mean is for the wire, and how long an exchange may last is for its caller.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
import yarl
from multidict import CIMultiDict

if TYPE_CHECKING:
    from aiohttp.abc import AbstractStreamWriter

    from proxy.headers import Pairs
    from proxy.limits import Limits

# What aiohttp would add by itself; a field that the client did not send is not sent.
_AUTO_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
# Providers and the load balancers before them close an idle connection after 60 s or more. A request on a connection
# that is being closed fails, and a POST must not be sent twice.
_KEEPALIVE_SECONDS = 15
_CONNECTIONS_MAX = 1024
_READ_BUFFER_BYTES = 256 * 1024
# A larger body is written in parts: one write of it would keep the loop from everything else.
_WHOLE_BYTES_MAX = 1024 * 1024
_PART_BYTES = 256 * 1024


class UpstreamUrlError(ValueError):
    """An upstream's URL that could not be appended to, or that carries a secret."""


def read_upstream_url(text: str) -> str:
    """The base URL of an upstream, without a `/` at its end.

    Raises:
        UpstreamUrlError: not an absolute http or https URL, or one with a query, a fragment or a user.
    """
    problem = "an upstream needs an absolute http:// or https:// URL"
    try:
        url = yarl.URL(text, encoded=True)
        port_is_valid = url.port is not None
        host = url.host
    except ValueError:
        raise UpstreamUrlError(problem) from None
    if url.scheme not in ("http", "https") or not host or not port_is_valid:
        raise UpstreamUrlError(problem)
    if any(character.isspace() or not character.isprintable() for character in text) or not text.isascii():
        raise UpstreamUrlError("an upstream's URL is plain ASCII without spaces")
    if "?" in text or "#" in text:
        raise UpstreamUrlError("an upstream's URL has no query and no fragment")
    if url.raw_user is not None or url.raw_password is not None or "@" in url.raw_authority:
        raise UpstreamUrlError("an upstream's URL carries no user and no password: use `key`")
    return text.rstrip("/")


def target(base: str, raw_target: str) -> yarl.URL:
    """The URL of a request: `raw_target` (path and query as they stood in the request line) behind the upstream's base.

    Raises:
        ValueError: `raw_target` does not begin with one `/`.
    """
    if not raw_target.startswith("/") or raw_target.startswith("//"):
        raise ValueError("a request target begins with one slash")
    return yarl.URL(base + raw_target, encoded=True)


class _InParts(aiohttp.payload.Payload):
    """Bytes that are sent part by part, and others served in between. A file in memory would copy all of them first."""

    _value: bytes

    def __init__(self, value: bytes) -> None:
        super().__init__(value)
        self._size = len(value)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._value.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        view = memoryview(self._value)
        for start in range(0, len(view), _PART_BYTES):
            await writer.write(view[start : start + _PART_BYTES])
            await asyncio.sleep(0)


class Upstream:
    """Opens requests to providers. One for the process; made and closed on its loop."""

    def __init__(self, limits: Limits) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=_CONNECTIONS_MAX, keepalive_timeout=_KEEPALIVE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            requote_redirect_url=False,
            skip_auto_headers=_AUTO_HEADERS,
            timeout=aiohttp.ClientTimeout(
                total=None,
                connect=None,
                sock_connect=limits.connect_ms_max / 1000,
                sock_read=limits.exchange_ms_max / 1000,
            ),
            max_line_size=limits.header_bytes_max,
            max_field_size=limits.header_bytes_max,
            max_headers=limits.headers_max,
            read_bufsize=_READ_BUFFER_BYTES,
        )

    async def open(self, method: str, url: yarl.URL, headers: Pairs, body: bytes | None) -> aiohttp.ClientResponse:
        """Sends a request and waits for the head of its response. A redirect is a response like any other.

        Raises:
            aiohttp.ClientError: the connection or the response's head failed. Nothing is tried again but a GET or HEAD
                whose idle connection the provider had just closed.
            TimeoutError: no connection within `connect_ms_max`, or silence for `exchange_ms_max`.
        """
        data = _InParts(body) if body is not None and len(body) > _WHOLE_BYTES_MAX else body
        return await self._session.request(
            method, url, headers=CIMultiDict(headers), data=data, allow_redirects=False, compress=None
        )

    async def close(self) -> None:
        await self._session.close()
