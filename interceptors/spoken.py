"""Numbers, amounts of money and dates as people write them, each with every reading that it may have.

`1,000.00`, `1.000,00` and `1'000` have one reading; `1,234` and `1.234` have two, and so none that grounds a value.
What is part of something longer (`A1001`, `10:30`, `100-120`, `1e6`, `5 million`) is no number at all.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Final

import re2

from interceptors.spoken_words import CURRENCIES, MAGNITUDES, MONTHS
from policies.currencies import EXPONENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGITS_MAX: Final = 30
NUMBERS_MAX: Final = 5_000
"""Numbers, or dates, that are read of one text: what stands behind them grounds nothing."""

_NUMBER: Final = re2.compile(r"[0-9][0-9.,'\x{2019}_]*")
_BEHIND: Final = re2.compile(r"[ \x{a0}\x{202f}]?([\p{L}$\x{20a0}-\x{20bf}\x{a3}\x{a5}%]+)")
_BEFORE: Final = re2.compile(r"([\p{L}$\x{20a0}-\x{20bf}\x{a3}\x{a5}]+)[ \x{a0}\x{202f}]?\z")
_WINDOW: Final = 16  # characters beside a number in which its unit may stand
_JOINING: Final = frozenset("-/\\:@%+~_.,'\u2019\u2010\u2011\u2013\u2212")
_JOINING_ALWAYS: Final = frozenset("/\\.,\u2010\u2011\u2013")
_MINUS: Final = frozenset("-\u2212")
_THIN: Final = frozenset(" \xa0\u202f")
_NARROW: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
"""Full-width letters, digits and signs as plain ones, place for place."""

_DATES: Final = re2.compile(
    r"(?i)(?P<iso>[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2})"
    r"|(?P<numeric>[0-9]{1,2}[-/.][ ]?[0-9]{1,2}[-/.][ ]?[0-9]{4})"
    r"|(?P<first>[0-9]{1,2}(?:st|nd|rd|th|\.)?[ ](?:of[ ]|de[ ])?\p{L}{3,10}\.?,?[ ](?:de[ ])?[0-9]{4})"
    r"|(?P<named>\p{L}{3,10}\.?[ ][0-9]{1,2}(?:st|nd|rd|th)?,?[ ][0-9]{4})"
)
_PARTS: Final = re2.compile(r"[0-9]+|\p{L}{3,10}")


@dataclass(frozen=True, slots=True)
class Number:
    """A number at `start` to `end` of its text. `readings` holds what it may be; `currencies` is None where it states
    none. `is_percent` tells a share apart from an amount.
    """

    start: int
    end: int
    readings: frozenset[Decimal]
    currencies: frozenset[str] | None = None
    is_percent: bool = False

    def is_number(self, value: Decimal) -> bool:
        """Whether it can only be this number."""
        return self.readings == {value}

    def is_money(self, amount: Decimal, currency: str) -> bool:
        """Whether it can only be this amount: of a currency that it names, or of any where it names none."""
        return (
            self.readings == {amount}
            and not self.is_percent
            and (self.currencies is None or currency in self.currencies)
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """The numbers of a text, from the left. Not `is_whole`: there are more than were read."""

    numbers: tuple[Number, ...] = ()
    is_whole: bool = True


def numbers(text: str, value: Decimal) -> Reading:
    """The numbers of the text that could be this value, those with another reading among them."""
    digits = str(abs(int(value)))[-3:]  # in every spelling they stand together
    if not _holds(text, digits):
        return Reading()
    found: list[Number] = []
    text = text.translate(_NARROW)
    tokens: list[tuple[int, str]] = []
    for count, match in enumerate(_NUMBER.finditer(text), 1):
        if count > NUMBERS_MAX:
            return Reading(tuple(found), is_whole=False)
        spelled = match.group().rstrip(".,'\u2019_")
        if tokens and not _is_continued(text, tokens, match.start(), spelled):
            found += _read(text, tokens, digits)
            tokens = []
        tokens.append((match.start(), spelled))
    return Reading((*found, *_read(text, tokens, digits)))


def dates(text: str, value: date) -> tuple[tuple[int, int, frozenset[date]], ...]:
    """Every date of the value's year: where it stands, and the days that it may be. The year has four digits."""
    if not _holds(text, f"{value.year:04}"):
        return ()
    text = text.translate(_NARROW)
    spans = ((match, *match.span()) for match in islice(_DATES.finditer(text), NUMBERS_MAX))
    return tuple((start, end, frozenset(_days(match))) for match, start, end in spans if _is_apart(text, start, end))


def _holds(text: str, digits: str) -> bool:
    """Whether the digits stand anywhere in the text: a glance that spares reading it."""
    return digits in (text if text.isascii() else text.translate(_NARROW))


def _is_continued(text: str, tokens: list[tuple[int, str]], start: int, spelled: str) -> bool:
    """Whether digits go on after a space in a group of three: `1 234` is one number or two."""
    first, (last_start, last) = tokens[0][1], tokens[-1]
    is_group = len(spelled) >= 3 and spelled[:3].isdigit() and not spelled[3:4].isdigit()
    is_open = last.isdigit() and (len(last) == 3 or len(tokens) == 1) and len(first) <= 3
    return is_group and is_open and start == last_start + len(last) + 1 and text[start - 1] in _THIN


