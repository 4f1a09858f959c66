"""German numbers in words, below a million."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNITS = {
    "null": 0, "ein": 1, "eins": 1, "zwei": 2, "zwo": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7,
    "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12, "dreizehn": 13, "vierzehn": 14, "fünfzehn": 15,
    "sechzehn": 16, "siebzehn": 17, "achtzehn": 18, "neunzehn": 19,
}  # fmt: skip
_TENS = {
    "zwanzig": 20, "dreißig": 30, "dreissig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60, "siebzig": 70,
    "achtzig": 80, "neunzig": 90,
}  # fmt: skip
_ORDINALS = {
    "erst": 1,
    "zweit": 2,
    "dritt": 3,
    "viert": 4,
    "fünft": 5,
    "sechst": 6,
    "siebt": 7,
    "siebent": 7,
    "acht": 8,
}
_ENDINGS = ("en", "er", "es", "e")


def number_words(tokens: Sequence[str]) -> tuple[int, int] | None:
    """A cardinal ("zweihundertfünfzig") or an ordinal ("dreißigsten") at the start of lower-case tokens."""
    if not tokens or tokens[0] == "ein":
        return None  # the article; before a unit of time it is one of `unit_articles`
    value = _below_million(tokens[0])
    if value is None:
        value = _ordinal(tokens[0])
    return None if value is None else (value, 1)


def _ordinal(word: str) -> int | None:
    stem = next((word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)), None)
    if stem is None:
        return None
    if stem in _ORDINALS:
        return _ORDINALS[stem]
    for suffix in ("st", "t"):
        value = _below_million(stem.removesuffix(suffix)) if stem.endswith(suffix) else None
        if value is not None and (value % 100 >= 20 or value % 100 == 0) == (suffix == "st"):
            return value
    return None


def _below_million(word: str) -> int | None:
    if "tausend" not in word:
        return _below_thousand(word)
    thousands, _, rest = word.partition("tausend")
    high = _below_thousand(thousands) if thousands else 1
    low = _below_thousand(rest.removeprefix("und")) if rest else 0
    return None if not high or low is None or (rest and not low) else 1000 * high + low


def _below_thousand(word: str) -> int | None:
    if "hundert" not in word:
        return _below_hundred(word)
    hundreds, _, rest = word.partition("hundert")
    high = _UNITS.get(hundreds) if hundreds else 1
    low = _below_hundred(rest.removeprefix("und")) if rest else 0
    return None if not high or high > 9 or low is None or (rest and not low) else 100 * high + low


def _below_hundred(word: str) -> int | None:
    if word in _UNITS:
        return _UNITS[word]
    if word in _TENS:
        return _TENS[word]
    unit, joined, ten = word.partition("und")
    if joined and ten in _TENS and 0 < _UNITS.get(unit, 0) < 10 and unit != "eins":
        return _TENS[ten] + _UNITS[unit]
    return None
