"""Patterns of a policy: anchored at both ends, on one engine whose time is linear in the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import re2

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE_LENGTH_MAX = 1_000  # characters
PROGRAM_SIZE_MAX = 5_000  # instructions of the compiled program
MEMORY_MAX = 4 << 20  # bytes, of the program and its cache of states
TEXT_LENGTH_MAX = 65_536  # characters; a longer text matches nothing


class PatternError(ValueError):
    """The text is no pattern of RE2 (which has no look-around and no back-references), or it is too large."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Two patterns with one source are equal. `accepts_empty`: the empty text matches."""

    source: str
    accepts_empty: bool = field(compare=False)
    _compiled: re2._Regexp = field(repr=False, compare=False)
    _whole: re2._Regexp = field(repr=False, compare=False)  # the same on UTF-8, which tells nothing but whether

    @classmethod
    def compile(cls, source: str) -> Pattern:
        """`PatternError` names what is wrong with the source."""
        if len(source) > SOURCE_LENGTH_MAX:
            raise PatternError(f"the pattern is longer than {SOURCE_LENGTH_MAX} characters")
        options = re2.Options()
        options.log_errors = False
        options.max_mem = MEMORY_MAX
        try:
            compiled = re2.compile(source, options)
            options.never_capture = True
            whole = re2.compile(source.encode(), options)
        except re2.error as error:
            raise PatternError(f"{source!r} is not a pattern: {_said(error)}") from None
        except UnicodeEncodeError:
            raise PatternError("the pattern holds a lone surrogate") from None
        if compiled.programsize > PROGRAM_SIZE_MAX:
            raise PatternError(f"{source!r} is too large once compiled")
        return cls(source, compiled.fullmatch("") is not None, compiled, whole)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches. Text that is not Unicode (a lone surrogate) or too long does not."""
        if len(text) > TEXT_LENGTH_MAX:
            return False
        try:
            return self._whole.fullmatch(text.encode()) is not None
        except UnicodeEncodeError:
            return False

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where in the text it matches, from the left and apart from each other: here it is not anchored.

        `UnicodeEncodeError` where the text is not Unicode.
        """
        return (match.span() for match in self._compiled.finditer(text))


def _said(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
