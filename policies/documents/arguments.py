"""The declared arguments of a tool: what the model may send, and what it becomes in expressions."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from policies.documents import keys
from policies.documents.guards import GuardScope, read_guards
from policies.documents.scalars import currency, simple_type
from policies.model import Argument
from policies.nodes import ScalarNode, listed
from policies.patterns import Pattern
from policies.spelling import parse_date
from policies.values import (
    SAFE_STRING,
    STRING,
    Kind,
    Money,
    Type,
    Unit,
    Value,
    list_of,
    money_type,
    parse_money,
    record_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from policies.nodes import MappingNode, Node
    from policies.problems import Problems

_SHAPES = ("money", "list", "object", "one_of", "pattern", "type")
_WITH: Mapping[str, frozenset[str]] = {
    "money": frozenset({"unit", "min", "max"}),
    "list": frozenset(),
    "object": frozenset(),
    "one_of": frozenset({"type"}),
    "pattern": frozenset({"type"}),
    "type": frozenset({"min", "max"}),
}
_ANYWHERE = ("optional", "from", "allow", "egress")
_ORDERED = (Kind.NUMBER, Kind.DATE)
NAME_LENGTH_MAX = 128
NOTHING_AROUND = GuardScope()


def read_arguments(node: Node, problems: Problems, around: GuardScope = NOTHING_AROUND) -> dict[str, Argument]:
    """All arguments of one tool that are well-formed; the others are among the problems."""
    return _read_fields(node.mapping(), problems, around)


def arguments_type(arguments: Mapping[str, Argument] | None) -> Type:
    """The type of `args`. Without declarations it is open: known at run time only."""
    if arguments is None:
        return Type(Kind.ANY)
    return record_of({name: argument.type for name, argument in arguments.items()})


def _read_fields(mapping: MappingNode, problems: Problems, around: GuardScope) -> dict[str, Argument]:
    found: dict[str, Argument] = {}
    for name, node in mapping.entries.items():
        with problems.collect():
            if len(name) > NAME_LENGTH_MAX or not name.isprintable():
                node.fail(f"{name[:40]!r} is no name of an argument")
            found[name] = _read_argument(name, node, problems, around)
    return found


def _read_argument(
    name: str, node: Node, problems: Problems, around: GuardScope, *, is_element: bool = False
) -> Argument:
    if isinstance(node, ScalarNode):
        return Argument(name, simple_type(node), origin=node.origin)
    mapping = node.mapping()
    with problems.collect():
        mapping.check_keys(keys.ARGUMENT, keys.LATER)
    shape = next((key for key in _SHAPES if key in mapping), None)
    if shape is None:
        mapping.fail(f"an argument needs one of {listed(_SHAPES)}")
    for key in mapping.entries:
        if key in keys.ARGUMENT and key not in _WITH[shape] and key not in (shape, *_ANYWHERE):
            problems.add(mapping.origin_of(key), f"{mapping.path}.{key}", f"{key!r} does not go with {shape!r}")
    optional = mapping.get("optional")
    if optional is not None and is_element:
        optional.fail("an element of a list cannot be optional")
    made = _SHAPE_READERS[shape](name, mapping, problems, around)
    guards = read_guards(mapping, made.type, around, problems)
    return Argument(
        name,
        made.type,
        optional=optional is not None and optional.boolean(),
        pattern=made.pattern,
        one_of=made.one_of,
        money_unit=made.money_unit,
        money_currency=made.type.currency,
        minimum=made.minimum,
        maximum=made.maximum,
        element=made.element,
        fields=made.fields or {},
        sources=guards.sources,
        allow=guards.allow,
        is_exempt=guards.is_exempt,
        origin=mapping.origin,
    )


class _Made(NamedTuple):
    """What one shape says of an argument."""

    type: Type
    pattern: Pattern | None = None
    one_of: tuple[Value, ...] = ()
    money_unit: Unit | None = None
    minimum: Value | None = None
    maximum: Value | None = None
    element: Argument | None = None
    fields: Mapping[str, Argument] | None = None


def _money(_name: str, mapping: MappingNode, _problems: Problems, _around: GuardScope) -> _Made:
    code = mapping.require("money").convert(currency)
    unit = mapping.require("unit").choice(Unit)

    def bound(text: str) -> Value:
        money = parse_money(text)
        if money.currency != code:
            raise ValueError(f"the argument is in {code}, the bound in {money.currency}")
        return money

    minimum, maximum = _bounds(mapping, lambda node: _money_bound(node, code, bound))
    if minimum is None and isinstance(maximum, Money) and maximum.amount <= 0:
        mapping.require("max").fail(
            "nothing is above zero and at most this: money is above zero unless `min` says else"
        )
    return _Made(money_type(code), money_unit=unit, minimum=minimum, maximum=maximum)


def _money_bound(node: Node, code: str, bound: Callable[[str], Value]) -> Value:
    if isinstance(node, ScalarNode) and node.described.startswith("the number"):
        node.fail(f"money needs its currency: {node.spelling} {code}")
    return node.convert(bound)


def _list(name: str, mapping: MappingNode, problems: Problems, around: GuardScope) -> _Made:
    element = _read_argument(f"{name}[*]", mapping.require("list"), problems, around, is_element=True)
    return _Made(list_of(element.type), element=element)


def _object(_name: str, mapping: MappingNode, problems: Problems, around: GuardScope) -> _Made:
    fields = _read_fields(mapping.require("object").mapping(), problems, around)
    return _Made(record_of({key: argument.type for key, argument in fields.items()}), fields=fields)


def _pattern(_name: str, mapping: MappingNode, _problems: Problems, _around: GuardScope) -> _Made:
    declared = mapping.get("type")
    if declared is not None and simple_type(declared).kind is not Kind.STRING:
        declared.fail("a pattern is for a string")
    return _Made(SAFE_STRING, pattern=mapping.require("pattern").convert(Pattern.compile))


def _one_of(_name: str, mapping: MappingNode, _problems: Problems, _around: GuardScope) -> _Made:
    node = mapping.require("one_of")
    declared = mapping.get("type")
    base = STRING if declared is None else simple_type(declared)
    if base.kind not in (Kind.STRING, Kind.NUMBER):
        node.fail(f"one_of is for a string, an integer or a number, not for a {base.kind.value}")
    if not node.sequence():
        node.fail("one_of needs at least one value")
    values: list[Value] = []
    for item in node.sequence():
        value: Value = item.text() if base.kind is Kind.STRING else _number(item, base)
        if value in values:
            item.fail(f"{value!s} stands here twice")
        values.append(value)
    return _Made(SAFE_STRING if base.kind is Kind.STRING else base, one_of=tuple(values))


def _type(_name: str, mapping: MappingNode, _problems: Problems, _around: GuardScope) -> _Made:
    declared = simple_type(mapping.require("type"))
    bounded = [key for key in ("min", "max") if key in mapping]
    if bounded and declared.kind not in _ORDERED:
        mapping.require(bounded[0]).fail(f"a {declared.kind.value} has no {bounded[0]}")
    minimum, maximum = _bounds(
        mapping, lambda node: node.convert(parse_date) if declared.kind is Kind.DATE else _number(node, declared)
    )
    return _Made(declared, minimum=minimum, maximum=maximum)


def _number(node: Node, declared: Type) -> Decimal:
    return Decimal(node.integer()) if declared.integral else node.number()


def _bounds(mapping: MappingNode, read: Callable[[Node], Value]) -> tuple[Value | None, Value | None]:
    low, high = mapping.get("min"), mapping.get("max")
    minimum = None if low is None else read(low)
    maximum = None if high is None else read(high)
    if high is not None and minimum is not None and maximum is not None and _sortable(minimum) > _sortable(maximum):
        high.fail("max is less than min")
    return minimum, maximum


def _sortable(value: Value) -> Any:
    return value.amount if isinstance(value, Money) else value


_SHAPE_READERS: Mapping[str, Callable[[str, MappingNode, Problems, GuardScope], _Made]] = {
    "money": _money,
    "list": _list,
    "object": _object,
    "one_of": _one_of,
    "pattern": _pattern,
    "type": _type,
}
