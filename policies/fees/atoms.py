"""Text into atoms: numbers in digits and words, phrases of the lexicon, and everything else as it stands."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

import re2

from policies.currencies import EXPONENTS
from policies.fees.candidate import TimeUnit
from policies.fees.lexicon import Construct, Currency, Sign
from policies.fees.text import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from policies.fees.lexicon import Lexicon, Meaning

_TOKEN = re2.compile(r"[0-9]+(?:[.,'][0-9]+)*|[A-Za-z]{0,3}\$|[\pL\pM]+|[^\s]")
_DIGITS = "0123456789"
_NOTE_MARKS = ("*", "\u2020", "\u2021")
_NUMBER_TOKENS = 16
_GAP = 5
_TIME_UNITS = frozenset(TimeUnit)


@dataclass(frozen=True, slots=True)
class Number:
    value: Decimal


Content: TypeAlias = "Meaning | Number | None"


@dataclass(frozen=True, slots=True)
class Atom:
    """`content` is None for a word or mark that the lexicon does not know."""

    content: Content
    text: str  # lower case
    span: Span


@dataclass(frozen=True, slots=True)
class _Token:
    raw: str
    span: Span

    @property
    def text(self) -> str:
        return self.raw.lower()


def atoms(text: str, lexicon: Lexicon) -> tuple[Atom, ...]:
    """The atoms of normalised text, in order. A number that two readers could read differently is a `NUMBER_FORM`."""
    tokens = [_Token(match.group(), Span(*match.span())) for match in _TOKEN.finditer(text)]
    found: list[Atom] = []
    index = 0
    while index < len(tokens):
        content, taken = _next(tokens, index, lexicon)
        span = Span(tokens[index].span.start, tokens[index + taken - 1].span.end)
        found.append(Atom(content, text[span.start : span.end].lower(), span))
        index += taken
    return tuple(found)


def _next(tokens: Sequence[_Token], index: int, lexicon: Lexicon) -> tuple[Content, int]:
    token = tokens[index]
    phrase, length = _phrase(tokens, index, lexicon)
    if length > 1:
        return phrase, length
    if token.text[0] in _DIGITS:
        return _digits(tokens, index, lexicon)
    words = _words(tokens, index, lexicon)
    if words is not None:
        return words
    if token.raw in EXPONENTS:
        phrase = Currency(token.raw)
    elif token.text in _NOTE_MARKS and index and tokens[index - 1].span.end == token.span.start:
        phrase = Construct.FOOTNOTE
    elif phrase is None and token.text.isnumeric():
        phrase = Construct.NUMBER_FORM  # other digits, fractions, numerals
    return phrase, 1


def _digits(tokens: Sequence[_Token], index: int, lexicon: Lexicon) -> tuple[Content, int]:
    value = parse_digits(tokens[index].text, lexicon)
    if value is None:
        return Construct.NUMBER_FORM, 1
    after = tokens[index + 1 : index + 2]
    touches = bool(after) and after[0].span.start == tokens[index].span.end
    if touches and after[0].text in lexicon.ordinal_suffixes:
        return Number(value), 2
    if touches and lexicon.ordinal_dot and after[0].text == "." and _is_ordinal(tokens, index + 2, lexicon):
        return Number(value), 2
    return _repeated(tokens, index, 1, value, lexicon)


def _is_ordinal(tokens: Sequence[_Token], index: int, lexicon: Lexicon) -> bool:
    """Whether what follows "30." makes it an ordinal: a unit of time, or the second half of a range."""
    return index < len(tokens) and (
        tokens[index].text in ("-", "bis", "und") or _phrase(tokens, index, lexicon)[0] in _TIME_UNITS
    )


def _words(tokens: Sequence[_Token], index: int, lexicon: Lexicon) -> tuple[Content, int] | None:
    following = index + 1
    if tokens[index].text in lexicon.unit_articles and following < len(tokens):
        unit, _ = _phrase(tokens, following, lexicon)
        return (Number(Decimal(1)), 1) if unit in _TIME_UNITS else None
    read = lexicon.number_words(_texts(tokens, index))
    if read is None:
        return None
    return _repeated(tokens, index, read[1], Decimal(read[0]), lexicon)


def _repeated(
    tokens: Sequence[_Token], index: int, taken: int, value: Decimal, lexicon: Lexicon
) -> tuple[Content, int]:
    """Takes in the customary "30 (thirty)"; where the two differ the whole is no number."""
    behind = _texts(tokens, index + taken)
    if len(behind) < 3 or behind[0] != "(":
        return Number(value), taken
    digits = parse_digits(behind[1], lexicon)
    again = (digits, 1) if digits is not None else lexicon.number_words(behind[1:])
    if again is None or behind[again[1] + 1 : again[1] + 2] != [")"]:
        return Number(value), taken
    return (Number(value) if again[0] == value else Construct.NUMBER_FORM), taken + again[1] + 2


def _texts(tokens: Sequence[_Token], index: int) -> list[str]:
    """As many tokens as a number in words may have, and what ends it."""
    return [token.text for token in tokens[index : index + _NUMBER_TOKENS]]


def parse_digits(text: str, lexicon: Lexicon) -> Decimal | None:
    """A number in the language's own marks. None where it has none, or could be meant in another language's."""
    whole, mark, fraction = text.partition(lexicon.decimal_mark)
    groups = whole.split(lexicon.group_mark)
    grouped = len(groups) > 1
    if not all(part.isascii() and part.isdecimal() for part in (*groups, *([fraction] if mark else []))):
        return None
    if grouped and (len(groups[0]) > 3 or any(len(group) != 3 for group in groups[1:])):
        return None
    if mark and len(fraction) == 3 and not grouped:
        return None  # 1.250 is a quarter more than one, or a thousand more
    if len(whole) > 15 or len(fraction) > 6:
        return None
    return Decimal("".join(groups) + (f".{fraction}" if mark else ""))


def _phrase(tokens: Sequence[_Token], index: int, lexicon: Lexicon) -> tuple[Meaning | None, int]:
    """The longest phrase that starts here, and how many tokens it takes (1 where there is none)."""
    best: Meaning | None = None
    length = 0
    for phrase in lexicon.starting(tokens[index].text):
        end = _match(tokens, index, phrase, lexicon)
        if end - index > length:
            best, length = lexicon.phrases[phrase], end - index
    return best, max(length, 1)


def _match(tokens: Sequence[_Token], index: int, phrase: tuple[str, ...], lexicon: Lexicon) -> int:
    """Where the phrase ends, or `index` where it does not stand there."""
    position, gap = index, False
    for word in phrase:
        if word == "...":
            gap = True
            continue
        limit = position + (_GAP if gap else 0)
        while position < len(tokens) and not _is(tokens[position].text, word):
            is_article = lexicon.phrases.get((tokens[position].text,)) is Sign.ARTICLE
            if position >= limit and not is_article:
                return index
            position += 1
            limit += is_article
        if position >= len(tokens):
            return index
        position += 1
        gap = False
    return position


def _is(token: str, word: str) -> bool:
    return token.startswith(word[:-1]) if word.endswith("*") else token == word
