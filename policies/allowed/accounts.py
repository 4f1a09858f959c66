"""Bank accounts: an IBAN (ISO 13616, its checksum by ISO 7064 MOD 97-10), or a number of plain digits."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

import re2

if TYPE_CHECKING:
    from collections.abc import Iterable

_LENGTHS: Final = (  # the length, then its countries
    "15 NO|16 BE|18 DK FI FK FO GL NL SD|19 MK SI|20 AT BA EE KZ LT LU MN XK|21 CH HR LI LV"
    "|22 BG BH CR DE GB GE IE ME RS VA"
    "|23 AE GI IL IQ OM SO TL|24 AD CZ ES MD PK RO SA SE SK TN VG|25 LY PT ST|26 IS TR|27 BI DJ FR GR IT MC MR SM"
    "|28 AL AZ BY CY DO GT HN HU LB NI PL SV|29 BR EG PS QA UA|30 JO KW MU YE|31 MT SC|32 LC|33 RU"
)
IBAN_LENGTHS: Final = MappingProxyType(
    {country: int(row.split()[0]) for row in _LENGTHS.split("|") for country in row.split()[1:]}
)
"""How many characters an IBAN has, by its country (SWIFT, IBAN Registry)."""

ACCOUNT_LENGTH_MAX: Final = 64  # characters as written, spaces included
_IBAN: Final = re2.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_DIGITS: Final = re2.compile(r"[0-9]{4,34}")


@dataclass(frozen=True, slots=True)
class Accounts:
    """Accounts without their spaces; zeros in front count."""

    numbers: frozenset[str]

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        return cls(frozenset(_account(entry) for entry in entries))

    def accepts(self, text: str) -> bool:
        try:
            return _account(text) in self.numbers
        except ValueError:
            return False


def is_iban(text: str) -> bool:
    """Whether the text, without spaces and in upper case, has the form and length of an IBAN of its country, and its
    checksum holds.
    """
    if len(text) != IBAN_LENGTHS.get(text[:2]) or not text.isascii() or _IBAN.fullmatch(text) is None:
        return False
    turned = text[4:] + text[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1


def _account(text: str) -> str:
    if len(text) > ACCOUNT_LENGTH_MAX or not text.isascii():
        raise ValueError("not an account")
    compact = text.replace(" ", "").replace("-", "").upper()
    if _DIGITS.fullmatch(compact) or is_iban(compact):
        return compact
    raise ValueError("neither an IBAN with its checksum nor a number of digits")
