"""Texts that are allowed as they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Values:
    """Compared character by character: case and width count."""

    texts: frozenset[str]

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        return cls(frozenset(entries))

    def accepts(self, text: str) -> bool:
        return text in self.texts
