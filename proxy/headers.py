"""Which header fields go up to the provider, and which come down to the client.

Knows names and framing only; what a credential means is `credentials`, what the session header says is
`session_header`. Everything that is not listed here passes verbatim, in order, as often as it came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Pairs: TypeAlias = "tuple[tuple[str, str], ...]"

# RFC 9110, 7.6.1, and the fields that older proxies treat the same way.
HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authentication-info",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
# Two of these would be read differently by two servers; the second reading is not ours to choose.
SINGLE = frozenset(
    {
        "api-key",
        "authorization",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "x-api-key",
        "x-goog-api-key",
    }
)
METHOD_OVERRIDE = frozenset({"x-http-method", "x-http-method-override", "x-method-override"})
CONSUMED_PREFIX = "x-callgate-"
# Stated anew for the next hop, or answered by this one.
_RECOMPUTED_UP = frozenset({"accept-encoding", "content-length", "expect", "host"})
# `alt-svc` would name the client a way to the provider that does not lead through the gate.
_DROPPED_DOWN = frozenset({"alt-svc", "content-length"})
_NEVER_UP, _NEVER_DOWN = HOP_BY_HOP | _RECOMPUTED_UP, HOP_BY_HOP | _DROPPED_DOWN
_NONE: frozenset[str] = frozenset()


class HeadersRefusedError(Exception):
    """The request's header fields can be read in two ways, or ask for what is never done. The answer is 400.

    The message names the field, never its value.
    """


@dataclass(frozen=True, slots=True)
class RequestHeaders:
    """The fields of a request, in order, already known to be unambiguous. `kept` is what was worked out of them
    (`once.OncePerHead`)."""

    pairs: Pairs
    by_name: Mapping[str, Sequence[str]] = field(repr=False, compare=False)
    kept: dict[object, tuple[tuple[object, ...], object]] = field(default_factory=dict, repr=False, compare=False)

    def get(self, name: str) -> str | None:
        """The value of the first field of that name (lower case), or None."""
        values = self.by_name.get(name)
        return values[0] if values else None

    def every(self, name: str) -> Sequence[str]:
        """Each value of the fields of that name (lower case)."""
        return self.by_name.get(name, ())


def read_request_headers(raw: Iterable[tuple[bytes, bytes]], *, session_header: str | None = None) -> RequestHeaders:
    """The fields as text.

    Raises:
        HeadersRefusedError: a single-valued field twice, a spelling with `_` of a field that matters here, a method
            override, a value that is not UTF-8 or holds a line break, or a `Connection` that names an end-to-end field.
    """
    pairs: list[tuple[str, str]] = []
    by_name: dict[str, list[str]] = {}
    for raw_name, raw_value in raw:
        name, lower, is_single = _field(raw_name, session_header)
        value = _value(raw_value, lower)
        pairs.append((name, value))
        if lower not in by_name:
            by_name[lower] = [value]
        elif is_single:
            raise HeadersRefusedError(f"the header {lower!r} occurs more than once")
        else:
            by_name[lower].append(value)
    headers = RequestHeaders(tuple(pairs), by_name)
    _refuse_connection(headers, session_header)
    return headers


def headers_up(headers: RequestHeaders, *, session_header: str | None = None, decoded: bool = False) -> Pairs:
    """What goes to the provider. `host` and `content-length` are the HTTP client's to state.

    `decoded` says that the body goes up without its content encoding.
    """
    dropped = _named_by_connection(headers.every("connection"))
    if session_header is not None:
        dropped |= {session_header}
    if decoded:
        dropped |= {"content-encoding"}
    kept: list[tuple[str, str]] = []
    for pair in headers.pairs:
        lower = pair[0].lower()
        if lower not in _NEVER_UP and lower not in dropped and not lower.startswith(CONSUMED_PREFIX):
            kept.append(pair)
    # A response that arrives compressed could not be read, so none may be asked for.
    kept.append(("Accept-Encoding", "identity"))
    return tuple(kept)


def headers_down(raw: Sequence[tuple[bytes, bytes]]) -> Pairs:
    """What comes down to the client. The HTTP server states `content-length` or the chunked framing anew."""
    kept: list[tuple[str, str]] = []
    dropped = _NONE
    for raw_name, raw_value in raw:
        name, lower, is_dropped = _provider_name(raw_name)
        if lower == "connection":
            dropped |= _named_by_connection([raw_value.decode("utf-8", "replace")])
        elif not is_dropped:
            kept.append((name, raw_value.decode("utf-8", "replace")))
    return tuple([pair for pair in kept if pair[0].lower() not in dropped] if dropped else kept)


def asks_for_upgrade(headers: RequestHeaders) -> bool:
    """Whether the client wants another protocol on this connection, which nothing here could read."""
    return "upgrade" in headers.by_name or "upgrade" in _named_by_connection(headers.every("connection"))


# Clients and providers send the same few names each time, so what they mean is worked out once.


@lru_cache(maxsize=1024)
def _field(raw: bytes, session_header: str | None) -> tuple[str, str, bool]:
    """A field's name as it came, in lower case, and whether it may stand once only."""
    try:
        name = raw.decode("ascii")
    except UnicodeDecodeError:
        raise HeadersRefusedError("a header name is not ASCII") from None
    if not name or not _is_token(name):
        raise HeadersRefusedError("a header field is not well formed")
    lower = name.lower()
    _refuse_disguise(lower, SINGLE | HOP_BY_HOP | METHOD_OVERRIDE | ({session_header} if session_header else set()))
    if lower in METHOD_OVERRIDE:
        raise HeadersRefusedError(f"the header {lower!r} is not accepted: the method is the request line's")
    return name, lower, lower in SINGLE or lower == session_header


@lru_cache(maxsize=1024)
def _provider_name(raw: bytes) -> tuple[str, str, bool]:
    """A field's name as it came, in lower case, and whether it never comes down."""
    name = raw.decode("ascii", "replace")
    lower = name.lower()
    return name, lower, lower in _NEVER_DOWN or lower.startswith(CONSUMED_PREFIX)


def _value(raw: bytes, lower: str) -> str:
    try:
        value = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise HeadersRefusedError(f"the value of the header {lower!r} is not UTF-8") from None
    if "\r" in value or "\n" in value or "\0" in value:
        raise HeadersRefusedError("a header field is not well formed")
    return value


def _is_token(name: str) -> bool:
    """RFC 9110, 5.6.2."""
    return all(character.isalnum() or character in "!#$%&'*+-.^_`|~" for character in name)


def _refuse_disguise(lower: str, reserved: frozenset[str] | set[str]) -> None:
    # Gateway interfaces such as WSGI read `x_api_key` as `x-api-key`, so it would go past every check made here.
    if "_" in lower:
        dashed = lower.replace("_", "-")
        if dashed in reserved or dashed.startswith(CONSUMED_PREFIX):
            raise HeadersRefusedError(f"the header {lower!r} is another spelling of {dashed!r}")


def _refuse_connection(headers: RequestHeaders, session_header: str | None) -> None:
    if "connection" not in headers.by_name:
        return
    end_to_end = (SINGLE - HOP_BY_HOP) | ({session_header} if session_header else set())
    for token in sorted(_named_by_connection(headers.every("connection"))):
        if token in end_to_end or token.startswith(CONSUMED_PREFIX):
            raise HeadersRefusedError(f"the header 'connection' names the end-to-end header {token!r}")


def _named_by_connection(values: Sequence[str]) -> frozenset[str]:
    if not values:
        return _NONE
    return frozenset(token.strip().lower() for value in values for token in value.split(",") if token.strip())
