"""Minor units: the smallest amount of a currency, which every fee is rounded to."""

from __future__ import annotations

from decimal import Decimal

from policies.currencies import exponent


def minor_unit(currency: str) -> Decimal:
    """The smallest amount of a currency of ISO 4217, such as 0.01."""
    return Decimal(1).scaleb(-exponent(currency))


def is_whole_minor(amount: Decimal, currency: str) -> bool:
    """Whether a finite amount is a whole number of minor units."""
    scaled = amount.scaleb(exponent(currency))
    return scaled == scaled.to_integral_value()
