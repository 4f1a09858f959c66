"""Whether a text occurs in another as whole tokens, and where: `A1001` stands in `(A1001).` and not in `A10012`."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN_LENGTH_MIN: Final = 3
"""Characters: what is shorter stands in any text."""

_JOINING: Final = frozenset("-_./\\@+%~\u2010\u2212")
# What may stand before or behind a token and belong to the sentence: `_A1001_`, `@anna`, `A1001.`
_LOOSE_BEFORE: Final = frozenset("_@")
_LOOSE_BEHIND: Final = frozenset("_-./")


_EAST: Final = 0x3005
_SCRIPTS: Final = (
    (0x3005, 0x3007, "han"),
    (0x3041, 0x3098, "hiragana"),  # without the marks that go upon one
    (0x309D, 0x309F, "hiragana"),
    (0x30A1, 0x30FB, "katakana"),  # without the sound mark, which goes on with any of them
    (0x30FD, 0x30FF, "katakana"),
    (0x31F0, 0x31FF, "katakana"),
    (0x3400, 0x9FFF, "han"),
    (0xF900, 0xFAFF, "han"),
    (0x20000, 0x3FFFF, "han"),
)


def occurrences(token: str, text: str, *, is_exact: bool) -> Iterator[tuple[int, int]]:
    """The places in `text` at which the token stands whole, from the left.

    `is_exact`: character by character; else case and width do not count, nor how much white space parts two words. A
    token of less than `TOKEN_LENGTH_MIN` characters, or without a letter or digit, stands nowhere.
    """
    if is_exact:
        yield from _found(token, text)
        return
    token = plain(token)
    if text.isascii() and " " not in token:
        yield from _found(token, text.lower())
        return
    # A token without a space stands in one line, so that the others need not be read place by place.
    begun = 0
    for part in text.split("\n") if " " not in token else (text,):
        if token in plain(part):
            folded, starts, ends = _folded(part)
            for start, end in _found(token, folded):
                yield begun + starts[start], begun + ends[end - 1]
        begun += len(part) + 1


def plain(text: str) -> str:
    """The text as tokens are compared: NFKC, case folded, runs of white space as one space."""
    return " ".join(_without_case(text).split())


def stands_in(token: str, text: str) -> bool:
    """Whether the token stands in a text between anything but letters and digits. Both are `plain`.

    Wider than `occurrences`: it asks where a value was seen before, and there doubt counts as seen.
    """
    at = text.find(token)
    while at >= 0:
        end = at + len(token)
        if not _is_amid(text, at) and not _is_amid(text, end):
            return True
        at = text.find(token, at + 1)
    return False


def _found(token: str, text: str) -> Iterator[tuple[int, int]]:
    if len(token) < TOKEN_LENGTH_MIN or not any(character.isalnum() for character in token):
        return
    at = text.find(token)
    while at >= 0:
        end = at + len(token)
        if _begins(text, at) and _ends(text, end):
            yield at, end
        at = text.find(token, at + 1)


def _begins(text: str, at: int) -> bool:
    """Whether a token that begins here has its whole beginning."""
    if _is_word(text, at - 1):
        return _is_seam(text, at)
    before = at
    while before and text[before - 1] in _JOINING:
        before -= 1
    if before == at:
        return True
    return not _is_word(text, before - 1) and _is_word(text, at) and _LOOSE_BEFORE.issuperset(text[before:at])


def _ends(text: str, end: int) -> bool:
    """Whether a token that ends here has its whole end."""
    if _is_word(text, end):
        return _is_seam(text, end)
    behind = end
    while behind < len(text) and text[behind] in _JOINING:
        behind += 1
    if behind == end:
        return True
    return not _is_word(text, behind) and _LOOSE_BEHIND.issuperset(text[end:behind])


def _is_word(text: str, at: int) -> bool:
    """Whether a letter, a digit or a mark upon one stands here."""
    return 0 <= at < len(text) and (text[at].isalnum() or unicodedata.category(text[at])[0] == "M")


def _is_amid(text: str, at: int) -> bool:
    """Whether this place lies within one word."""
    return _is_word(text, at - 1) and _is_word(text, at) and not _is_seam(text, at)


def _is_seam(text: str, at: int) -> bool:
    """Whether an ASCII word and a script that has no upper case (Chinese, Kana, Hangul, Arabic) meet here, or two of
    Chinese characters, Hiragana and Katakana: there words are written without a space.
    """
    before, behind = text[at - 1], text[at]
    scripts = _script(before), _script(behind)
    if all(scripts):
        return scripts[0] != scripts[1]
    return before.isascii() is not behind.isascii() and "Lo" in (
        unicodedata.category(before),
        unicodedata.category(behind),
    )


def _script(character: str) -> str:
    """Of the characters of Chinese and Japanese; empty for all others, half width forms among them."""
    code = ord(character)
    return next((name for first, last, name in _SCRIPTS if first <= code <= last), "") if code >= _EAST else ""


def _without_case(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _folded(text: str) -> tuple[str, list[int], list[int]]:
    """The text as tokens are compared, and for each character of it where in the original that begins and ends from
    which it comes.
    """
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        end = at + 1
        if text[at].isspace():
            while end < len(text) and text[end].isspace():
                end += 1
            cluster = " "
        else:
            while end < len(text) and unicodedata.combining(text[end]):
                end += 1
            cluster = _without_case(text[at:end])
        characters.append(cluster)
        starts += [at] * len(cluster)
        ends += [end] * len(cluster)
        at = end
    return "".join(characters), starts, ends
