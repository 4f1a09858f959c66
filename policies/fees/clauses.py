"""The clause of the source around a span: what is read together with a quotation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.fees.text import Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT_WORDS = frozenset({"fee", "day", "tag", "due", "eur", "usd", "gbp", "chf"})
_ABBREVIATIONS = frozenset({"approx", "evtl", "mind", "zzgl", "abzgl", "inkl", "exkl", "incl", "excl", "resp", "max"})
_AHEAD = 64
_BULLETS = "-*\u2022\u2013\u00b7"


def clause(source: Source, at: Span) -> Span:
    """From the boundary before the span to the one after it. In doubt it is too large, never too small."""
    block = source.blocks(at)
    start, end = block.start, block.end
    for boundary in _boundaries(source.text, block):
        if boundary <= at.start:
            start = boundary
        elif boundary >= at.end:
            end = boundary
            break
    return Span(start, end)


def _boundaries(text: str, block: Span) -> Iterator[int]:
    for index in range(block.start, block.end):
        character = text[index]
        if (
            character == ";"
            or (character in ".!?" and _ends_sentence(text, index, block))
            or (character == "\n" and text[index + 1 : index + _AHEAD].lstrip(" \t")[:1] in (*_BULLETS,))
        ):
            yield index + 1


def _ends_sentence(text: str, index: int, block: Span) -> bool:
    rest = text[index + 1 : min(index + _AHEAD, block.end)]
    following = rest.lstrip()
    if following and (len(following) == len(rest) or not following[0].isupper()):
        return False
    if text[index] != ".":
        return True
    start = index
    while start > block.start and text[start - 1].isalpha():
        start -= 1
    word = text[start:index].lower()
    if not word:
        return not text[index - 1].isdecimal() and not text[index - 1].isspace()
    return (len(word) >= 4 and word not in _ABBREVIATIONS) or word in _SHORT_WORDS
