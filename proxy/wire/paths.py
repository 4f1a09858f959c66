"""Paths of a table: literal text, and `{name}` for what varies. They match to the letter; nothing is normalised.

A variable stands for one or more characters of one segment, and never for a slash. Where literal text follows it in its
segment (`{model}:generateContent`), it holds neither that text's first character nor an escape, so that no server can
divide the segment elsewhere than the gate did.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_NO_VARIABLES: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Address:
    """Where a request was posted: the path as its table has it, what its variables stand for, and the raw query."""

    pattern: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    query: str = ""


NOWHERE: Final = Address()


def variables_of(pattern: str, path: str) -> Mapping[str, str] | None:
    """What the variables of `pattern` stand for in `path`, as they stood there; None where the two do not match."""
    if "{" not in pattern:
        return _NO_VARIABLES if path == pattern else None
    segments = path.split("/")
    parsed = _segments(pattern)
    if len(segments) != len(parsed):
        return None
    found: dict[str, str] = {}
    for segment, (before, name, behind) in zip(segments, parsed, strict=True):
        if not name:
            if segment != before:
                return None
            continue
        value = segment[len(before) : len(segment) - len(behind)]
        if not value or segment != before + value + behind or (behind and not {behind[0], "%"}.isdisjoint(value)):
            return None
        found[name] = value
    return found


@lru_cache(maxsize=1024)
def _segments(pattern: str) -> tuple[tuple[str, str, str], ...]:
    """Of each segment the text before its variable, the variable's name (empty for none), and the text behind it."""
    parsed = []
    for segment in pattern.split("/"):
        before, _, rest = segment.partition("{")
        name, _, behind = rest.partition("}")
        parsed.append((before, name, behind))
    return tuple(parsed)
