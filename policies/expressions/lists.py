"""The functions that look into lists, and what the others share of them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from policies.expressions.errors import Mismatch
from policies.expressions.operators import EQUATABLE, same_kind, words
from policies.expressions.run import TEXT_PER_COST
from policies.values import kind_of, render

if TYPE_CHECKING:
    from policies.expressions.run import Run
    from policies.values import Kind, Type, Value


def distinct(run: Run, _type: Type, arguments: tuple[Value, ...]) -> Value:
    return tuple(dict.fromkeys(uniform(run, arguments[0], EQUATABLE)))


def all_in(run: Run, _type: Type, arguments: tuple[Value, ...]) -> Value:
    items, allowed = _pair(run, arguments)
    return items <= allowed


def any_in(run: Run, _type: Type, arguments: tuple[Value, ...]) -> Value:
    items, listed = _pair(run, arguments)
    return not items.isdisjoint(listed)


def count_in(run: Run, _type: Type, arguments: tuple[Value, ...]) -> Value:
    _, listed = _pair(run, arguments)
    return Decimal(sum(item in listed for item in items_of(run, arguments[0])))


def without(run: Run, _type: Type, arguments: tuple[Value, ...]) -> Value:
    _, listed = _pair(run, arguments)
    return tuple(item for item in items_of(run, arguments[0]) if item not in listed)


def pairs(run: Run, _type: Type, arguments: tuple[Value, ...]) -> Value:
    left, right = (items_of(run, argument) for argument in arguments)
    if len(left) != len(right):
        raise Mismatch("pairs needs two lists of one length")
    return tuple(f"{_bare(run, one)} {_bare(run, other)}" for one, other in zip(left, right, strict=True))


def _bare(run: Run, value: Value) -> str:
    """A text, a number or a date as a text without a space: else two pairs could look the same."""
    if isinstance(value, bool | datetime) or not isinstance(value, str | Decimal | date):
        raise Mismatch(f"{words(kind_of(value))} cannot stand in a pair")
    text = render(value)
    run.spend(len(text) // TEXT_PER_COST)
    if " " in text:
        raise Mismatch("a text with a space cannot stand in a pair")
    return text


def items_of(run: Run, value: Value) -> tuple[Value, ...]:
    if not isinstance(value, tuple):
        raise Mismatch(f"{words(kind_of(value))} is not a list")
    run.spend(len(value))
    return value


def uniform(run: Run, value: Value, kinds: frozenset[Kind]) -> tuple[Value, ...]:
    """The elements of a list, all of one kind out of `kinds`, and money of one currency."""
    items = items_of(run, value)
    if items:
        kind = same_kind(items[0], items[0])
        if kind not in kinds:
            raise Mismatch(f"{words(kind)} cannot stand in this list")
        for item in items[1:]:
            same_kind(items[0], item)
    return items


def _pair(run: Run, arguments: tuple[Value, ...]) -> tuple[frozenset[Value], frozenset[Value]]:
    left, right = (uniform(run, argument, EQUATABLE) for argument in arguments)
    if left and right:
        same_kind(left[0], right[0])
    return frozenset(left), frozenset(right)


def is_in(run: Run, item: Value, items: Value) -> bool:
    """Whether a list holds the item. All of its elements are of the item's kind, or it is an error."""
    elements = items_of(run, items)
    if kind_of(item) not in EQUATABLE:
        raise Mismatch(f"{words(kind_of(item))} cannot be looked for in a list")
    for element in elements:
        same_kind(item, element)
    return item in elements
