"""Source texts: the declared normalisation with its way back, and places in a document.

Two texts are the same quotation where they are equal after exactly this: Unicode NFC, each run of white space to one
space, typographic quotation marks to `"` and `'`, dashes and the minus sign to `-`. Nothing else is forgiven.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import re2

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDED = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
)
_BLANK_LINE = re2.compile(r"\r?\n(?:[ \t]*\r?\n)+|\r[ \t]*\r")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """[start, end) in code points."""

    start: int
    end: int

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end

    def meets(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Place:
    """`document:line:column [start,end)`, line and column from 1, the span in code points of the source."""

    document: str
    line: int
    column: int
    span: Span

    def __str__(self) -> str:
        return f"{self.document}:{self.line}:{self.column} [{self.span.start},{self.span.end})"


@dataclass(frozen=True, slots=True)
class Normalised:
    """Normalised text, and for each of its characters the span of the source that it stands for."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def to_source(self, span: Span) -> Span:
        return Span(self.starts[span.start], self.ends[span.end - 1])

    def from_source(self, span: Span) -> Span:
        """The characters that stand for any part of the source span."""
        return Span(bisect_right(self.ends, span.start), bisect_left(self.starts, span.end))


@dataclass(frozen=True)
class Source:
    """The text a schedule is read from. `name` is what locations call it."""

    name: str
    text: str

    @cached_property
    def normalised(self) -> Normalised:
        return normalise(self.text)

    def place(self, span: Span) -> Place:
        before = self.text[: span.start]
        return Place(self.name, before.count("\n") + 1, span.start - before.rfind("\n"), span)

    def blocks(self, span: Span) -> Span:
        """The paragraphs, ended by blank lines, that the span touches."""
        start, end = 0, len(self.text)
        for match in _BLANK_LINE.finditer(self.text):
            if match.end() <= span.start:
                start = match.end()
            elif match.start() >= span.end:
                end = match.start()
                break
        return Span(start, end)


def normalise(text: str, offset: int = 0) -> Normalised:
    """The declared normalisation. `offset` is added to the spans of the source."""
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _segments(text):
        composed = unicodedata.normalize("NFC", text[start:end]).translate(_FOLDED)
        if composed.isspace():
            if characters and characters[-1] == " ":
                ends[-1] = offset + end
                continue
            composed = " "
        characters.extend(composed)
        starts.extend([offset + start] * len(composed))
        ends.extend([offset + end] * len(composed))
    return Normalised("".join(characters), tuple(starts), tuple(ends))


def _segments(text: str) -> Iterator[tuple[int, int]]:
    """Pieces that NFC composes independently of each other; nearly always one character."""
    start = 0
    for index in range(1, len(text) + 1):
        if index == len(text) or text[index] < "\u0300" or _is_boundary(text[start:index], text[index]):
            yield start, index
            start = index


def _is_boundary(before: str, character: str) -> bool:
    if unicodedata.combining(character):
        return False
    composed = unicodedata.normalize("NFC", before + character)
    return composed == unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", character)
