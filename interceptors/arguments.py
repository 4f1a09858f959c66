"""Arguments as the policy types them: each read exactly, or a fault that names it (DESIGN 4, stage 1; DESIGN 7)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from interceptors.causes import RefusalCause
from interceptors.names import shown
from interceptors.readings import ReadingError, read_value
from policies.currencies import EXPONENTS
from policies.spelling import AMOUNT_LENGTH_MAX, exactly
from policies.values import Kind, Money, Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from interceptors.calls import Json
    from policies.model import Argument
    from policies.values import Value

FAULTS_MAX: Final = 8
"""Faults that are reported of one call; the first of them refuses it already."""
_NESTED: Final = frozenset({Kind.LIST, Kind.RECORD})


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one argument. `path` is `payments[2].amount`; neither text holds a value."""

    cause: RefusalCause
    path: str
    why: str

    def __str__(self) -> str:
        return f"argument {self.path!r}: {self.why}"


class Reading(msgspec.Struct, frozen=True):
    """The typed values, complete only where there is no fault. An optional argument that is missing is not in them."""

    values: Mapping[str, Value]
    faults: tuple[Fault, ...]


def read_arguments(declared: Mapping[str, Argument], given: Mapping[str, Json]) -> Reading:
    """Read what was given as what is declared; an argument that is not declared is a fault of its own."""
    faults: list[Fault] = []
    values = _fields(declared, given, "", faults)
    return Reading(values, tuple(faults[:FAULTS_MAX]))


def reader(declared: Mapping[str, Argument]) -> Callable[[Mapping[str, Json]], Reading]:
    """`read_arguments` of one tool: what it makes of sound arguments is made in one pass, what is against others is
    found by reading them again."""
    takes = tuple((name, argument.optional, _taker(argument)) for name, argument in declared.items())

    def read(given: Mapping[str, Json]) -> Reading:
        values: dict[str, Value] = {}
        for name, is_optional, take in takes:
            value = given.get(name)
            if value is None:
                if is_optional:
                    continue
                return read_arguments(declared, given)
            taken = take(value)
            if taken is None:
                return read_arguments(declared, given)
            values[name] = taken
        return Reading(values, ()) if len(given) == len(values) else read_arguments(declared, given)

    return read


def _taker(argument: Argument) -> Callable[[Json], Value | None]:
    """From the value that was given to the one that it is read as; None where anything is against it."""
    kind, currency = argument.type.kind, argument.type.currency or ""
    is_bounded = argument.minimum is not None or argument.maximum is not None
    if kind is Kind.STRING and not is_bounded:
        return partial(_text, argument)
    is_more = is_bounded or bool(argument.one_of) or argument.pattern is not None
    if kind is Kind.MONEY and currency in EXPONENTS and argument.money_unit in (None, Unit.MAJOR) and not is_more:
        return partial(_amount, currency, EXPONENTS[currency])

    def take(value: Json) -> Value | None:
        faults: list[Fault] = []
        read = _value(argument, value, "", faults)
        return None if faults else read

    return take


def _text(argument: Argument, value: Json) -> Value | None:
    if type(value) is not str or (argument.pattern is not None and not argument.pattern.matches(value)):
        return None
    return value if not argument.one_of or value in argument.one_of else None


def _amount(currency: str, digits: int, value: Json) -> Value | None:
    """An amount above zero in major units, from a number that is written without an exponent."""
    number = Decimal(value) if type(value) is int else value
    if type(number) is not Decimal or not number.is_finite():
        return None
    text = str(number)
    if len(text) > AMOUNT_LENGTH_MAX or "E" in text:
        return None
    amount = exactly(number, digits, 0)
    return None if amount is None or amount <= 0 else Money(amount, currency)


def is_sound(argument: Argument, value: Json) -> bool:
    """Whether the value is one that this argument accepts."""
    faults: list[Fault] = []
    _value(argument, value, argument.name, faults)
    return not faults


def _fields(
    declared: Mapping[str, Argument], given: Mapping[str, Json], above: str, faults: list[Fault]
) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for name, argument in declared.items():
        value = given.get(name)
        if value is None:  # JSON null counts as missing
            if not argument.optional:
                faults.append(Fault(RefusalCause.MISSING_PARAMETER, above + name, "is missing"))
            continue
        read = _value(argument, value, above + name, faults)
        if read is not None:
            values[name] = read
    if len(given) > len(values):
        faults.extend(
            Fault(RefusalCause.UNDECLARED_PARAMETER, above + shown(name), "is not declared")
            for name in given
            if name not in declared
        )
    return values


def _value(argument: Argument, value: Json, path: str, faults: list[Fault]) -> Value | None:
    """The value, or None with a fault added."""
    if argument.type.kind in _NESTED:
        if argument.type.kind is Kind.RECORD:
            if isinstance(value, dict):
                return _fields(argument.fields, value, f"{path}.", faults)
            faults.append(Fault(RefusalCause.INVALID_PARAMETER, path, "expected an object"))
            return None
        if argument.element is not None:
            return _elements(argument.element, value, path, faults)
    try:
        read = read_value(value, argument.type, argument.money_unit)
        _check(argument, read)
    except ReadingError as error:
        faults.append(Fault(RefusalCause.INVALID_PARAMETER, path, str(error)))
        return None
    return read


def _elements(element: Argument, value: Json, path: str, faults: list[Fault]) -> Value | None:
    if not isinstance(value, list):
        faults.append(Fault(RefusalCause.INVALID_PARAMETER, path, "expected a list"))
        return None
    values: list[Value] = []
    for index, item in enumerate(value):
        read = _value(element, item, f"{path}[{index}]", faults)
        if read is None:  # the first fault of a list is enough, a list may be long
            return None
        values.append(read)
    return tuple(values)


def _check(argument: Argument, value: Value) -> None:
    """What the policy says beyond the type: pattern, closed set, bounds. Raises `ReadingError`."""
    if argument.pattern is not None and not (isinstance(value, str) and argument.pattern.matches(value)):
        raise ReadingError("does not match the pattern")
    if argument.one_of and value not in argument.one_of:
        raise ReadingError("is none of the accepted values")
    if argument.minimum is not None:
        if _compare(value, argument.minimum) < 0:
            raise ReadingError("is below the minimum")
    elif isinstance(value, Money) and value.amount <= 0:
        raise ReadingError("an amount of money must be above zero")
    if argument.maximum is not None and _compare(value, argument.maximum) > 0:
        raise ReadingError("is above the maximum")


def _compare(value: Value, bound: Value) -> int:
    """Below zero, zero, above zero. Values without an order are a `ReadingError`: no bound is skipped."""
    if isinstance(value, Money) and isinstance(bound, Money) and value.currency == bound.currency:
        value, bound = value.amount, bound.amount
    if isinstance(value, Decimal) and isinstance(bound, Decimal):
        return (value > bound) - (value < bound)
    if isinstance(value, datetime) and isinstance(bound, datetime):
        return (value > bound) - (value < bound)
    if type(value) is date and type(bound) is date:
        return (value > bound) - (value < bound)
    raise ReadingError("cannot be compared with its bound")
