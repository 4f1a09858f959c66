"""The URLs that may be called: scheme, host and port exactly, the path by its beginning.

Refused, since the reader of the list and the one who fetches could see two things in it: user information, a backslash,
white space, control characters, characters beyond ASCII outside the host, dot segments and slashes in any encoding,
empty segments. Query and fragment are free.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import re2

from policies.allowed.hosts import WILDCARD, host
from policies.allowed.percent import percent_decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

URL_LENGTH_MAX: Final = 8_192
_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_URL: Final = re2.compile(r"([A-Za-z]+)://([^/?#\\]*)([^?#]*)(\?[^#]*)?(#.*)?")
_AUTHORITY: Final = re2.compile(r"([^:@\[\]%]+)(?::([0-9]{1,5}))?")
_SEGMENT: Final = re2.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*")
_PORT_MAX: Final = 65_535
_DECODED_NEVER: Final = frozenset("/\\%\ufffd")


class _Parts(NamedTuple):
    scheme: str
    host: str  # for an entry with a wildcard, still with it
    port: int
    segments: tuple[str, ...]
    has_more: bool  # a query or a fragment


@dataclass(frozen=True, slots=True)
class Urls:
    """`exact` and `below` map (scheme, host, port) to the beginnings of paths, each a tuple of decoded segments."""

    exact: Mapping[tuple[str, str, int], frozenset[tuple[str, ...]]]
    below: Mapping[tuple[str, str, int], frozenset[tuple[str, ...]]]

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        exact: dict[tuple[str, str, int], set[tuple[str, ...]]] = {}
        below: dict[tuple[str, str, int], set[tuple[str, ...]]] = {}
        for entry in entries:
            parts = _parts(entry)
            if parts.has_more:
                raise ValueError("a list looks at no query and no fragment")
            is_below = parts.host.startswith(WILDCARD)
            name = host(parts.host.removeprefix(WILDCARD))
            if is_below and "." not in name:
                raise ValueError("this allows a whole top-level domain")
            table = below if is_below else exact
            table.setdefault((parts.scheme, name, parts.port), set()).add(parts.segments)
        return cls(_frozen(exact), _frozen(below))

    def accepts(self, text: str) -> bool:
        """`text` is one absolute URL on a listed host, under a listed path."""
        try:
            parts = _parts(text)
            name = host(parts.host)
        except ValueError:
            return False
        keys = [(self.exact, name), *((self.below, parent) for parent in _above(name))]
        allowed = (table.get((parts.scheme, one, parts.port), frozenset()) for table, one in keys)
        beginnings = [parts.segments[:length] for length in range(len(parts.segments) + 1)]
        return any(beginning in paths for paths in allowed for beginning in beginnings)


def _frozen(
    table: Mapping[tuple[str, str, int], set[tuple[str, ...]]],
) -> dict[tuple[str, str, int], frozenset[tuple[str, ...]]]:
    return {key: frozenset(paths) for key, paths in table.items()}


def _above(name: str) -> list[str]:
    labels = name.split(".")
    return [".".join(labels[start:]) for start in range(1, len(labels))]


def _parts(text: str) -> _Parts:
    """`ValueError` for what is no absolute URL of one reading."""
    if len(text) > URL_LENGTH_MAX or any(character <= " " or character == "\x7f" for character in text):
        raise ValueError("not a URL")
    try:
        match = _URL.fullmatch(text)
    except UnicodeEncodeError:
        match = None
    if match is None:
        raise ValueError("not an absolute URL such as https://example.com/path")
    scheme, authority, path, query, fragment = match.groups()
    scheme = scheme.lower()
    if scheme not in _PORTS:
        raise ValueError("the scheme of a URL is http, https, ws or wss")
    if not all(part is None or part.isascii() for part in (path, query, fragment)):
        raise ValueError("only the host of a URL may have characters beyond ASCII")
    name, port = _authority(authority)
    return _Parts(scheme, name, _PORTS[scheme] if port is None else port, _segments(path), bool(query or fragment))


def _authority(text: str) -> tuple[str, int | None]:
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        raise ValueError("the authority of a URL is a host name and at most a port")
    port = None if match.group(2) is None else int(match.group(2))
    if port is not None and not 0 < port <= _PORT_MAX:
        raise ValueError("not a port")
    return match.group(1), port


def _segments(path: str) -> tuple[str, ...]:
    """The decoded segments of a path; an end in a slash makes no difference."""
    if not path or path == "/":
        return ()
    if not path.startswith("/"):
        raise ValueError("the path of a URL begins with a slash")
    return tuple(_segment(segment) for segment in path.removesuffix("/")[1:].split("/"))


def _segment(segment: str) -> str:
    if not segment or _SEGMENT.fullmatch(segment) is None:
        raise ValueError("the path of a URL has an empty segment, or a character that has no place in it")
    decoded = percent_decoded(segment)
    plain = unicodedata.normalize("NFKC", decoded)  # some systems fit a full-width dot to a plain one
    if not _DECODED_NEVER.isdisjoint(plain) or any(character < " " or character == "\x7f" for character in plain):
        raise ValueError("the path of a URL hides a character that others may decode")
    if plain.partition(";")[0].strip() in (".", ".."):
        raise ValueError("the path of a URL has a dot segment")
    return decoded
