"""Single values of the configuration: from a text to what it means, with `ValueError` for what it cannot mean."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import re2

from policies.secrets import Expandable
from policies.spelling import parse_duration
from proxy.credentials import CREDENTIAL_HEADERS
from proxy.headers import HOP_BY_HOP, SINGLE
from proxy.settings import Address
from proxy.upstream import read_upstream_url

if TYPE_CHECKING:
    from proxy.settings import PassThrough

_NAME = re2.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
_HEADER = re2.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_ROUTE = re2.compile(r"(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (/[!$&'()*+,;=:@A-Za-z0-9._~/-]*)")
# First parts of a path that are the provider's own; an upstream of that name could not be told from them.
_RESERVED_NAMES = frozenset({"v1", "v1beta", "messages", "chat", "completions", "models", "responses", "embeddings"})

_TAKEN_HEADERS = frozenset(CREDENTIAL_HEADERS) | SINGLE | HOP_BY_HOP | {"accept-encoding", "cookie", "expect"}


def parse_address(text: str) -> Address:
    """`HOST:PORT`, an IPv6 host in brackets. `ValueError` else."""
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"{text!r} is no address: write an IPv6 host in brackets, as in [::1]:8080")
    valid_port = port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) <= 65535
    if not colon or not host or not valid_port or any(c.isspace() or c == "/" for c in host):
        raise ValueError(f"{text!r} is no address such as 127.0.0.1:8080")
    return Address(host, int(port))


def retention(text: str) -> timedelta:
    """How long something is kept, at least a day."""
    duration = parse_duration(text)
    if duration < timedelta(days=1):
        raise ValueError("must be at least 1d")
    return duration


def person_name(text: str) -> str:
    """The name of a person. `ValueError` else."""
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text!r} is no name of a person: lower case letters, digits, and - _ between them")
    return text


def upstream_name(name: str) -> str:
    """The name of an upstream. `ValueError` where it could not be the first part of a path."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an upstream: lower case letters, digits, and - _ between them")
    if name in _RESERVED_NAMES:
        raise ValueError(f"{name!r} cannot name an upstream: it is the beginning of a provider's own paths")
    return name


def upstream_url(text: str) -> Expandable:
    """The URL of an upstream; one without references is checked at once. `ValueError` where it cannot be one."""
    url = Expandable.parse(text)
    if not url.references:
        read_upstream_url(text)
    return url


def header_name(text: str) -> str:
    """A header of the application's own, in lower case."""
    name = text.lower()
    if not _HEADER.fullmatch(name) or name in _TAKEN_HEADERS:
        raise ValueError(f"{text!r} cannot name the session header")
    return name


def route(text: str) -> PassThrough:
    """A method and a raw path, exactly as they will be matched."""
    found = _ROUTE.fullmatch(text)
    segments = text.partition(" ")[2].split("/")[1:]
    if found is None or "." in segments or ".." in segments or "" in segments[:-1]:
        raise ValueError(f"{text!r} is no method and path such as GET /v1/models")
    return found.group(1), found.group(2)
