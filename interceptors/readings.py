"""JSON into the values of the policy language: exact, one accepted spelling, nothing coerced."""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, assert_never

from policies.expressions import EACH, Unreadable
from policies.spelling import parse_amount_text, parse_date, parse_timestamp
from policies.values import Kind, Money, Type, Unit, Value, money_from_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.calls import Json
    from policies.fact_fields import FactField


class ReadingError(ValueError):
    """The JSON value is not one of the type. The message names kinds and rules, never the value."""


def read_value(value: Json, type_: Type, unit: Unit | None = None) -> Value:
    """A JSON value as a value of `type_`; `unit` says in which unit a number states money. Raises `ReadingError`.

    `null` is no value of any type. Only an integer spelling is an integer: `3.0` is not.
    """
    match type_.kind:
        case Kind.STRING | Kind.BOOLEAN | Kind.NUMBER:
            return _plain(value, type_)
        case Kind.MONEY:
            return read_money(value, type_.currency, unit or Unit.MAJOR)
        case Kind.DATE | Kind.TIMESTAMP:
            return _time(value, type_.kind)
        case Kind.LIST:
            return _list(value, type_, unit)
        case Kind.RECORD:
            return _record(value, type_, unit)
        case Kind.DURATION:
            raise ReadingError("a duration has no spelling in JSON")
        case Kind.ANY:
            return _any(value)
        case _:
            assert_never(type_.kind)


def read_field(
    document: Mapping[str, Json], path: tuple[str, ...], type_: Type, unit: Unit | None = None
) -> Value | Unreadable:
    """The value at the keys of `path`; with `[*]` in it the list of all values there, flat.

    What is missing, null or of another type is `Unreadable`, and so is a list with one such element.
    """
    value = _at(document.get(path[0]), path[1:])
    if value is None:
        return Unreadable("is missing")
    try:
        return read_value(value, type_, unit)
    except ReadingError as error:
        return Unreadable(str(error))


def read_declared(document: Mapping[str, Json], field: FactField) -> Value | Unreadable:
    """The value of a declared field. An amount beside which another currency stands, or none, is `Unreadable`."""
    if field.currency_path:
        said = _at(document.get(field.currency_path[0]), field.currency_path[1:])
        if said is None:
            return Unreadable("does not say its currency")
        codes = said if EACH in field.currency_path and isinstance(said, list) else [said]
        if any(code != field.money_currency for code in codes):
            return Unreadable(f"is in another currency than {field.money_currency}")
    return read_field(document, field.path, field.type, field.money_unit)


def _at(value: Json, path: tuple[str, ...]) -> Json:
    """What stands at the path below `value`; None where that, or an element on the way, is missing or null."""
    for place, step in enumerate(path):
        if step == EACH:
            return _each(value, path[place + 1 :])
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _each(value: Json, path: tuple[str, ...]) -> Json:
    """The same of each element of a list, in one flat list."""
    if not isinstance(value, list):
        return None
    flat: list[Json] = []
    for item in value:
        found = _at(item, path)
        if found is None:
            return None
        if EACH in path and isinstance(found, list):
            flat.extend(found)
        else:
            flat.append(found)
    return flat


def _plain(value: Json, type_: Type) -> Value:
    if type_.kind is Kind.STRING and isinstance(value, str):
        return value
    if type_.kind is Kind.BOOLEAN and isinstance(value, bool):
        return value
    if type_.kind is Kind.NUMBER and not isinstance(value, bool):
        if isinstance(value, int):
            return Decimal(value)
        if isinstance(value, Decimal) and not type_.integral:
            return value
    raise ReadingError(f"expected {_named(type_)}, got {_kind(value)}")


def read_money(value: Json, currency: str | None, unit: Unit) -> Money:
    """An exact amount from a number, or from a text in its one accepted spelling. Raises `ReadingError`.

    An exponent (`1e6`) is refused, and in `minor` and `milli` a point too: `100.00` in cents is most likely a
    mistake of the unit, which is a factor of a hundred.
    """
    if currency is None:
        raise ReadingError("the currency is not known")
    if isinstance(value, bool) or not isinstance(value, (int, Decimal, str)):
        raise ReadingError(f"expected an amount of money, got {_kind(value)}")
    try:
        number = parse_amount_text(value) if isinstance(value, str) else Decimal(value)
        money = money_from_number(number, unit, currency)
    except ValueError as error:
        raise ReadingError(str(error)) from None
    text = str(number)
    if "E+" in text:
        raise ReadingError("an amount of money is spelled without an exponent")
    if unit is not Unit.MAJOR and ("." in text or "E" in text):
        raise ReadingError(f"an amount in {unit.value} units is a whole number")
    return money


def _time(value: Json, kind: Kind) -> Value:
    if not isinstance(value, str):
        raise ReadingError(f"expected a {kind.value}, got {_kind(value)}")
    try:
        return parse_date(value) if kind is Kind.DATE else parse_timestamp(value)
    except ValueError:
        shape = "2026-01-31" if kind is Kind.DATE else "2026-01-31T09:30:00Z, with an offset"
        raise ReadingError(f"expected a {kind.value} such as {shape}") from None


def _list(value: Json, type_: Type, unit: Unit | None) -> Value:
    if not isinstance(value, list):
        raise ReadingError(f"expected a list, got {_kind(value)}")
    element = type_.element
    return tuple(_any(item) if element is None else read_value(item, element, unit) for item in value)


def _record(value: Json, type_: Type, unit: Unit | None) -> Value:
    if not isinstance(value, dict):
        raise ReadingError(f"expected an object, got {_kind(value)}")
    if not type_.fields:
        return {name: _any(item) for name, item in value.items() if item is not None}
    return {
        name: read_value(value[name], field, unit)
        for name, field in type_.fields.items()
        if value.get(name) is not None
    }


def _any(value: Json) -> Value:
    """What JSON says by itself, where nothing is declared: numbers, texts, booleans, lists, records without nulls."""
    if isinstance(value, (bool, str, Decimal)):
        return value
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, list):
        return tuple(_any(item) for item in value)
    if isinstance(value, dict):
        return {name: _any(item) for name, item in value.items() if item is not None}
    raise ReadingError("null is no value")


def _named(type_: Type) -> str:
    if type_.kind is Kind.NUMBER and type_.integral:
        return "an integer"
    return f"a {type_.kind.value}"


def _kind(value: Json) -> str:
    return "null" if value is None else _KINDS[type(value)]


_KINDS: Final[Mapping[type, str]] = MappingProxyType(
    {
        bool: "a boolean",
        str: "a string",
        int: "an integer",
        Decimal: "a decimal number",
        list: "a list",
        dict: "an object",
    }
)
