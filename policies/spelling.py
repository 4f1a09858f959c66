"""How scalars are spelled in policies and on the wire: one spelling each, read strictly, written the same way."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal, Inexact, InvalidOperation

import re2

AMOUNT_LENGTH_MAX = 40  # characters; far beyond any sum of money, far below what costs time to parse

AMOUNT = re2.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
MONEY = re2.compile(r"(-?[0-9][0-9.,_]*) +([A-Z]{3})")
DURATION = re2.compile(r"([0-9]+)([dhms])")
DATE = re2.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TIMESTAMP = re2.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(?:\.([0-9]{1,9}))?([Zz]|[+-][0-9]{2}:?[0-9]{2})"
)
_EXACT = Context(prec=3 * AMOUNT_LENGTH_MAX, Emin=-999, Emax=999, traps=[Inexact, InvalidOperation])
_STEPS = tuple(Decimal((0, (1,), -digits)) for digits in range(AMOUNT_LENGTH_MAX))
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


def spelled_as(pattern: re2._Regexp, text: str) -> re2._Match | None:
    """The match of the whole text. Text beyond ASCII has none: no spelling here needs it."""
    return pattern.fullmatch(text) if text.isascii() else None


def parse_amount_text(text: str) -> Decimal:
    """The number that `text` spells: ASCII digits, at most one point, at most one leading minus.

    `ValueError` for every spelling that two readers could read differently: separators, exponents, spaces, a leading
    plus or zero, digits of other scripts.
    """
    if len(text) > AMOUNT_LENGTH_MAX or not spelled_as(AMOUNT, text):
        raise ValueError("not a plain decimal number")
    return Decimal(text)


def parse_duration(text: str) -> timedelta:
    """`14d`, `24h`, `15m`, `2s`. `ValueError` else, and beyond what a calendar holds."""
    match = spelled_as(DURATION, text) if len(text) <= AMOUNT_LENGTH_MAX else None
    if match is None:
        raise ValueError("not a duration such as 14d, 24h, 15m or 2s")
    try:
        return timedelta(seconds=int(match.group(1)) * _SECONDS[match.group(2)])
    except OverflowError:
        raise ValueError("the duration is too long") from None


def parse_date(text: str) -> date:
    """`2026-01-31`, and no other form of ISO 8601. `ValueError` else."""
    if not spelled_as(DATE, text):
        raise ValueError("not a date such as 2026-01-31")
    return date.fromisoformat(text)


def parse_timestamp(text: str) -> datetime:
    """`2026-01-31T09:30:00Z`, as UTC. The offset is required; what is finer than a microsecond is cut off.

    `ValueError` for every other form of ISO 8601, for a leap second, and where no such time exists.
    """
    match = spelled_as(TIMESTAMP, text)
    if match is None:
        raise ValueError("not a timestamp with an offset, such as 2026-01-31T09:30:00Z")
    day, minutes, seconds, fraction, offset = match.groups()
    if fraction and not seconds:
        raise ValueError("a fraction of a minute is not supported")
    micros = (fraction or "").ljust(6, "0")[:6]
    zone = "+00:00" if offset in ("Z", "z") else offset
    try:
        return datetime.fromisoformat(f"{day}T{minutes}{seconds or ':00'}.{micros}{zone}").astimezone(UTC)
    except OverflowError:
        raise ValueError("the timestamp is out of range") from None


def number_text(number: Decimal) -> str:
    """Plain digits, as spelled: no exponent, and no sign on zero."""
    return format(abs(number) if number.is_zero() else number, "f")


def duration_text(value: timedelta) -> str:
    """In the largest unit that it is a whole number of: `14d`, `36h`, `90s`, `1.5s`."""
    sign, size = ("-", -value) if value < timedelta(0) else ("", value)
    for unit, seconds in _SECONDS.items():
        whole, rest = divmod(size, timedelta(seconds=seconds))
        if whole and not rest:
            return f"{sign}{whole}{unit}"
    return f"{sign}{number_text(Decimal(size // timedelta(microseconds=1)).scaleb(-6).normalize())}s"


def is_plain(value: Decimal, length: int) -> bool:
    """Whether a finite value is written without an exponent in so many characters: then it has no more digits, and none
    of them stands farther from the point. `as_tuple` tells the same at several times the cost."""
    text = str(value)
    return len(text) <= length and "E" not in text


def has_digits(value: Decimal, digits: int) -> bool:
    """Whether the value needs at most this many digits behind the point. Reads the digits; computes nothing."""
    spelled = value.as_tuple()
    assert isinstance(spelled.exponent, int)
    excess = -spelled.exponent - digits
    return excess <= 0 or not any(spelled.digits[-excess:])


def exactly(value: Decimal, digits: int, shift: int) -> Decimal | None:
    """The value divided by ten to the power of `shift`, spelled with exactly this many digits behind the point; None
    where it has more. The value has `AMOUNT_LENGTH_MAX` digits and powers of ten at most."""
    try:
        return _EXACT.quantize(_EXACT.scaleb(value, -shift) if shift else value, _STEPS[digits])
    except Inexact:
        return None


def with_digits(value: Decimal, digits: int) -> Decimal:
    """The same value spelled with exactly this many digits behind the point; `has_digits` holds."""
    sign, spelled, scale = value.as_tuple()
    assert isinstance(scale, int)
    excess = -scale - digits
    kept = spelled[: len(spelled) - excess] or (0,) if excess > 0 else spelled + (0,) * -excess
    return Decimal((sign, kept, -digits))
