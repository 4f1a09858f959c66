"""A house rule: a claim about the sources, a check that finds what breaks it, and proof that the check can fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tests.tidy.source import Finding, Source

Check = Callable[[Source], Iterable[Finding]]


@dataclass(frozen=True)
class Rule:
    """`planted` are files (path, text) that each break the rule, `innocent` their neighbours that do not."""

    name: str
    claim: str
    applies: Callable[[Source], bool]
    check: Check
    planted: tuple[tuple[str, str], ...]
    innocent: tuple[tuple[str, str], ...] = ()

    def findings(self, sources: Iterable[Source]) -> Iterator[Finding]:
        for source in sources:
            if self.applies(source):
                yield from self.check(source)


def inside(*places: str, but: tuple[str, ...] = ()) -> Callable[[Source], bool]:
    """Files of the folders (or the files) `places`, those in `but` left out."""
    return lambda source: source.is_in(*places) and not source.is_in(*but)
