"""Version 1 of the list of secrets and personal data. It never changes: what it should find besides is a version 2.

Each detector is a pattern with, where a checksum or a structure tells it from other text, a second look at what the
pattern found. Sources of the formats: ISO/IEC 7812-1 and the issuers' ranges (cards), ISO 13616 (IBAN), RFC 7468 and
RFC 4880 (keys), RFC 7519 (JWT), and each provider's documentation of its own tokens and of secret scanning.
"""

from __future__ import annotations

import unicodedata
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import re2

from interceptors.strict_json import StrictJsonError, parse_envelope
from policies.allowed import IBAN_LENGTHS, is_iban

if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS_OF_CARD: Final = (13, 19)
CANDIDATES_MAX: Final = 10_000
"""Places of one text that get a second look; a text with more counts as found."""
JWT_HEADER_MAX: Final = 4_096


@dataclass(frozen=True, slots=True)
class Detector:
    """`pattern` is searched anywhere. `is_real` takes a second look, at the text and at where in it the pattern
    matched; without, the pattern alone decides."""

    name: str
    pattern: str
    is_real: Callable[[str, int, int], bool] | None = None


_SEPARATORS: Final = " -."
_GAPS: Final = str.maketrans(_SEPARATORS, " " * len(_SEPARATORS))
_CLOSED: Final = str.maketrans("", "", _SEPARATORS)
_CARDS_BEGIN: Final = frozenset("23456")


def _is_card(text: str, start: int, end: int) -> bool:
    """Whether neighbouring groups of digits are a card number: its issuer's range and length, and the Luhn sum."""
    groups = text[start:end].translate(_GAPS).split()
    starts = [index for index, group in enumerate(groups) if group[0] in _CARDS_BEGIN]
    if len(starts) > CANDIDATES_MAX:
        return True
    for first in starts:
        number = ""
        for following in groups[first : first + DIGITS_OF_CARD[1]]:
            number += following
            if len(number) > DIGITS_OF_CARD[1]:
                break
            if len(number) >= DIGITS_OF_CARD[0] and _is_issued(number) and _luhn(number):
                return True
    return False


def _is_issued(number: str) -> bool:
    two, four, length = int(number[:2]), int(number[:4]), len(number)
    return (
        (number[0] == "4" and length in (13, 16, 19))  # Visa
        or (length == 16 and (51 <= two <= 55 or 2221 <= four <= 2720))  # Mastercard
        or (length == 15 and two in (34, 37))  # American Express
        or (length == 16 and (four == 6011 or two == 65 or 644 <= four // 10 <= 649))  # Discover
        or (length == 14 and (two in (36, 38, 39) or 300 <= four // 10 <= 305))  # Diners Club
        or (length == 16 and 3528 <= four <= 3589)  # JCB
        or (16 <= length <= 19 and two == 62)  # UnionPay
    )


def _luhn(number: str) -> bool:
    digits = [int(digit) for digit in reversed(number)]
    doubled = (2 * digit - 9 if digit > 4 else 2 * digit for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str, start: int, _end: int) -> bool:
    """Whether an IBAN begins at `start`, with or without separators, and ends where a word does."""
    length = IBAN_LENGTHS.get(text[start : start + 2].upper())
    if length is None:
        return False
    window = text[start : start + 2 * length + 1]
    if not is_iban(window.translate(_CLOSED)[:length].upper()):
        return False
    end = seen = 0
    while seen < length:
        seen += window[end] not in _SEPARATORS
        end += 1
    return not window[end : end + 1].isalnum()


def _is_jwt(text: str, start: int, end: int) -> bool:
    """Whether the first part is the header of a JWT: a JSON object with `alg`."""
    header = text[start:end].partition(".")[0]
    if len(header) > JWT_HEADER_MAX:
        return False
    try:
        value = parse_envelope(urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (StrictJsonError, ValueError):
        return False
    return isinstance(value, dict) and "alg" in value


DETECTORS: Final = (
    # Bounds are set so that a longer number or word around it is not it.
    Detector("card", r"\b[0-9](?:[ .-]?[0-9]){12,}\b", _is_card),
    Detector("iban", r"\b[A-Za-z]{2}[0-9]{2}", _is_iban),
    Detector("private_key", r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    Detector("aws_access_key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    Detector(
        "aws_secret_key",
        r"""(?i)\baws.{0,20}(?:secret|key)[a-z_]{0,20}["']?\s{0,5}[:=]\s{0,5}["']?[A-Za-z0-9/+]{40}(?:[^A-Za-z0-9/+=]|$)""",
    ),
    Detector("google_key", r"\bAIza[0-9A-Za-z_-]{35}(?:[^0-9A-Za-z_-]|$)"),
    Detector("google_token", r"\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{28}(?:[^0-9A-Za-z_-]|$)"),
    Detector("github_token", r"\bgh[opsur]_[A-Za-z0-9]{36,251}\b|\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b"),
    Detector("gitlab_token", r"\bgl(?:pat|ptt|dt|rt|cbt|ft|soat)-[A-Za-z0-9_-]{20,}"),
    Detector(
        "slack_token",
        r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}|\bxapp-[0-9]-[A-Z0-9]{8,}-[0-9]{8,}-[0-9a-f]{16,}"
        r"|hooks\.slack\.com/services/T[A-Z0-9]{7,}/B[A-Z0-9]{7,}/[A-Za-z0-9]{20,}",
    ),
    Detector("stripe_key", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}\b|\bwhsec_[A-Za-z0-9]{24,}\b"),
    Detector("anthropic_key", r"\bsk-ant-[a-z]{2,10}[0-9]{2}-[A-Za-z0-9_-]{24,}"),
    Detector(
        "openai_key",
        r"\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{24,}|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b"
        r"|\bsk-[A-Za-z0-9]{48}\b",
    ),
    Detector("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*", _is_jwt),
)


def _compiled(pattern: str) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


_PATTERNS: Final = tuple(_compiled(detector.pattern) for detector in DETECTORS)


# One look says for most texts that there is nothing. No `re2.Set`: where its memory runs out, it says the same.
_ANY: Final = _compiled("|".join(f"(?:{detector.pattern})" for detector in DETECTORS))


def found_in(text: str) -> tuple[str, ...]:
    """The names of the detectors that find something, in the order of the list. Linear in the text; total.

    Full-width letters and digits are read as plain ones, and characters that cannot be seen as not there.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).encode("utf-8", "replace").decode()
        text = "".join(character for character in text if unicodedata.category(character) != "Cf")
    if _ANY.search(text) is None:
        return ()
    return tuple(
        detector.name
        for detector, pattern in zip(DETECTORS, _PATTERNS, strict=True)
        if _is_found(detector, pattern, text)
    )


def _is_found(detector: Detector, pattern: re2._Regexp, text: str) -> bool:
    if detector.is_real is None:
        return pattern.search(text) is not None
    for count, match in enumerate(pattern.finditer(text), 1):
        if count > CANDIDATES_MAX or detector.is_real(text, match.start(), match.end()):
            return True
    return False
