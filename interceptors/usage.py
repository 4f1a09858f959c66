"""What was used so far, as a decision asks it and the store answers: exact integers under names without an identity.

A *cap* is (policy, tool, what is measured, for whom); an *intent* is (policy, tool, the values that say what is done).
Neither knows who asks, so that two agents and a rotated credential meet the same cap and the same intent (DESIGN 8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from policies.currencies import exponent
from policies.values import Money, render

if TYPE_CHECKING:
    from datetime import datetime

    from interceptors.grants import Grant

PLACES: Final = 6
"""Decimal places of a plain number that is counted; money has those of its currency."""
UNITS_MAX: Final = 10**15
"""Of one call: far beyond any amount, and thousands of them fit into the integers of the store."""


@dataclass(frozen=True, slots=True)
class CapKey:
    """What to add up: what counts under `name` since `since`, from the beginning where that is None.

    `itemised`: each charge by itself, in the order in which they were made.
    """

    name: str
    since: datetime | None
    itemised: bool = False


@dataclass(frozen=True, slots=True)
class IntentKey:
    """What is known of an intent; `terms` say what it would hold, to tell whether an open one holds the same."""

    name: str
    terms: str


@dataclass(frozen=True, slots=True)
class ConfirmationKey:
    """A call that the customer may be asked about. `name` says who asks whom, of which tool, with what arguments."""

    name: str


@dataclass(frozen=True, slots=True)
class GrantKey:
    """A call that people may have answered. `name` says whose it is, of which tool, with what arguments."""

    name: str


UsageKey: TypeAlias = "CapKey | IntentKey | ConfirmationKey | GrantKey"


@dataclass(frozen=True, slots=True)
class Charge:
    """What one call holds under a cap, in the smallest units of `currency`, which is empty for a plain number.

    `counted` is what the fact said that it had counted when the call was decided; None where no fact counts.
    """

    currency: str
    units: int
    counted: int | None = None


@dataclass(frozen=True, slots=True)
class CapUse:
    """`charges` stand for themselves where they were asked for itemised, else each is the sum of its currency."""

    charges: tuple[Charge, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenIntent:
    """A reservation of the intent that is held or unknown. `same_terms`: it holds what this call would hold."""

    reservation: str
    ordinal: int
    same_terms: bool


@dataclass(frozen=True, slots=True)
class IntentUse:
    """`made`: reservations of this intent so far, whatever became of them. `executed_at`: when the last one was."""

    made: int = 0
    executed_at: datetime | None = None
    open: OpenIntent | None = None


@dataclass(frozen=True, slots=True)
class ConfirmationUse:
    """`asked_at`: when the open question about the call was asked last; None where none is open."""

    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class GrantUse:
    """`grant`: the newest answer of people that was not used and not taken back, expired or not."""

    grant: Grant | None = None


Usage: TypeAlias = "CapUse | IntentUse | ConfirmationUse | GrantUse"
Usages: TypeAlias = Mapping[UsageKey, Usage]


def unused(key: UsageKey) -> Usage:
    """The answer of a store in which nothing was ever reserved."""
    match key:
        case CapKey():
            return CapUse()
        case IntentKey():
            return IntentUse()
        case ConfirmationKey():
            return ConfirmationUse()
        case GrantKey():
            return GrantUse()
    assert_never(key)


def units_of(value: Money | Decimal) -> tuple[str, int]:
    """The currency and the whole units of an amount. `ValueError` where it is negative, too fine or too large."""
    currency, amount = (value.currency, value.amount) if isinstance(value, Money) else ("", value)
    places = exponent(currency) if currency else PLACES
    if amount < 0:
        raise ValueError("an amount that is added up must not be negative")
    if amount >= Decimal(UNITS_MAX).scaleb(-places):
        raise ValueError("the amount is too large to be added up")
    units = amount.scaleb(places)
    if units != units.to_integral_value():
        raise ValueError(f"the amount has more than {places} decimal places")
    return currency, int(units)


def value_of(currency: str, units: int) -> Money | Decimal:
    """What `units_of` read."""
    amount = Decimal(units).scaleb(-(exponent(currency) if currency else PLACES))
    if currency:
        return Money(amount, currency)
    return Decimal(int(amount)) if amount == amount.to_integral_value() else amount.normalize()


def text_of(currency: str, units: int) -> str:
    """`60.00 USD`, or a plain number."""
    return render(value_of(currency, units))
