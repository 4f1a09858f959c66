"""What the words of a language mean for fees. A language is one table of phrases and one reader of number words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from policies.fees.candidate import Language, PercentBase, ReferenceKind, TimeUnit


class Construct(Enum):
    """What a schedule may hold in no clause that a rule rests on. The value names it for people."""

    VAGUE = "a vague clause"
    BOUNDED_FEE = "a fee with only an upper or lower bound"
    LOOSE_BOUND = "a bound without the number that it bounds"
    ALTERNATIVES = "the greater or lower of several fees"
    COMPOUND = "a fee of several parts"
    OTHER_BASE = "a share of something else than the price or the paid amount"
    FOOTNOTE = "a footnote mark"
    PER_UNIT = "a fee for each person, night or item"
    PARTIAL_CANCELLATION = "a partial cancellation"
    PROMOTION = "a promotion"
    COUPON = "a coupon, voucher or credit"
    BUSINESS_DAYS = "business days or holidays"
    CLOCK_TIME = "hours or a time of day"
    TIME_ZONE = "a time zone of departure"
    CALENDAR_UNIT = "months or years"
    OTHER_ANCHOR = "days counted from another event"
    NO_SHOW = "a no-show"
    CONDITION = "a condition or exception"
    NEGATION = "a negation"
    REFUND_SHARE = "an amount given back instead of a fee"
    NUMBER_FORM = "a form of number that is not read"


class Side(Enum):
    START = "start"
    END = "end"


class Position(Enum):
    """On which side of the number a phrase stands: "more than 30", "30 days or more", either for "at the latest"."""

    BEFORE = "before"
    AFTER = "after"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Comparator:
    """How a phrase bounds the days before the reference date: `more than` is an exclusive end."""

    side: Side
    inclusive: bool
    position: Position = Position.BEFORE


@dataclass(frozen=True, slots=True)
class DayOf:
    """A named day, such as the day of departure: 0 days before."""

    kind: ReferenceKind
    days: int = 0


@dataclass(frozen=True, slots=True)
class Currency:
    code: str


class Sign(Enum):
    """Words that matter by their place in the grammar (`reader`)."""

    ARTICLE = "article"
    FILLER = "filler"  # a known word without a meaning of its own; shows that the language is the declared one
    FROM = "from"  # "from 29 ..."; alone an inclusive start
    RANGE_START = "range start"  # before a range only; alone it bounds nothing
    UPTO = "upto"  # "until 15 ..."; alone an inclusive end
    TO = "to"  # between two numbers only
    BETWEEN = "between"
    AND = "and"
    INCLUSIVE = "inclusive"
    BEFORE = "before"
    OF = "of"
    FROM_BOOKING = "from booking"
    REMAINDER = "remainder"  # "later", "otherwise": the days that the neighbour left
    PERCENT = "percent"
    FREE = "free"  # no fee
    FULL = "full"  # no refund


Meaning: TypeAlias = "Construct | Comparator | DayOf | Currency | Sign | TimeUnit | ReferenceKind | PercentBase"

NumberWords: TypeAlias = "Callable[[Sequence[str]], tuple[int, int] | None]"
"""Reads a number in words at the start of lower-case tokens: its value and how many tokens it took."""


@dataclass(frozen=True)
class Lexicon:
    """`phrases` are lower-case tokens without articles, which may stand between any two of them; a token ending in `*`
    is a prefix, `...` stands for up to five tokens.

    `unit_articles` are words that mean 1 right before a unit of time ("a week"). `prepositions` are bounds that mean
    something else where no number follows ("within the city"). `singular_day` without a number is one day ("the day
    before departure"). Ordinals end in one of `ordinal_suffixes`, or, where `ordinal_dot`, in a full stop.
    """

    language: Language
    decimal_mark: str
    group_mark: str
    phrases: Mapping[tuple[str, ...], Meaning]
    number_words: NumberWords
    unit_articles: frozenset[str]
    prepositions: frozenset[str]
    singular_day: str
    ordinal_suffixes: frozenset[str]
    ordinal_dot: bool

    @cached_property
    def _first_words(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        first: dict[str, list[tuple[str, ...]]] = {}
        for phrase in self.phrases:
            first.setdefault(phrase[0], []).append(phrase)
        return {word: tuple(phrases) for word, phrases in first.items()}

    @cached_property
    def _stems(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((phrase[0][:-1], phrase) for phrase in self.phrases if phrase[0].endswith("*"))

    def starting(self, token: str) -> Iterator[tuple[str, ...]]:
        """The phrases whose first word is the token."""
        yield from self._first_words.get(token, ())
        yield from (phrase for stem, phrase in self._stems if token.startswith(stem))


def phrase_table(rows: Sequence[tuple[Meaning, str]]) -> Mapping[tuple[str, ...], Meaning]:
    """The phrases of rows of (meaning, "phrase | phrase"). A phrase with two meanings is a mistake in the table."""
    table: dict[tuple[str, ...], Meaning] = {}
    articles = {word for meaning, phrases in rows if meaning is Sign.ARTICLE for word in phrases.split("|")}
    for meaning, phrases in rows:
        for phrase in phrases.split("|"):
            words = phrase.split()
            tokens = tuple(word for word in words if len(words) == 1 or word not in articles)
            if not tokens or table.setdefault(tokens, meaning) != meaning:
                raise ValueError(f"phrase {phrase!r} is empty or has two meanings")
    return table
