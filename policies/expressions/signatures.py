"""The types of functions: from the types of the arguments to that of the result, or a `Mismatch`.

An argument whose type is not known yet (`ANY`) passes here; the function checks its value.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from policies.expressions.errors import Mismatch
from policies.expressions.operators import EQUATABLE, ORDERED, SIGNED, check_same, words
from policies.values import ANY, BOOLEAN, DATE, INTEGER, STRING, TIMESTAMP, Kind, Type, list_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_ROUNDABLE = frozenset({Kind.NUMBER, Kind.MONEY})
_DAYS = frozenset({Kind.DATE, Kind.TIMESTAMP})
_TEXT = frozenset({Kind.STRING})
_PAIRED = frozenset({Kind.STRING, Kind.NUMBER, Kind.DATE})


def sum_(types: tuple[Type, ...]) -> Type:
    return _one_of(element(types[0]), SIGNED)


def count(types: tuple[Type, ...]) -> Type:
    element(types[0])
    return INTEGER


def extreme(types: tuple[Type, ...]) -> Type:
    joined = element(types[0]) if len(types) == 1 else reduce(check_same, types)
    return _one_of(joined, ORDERED)


def signed(types: tuple[Type, ...]) -> Type:
    return _one_of(types[0], SIGNED)


def round_(types: tuple[Type, ...]) -> Type:
    _one_of(types[1], {Kind.NUMBER})
    return _one_of(types[0], _ROUNDABLE)


def distinct(types: tuple[Type, ...]) -> Type:
    return list_of(_one_of(element(types[0]), EQUATABLE))


def two_lists(types: tuple[Type, ...]) -> Type:
    left, right = (_one_of(element(each), EQUATABLE) for each in types)
    check_same(left, right)
    return BOOLEAN


def count_in(types: tuple[Type, ...]) -> Type:
    two_lists(types)
    return INTEGER


def without(types: tuple[Type, ...]) -> Type:
    two_lists(types)
    return list_of(element(types[0]))


def pairs(types: tuple[Type, ...]) -> Type:
    for each in types:
        _one_of(element(each), _PAIRED)
    return list_of(STRING)


def contains(types: tuple[Type, ...]) -> Type:
    whole, part = types
    if whole.kind is Kind.STRING:
        _one_of(part, _TEXT)
    elif whole.kind is not Kind.ANY:
        membership(part, whole)
    return BOOLEAN


def membership(item: Type, items: Type) -> Type:
    check_same(_one_of(item, EQUATABLE), element(items))
    return BOOLEAN


def lower(types: tuple[Type, ...]) -> Type:
    """What is safe in a reply stays so."""
    if types[0].kind is Kind.LIST:
        return list_of(_one_of(element(types[0]), _TEXT))
    return _one_of(types[0], _TEXT)


def domain(types: tuple[Type, ...]) -> Type:
    if types[0].kind is Kind.LIST:
        _one_of(element(types[0]), _TEXT)
        return list_of(STRING)
    return STRING if _one_of(types[0], _TEXT).kind is Kind.STRING else ANY


def days(types: tuple[Type, ...]) -> Type:
    for each in types:
        _one_of(each, _DAYS)
    return INTEGER


def now(_: tuple[Type, ...]) -> Type:
    return TIMESTAMP


def today(_: tuple[Type, ...]) -> Type:
    return DATE


def element(of: Type) -> Type:
    """The type of a list's elements. `Mismatch` for what is not a list."""
    if of.kind is Kind.ANY:
        return ANY
    if of.kind is not Kind.LIST:
        raise Mismatch(f"expected a list, not {words(of.kind, of.currency)}")
    return of.element or ANY


def _one_of(found: Type, kinds: AbstractSet[Kind]) -> Type:
    if found.kind is not Kind.ANY and found.kind not in kinds:
        expected = " or ".join(sorted(kind.value for kind in kinds))
        raise Mismatch(f"expected {expected}, not {words(found.kind, found.currency)}")
    return found
