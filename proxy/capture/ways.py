"""Where a captured connection may go: into the gate, straight on, or nowhere. No network here.

A provider's host never goes straight on, whatever the egress list says: the gate is its only way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from policies.allowed.hosts import host, host_entry, is_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PROVIDERS: Final[Mapping[str, str]] = {
    "api.anthropic.com": "anthropic",
    "api.openai.com": "openai",
    "generativelanguage.googleapis.com": "gemini",
}
"""The upstream's name at the gate, by the provider's own host."""
HTTPS_PORT: Final = 443


@dataclass(frozen=True, slots=True)
class IntoGate:
    """`upstream` is the first part of the path at the gate."""

    upstream: str


@dataclass(frozen=True, slots=True)
class StraightOn:
    """A host of the egress list: its bytes pass, encrypted as they are."""


@dataclass(frozen=True, slots=True)
class Nowhere:
    """`reason` is for the agent's developer."""

    reason: str


Way: TypeAlias = "IntoGate | StraightOn | Nowhere"


@dataclass(frozen=True, slots=True)
class Ways:
    """`providers` map a host to an upstream of the gate; `exact` and `below` are the egress list."""

    providers: Mapping[str, str] = field(default_factory=lambda: dict(PROVIDERS))
    exact: frozenset[str] = frozenset()
    below: frozenset[str] = frozenset()

    @classmethod
    def of(cls, providers: Iterable[str], egress: Iterable[str]) -> Self:
        """From `HOST=NAME` and from `host` or `*.host`. Raises `ValueError` that says which is wrong."""
        named = dict(PROVIDERS)
        for entry in providers:
            spelled, equals, name = entry.partition("=")
            if not equals or not name or "/" in name:
                raise ValueError(f"expected HOST=NAME, got {entry!r}")
            named[host(spelled)] = name
        read = [host_entry(entry) for entry in egress]
        exact = frozenset(name for name, is_below in read if not is_below)
        return cls(named, exact, frozenset(name for name, is_below in read if is_below))

    def redirected(self, sni: str, host_header: str, port: int) -> Way:
        """For a connection that a firewall redirected here: nobody named a host but the handshake and the request.

        Only a provider's name counts, since it goes to the gate wherever the connection was meant to go; for any other
        name the bytes would go to an address of the agent's choice.
        """
        way = self.way(sni, port)
        if isinstance(way, IntoGate) and self.way(host_header, port) == way:
            return way
        return Nowhere("a redirected connection goes to a provider or nowhere; other hosts are the firewall's to allow")

    def way(self, spelled: str, port: int) -> Way:
        """For the host and port that a client names."""
        try:
            name = host(spelled)
        except ValueError:
            return Nowhere("the name of the host has more than one reading")
        if name in self.providers:
            if port != HTTPS_PORT:
                return Nowhere(f"{name} is a provider, and is reached on port {HTTPS_PORT} only")
            return IntoGate(self.providers[name])
        if is_listed(name, self.exact, self.below):
            return StraightOn()
        return Nowhere(f"{name} is not on the egress list")
