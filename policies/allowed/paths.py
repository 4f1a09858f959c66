"""The places in a file system that may be named. Where a link leads, a gate cannot know: it reads the text alone."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

PATH_LENGTH_MAX: Final = 4_096
ROOT: Final = "/"


@dataclass(frozen=True, slots=True)
class Paths:
    """A path passes that is one of `places` or lies below it, segment by segment. An absolute one begins with `/`."""

    places: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        return cls(frozenset(_segments(entry) for entry in entries))

    def accepts(self, text: str) -> bool:
        try:
            segments = _segments(text)
        except ValueError:
            return False
        return any(segments[:length] in self.places for length in range(1, len(segments) + 1))


def _segments(text: str) -> tuple[str, ...]:
    """`/srv//a/./b` as `("/", "srv", "a", "b")`. `ValueError` for what leads elsewhere, or may on some system."""
    if not text or len(text) > PATH_LENGTH_MAX:
        raise ValueError("not a path")
    if "\\" in text or any(character < " " or character == "\x7f" for character in text):
        raise ValueError("a path has neither backslashes nor control characters")
    if text[0] == "~" or text != text.strip():
        raise ValueError("a path begins with neither a tilde nor a space, and ends in none")
    plain = unicodedata.normalize("NFKC", text)  # some systems fit a full-width dot or slash to a plain one
    if plain.count("/") != text.count("/") or "\\" in plain or ".." in plain.split("/"):
        raise ValueError("a path holds no `..`, and no character that may stand for a dot or a slash")
    segments = [segment for segment in text.split("/") if segment not in ("", ".")]
    if text.startswith("//"):
        raise ValueError("a path begins with one slash")
    found = (ROOT, *segments) if text.startswith(ROOT) else tuple(segments)
    if not found:
        raise ValueError("a path names something")
    return found
