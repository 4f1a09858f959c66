"""The one JSON reading of the product: where two parsers could read two things, it refuses (guarantee G5).

Always: one document and nothing behind it, valid UTF-8, no duplicate key at any depth, no NaN or Infinity, no lone
surrogate, bounded nesting. Numbers become `int`, or `Decimal` with the value of their spelling; never a float.
"""

from __future__ import annotations

import hashlib
from decimal import Context, Decimal

import jiter
import orjson

from interceptors.calls import Cause, Json

DEPTH_MAX = 64
"""Nesting of arguments and facts: lists and objects inside each other."""
ENVELOPE_DEPTH_MAX = 200
"""Nesting of whole bodies and frames; the parser's own bound, which holds its stack."""
VALUES_MAX = 100_000
"""Values in arguments and facts: each is looked at several times."""
DIGITS_MAX = 64
"""Significant digits of a number in arguments and facts."""
EXPONENT_MAX = 308
"""Decimal exponent of a number in arguments and facts: past it, parsers read infinity or zero."""
EXACT_INTEGER_MAX = 2**53
"""Past this absolute value an integer is not one number for every parser."""

_DOUBLE_DIGITS = 15
_LIGHT_BYTES = 1024 * 1024
_OPENINGS_MAX = 500_000
_COMMAS_MAX = 2_000_000
_DIGEST_DOMAIN = b"callgate.arguments.1\0"
_WIDE = Context(prec=DIGITS_MAX * 2)


class StrictJsonError(ValueError):
    """Text that is not one strict JSON document. The message states the cause only, never a part of the text."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.value)
        self.cause = cause


def parse(data: bytes | str, *, depth_max: int = DEPTH_MAX) -> Json:
    """Read arguments or a fact. Raises `StrictJsonError`; numbers are bounded, so arithmetic on them is safe.

    Integers past 2^53 are read: whether they may stand depends on the tool, see `check_exact`.
    """
    value = parse_envelope(data)
    _check_bounds(value, depth_max)
    return value


def parse_envelope(data: bytes | str) -> Json:
    """Read a whole body or frame, whose numbers are not judged. Raises `StrictJsonError`.

    The numbers in it may have any exponent: print or compare them, do no arithmetic.
    """
    try:
        text = data.encode() if isinstance(data, str) else data
        _refuse_heavy(text)
        value: Json = jiter.from_json(
            text,
            allow_inf_nan=False,
            cache_mode="keys",  # values of arguments must not outlive their exchange in a cache
            catch_duplicate_keys=True,
            float_mode="decimal",
            partial_mode=False,
        )
    except StrictJsonError:
        raise
    except ValueError as error:
        raise StrictJsonError(_cause(error)) from None
    return value


def _refuse_heavy(text: bytes) -> None:
    """Made of so many values that making them would keep everything else waiting for seconds. Text is not."""
    if len(text) > _LIGHT_BYTES and (
        text.count(b"[") + text.count(b"{") > _OPENINGS_MAX or text.count(b",") > _COMMAS_MAX
    ):
        raise StrictJsonError(Cause.TOO_LARGE)


def _cause(error: ValueError) -> Cause:
    message = "" if isinstance(error, UnicodeError) else str(error)
    if message.startswith("Detected duplicate key"):
        return Cause.DUPLICATE_KEY
    if message.startswith("recursion limit exceeded"):
        return Cause.TOO_DEEP
    if message.startswith("number out of range"):
        return Cause.INEXACT_NUMBER
    return Cause.NOT_JSON


def _check_bounds(value: Json, depth_max: int) -> None:
    """Level by level. What is too much is found before the rest of it is looked at."""
    level, left = [value], VALUES_MAX
    for depth in range(depth_max + 1):
        inside: list[Json] = []
        for item in level:
            if isinstance(item, (dict, list)):
                left -= len(item)
                if left < 0:
                    raise StrictJsonError(Cause.TOO_LARGE)
                if depth == depth_max:
                    raise StrictJsonError(Cause.TOO_DEEP)
                inside += item.values() if isinstance(item, dict) else item
            elif not isinstance(item, str):
                _check_number(item)
        level = inside


def _check_number(value: Json) -> None:
    if isinstance(value, Decimal):
        text = str(value)
        if len(text) <= DIGITS_MAX and "E" not in text:  # no digit more, and none further from the point
            return
        parts = value.as_tuple()
        if len(parts.digits) > DIGITS_MAX or abs(value.adjusted()) > EXPONENT_MAX:
            raise StrictJsonError(Cause.INEXACT_NUMBER)
    elif isinstance(value, int) and not -(10**DIGITS_MAX) < value < 10**DIGITS_MAX:
        raise StrictJsonError(Cause.INEXACT_NUMBER)


def check_exact(value: Json) -> None:
    """Raise `StrictJsonError` where a number would be another one in a parser that reads doubles.

    That is an integer past 2^53, or a decimal whose shortest double does not print as the same value
    (`500.00000000000000001`). For the arguments of a write. Recursion is bounded by what `parse` let through.
    """
    if isinstance(value, Decimal):
        text = str(value)
        # So many digits are one double each, which prints as they stand.
        if len(text) <= _DOUBLE_DIGITS and "E" not in text and value.is_finite():
            return
        if Decimal(repr(float(value))) != value:
            raise StrictJsonError(Cause.INEXACT_NUMBER)
    elif isinstance(value, int):
        if not -EXACT_INTEGER_MAX <= value <= EXACT_INTEGER_MAX:
            raise StrictJsonError(Cause.INEXACT_NUMBER)
    elif isinstance(value, float):  # no reading of this module makes one
        raise StrictJsonError(Cause.INEXACT_NUMBER)
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            if not isinstance(item, str):
                check_exact(item)


def canonical(value: Json) -> bytes:
    """One spelling a meaning: keys sorted by code point, no white space, UTF-8, numbers in plain shortest digits.

    A number past `EXPONENT_MAX`, which `parse` refuses and `parse_envelope` reads, has its exponent in place of zeros.

    Numbers of equal value are equal bytes (`1000`, `1000.00`, `1E3`), and never equal to a string. Text is not
    normalised: two strings are equal only when their code points are.
    """
    try:
        return orjson.dumps(value, default=_number, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer past 64 bits, which the encoder does not know
        return orjson.dumps(_with_wide_integers(value), default=_number, option=orjson.OPT_SORT_KEYS)


def _number(value: object) -> orjson.Fragment:
    if not isinstance(value, Decimal):
        raise TypeError(f"no JSON value: {type(value).__name__}")
    if abs(value.adjusted()) > EXPONENT_MAX:  # of a body whose numbers nobody judged: plain, it may be gigabytes long
        return orjson.Fragment(_scientific(value))
    if value == value.to_integral_value():
        return orjson.Fragment(str(int(value)))
    return orjson.Fragment(f"{value.normalize(_WIDE):f}")


def _scientific(value: Decimal) -> str:
    """Its digits without the zeros behind them, and their exponent."""
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits))
    kept = text.rstrip("0")
    if not kept:
        return "0"
    return f"{'-' if sign else ''}{kept}E{int(exponent) + len(text) - len(kept)}"


def _with_wide_integers(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return orjson.Fragment(str(value))
    if isinstance(value, dict):
        return {key: _with_wide_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_wide_integers(item) for item in value]
    return value


def digest(value: Json) -> str:
    """SHA-256 of the canonical form as hex, in a domain of its own. The version stands in the domain."""
    return hashlib.sha256(_DIGEST_DOMAIN + canonical(value)).hexdigest()
