"""What results have said: every text, name and number of them, to ask whether a value was there before a user wrote it.

Whoever writes the results of tools (a web page, a mail, a stranger's order note) must not become the user by being
quoted. So doubt counts as seen: words are compared without case and width, numbers in every reading they may have.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from interceptors.spoken import dates, numbers
from interceptors.tokens import plain, stands_in

if TYPE_CHECKING:
    from datetime import date

    from interceptors.calls import Json
    from interceptors.spoken import Reading

_APART: Final = "\n"


@dataclass(frozen=True, slots=True)
class Seen:
    """One result. `texts` are its strings and names, `words` the same and its numbers as tokens are compared."""

    texts: tuple[str, ...]
    words: str
    numbers: frozenset[Decimal]

    @classmethod
    def of(cls, value: Json) -> Seen:
        texts: list[str] = []
        numbers: set[Decimal] = set()
        waiting = [value]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                texts.append(_sound(item))
            elif isinstance(item, list):
                waiting.extend(item)
            elif isinstance(item, dict):
                texts.extend(map(_sound, item))
                waiting.extend(item.values())
            elif isinstance(item, int | Decimal) and not isinstance(item, bool):
                numbers.add(Decimal(item))
        words = _APART.join([*map(plain, texts), *(f"{number:f}" for number in numbers)])
        return cls(tuple(texts), words, frozenset(numbers))

    def has_text(self, value: str) -> bool:
        token = plain(_sound(value))
        return bool(token) and stands_in(token, self.words)

    def has_number(self, value: Decimal) -> bool:
        return value in self.numbers or any(_may_be(value, numbers(text, value)) for text in self.texts)

    def has_date(self, value: date) -> bool:
        return any(value in days for text in self.texts for _, _, days in dates(text, value))


def _may_be(value: Decimal, reading: Reading) -> bool:
    return not reading.is_whole or any(value in number.readings for number in reading.numbers)


def _sound(text: str) -> str:
    """The text without characters that cannot be seen: they part no words here."""
    if text.isascii():
        return text
    return "".join(character for character in text if character.isprintable() or character.isspace())
