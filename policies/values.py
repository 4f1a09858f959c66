"""The values of the policy language and their types: closed, exact, hashable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from policies.currencies import exponent
from policies.spelling import (
    AMOUNT_LENGTH_MAX,
    MONEY,
    duration_text,
    exactly,
    has_digits,
    is_plain,
    number_text,
    parse_amount_text,
    parse_date,
    parse_duration,
    parse_timestamp,
    spelled_as,
    with_digits,
)
from policies.spelling import (
    DATE as DATE_SPELLING,
)
from policies.spelling import (
    DURATION as DURATION_SPELLING,
)
from policies.spelling import (
    TIMESTAMP as TIMESTAMP_SPELLING,
)

if TYPE_CHECKING:
    from datetime import tzinfo


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


Value: TypeAlias = (
    "bool | str | Decimal | Money | date | datetime | timedelta | tuple[Value, ...] | Mapping[str, Value]"
)


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
    ANY = "any"  # known at run time only, and checked there

    __hash__ = object.__hash__  # each member is one object; an enum's own hash is a function of the interpreter


@dataclass(frozen=True, slots=True)
class Type:
    """A static type. `currency` only for money, `element` only for lists, `fields` only for records.

    `safe` only for strings: the value is one of a closed set, matches a pattern, or is the policy author's own. Only
    such strings may stand in a reply; a string that a model or a customer may write freely may not.
    """

    kind: Kind
    integral: bool = False
    currency: str | None = None
    element: Type | None = None
    fields: Mapping[str, Type] = field(default_factory=dict, hash=False)
    safe: bool = False


ANY = Type(Kind.ANY)
BOOLEAN = Type(Kind.BOOLEAN)
STRING = Type(Kind.STRING)
SAFE_STRING = Type(Kind.STRING, safe=True)
NUMBER = Type(Kind.NUMBER)
INTEGER = Type(Kind.NUMBER, integral=True)
DATE = Type(Kind.DATE)
TIMESTAMP = Type(Kind.TIMESTAMP)
DURATION = Type(Kind.DURATION)


def money_type(currency: str | None = None) -> Type:
    """Money of this currency; of a currency that is known at run time only, without."""
    return Type(Kind.MONEY, currency=currency)


def list_of(element: Type = ANY) -> Type:
    return Type(Kind.LIST, element=element)


def record_of(fields: Mapping[str, Type]) -> Type:
    """A record with these fields and no others."""
    return Type(Kind.RECORD, fields=fields)


def kind_of(value: object) -> Kind | None:
    """The kind of a value, or None for what is no value of the language (a float, null)."""
    kind = _KINDS.get(type(value))
    if kind is None and isinstance(value, Mapping):
        return Kind.RECORD
    return kind


_KINDS: Mapping[type, Kind] = {
    bool: Kind.BOOLEAN,
    str: Kind.STRING,
    Decimal: Kind.NUMBER,
    Money: Kind.MONEY,
    date: Kind.DATE,
    datetime: Kind.TIMESTAMP,
    timedelta: Kind.DURATION,
    tuple: Kind.LIST,
}


def type_of_value(value: Value) -> Type:
    """The type of a value that the policy's author wrote (a constant): its strings are safe."""
    if isinstance(value, Money):
        return money_type(value.currency)
    if isinstance(value, tuple):
        types = {type_of_value(item) for item in value}
        return list_of(types.pop()) if len(types) == 1 else list_of()
    if isinstance(value, Mapping):
        return record_of({name: type_of_value(item) for name, item in value.items()})
    if isinstance(value, Decimal):
        return Type(Kind.NUMBER, integral=value == value.to_integral_value())
    kind = kind_of(value)
    assert kind is not None
    return Type(kind, safe=kind is Kind.STRING)


def parse_money(text: str) -> Money:
    """`500.00 USD`. `ValueError` for an unknown currency or more digits than its minor unit has."""
    match = spelled_as(MONEY, text) if len(text) <= AMOUNT_LENGTH_MAX else None
    if match is None:
        raise ValueError("not an amount of money")
    return money_from_number(parse_amount_text(match.group(1)), Unit.MAJOR, match.group(2))


def parse_literal(text: str) -> Value | None:
    """What a text in `constants` stands for: money, a duration, a date or a timestamp. None: it is a plain string.

    `ValueError` where the shape is one of these and the value is not (`500.005 USD`, `1,000 USD`, `2026-02-30`).
    """
    if spelled_as(MONEY, text):
        return parse_money(text)
    if spelled_as(DURATION_SPELLING, text):
        return parse_duration(text)
    if spelled_as(DATE_SPELLING, text):
        return parse_date(text)
    if spelled_as(TIMESTAMP_SPELLING, text):
        return parse_timestamp(text)
    return None


def money_from_number(number: Decimal | int, unit: Unit, currency: str) -> Money:
    """The money that a number on the wire states. `ValueError` where the currency has no such amount, never rounding.

    `MINOR` and `MILLI` (thousandths of the major unit) are whole numbers by definition.
    """
    digits = exponent(currency)
    if isinstance(number, bool):
        raise ValueError("a boolean is no amount")  # noqa: TRY004 - one error for every wrong amount
    value = Decimal(number) if isinstance(number, int) and abs(number) < 10**AMOUNT_LENGTH_MAX else number
    if not isinstance(value, Decimal) or not value.is_finite():
        raise ValueError("the amount is not a finite number of bounded length")
    if not is_plain(value, AMOUNT_LENGTH_MAX):
        _refuse_long(value)
    shift = 0 if unit is Unit.MAJOR else digits if unit is Unit.MINOR else 3
    if shift and not has_digits(value, 0):
        raise ValueError(f"an amount in {unit.value} units is a whole number")
    amount = exactly(value, digits, shift)
    if amount is None:
        raise ValueError(f"{currency} has no amount with more than {digits} decimal digits")
    return Money(amount, currency)


def _refuse_long(value: Decimal) -> None:
    spelled = value.as_tuple()
    assert isinstance(spelled.exponent, int)
    if len(spelled.digits) > AMOUNT_LENGTH_MAX or not -AMOUNT_LENGTH_MAX <= spelled.exponent <= AMOUNT_LENGTH_MAX:
        raise ValueError("the amount has too many digits")


def render(value: Value, zone: tzinfo | None = None) -> str:
    """A scalar as people read it, the same in every language: `500.00 USD`, `14`, `2026-01-31`, `14d`, `true`.

    Timestamps are written in `zone`, else in UTC. `ValueError` for lists and records.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return number_text(value)
    if isinstance(value, Money):
        digits = exponent(value.currency)
        amount = with_digits(value.amount, digits) if has_digits(value.amount, digits) else value.amount
        return f"{number_text(amount)} {value.currency}"
    if isinstance(value, datetime):
        text = value.astimezone(zone or UTC).isoformat(timespec="seconds")
        return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return duration_text(value)
    raise ValueError("a list or a record has no text")
