"""The tree of an expression, and its text again. Nodes compare by meaning: columns and types do not count."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias, assert_never

from policies.expressions.scope import dotted
from policies.values import ANY, Type, Value, render

if TYPE_CHECKING:
    from collections.abc import Iterator


class Junction(Enum):
    AND = "and"
    OR = "or"


class Comparator(Enum):
    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="

    __hash__ = object.__hash__  # each member is one object; an enum's own hash is a function of the interpreter


class Operator(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


@dataclass(frozen=True, slots=True)
class Literal:
    value: Value
    column: int = field(default=1, compare=False)
    type: Type = field(default=ANY, compare=False)


@dataclass(frozen=True, slots=True)
class Listing:
    items: tuple[Node, ...]
    column: int = field(default=1, compare=False)
    type: Type = field(default=ANY, compare=False)


@dataclass(frozen=True, slots=True)
class Path:
    """`steps` are the root, then field names and `EACH`."""

    steps: tuple[str, ...]
    column: int = field(default=1, compare=False)
    type: Type = field(default=ANY, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    operand: Node
    column: int = field(default=1, compare=False)
    type: Type = field(default=ANY, compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    operand: Node
    column: int = field(default=1, compare=False)
    type: Type = field(default=ANY, compare=False)


@dataclass(frozen=True, slots=True)
class Junctive:
    """Two or more operands joined by the same word."""

    junction: Junction
    operands: tuple[Node, ...]
    column: int = field(default=1, compare=False)
    type: Type = field(default=ANY, compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    comparator: Comparator
    left: Node
    right: Node
    column: int = field(default=1, compare=False)
    type: Type = field(default=ANY, compare=False)


@dataclass(frozen=True, slots=True)
class Membership:
    """`item in items`, or `item not in items`."""

    item: Node
    items: Node
    negated: bool
    column: int = field(default=1, compare=False)
    type: Type = field(default=ANY, compare=False)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: Operator
    left: Node
    right: Node
    column: int = field(default=1, compare=False)
    type: Type = field(default=ANY, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Node, ...]
    column: int = field(default=1, compare=False)
    type: Type = field(default=ANY, compare=False)


Node: TypeAlias = "Literal | Listing | Path | Not | Negation | Junctive | Comparison | Membership | Arithmetic | Call"


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Literal() | Path():
            return ()
        case Listing(items=nodes) | Junctive(operands=nodes) | Call(arguments=nodes):
            return nodes
        case Not(operand=operand) | Negation(operand=operand):
            return (operand,)
        case Comparison(left=left, right=right) | Arithmetic(left=left, right=right):
            return (left, right)
        case Membership(item=item, items=items):
            return (item, items)
    assert_never(node)


def walk(node: Node) -> Iterator[tuple[Node, int]]:
    """Every node with its depth, from 1, without recursion: the parser bounds neither by itself."""
    waiting = [(node, 1)]
    while waiting:
        current, depth = waiting.pop()
        yield current, depth
        waiting.extend((child, depth + 1) for child in children(current))


def to_source(node: Node) -> str:
    """The expression as text that parses to the same tree, in parentheses wherever an operator stands in another."""
    match node:
        case Literal(value=value):
            return literal(value)
        case Listing(items=items):
            return f"[{', '.join(map(to_source, items))}]"
        case Path(steps=steps):
            return dotted(steps)
        case Not(operand=operand):
            return f"not {_inner(operand)}"
        case Negation(operand=operand):
            return f"-{_inner(operand)}"
        case Junctive(junction=junction, operands=operands):
            return f" {junction.value} ".join(map(_inner, operands))
        case Comparison(comparator=comparator, left=left, right=right):
            return f"{_inner(left)} {comparator.value} {_inner(right)}"
        case Membership(item=item, items=items, negated=negated):
            return f"{_inner(item)} {'not in' if negated else 'in'} {_inner(items)}"
        case Arithmetic(operator=operator, left=left, right=right):
            return f"{_inner(left)} {operator.value} {_inner(right)}"
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(map(to_source, arguments))})"
    assert_never(node)


def literal(value: Value) -> str:
    """A value as the language spells it."""
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return f'"{escaped}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(literal, value))}]"
    return render(value)


def _inner(node: Node) -> str:
    text = to_source(node)
    return text if isinstance(node, Literal | Listing | Path | Call) else f"({text})"
