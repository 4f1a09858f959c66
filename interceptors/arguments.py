"""Arguments as the policy types them: each read exactly, or a fault that names it (DESIGN 4, stage 1; DESIGN 7)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from interceptors.causes import RefusalCause
from interceptors.names import shown
from interceptors.readings import ReadingError, read_value
from policies.values import Kind, Money

if TYPE_CHECKING:
    from collections.abc import Mapping

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


@dataclass(frozen=True, slots=True)
class Reading:
    """The typed values, complete only where there is no fault. An optional argument that is missing is not in them."""

    values: Mapping[str, Value]
    faults: tuple[Fault, ...]


def read_arguments(declared: Mapping[str, Argument], given: Mapping[str, Json]) -> Reading:
    """Read what was given as what is declared; an argument that is not declared is a fault of its own."""
    faults: list[Fault] = []
    values = _fields(declared, given, "", faults)
    return Reading(values, tuple(faults[:FAULTS_MAX]))


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
