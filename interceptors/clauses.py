"""A text as sentences, clauses and words, for who looks for words in it."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

import re2

if TYPE_CHECKING:
    from collections.abc import Iterator

Tokens = tuple[str, ...]
"""Words in one spelling: no case, no width, one apostrophe."""

_ALIKE: Final = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00b4": "'", "`": "'", "\uff07": "'"})
# A word with its apostrophes; a letter of a script without spaces is one. A colon is none, and parts nothing.
_PART: Final = re2.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}]"
    r"|[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*|[.!?;\n\r\v\f\x{85}\x{2028}\x{2029}…。]|,|、|:"
)
_ELISIONS: Final = frozenset(
    {"l", "d", "j", "m", "t", "s", "n", "c", "qu", "un", "all", "dell", "dall", "nell", "quell"}
)
_ENDS: Final = frozenset(".!?;\n\r\v\f\x85\u2028\u2029…。")
_COMMAS: Final = frozenset(",、")


class Clause(NamedTuple):
    """Words up to a comma or the end of their sentence."""

    tokens: Tokens
    is_question: bool = False


def tokens_of(text: str) -> Tokens:
    """The words of a text, without its marks."""
    return tuple(token for part in _parts(text) if part not in _ENDS and part not in _COMMAS for token in _split(part))


def clauses_of(text: str) -> list[list[Clause]]:
    """The sentences of a text, each with its clauses; none is empty."""
    sentences: list[list[Clause]] = []
    sentence: list[Tokens] = []
    words: list[str] = []
    for part in (*_parts(text), "\n"):
        if part not in _ENDS and part not in _COMMAS:
            words += _split(part)
            continue
        if words:
            sentence.append(tuple(words))
            words = []
        if part in _ENDS and sentence:
            sentences.append([Clause(tokens, part == "?") for tokens in sentence])
            sentence = []
    return sentences


def _parts(text: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKC", text.translate(_ALIKE)).casefold()
    visible = "".join(one for one in plain if unicodedata.category(one) not in ("Cf", "Cs"))
    return (match.group() for match in _PART.finditer(visible))


def _split(word: str) -> tuple[str, ...]:
    """`d'humain` is two words, `don't` is one."""
    first, mark, rest = word.partition("'")
    return (first, rest) if mark and first in _ELISIONS else (word,)
