"""An expression in plain English, told from the tree that decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from policies.expressions.functions import FUNCTIONS
from policies.expressions.scope import EACH, dotted
from policies.expressions.syntax import (
    Arithmetic,
    Call,
    Comparator,
    Comparison,
    Junctive,
    Listing,
    Literal,
    Membership,
    Negation,
    Node,
    Not,
    Operator,
    Path,
    literal,
)
from policies.values import Kind, Value

if TYPE_CHECKING:
    from policies.expressions.expression import Expression

_WORDS: Mapping[Comparator, str] = {
    Comparator.EQUAL: "is",
    Comparator.UNEQUAL: "is not",
    Comparator.LESS: "is less than",
    Comparator.AT_MOST: "is at most",
    Comparator.MORE: "is more than",
    Comparator.AT_LEAST: "is at least",
}
_TIMES: Mapping[Comparator, str] = {
    **_WORDS,
    Comparator.LESS: "is before",
    Comparator.AT_MOST: "is not after",
    Comparator.MORE: "is after",
    Comparator.AT_LEAST: "is not before",
}
_OPPOSITE: Mapping[Comparator, Comparator] = {
    Comparator.EQUAL: Comparator.UNEQUAL,
    Comparator.UNEQUAL: Comparator.EQUAL,
    Comparator.LESS: Comparator.AT_LEAST,
    Comparator.AT_MOST: Comparator.MORE,
    Comparator.MORE: Comparator.AT_MOST,
    Comparator.AT_LEAST: Comparator.LESS,
}
_OPERATORS: Mapping[Operator, str] = {
    Operator.ADD: "plus",
    Operator.SUBTRACT: "minus",
    Operator.MULTIPLY: "times",
    Operator.DIVIDE: "divided by",
}


def sentence(expression: Expression, constants: Mapping[str, Value]) -> str:
    """`days since order.delivered_at is at most window_days (14)`: no capital, no stop, constants with their values."""
    return _Speaker(constants).condition(expression.tree)


def value_sentence(expression: Expression, constants: Mapping[str, Value]) -> str:
    """The same of an expression that is a value, and no condition, whatever its type."""
    return _Speaker(constants).value(expression.tree)


class _Speaker:
    __slots__ = ("_constants",)

    def __init__(self, constants: Mapping[str, Value]) -> None:
        self._constants = constants

    def condition(self, node: Node) -> str:
        """A node in the place of a condition; a value that is none is told as a value."""
        match node:
            case Not(operand=operand):
                return self._denied(operand)
            case Junctive(junction=junction, operands=operands):
                return f" {junction.value} ".join(map(self._joined, operands))
            case Comparison():
                return self._compared(node, node.comparator)
            case Membership(negated=negated):
                return self._member(node, negated=negated)
            case Path() if node.type.kind in (Kind.BOOLEAN, Kind.ANY):
                return f"{self._path(node)} is true"
            case _:
                return self.value(node)

    def _denied(self, node: Node) -> str:
        match node:
            case Comparison():
                return self._compared(node, _OPPOSITE[node.comparator])
            case Membership(negated=negated):
                return self._member(node, negated=not negated)
            case Path():
                return f"{self._path(node)} is not true"
            case _:
                return f"it is not the case that {self._joined(node)}"

    def _joined(self, node: Node) -> str:
        text = self.condition(node)
        return f"({text})" if isinstance(node, Junctive) else text

    def _compared(self, node: Comparison, comparator: Comparator) -> str:
        kinds = {node.left.type.kind, node.right.type.kind}
        spoken = _TIMES if kinds & {Kind.DATE, Kind.TIMESTAMP} else _WORDS
        return f"{self._operand(node.left)} {spoken[comparator]} {self._operand(node.right)}"

    def _member(self, node: Membership, *, negated: bool) -> str:
        return f"{self._operand(node.item)} is {'none' if negated else 'one'} of {self._operand(node.items)}"

    def _operand(self, node: Node) -> str:
        text = self.value(node)
        compound = isinstance(node, Junctive | Not | Comparison | Membership | Arithmetic | Negation)
        return f"({text})" if compound else text

    def value(self, node: Node) -> str:
        match node:
            case Literal(value=value):
                return _spoken(value)
            case Listing(items=items):
                return ", ".join(map(self._operand, items)) if items else "an empty list"
            case Path():
                return self._path(node)
            case Negation(operand=operand):
                return f"minus {self._operand(operand)}"
            case Arithmetic(operator=sign, left=left, right=right):
                return f"{self._operand(left)} {_OPERATORS[sign]} {self._operand(right)}"
            case Call(function=function, arguments=arguments):
                told = [self._operand(argument) for argument in arguments]
                return FUNCTIONS[function].phrase.replace("{*}", ", ".join(told)).format(*told)
            case Not() | Junctive() | Comparison() | Membership():
                return self.condition(node)
        assert_never(node)

    def _path(self, node: Path) -> str:
        if node.steps[0] == "constants":
            return self._constant(node.steps)
        if EACH not in node.steps:
            return dotted(node.steps)
        last = len(node.steps) - 1 - node.steps[::-1].index(EACH)
        head, tail = dotted(node.steps[:last]), node.steps[last + 1 :]
        return f"the values of {dotted(tail)} in {head}" if tail else f"the elements of {head}"

    def _constant(self, steps: tuple[str, ...]) -> str:
        name = dotted(steps[1:]) if len(steps) > 1 else steps[0]
        value: object = self._constants
        for step in steps[1:]:
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is None or isinstance(value, Mapping):
            return name
        return f"{name} ({_spoken(value)})"  # type: ignore[arg-type]  # a constant's value or a field of one


def _spoken(value: Value) -> str:
    return ", ".join(map(literal, value)) if isinstance(value, tuple) else literal(value)
