"""The values of the policy language and their types: closed, exact, hashable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import TypeAlias


class Unit(Enum):
    """In which unit a number on the wire states money."""

    MAJOR = "major"
    MINOR = "minor"
    MILLI = "milli"


@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount in major units. Currencies never mix: comparing or adding two of them is an error, not False."""

    amount: Decimal
    currency: str  # ISO 4217, upper case


Value: TypeAlias = "bool | str | Decimal | Money | date | datetime | timedelta | tuple[Value, ...] | Mapping[str, Value]"


class Kind(Enum):
    BOOLEAN = "boolean"
    STRING = "string"
    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
    LIST = "list"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class Type:
    """A static type. `currency` only for money, `element` only for lists, `fields` only for records."""

    kind: Kind
    integral: bool = False
    currency: str | None = None
    element: Type | None = None
    fields: Mapping[str, Type] = field(default_factory=dict)
