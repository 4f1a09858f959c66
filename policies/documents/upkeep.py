"""What a tool says of the history on its way up: the keys of `result` beside `fields`, and `reads`, `writes`,
`closes_topic`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from policies.documents import keys
from policies.documents.limits import duration
from policies.documents.scalars import identifier
from policies.expressions import EACH, ExpressionError, compile_expression, dotted
from policies.model import Tool, ToolEffect
from policies.nodes import MappingNode, ScalarNode, SequenceNode
from policies.patterns import Pattern
from policies.upkeep import NO_UPKEEP, ErrorRule, ResultError, Upkeep
from policies.values import Kind

if TYPE_CHECKING:
    from policies.documents.rules import Place
    from policies.nodes import Node
    from policies.problems import Problems
    from policies.upkeep import Path

PATHS_MAX: Final = 256
RULES_MAX: Final = 64
BYTES_MIN: Final = 64  # room for the words that say what was cut
BYTES_MAX: Final = 8 << 20
ITEMS_MAX: Final = 100_000
FRESH_MAX: Final = timedelta(days=30)
STANDARD: Final = "standard"
_AT_ONCE: Final = "0s"
_KEY_KINDS: Final = (Kind.STRING, Kind.NUMBER, Kind.DATE, Kind.ANY)


def with_upkeep(tool: Tool, mapping: MappingNode, place: Place, problems: Problems) -> Tool:
    """The tool with what its mapping says of its results."""
    found = NO_UPKEEP
    with problems.collect():
        if (node := mapping.get("result")) is not None:
            found = _read_result(node.mapping(), tool, problems)
    things: dict[str, dict[str, Path]] = {"reads": {}, "writes": {}}
    for key, paths in things.items():
        with problems.collect():
            if (node := mapping.get(key)) is not None:
                paths.update(_things(node.mapping(), place, problems))
    if things["reads"] and tool.effect is ToolEffect.WRITE:
        with problems.collect():
            mapping.require("reads").fail("the result of a write is what was done: it is never read again")
    if things["writes"] and tool.effect is ToolEffect.READ:
        with problems.collect():
            mapping.require("writes").fail("a tool that writes has the effect write")
    with problems.collect():
        if (node := mapping.get("closes_topic")) is not None:
            found = replace(found, closes_topic=node.boolean())
    found = replace(found, reads=things["reads"], writes=things["writes"])
    return replace(tool, upkeep=replace(found, gather=gather_of(mapping.get("escalation"))))


def gather_of(escalation: Node | None) -> tuple[str, ...]:
    """The facts that an `escalation` names."""
    """The facts that a person gets with the case. They were checked where the escalation is read."""
    if not isinstance(escalation, MappingNode) or not isinstance(gathered := escalation.get(keys.GATHER), SequenceNode):
        return ()
    return tuple(dict.fromkeys(item.spelling for item in gathered.items if isinstance(item, ScalarNode)))


def _read_result(mapping: MappingNode, tool: Tool, problems: Problems) -> Upkeep:
    """Its keys were checked where its fields are read."""
    found = NO_UPKEEP
    with problems.collect():
        if (node := mapping.get("keep")) is not None:
            found = replace(found, keep=_paths(node))
    with problems.collect():
        if (node := mapping.get("drop")) is not None:
            found = replace(found, drop=_paths(node))
    with problems.collect():
        if (node := mapping.get("max_bytes")) is not None:
            found = replace(found, max_bytes=node.integer(BYTES_MIN, BYTES_MAX))
    with problems.collect():
        if (node := mapping.get("max_items")) is not None:
            found = replace(found, max_items=node.integer(1, ITEMS_MAX))
    with problems.collect():
        if (node := mapping.get("errors")) is not None:
            found = replace(found, errors=_errors(node, problems))
    with problems.collect():
        if (node := mapping.get("fresh_for")) is not None:
            if tool.effect is ToolEffect.WRITE:
                node.fail("the result of a write is what was done: it does not go out of date")
            found = replace(found, fresh_for=_fresh_for(node))
    return found


def _fresh_for(node: Node) -> timedelta:
    if isinstance(node, ScalarNode) and node.spelling in ("0", _AT_ONCE):
        return timedelta(0)
    return duration(node, FRESH_MAX)


def _paths(node: Node) -> tuple[Path, ...]:
    items = node.sequence()
    if not 0 < len(items) <= PATHS_MAX:
        node.fail(f"expected from 1 to {PATHS_MAX} paths")
    return tuple(dict.fromkeys(item.convert(result_path) for item in items))


def result_path(text: str) -> Path:
    """`items[*].sku` as its steps. `ValueError` where a step is empty."""
    steps: list[str] = []
    for part in text.split("."):
        name, bracket, rest = part.partition("[")
        marks = bracket + rest
        if (not name and (steps or not marks)) or marks != EACH * (len(marks) // len(EACH)) or "]" in name:
            raise ValueError(f"{text!r} is no path such as status, customer.id or items[*].sku")
        steps += [*([name] if name else []), *([EACH] * (len(marks) // len(EACH)))]
    return tuple(steps)


def _errors(node: Node, problems: Problems) -> tuple[ErrorRule, ...]:
    if isinstance(node, ScalarNode):
        node.one_of((STANDARD,))
        return ()
    rules: list[ErrorRule] = []
    items = node.sequence()
    if len(items) > RULES_MAX:
        node.fail(f"at most {RULES_MAX} rules")
    for item in items:
        with problems.collect():
            mapping = item.mapping()
            mapping.check_keys(keys.RESULT_ERROR, keys.LATER)
            match = mapping.require("match").convert(Pattern.compile)
            if match.accepts_empty:
                mapping.require("match").fail("this occurs in every text")
            rules.append(ErrorRule(match, mapping.require("as").choice(ResultError)))
    return tuple(rules)


def _things(mapping: MappingNode, place: Place, problems: Problems) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for name, node in mapping.entries.items():
        with problems.collect():
            node.apply(identifier, name)
            found[name] = _argument_path(node, place)
    return found


def _argument_path(node: Node, place: Place) -> Path:
    text = node.source()
    try:
        key = compile_expression(text, place.scope)
    except ExpressionError as error:
        node.fail(str(error))
    path = next(iter(key.paths), ())
    if len(key.paths) != 1 or key.functions or dotted(path) != text or path[0] != "args" or len(path) == 1:
        node.fail("a thing is named by an argument, such as args.order_id")
    type_ = key.type.element if key.type.element is not None else key.type
    if type_.kind not in _KEY_KINDS:
        node.fail(f"a thing is named by a text, a number or a date, this is a {type_.kind.value}")
    return path[1:]
