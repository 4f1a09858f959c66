"""English numbers in words, below a million."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_UNDER_20 = {word: value for words in (_CARDINALS, _ORDINALS) for value, word in enumerate(words.split())}
_TEN = {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
_TEN_ORDINAL = {word.removesuffix("y") + "ieth": value for word, value in _TEN.items()}


def number_words(tokens: Sequence[str]) -> tuple[int, int] | None:
    """A cardinal ("one hundred and fifty") or an ordinal ("thirtieth") at the start of lower-case tokens."""
    total, group, taken, index = 0, 0, 0, 0
    while index < len(tokens):
        word = tokens[index]
        if taken and word in ("-", "and") and index + 1 < len(tokens):
            joined = group >= 100 or (total and not group) if word == "and" else tokens[index - 1] in _TEN
            if not joined or tokens[index + 1] not in _UNDER_20 | _TEN | _TEN_ORDINAL:
                break
            index += 1
            word = tokens[index]
        step = _step(word, group)
        if step is None or (word == "thousand" and total):
            break
        if word == "thousand":
            total, group = 1000 * step, 0
        else:
            group = step
        index += 1
        taken = index
    return (total + group, taken) if taken else None


def _step(word: str, group: int) -> int | None:
    """The value of the group below a thousand once `word` is added to it; None where it does not fit."""
    rest = group % 100
    if word in _UNDER_20:
        value = _UNDER_20[word]
        fits = rest == 0 or (rest >= 20 and rest % 10 == 0 and 0 < value < 10)
        return group + value if fits else None
    if word in _TEN or word in _TEN_ORDINAL:
        return group + (_TEN.get(word) or _TEN_ORDINAL[word]) if rest == 0 else None
    if word == "hundred":
        return group * 100 if 0 < group < 100 else None
    if word == "thousand":
        return group if 0 < group < 1000 else None
    return None
