"""The usual conditions as closures, made once at load. The tree decides: these say at once what walking it would give.

A closure gives the value, or None where anything is out of the ordinary; then the tree is walked, and says what and
why. So nothing is judged here that could be an error, and nothing that the walk would have bounded.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from policies.arithmetic import AmountError, bounded
from policies.expressions.operators import comparing
from policies.expressions.scope import EACH
from policies.expressions.syntax import Comparison, Junction, Junctive, Literal, Node, Not, Path, walk
from policies.values import Kind, Money, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from policies.expressions.syntax import Comparator

Quick: TypeAlias = "Callable[[Mapping[str, object]], Any]"
"""From the roots to the value, or to None, which is no value of the language."""

COST_MAX: Final = 1_000  # far below what the walk may spend, which looks at each node and each step of a path once
_TYPES: Final[Mapping[Kind, type]] = {
    Kind.BOOLEAN: bool,
    Kind.STRING: str,
    Kind.NUMBER: Decimal,
    Kind.MONEY: Money,
    Kind.DATE: date,
}


def quick(tree: Node) -> Quick | None:
    """The closure of a checked tree; None where it holds anything but comparisons of scalars that stand at a path."""
    cost = 0
    for node, _ in walk(tree):
        cost += 1 + (len(node.steps) if isinstance(node, Path) else 0)
        if cost > COST_MAX:
            return None
    made = _made(tree)
    return None if made is None else made[0]


def _made(node: Node) -> tuple[Quick, Kind] | None:
    match node:
        case Literal(value=value):
            kind = kind_of(value)
            return None if kind is None or kind not in _TYPES else ((lambda _: value), kind)
        case Path():
            return _path(node)
        case Not(operand=operand):
            made = _made(operand)
            return None if made is None or made[1] is not Kind.BOOLEAN else (_negated(made[0]), Kind.BOOLEAN)
        case Junctive(junction=junction, operands=operands):
            found = [made for made in map(_made, operands) if made is not None and made[1] is Kind.BOOLEAN]
            if len(found) != len(operands):
                return None
            return _joined(tuple(made[0] for made in found), junction is Junction.OR), Kind.BOOLEAN
        case Comparison(comparator=comparator, left=left, right=right):
            return _compared(comparator, _made(left), _made(right))
        case _:
            return None


def _path(node: Path) -> tuple[Quick, Kind] | None:
    """Of a value whose kind is declared: one of another kind, or none, is for the walk."""
    steps, declared = node.steps, node.type
    expected, currency = _TYPES.get(declared.kind), declared.currency
    if expected is None or EACH in steps:
        return None

    def read(roots: Mapping[str, object]) -> object:
        current: Any = roots
        for step in steps:
            if type(current) is not dict:
                return None
            current = current.get(step)
        return current if type(current) is expected else None

    def number(roots: Mapping[str, object]) -> object:
        current = read(roots)
        return None if current is None else _bounded(current, current)

    def money(roots: Mapping[str, object]) -> object:
        current: Any = read(roots)
        if current is None or (currency and current.currency != currency):
            return None
        return _bounded(current.amount, current)

    match declared.kind:
        case Kind.NUMBER:
            return number, declared.kind
        case Kind.MONEY:
            return money, declared.kind
        case _:
            return read, declared.kind


def _bounded(number: Any, value: object) -> object:
    try:
        bounded(number)
    except AmountError:
        return None
    return value


def _negated(operand: Quick) -> Quick:
    def negated(roots: Mapping[str, object]) -> bool | None:
        value = operand(roots)
        return None if value is None else not value

    return negated


def _joined(operands: tuple[Quick, ...], settled: bool) -> Quick:
    def joined(roots: Mapping[str, object]) -> bool | None:
        for operand in operands:
            value: object = operand(roots)
            if value is settled:
                return settled
            if value is None:
                return None
        return not settled

    return joined


def _compared(
    comparator: Comparator, left: tuple[Quick, Kind] | None, right: tuple[Quick, Kind] | None
) -> tuple[Quick, Kind] | None:
    if left is None or right is None or left[1] is not right[1]:
        return None
    compare = comparing(comparator, left[1])
    if compare is None:
        return None
    one, other = left[0], right[0]

    def compared(roots: Mapping[str, object]) -> bool | None:
        first: object = one(roots)
        second: object = other(roots)
        return None if first is None or second is None else compare(first, second)

    def amounts(roots: Mapping[str, object]) -> bool | None:
        first: Money | None = one(roots)
        second: Money | None = other(roots)
        if first is None or second is None or first.currency != second.currency:
            return None
        return compare(first.amount, second.amount)

    return (amounts if left[1] is Kind.MONEY else compared), Kind.BOOLEAN