def _read(text: str, tokens: list[tuple[int, str]], digits: str) -> Iterator[Number]:
    if not any(digits in spelled for _, spelled in tokens):
        return
    for start, spelled in tokens:
        number = _number(text, start, start + len(spelled), spelled)
        if len(tokens) == 1:
            yield number
            continue
        joined = "".join(spelled for _, spelled in tokens)[: DIGITS_MAX + 1]
        alone = _readings(spelled) or frozenset({Decimal(0)})
        yield Number(number.start, number.end, alone | _readings(joined))


def _number(text: str, start: int, end: int, spelled: str) -> Number:
    before, behind = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
    ahead, after = _BEFORE.search(before), _BEHIND.match(behind)
    unit = after.group(1) if after else ""
    sign = before[-1:] if before[-1:] in _MINUS and not before[-2:-1].isalnum() else ""
    if _is_glued_before(before, ahead, sign) or _is_glued_behind(behind, unit) or unit.casefold() in MAGNITUDES:
        return Number(start, end, frozenset())
    readings = frozenset(-reading if sign else reading for reading in _readings(spelled))
    stated = [found for word in (ahead.group(1) if ahead else "", unit) if (found := _currency(word)) is not None]
    currencies = frozenset.intersection(*stated) if stated else None
    return Number(start - len(sign), end, readings, currencies, is_percent=unit.startswith("%"))


def _is_glued_before(before: str, ahead: re2._Match | None, sign: str) -> bool:
    """Whether what stands before the number makes it a part of something longer."""
    if not before or sign:
        return False
    last, previous = before[-1], before[-2:-1]
    if last.isalnum():
        return not (_is_caseless(last) or (ahead is not None and _currency(ahead.group(1)) is not None))
    if last == ":":
        return previous.isdigit()
    return last in _JOINING_ALWAYS or (last in _JOINING and previous.isalnum())


def _is_glued_behind(behind: str, unit: str) -> bool:
    """The same for what stands behind it."""
    first, second = behind[:1], behind[1:2]
    if first.isalnum():
        return not (_is_caseless(first) or _currency(unit) is not None)
    return first in _JOINING and first != "%" and second.isalnum()


def _is_caseless(character: str) -> bool:
    return unicodedata.category(character) == "Lo"


def _currency(word: str) -> frozenset[str] | None:
    """The currencies that a word beside a number stands for, None where it is another word."""
    if word in EXPONENTS:
        return frozenset((word,))
    return CURRENCIES.get(word.casefold()) or (CURRENCIES.get(word[0]) if word and _is_caseless(word[0]) else None)


def _readings(spelled: str) -> frozenset[Decimal]:
    """What digits with separators may stand for: one number, two, or none that is known."""
    marks = [character for character in spelled if not character.isdigit()]
    if len(spelled) > DIGITS_MAX + len(marks):
        return frozenset()
    if not marks:
        return frozenset() if len(spelled) > 1 and spelled[0] == "0" else frozenset({Decimal(spelled)})
    parts = "".join(character if character.isdigit() else " " for character in spelled).split(" ")
    kinds = set(marks)
    found: set[Decimal] = set()
    if len(marks) == 1 and marks[0] in ".," and _is_whole(parts[0]):
        found.add(Decimal(f"{parts[0]}.{parts[1]}"))
    if len(kinds) == 1 and "_" not in kinds and _is_grouped(parts):
        found.add(Decimal("".join(parts)))
    is_mixed = len(kinds) == 2 and marks[-1] in ".," and marks.count(marks[-1]) == 1 and "_" not in kinds
    if is_mixed and _is_grouped(parts[:-1]):
        found.add(Decimal(f"{''.join(parts[:-1])}.{parts[-1]}"))
    return frozenset(found)


def _is_whole(digits: str) -> bool:
    return digits == "0" or (bool(digits) and digits[0] != "0")


def _is_grouped(parts: list[str]) -> bool:
    """`1`, `234`, `567`: three digits each but the first."""
    return _is_whole(parts[0]) and parts[0] != "0" and len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether a date is no part of a longer number or word."""
    before, behind = text[max(0, start - 1) : start], text[end : end + 2]
    if (before.isalnum() and not _is_caseless(before)) or before in _JOINING:
        return False
    if behind[:1].isalnum() and not _is_caseless(behind[0]):
        return False
    return not (behind[:1] in _JOINING and behind[1:].isalnum())


def _days(match: re2._Match) -> Iterator[date]:
    parts = _PARTS.findall(match.group())
    kind = match.lastgroup
    if kind == "iso":
        yield from _day(parts[0], parts[1], parts[2])
    elif kind == "numeric":
        yield from _day(parts[2], parts[1], parts[0])
        if "." not in match.group():  # with dots the day comes first everywhere
            yield from _day(parts[2], parts[0], parts[1])
    else:
        months = [MONTHS[part.casefold()] for part in parts if part.casefold() in MONTHS]
        digits = [part for part in parts if part.isdigit()]
        if len(months) == 1 and len(digits) == 2:
            yield from _day(digits[1], str(months[0]), digits[0])


def _day(year: str, month: str, day: str) -> Iterator[date]:
    try:
        yield date(int(year), int(month), int(day))
    except ValueError:
        return
