"""Words that people put beside numbers: currencies, months, and what makes another number of them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_DOLLAR_CODES: Final = "USD AUD BBD BMD BND BSD BZD CAD FJD GYD HKD JMD KYD LRD NAD NZD SBD SGD SRD TTD TWD XCD"
_PESO_CODES: Final = "ARS CLP COP MXN UYU"  # they write $ too
_DOLLARS: Final = frozenset(f"{_DOLLAR_CODES} {_PESO_CODES}".split())
_CROWNS: Final = frozenset(("DKK", "ISK", "NOK", "SEK", "CZK"))
_POUNDS: Final = frozenset(("GBP", "EGP", "FKP", "GIP", "SHP", "SSP", "SDG", "LBP", "SYP"))
_COMMON: Final = ("USD", "EUR", "GBP", "JPY", "CNY", "CHF", "CAD", "AUD", "INR", "SEK", "NOK", "DKK", "PLN", "CZK")
_YEN: Final = frozenset(("JPY", "CNY"))
_NAMED: Final[Mapping[str, frozenset[str]]] = {
    "$": _DOLLARS,
    "us$": frozenset(("USD",)),
    "dollar": _DOLLARS,
    "dollars": _DOLLARS,
    "bucks": _DOLLARS,
    "€": frozenset(("EUR",)),
    "euro": frozenset(("EUR",)),
    "euros": frozenset(("EUR",)),
    "£": _POUNDS,
    "pound": _POUNDS,
    "pounds": _POUNDS,
    "pfund": _POUNDS,
    "¥": _YEN,
    "yen": frozenset(("JPY",)),
    "yuan": frozenset(("CNY",)),
    "元": frozenset(("CNY", "TWD", "HKD")),
    "円": frozenset(("JPY",)),
    "원": frozenset(("KRW",)),
    "₩": frozenset(("KRW", "KPW")),
    "₹": frozenset(("INR",)),
    "rupees": frozenset(("INR", "PKR", "LKR", "NPR", "MUR", "SCR")),
    "₽": frozenset(("RUB",)),
    "₺": frozenset(("TRY",)),
    "₴": frozenset(("UAH",)),
    "zł": frozenset(("PLN",)),
    "kr": _CROWNS,
    "franken": frozenset(("CHF",)),
    "francs": frozenset(("CHF", "XAF", "XOF", "XPF")),
}

CURRENCIES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {**{code.casefold(): frozenset((code,)) for code in _COMMON}, **_NAMED}
)
"""What a sign or a word, case folded, says of the currency of an amount beside it. A code in capitals says it too."""

_MAGNITUDES: Final = (
    "cent cents ct cts penny pence pennies p pfennig rappen centimes centavos",
    "hundred thousand million millions billion billions trillion dozen k m b bn mn mm mio mrd tsd grand",
    "hundert tausend million millionen milliarde milliarden dutzend",
    "mille millier milliers millions milliard milliards mil millón millones lakh lakhs crore crores",
)
MAGNITUDES: Final = frozenset(name for names in _MAGNITUDES for name in names.split())
"""A number before one of these is not the number that was meant."""

_MONTHS: Final = (
    "january jan januar jän jänner janvier enero",
    "february feb februar février febrero",
    "march mar märz mrz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août agosto",
    "september sep sept septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre diciembre",
)
MONTHS: Final[Mapping[str, int]] = MappingProxyType(
    {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
)
"""English, German, French and Spanish."""
