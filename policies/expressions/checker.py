"""The static check: the same tree with a type on every node, or the column of what does not fit."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, TypeVar, assert_never

from policies.expressions.errors import ExpressionError, Mismatch
from policies.expressions.functions import FUNCTIONS
from policies.expressions.operators import SIGNED, check_arithmetic, check_comparison, check_same, words
from policies.expressions.signatures import membership
from policies.expressions.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Junctive,
    Listing,
    Literal,
    Membership,
    Negation,
    Node,
    Not,
    Path,
)
from policies.values import ANY, BOOLEAN, Kind, list_of, type_of_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from policies.expressions.scope import Scope


_T = TypeVar("_T")


def check(node: Node, scope: Scope) -> Node:
    """`ExpressionError` for an undeclared path, an unknown function, and kinds that do not go together."""
    match node:
        case Literal():
            return replace(node, type=type_of_value(node.value))
        case Path():
            return replace(node, type=scope.type_of(node.steps, node.column))
        case Listing():
            items = tuple(check(item, scope) for item in node.items)
            joined = _at(node, lambda: list_of(reduce(check_same, (item.type for item in items), ANY)))
            return replace(node, items=items, type=joined)
        case Not():
            return replace(node, operand=_condition(node.operand, scope), type=BOOLEAN)
        case Junctive():
            operands = tuple(_condition(operand, scope) for operand in node.operands)
            return replace(node, operands=operands, type=BOOLEAN)
        case Negation():
            operand = check(node.operand, scope)
            if operand.type.kind is not Kind.ANY and operand.type.kind not in SIGNED:
                raise ExpressionError(f"- does not apply to {words(operand.type.kind)}", node.column)
            return replace(node, operand=operand, type=operand.type)
        case Comparison():
            left, right = check(node.left, scope), check(node.right, scope)
            _at(node, lambda: check_comparison(node.comparator, left.type, right.type))
            return replace(node, left=left, right=right, type=BOOLEAN)
        case Membership():
            return _membership(node, scope)
        case Arithmetic():
            left, right = check(node.left, scope), check(node.right, scope)
            result = _at(node, lambda: check_arithmetic(node.operator, left.type, right.type))
            return replace(node, left=left, right=right, type=result)
        case Call():
            return _call(node, scope)
    assert_never(node)


def _condition(node: Node, scope: Scope) -> Node:
    checked = check(node, scope)
    if checked.type.kind not in (Kind.BOOLEAN, Kind.ANY):
        raise ExpressionError(f"expected a condition, not {words(checked.type.kind)}", node.column)
    return checked


def _membership(node: Membership, scope: Scope) -> Node:
    item, items = check(node.item, scope), check(node.items, scope)
    if items.type.kind is Kind.STRING:
        raise ExpressionError("in looks into lists: for a text write contains(text, part)", node.column)
    _at(node, lambda: membership(item.type, items.type))
    return replace(node, item=item, items=items, type=BOOLEAN)


def _call(node: Call, scope: Scope) -> Node:
    function = FUNCTIONS.get(node.function)
    if function is None:
        raise ExpressionError(f"unknown function {node.function!r}: there are {', '.join(FUNCTIONS)}", node.column)
    if not function.least <= len(node.arguments) <= function.most:
        many = str(function.least) if function.least == function.most else f"{function.least} to {function.most}"
        raise ExpressionError(
            f"{node.function} takes {many} argument{'' if many == '1' else 's'}, not {len(node.arguments)}", node.column
        )
    arguments = tuple(check(argument, scope) for argument in node.arguments)
    result = _at(node, lambda: function.check(tuple(argument.type for argument in arguments)))
    return replace(node, arguments=arguments, type=result)


def _at(node: Node, rule: Callable[[], _T]) -> _T:
    try:
        return rule()
    except Mismatch as mismatch:
        said = f"{node.function}: {mismatch}" if isinstance(node, Call) else str(mismatch)
        raise ExpressionError(said, node.column) from None
