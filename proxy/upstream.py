"""Requests to providers: where they go, and the one client that sends them.

It opens requests; what the bytes mean is for the wire, and how long an exchange may last is for its caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import yarl

from proxy.http1.client import Client, Origin
from proxy.http1.heads import HeadLimits

if TYPE_CHECKING:
    from proxy.headers import Pairs
    from proxy.http1.answers import Answer
    from proxy.limits import Limits


_KEPT_LENGTH_MAX: Final = 256


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


@dataclass(frozen=True, slots=True)
class Target:
    """Whom a request goes to, and what stands in its line."""

    origin: Origin
    path: str

    def __str__(self) -> str:
        scheme = "https" if self.origin.is_tls else "http"
        return f"{scheme}://{self.origin.authority}{self.path}"


def target(base: str, raw_target: str) -> Target:
    """`raw_target` (path and query as they stood in the request line) behind the upstream's base; a fragment is for
    nobody but the client.

    Raises:
        ValueError: `raw_target` does not begin with one `/`.
    """
    if not raw_target.startswith("/") or raw_target.startswith("//"):
        raise ValueError("a request target begins with one slash")
    origin, prefix = _origin(base)
    return Target(origin, prefix + raw_target.partition("#")[0])


_kept_target = lru_cache(maxsize=256)(target)


def kept_target(base: str, raw_target: str) -> Target:
    """As `target`, remembered: agents ask for the same few paths."""
    return _kept_target(base, raw_target) if len(raw_target) <= _KEPT_LENGTH_MAX else target(base, raw_target)


@lru_cache(maxsize=256)
def _origin(base: str) -> tuple[Origin, str]:
    """Of a base URL that was read, and its path."""
    url = yarl.URL(base, encoded=True)
    # As it is written: a name in letters would be put into ASCII again by older rules, which make another host of some.
    host, port = (url.raw_host or "").replace("%25", "%"), url.port
    assert port is not None, "http and https have one"
    prefix = url.raw_path.rstrip("/")
    return Origin(host, port, url.scheme == "https", url.host_port_subcomponent or ""), prefix


class Upstream:
    """Opens requests to providers. One for the process; made and closed on its loop."""

    def __init__(self, limits: Limits) -> None:
        bounds = HeadLimits(limits.header_bytes_max, limits.headers_max)
        self._client = Client(bounds, connect_seconds=limits.connect_ms_max / 1000)

    async def open(self, method: str, target: Target, headers: Pairs, body: bytes | None, *, seconds: float) -> Answer:
        """Sends a request and waits for the head of its response. A redirect is a response like any other.

        Raises:
            OSError: the connection or the response's head failed. Nothing is tried again but a GET or HEAD whose idle
                connection the provider had just closed.
            TimeoutError: no connection within `connect_ms_max`, or no head within `seconds`.
        """
        return await self._client.request(method, target.origin, target.path, headers, body, seconds=max(0.0, seconds))

    async def close(self) -> None:
        await self._client.close()
