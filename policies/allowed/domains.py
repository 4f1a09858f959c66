"""The domains to which e-mail may go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import re2

from policies.allowed.hosts import host, host_entry, is_listed

if TYPE_CHECKING:
    from collections.abc import Iterable

ADDRESS_LENGTH_MAX: Final = 254
# An RFC 5321 dot-string without `%` and `!`, by which old mail servers route to somewhere else. No quotes, no display
# name, no second address: these are read differently by those who send.
_LOCAL: Final = re2.compile(r"[A-Za-z0-9#$&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9#$&'*+/=?^_`{|}~-]+)*")


@dataclass(frozen=True, slots=True)
class Domains:
    """An address passes by its domain: one of `exact`, or any below one of `below` (`*.example.com`)."""

    exact: frozenset[str]
    below: frozenset[str]

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        read = [host_entry(entry) for entry in entries]
        return cls(
            frozenset(name for name, is_below in read if not is_below), frozenset(n for n, below in read if below)
        )

    def accepts(self, text: str) -> bool:
        """`text` is one bare e-mail address in a listed domain."""
        local, at, domain = text.partition("@")
        if not at or len(text) > ADDRESS_LENGTH_MAX or not local.isascii() or _LOCAL.fullmatch(local) is None:
            return False
        try:
            return is_listed(host(domain), self.exact, self.below)
        except ValueError:
            return False
