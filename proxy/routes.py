"""Which request goes where: by its method and its raw path, exactly. Nothing is normalised; what is odd is refused.

Every route is mediated, passed on unexamined because the configuration or a dialect's table names it, or refused
(guarantee G1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import unquote

from proxy.wire.dialect import NamesResources
from proxy.wire.elsewhere import elsewhere
from proxy.wire.paths import Address, variables_of
from proxy.wire.registry import DIALECTS
from proxy.wire.unserved import why_unserved

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence

    from proxy.settings import PassThrough
    from proxy.wire.dialect import Dialect

_SLASH: Final = "%2f"
_ENCODED_TRICKS = (_SLASH, "%5c", "%2e", "%00", "%25")
_VERBS: Final = frozenset(
    verb.lower() for dialect in DIALECTS for path in dialect.paths if (verb := path.rpartition("}")[2])[:1] == ":"
)
"""By which Google's paths name a create call, behind the name of a model."""


@dataclass(frozen=True, slots=True)
class Mediated:
    """A create call of `dialect`. `target` is what is appended to the upstream's URL: raw path and query."""

    dialect: Dialect
    upstream: str
    target: str
    at: Address

    @property
    def name(self) -> str:
        """The route as its table has it."""
        return self.at.pattern


@dataclass(frozen=True, slots=True)
class Unexamined:
    """Passed on verbatim, with a receipt. `hand` names what the policy must allow first (`elsewhere`)."""

    dialect: Dialect
    upstream: str
    target: str
    name: str
    hand: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """`message` is for the client; `dialect` gives the shape of the error."""

    dialect: Dialect
    message: str


Route: TypeAlias = "Mediated | Unexamined | Refused"


def route(
    method: str, raw_target: str, provider: str, upstreams: Collection[str], pass_through: Collection[PassThrough]
) -> Route:
    """The route of a request line.

    Args:
        raw_target: path and query as they stood in the request line.
        provider: of the headers (`provider_of`), for paths that several providers share.
        upstreams: the names that are configured.
        pass_through: methods and paths that the configuration lets pass.
    """
    path, question, query = raw_target.partition("?")
    shape = next((dialect for dialect in DIALECTS if dialect.provider == provider), DIALECTS[0])
    readings = _readings(path, upstreams)
    if problem := _oddity(_without_names(path, readings)):
        return Refused(shape, problem)
    for upstream, rest in readings:
        for dialect in DIALECTS if method == "POST" else ():
            if (at := _address(dialect, rest, query)) is not None and not _is_passive(dialect, method, rest):
                name = upstream or dialect.provider
                target = rest + question + query
                return Mediated(dialect, name, target, at) if name in upstreams else _missing(dialect, name)
    upstream, rest = next((reading for reading in readings if reading[0]), readings[0])
    target, name = rest + question + query, upstream or provider
    passive = [dialect for dialect in DIALECTS if _is_passive(dialect, method, rest)]
    if passive:
        dialect = next((each for each in passive if each.provider == name), passive[0])
        name = upstream or (provider if any(each.provider == provider for each in passive) else dialect.provider)
        return Unexamined(dialect, name, target, rest) if name in upstreams else _missing(dialect, name)
    if (method, path) in pass_through:
        name = upstream or (next(iter(upstreams)) if len(upstreams) == 1 else name)
        return Unexamined(shape, name, target, path) if name in upstreams else _missing(shape, name)
    if (family := elsewhere(method, rest)) is not None:
        dialect = next(each for each in DIALECTS if each.provider == family.provider)
        name = upstream or family.provider
        return Unexamined(dialect, name, target, rest, family.name) if name in upstreams else _missing(dialect, name)
    if why := why_unserved(method, rest):
        return Refused(shape, f"{method} {path} is not served: {why}")
    return Refused(shape, f"{method} {path} is not a route of this gate; the configuration can name it in pass_through")


_CLIENT_HEADERS: Final = tuple((each.client_header, each.provider) for each in DIALECTS if each.client_header)


def provider_of(names: Container[str]) -> str:
    """Which provider's client this is, for paths that providers share; `names` of its fields are in lower case."""
    for header, provider in _CLIENT_HEADERS:
        if header in names:
            return provider
    return "openai"


def _readings(path: str, upstreams: Collection[str]) -> list[tuple[str | None, str]]:
    """As a provider's own path, and, where it is `/{name}/rest`, as one for the upstream of that name. Azure's paths
    begin as a provider is named: there the name comes first."""
    name, slash, rest = path[1:].partition("/")
    if not slash or name not in upstreams:
        return [(None, path)]
    readings = [(None, path), (name, slash + rest)]
    return readings[::-1] if any(dialect.provider == name for dialect in DIALECTS) else readings


def _address(dialect: Dialect, path: str, query: str) -> Address | None:
    for pattern in dialect.paths:
        if (variables := variables_of(pattern, path)) is not None:
            return Address(pattern, variables, query)
    return None


def _missing(dialect: Dialect, upstream: str) -> Refused:
    return Refused(dialect, f"there is no upstream named {upstream!r}")


def _is_passive(dialect: Dialect, method: str, path: str) -> bool:
    """Whether a row of its table says so, which goes before a create call's path that fits as well."""
    rows = [row for verb, row in dialect.passive if method == verb and variables_of(row, path) is not None]
    return any(_names_a_create_call(row) or not _names_a_create_call(path) for row in rows)


def _names_a_create_call(path: str) -> bool:
    """Whether what stands for the id of a model names a method behind it: with a body, and by a server that minds no
    method, such a read is a create call."""
    read = unquote(path).lower()
    return any(verb in read for verb in _VERBS)


def _without_names(path: str, readings: Sequence[tuple[str | None, str]]) -> str:
    """The path without what a dialect knows for one name, escaped slash and all."""
    for _, rest in readings if _SLASH in path.lower() else ():
        for dialect in DIALECTS:
            if isinstance(dialect, NamesResources) and (plain := dialect.without_name(rest)) is not None:
                return path.removesuffix(rest) + plain
    return path


def _oddity(path: str) -> str:
    lower = path.lower()
    if not path.startswith("/"):
        return "the request target must be a path"
    if not path.isascii() or not path.isprintable() or "\\" in path or "#" in path or ";" in path:
        return "the path holds a character that may not stand there"
    if "//" in path or any(segment in (".", "..") for segment in path.split("/")):
        return "the path holds an empty or a dot segment; it is refused, not normalised"
    if any(trick in lower for trick in _ENCODED_TRICKS):
        return "the path holds an encoded separator or dot; it is refused, not normalised"
    return ""
