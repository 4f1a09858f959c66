"""Phrases that are looked for among words, and the words of a language made ready for that."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from interceptors.clauses import tokens_of
from policies.handoff_words import LANGUAGES

if TYPE_CHECKING:
    from interceptors.clauses import Tokens
    from policies.handoff_words import Words

_LENGTH_MAX: Final = 6
"""Words of a phrase that is looked for from its end."""


class Phrases:
    """Phrases of words, by their first one; the longest counts."""

    def __init__(self, text: str) -> None:
        self._by_first: dict[str, list[Tokens]] = {}
        for phrase in text.split("|"):
            if tokens := tokens_of(phrase):
                self._by_first.setdefault(tokens[0], []).append(tokens)
        for one in self._by_first.values():
            one.sort(key=len, reverse=True)

    @property
    def first(self) -> frozenset[str]:
        """The words with which they begin."""
        return frozenset(self._by_first)

    def at(self, tokens: Tokens, place: int) -> int:
        """How many words the longest phrase that begins here has; 0 for none."""
        if not 0 <= place < len(tokens):
            return 0
        found = self._by_first.get(tokens[place], ())
        return next((len(one) for one in found if tokens[place : place + len(one)] == one), 0)

    def all_at(self, tokens: Tokens, place: int) -> list[int]:
        """The lengths of all phrases that begin here."""
        found = self._by_first.get(tokens[place], ()) if place < len(tokens) else ()
        return [len(one) for one in found if tokens[place : place + len(one)] == one]

    def ending_at(self, tokens: Tokens, end: int) -> int:
        """How many words the longest phrase that ends before this place has; 0 for none."""
        return next((n for n in range(min(end, _LENGTH_MAX), 0, -1) if n in self.all_at(tokens, end - n)), 0)


class Language:
    """The words of one language, ready to be looked for."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.talk, self.want, self.behind = Phrases(words.talk), Phrases(words.want), Phrases(words.behind)
        self.people, self.sure, self.whole = Phrases(words.people), Phrases(words.sure), Phrases(words.whole)
        self.no, self.answer, self.machines = Phrases(words.no), Phrases(words.answer), Phrases(words.machines)
        self.carries, self.subjects, self.orders = (
            Phrases(words.carries),
            Phrases(words.subjects),
            Phrases(words.orders),
        )
        self.joins, self.doubts, self.asks_not = Phrases(words.joins), Phrases(words.doubts), Phrases(words.asks_not)
        self.conditions, self.polite = Phrases(words.conditions), Phrases(words.polite)
        self.not_behind, self.lone = Phrases(words.not_behind), Phrases(words.lone)
        self.signs = self.people.first | self.whole.first | self.lone.first  # without one of these nobody is asked for
        self.beside = frozenset(tokens_of(words.beside.replace("|", " ")))
        self.sure_beside = frozenset(tokens_of(words.sure_beside.replace("|", " ")))
        self.alone = frozenset(tokens_of(words.alone.replace("|", " ")))


@lru_cache(maxsize=32)
def language(tag: str) -> Language:
    """A built-in language by its tag."""
    return Language(LANGUAGES[tag])


@lru_cache(maxsize=4096)
def phrases(text: str) -> Phrases:
    """A phrase of a policy."""
    return Phrases(text)
