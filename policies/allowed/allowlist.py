"""The allowlist of one argument: lists of one or more kinds, of which one must accept the value."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from policies.allowed.accounts import Accounts
from policies.allowed.domains import Domains
from policies.allowed.paths import Paths
from policies.allowed.urls import Urls
from policies.allowed.values import Values

if TYPE_CHECKING:
    from collections.abc import Mapping

Matcher: TypeAlias = "Domains | Urls | Paths | Accounts | Values"

KINDS: Final[Mapping[str, type[Domains | Urls | Paths | Accounts | Values]]] = MappingProxyType(
    {"domains": Domains, "urls": Urls, "paths": Paths, "accounts": Accounts, "values": Values}
)
"""By the key that brings them. `of` reads the entries; its `ValueError` says what is wrong with one."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One list: its kind, and where its entries stand (`constants.x`, a file's name; empty: in the argument). `entries`
    are as they are spelled, for people.
    """

    kind: str
    matcher: Matcher
    stands_in: str
    entries: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.entries)


@dataclass(frozen=True, slots=True)
class Allowlist:
    """`reason` is what a refusal says."""

    lists: tuple[Listed, ...]
    reason: str

    def accepts(self, text: str) -> bool:
        return any(one.matcher.accepts(text) for one in self.lists)
