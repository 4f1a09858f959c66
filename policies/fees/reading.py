"""What the text itself says: bounds, fees and constructs, each with its span in the normalised text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from decimal import Decimal

    from policies.fees.candidate import PercentBase, ReferenceKind, TimeUnit
    from policies.fees.lexicon import Construct, Side
    from policies.fees.text import Span


@dataclass(frozen=True, slots=True)
class ReadBound:
    side: Side
    number: Decimal
    unit: TimeUnit
    inclusive: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ReadPercent:
    percent: Decimal
    span: Span


@dataclass(frozen=True, slots=True)
class ReadAmount:
    """Money; `currency` is None for "free of charge", which is zero in any."""

    amount: Decimal
    currency: str | None
    span: Span


class Flaw(Enum):
    """Why a number in the text is no statement of a rule."""

    NO_UNIT = "a number without a unit of time, percent or currency"
    TWO_CURRENCIES = "an amount between two currencies"
    UNKNOWN_BASE = "a percentage of something that is neither the price nor the paid amount"
    NO_INCLUSIVITY = "a number of days that does not say on which side of it the rule holds, or whether it is included"


@dataclass(frozen=True, slots=True)
class ReadFlaw:
    flaw: Flaw
    span: Span


@dataclass(frozen=True, slots=True)
class ReadConstruct:
    construct: Construct
    span: Span


@dataclass(frozen=True, slots=True)
class ReadReference:
    kind: ReferenceKind
    span: Span


@dataclass(frozen=True, slots=True)
class ReadBase:
    base: PercentBase
    span: Span


class Mark(Enum):
    """Words that stand for an end without a number."""

    FROM_BOOKING = "from booking"
    REMAINDER = "remainder"


@dataclass(frozen=True, slots=True)
class ReadMark:
    mark: Mark
    span: Span


@dataclass(frozen=True, slots=True)
class ReadWord:
    """A word without a meaning of its own; `known` where it is in the language's lexicon."""

    known: bool
    span: Span


ReadFee: TypeAlias = "ReadPercent | ReadAmount"
Item: TypeAlias = "ReadBound | ReadFee | ReadFlaw | ReadConstruct | ReadReference | ReadBase | ReadMark | ReadWord"
