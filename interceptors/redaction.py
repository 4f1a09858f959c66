"""Arguments as they may be stored (guarantee G13): what the policy bounds stays, free text goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.arguments import is_sound
from interceptors.calls import ToolCall
from interceptors.names import shown
from policies.values import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.calls import Json
    from interceptors.case import Case
    from policies.model import Argument

_TYPED: Final = frozenset({Kind.BOOLEAN, Kind.NUMBER, Kind.MONEY, Kind.DATE, Kind.TIMESTAMP})


def stored(case: Case) -> Json:
    """The arguments as a receipt may hold them; None for a malformed call."""
    if not isinstance(case.call, ToolCall):
        return None
    is_read = case.reading is not None and not case.reading.faults
    return redacted(case.found.tool.arguments, case.call.arguments, is_read=is_read)


def redacted(declared: Mapping[str, Argument] | None, given: Mapping[str, Json], *, is_read: bool = False) -> Json:
    """The arguments with free text as `{"redacted": "text", "length": n}`, other free values as `{"redacted": kind}`.

    Kept as they are: booleans; numbers, money and dates that the policy types; strings that stand in `one_of` or match
    their pattern. A value that its argument does not accept is not typed, so it goes; so do names that look like text.
    Without `arguments` in the policy nothing is typed. `is_read`: all of it was read as declared, without a fault.
    """
    if declared is None:
        return _untyped_fields(given)
    return {shown(name): _one(declared.get(name), value, is_read) for name, value in given.items()}


def _one(argument: Argument | None, value: Json, is_read: bool) -> Json:
    if argument is None or value is None:
        return _untyped(value)
    kind = argument.type.kind
    if isinstance(value, list) and kind is Kind.LIST and argument.element is not None:
        return [_one(argument.element, item, is_read) for item in value]
    if isinstance(value, dict) and kind is Kind.RECORD:
        return {shown(name): _one(argument.fields.get(name), item, is_read) for name, item in value.items()}
    is_bound = kind in _TYPED or (kind is Kind.STRING and (argument.pattern is not None or bool(argument.one_of)))
    return value if is_bound and (is_read or is_sound(argument, value)) else _untyped(value)


def _untyped_fields(given: Mapping[str, Json]) -> dict[str, Json]:
    return {shown(name): _untyped(value) for name, value in given.items()}


def _untyped(value: Json) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"redacted": "text", "length": len(value)}
    if isinstance(value, list):
        return {"redacted": "list", "length": len(value)}
    if isinstance(value, dict):
        return _untyped_fields(value)
    return {"redacted": "number"}
