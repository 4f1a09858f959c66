"""Walks the tree. Operands go from left to right; `and` and `or` stop at the first operand that settles them.

An error in an operand that is looked at is an error of the whole: `and` and `or` never absorb one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from policies.arithmetic import AmountError
from policies.expressions.errors import EvaluationError, Mismatch
from policies.expressions.functions import FUNCTIONS
from policies.expressions.lists import is_in
from policies.expressions.operators import compare, compute, negate, words
from policies.expressions.run import Run, expect
from policies.expressions.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Junction,
    Junctive,
    Listing,
    Literal,
    Membership,
    Negation,
    Node,
    Not,
    Path,
)
from policies.values import Value, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from policies.expressions.environment import Environment


def evaluate(node: Node, environment: Environment) -> Value:
    """The value of a checked tree. `EvaluationError`, and nothing else, where it has none."""
    try:
        return _value(node, Run(environment))
    except (Mismatch, AmountError) as error:
        raise EvaluationError(str(error)) from None
    except OverflowError:
        raise EvaluationError("a date or a duration is out of range") from None


def _value(node: Node, run: Run) -> Value:
    run.spend()
    return _BY_NODE[type(node)](node, run)


def _literal(node: Literal, _: Run) -> Value:
    return node.value


def _listing(node: Listing, run: Run) -> Value:
    return tuple(_value(item, run) for item in node.items)


def _path(node: Path, run: Run) -> Value:
    value, declared = run.read(node.steps), node.type
    expect(value, declared, node.steps)
    if isinstance(value, tuple) and declared.element:
        for item in value:
            expect(item, declared.element, node.steps)
    return value


def _condition(node: Node, run: Run) -> bool:
    value = _value(node, run)
    if value is True or value is False:
        return value
    raise Mismatch(f"expected a condition, not {words(kind_of(value))}")


def _not(node: Not, run: Run) -> Value:
    return not _condition(node.operand, run)


def _junctive(node: Junctive, run: Run) -> Value:
    settled = node.junction is Junction.OR
    for operand in node.operands:
        if _condition(operand, run) is settled:
            return settled
    return not settled


def _negation(node: Negation, run: Run) -> Value:
    return negate(_value(node.operand, run))


def _comparison(node: Comparison, run: Run) -> Value:
    return compare(node.comparator, _value(node.left, run), _value(node.right, run))


def _membership(node: Membership, run: Run) -> Value:
    return is_in(run, _value(node.item, run), _value(node.items, run)) is not node.negated


def _arithmetic(node: Arithmetic, run: Run) -> Value:
    return compute(node.operator, _value(node.left, run), _value(node.right, run))


def _call(node: Call, run: Run) -> Value:
    return FUNCTIONS[node.function].run(run, node.type, tuple(_value(argument, run) for argument in node.arguments))


# The type of the parameter is the key.
_BY_NODE: Mapping[type, Callable[[Any, Run], Value]] = {
    Literal: _literal,
    Listing: _listing,
    Path: _path,
    Not: _not,
    Junctive: _junctive,
    Negation: _negation,
    Comparison: _comparison,
    Membership: _membership,
    Arithmetic: _arithmetic,
    Call: _call,
}
