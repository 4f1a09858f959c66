"""The `cases` section: cells of case and segment, compiled for every tool that they name or that they forbid.

It is read after the tools. A tool is governed by its own `rules` or by `cases`, never by both; a write without rules
is governed by `cases`, also where no cell names it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from policies.documents import keys
from policies.documents.limits import read_amount, read_bound
from policies.documents.rules import Place, read_rules
from policies.documents.scalars import label
from policies.documents.tools import Placed, Surroundings, read_uses
from policies.expressions import Environment, EvaluationError, Scope
from policies.limits import Measure
from policies.matrix import Action, CaseOfSession, CaseOfTool, Cases, Matrix
from policies.model import Origin, ToolEffect, folded
from policies.nodes import ScalarNode, joined, listed, suggestion
from policies.values import ANY, Kind, Money, parse_money

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.expressions import Expression
    from policies.matrix import CaseSource
    from policies.model import FactUse, Tool
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems
    from policies.values import Type, Value

CELLS_MAX: Final = 1_000

_SESSION: Final = "session."
_ANY_TIME: Final = datetime.min.replace(tzinfo=UTC)
_TEXTS: Final = (Kind.STRING, Kind.ANY)


@dataclass(frozen=True, slots=True)
class Governed:
    """The section, and the tools as it leaves them."""

    cases: Cases
    tools: dict[str, Placed | None]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the parts of the section are read with."""

    around: Surroundings
    tools: Mapping[str, Placed | None]
    default_rules: int
    roots: Mapping[str, Type]  # of the facts of the section
    facts: Mapping[str, FactUse]
    problems: Problems


def read_cases(
    node: Node,
    around: Surroundings,
    tools: Mapping[str, Placed | None],
    default_rules: int,
    problems: Problems,
) -> Governed:
    """The section on these tools, the first `default_rules` of whose rules are those of `defaults`."""
    mapping = node.mapping()
    with problems.collect():
        mapping.check_keys(keys.CASES, keys.LATER)
    facts, roots = _facts(mapping, around, problems)
    reading = _Reading(around, tools, default_rules, roots, facts, problems)
    source = _source(mapping.require("case"), reading)
    segment = None if (given := mapping.get("segment")) is None else _segment(given, reading)
    actions: dict[str, dict[str, Action]] = {}
    cells: dict[str, tuple[str, ...]] = {}
    ceilings = _ceilings(mapping, reading)
    section = mapping.require("cells").mapping()
    if len(section.entries) > CELLS_MAX:
        section.fail(f"more than {CELLS_MAX} cells")
    for name, entry in section.entries.items():
        with problems.collect():
            _check_name(name, entry, source, with_segment=segment is not None)
            cells[name] = tuple(entry.mapping().entries)
            for tool, action in _cell(name, entry.mapping(), ceilings, reading).items():
                actions.setdefault(tool, {})[name] = action
    for name in ceilings:
        if name not in actions:
            mapping.require("ceiling").fail(f"no cell names {name!r}, so its ceiling bounds nothing")
    cases = Cases(source, segment, facts, _kept(mapping, source), cells, mapping.origin)
    governed = {key: _governed(key, each, cases, actions, ceilings, reading) for key, each in tools.items()}
    return Governed(cases, governed)


def _facts(
    mapping: MappingNode, around: Surroundings, problems: Problems
) -> tuple[dict[str, FactUse], dict[str, Type]]:
    node = mapping.get("facts")
    if node is None:
        return {}, {}
    uses, roots = read_uses(node.mapping(), ANY, around, problems)
    for name, use in uses.items():
        if use.many or any(path[0] == "args" for path in use.key.paths):
            node.mapping().require(name).fail("which cell holds is not the call's to say: the key must not read args")
    return uses, roots


def _source(node: Node, reading: _Reading) -> CaseSource:
    if isinstance(node, ScalarNode):
        text = node.text()
        name = text.removeprefix(_SESSION)
        fields = reading.around.session.fields if reading.around.session is not None else {}
        if not text.startswith(_SESSION) or name not in fields:
            node.fail(
                "expected a field of `session` such as session.case, or {tool: NAME, argument: NAME}"
                f"{suggestion(text, [_SESSION + each for each in fields])}"
            )
        if fields[name].kind not in _TEXTS:
            node.fail(f"a case is a text, {text} is a {fields[name].kind.value}")
        return CaseOfSession(name)
    mapping = node.mapping()
    mapping.check_keys(keys.CASE_SOURCE, keys.LATER)
    name = mapping.require("tool").text()
    placed = _tool(name, mapping.require("tool"), reading)
    argument = mapping.require("argument").text()
    if placed.tool.effect is not ToolEffect.READ:
        mapping.require("tool").fail(f"a tool that only classifies changes nothing: {name!r} says `effect: read`")
    declared = (placed.tool.arguments or {}).get(argument)
    words = tuple(word for word in declared.one_of if isinstance(word, str)) if declared is not None else ()
    if declared is None or not words or len(words) < len(declared.one_of):
        mapping.require("argument").fail(
            f"the cases are a closed set: the argument {argument!r} of {name!r} says them by `one_of`"
        )
    return CaseOfTool(folded(name), placed.tool.name, argument, words)


def _segment(node: Node, reading: _Reading) -> Expression:
    place = reading.around.place(ANY, reading.roots, "name it, with its key, in the `facts` of `cases`")
    segment = place.expression(node)
    if segment.functions or len(segment.paths) != 1 or next(iter(segment.paths))[0] in ("args", "constants"):
        node.fail("a segment is a field of a fact or of `session`, such as customer.segment")
    if segment.type.kind not in _TEXTS:
        node.fail(f"a segment is a text, this is a {segment.type.kind.value}")
    return segment


def _kept(mapping: MappingNode, source: CaseSource) -> frozenset[str]:
    node = mapping.get("owner_keeps")
    if node is None:
        return frozenset()
    for item in node.sequence():
        item.convert(label)
        _check_word(item.text(), item, source)
    return frozenset(item.text() for item in node.sequence())


def _check_name(name: str, node: Node, source: CaseSource, *, with_segment: bool) -> None:
    parts = name.split("/")
    for part in parts:
        node.apply(label, part)
    if len(parts) != (2 if with_segment else 1):
        node.fail("a cell is named CASE/SEGMENT" if with_segment else "without `segment` a cell is named by its case")
    _check_word(parts[0], node, source)


def _check_word(case: str, node: Node, source: CaseSource) -> None:
    if isinstance(source, CaseOfTool) and case not in source.words:
        node.fail(f"{source.name!r} never says the case {case!r}: it says {listed(source.words)}")


def _tool(name: str, node: Node, reading: _Reading) -> Placed:
    names = {key: key if placed is None else placed.tool.name for key, placed in reading.tools.items()}
    if folded(name) not in names:
        node.fail(f"the policy has no tool {name!r}{suggestion(name, names.values())}")
    placed = reading.tools[folded(name)]
    if placed is None:
        node.fail(f"the tool {name!r} could not be read")
    if placed.tool.name != name:
        node.fail(f"the tool is spelled {placed.tool.name!r}")
    return placed


def _ceilings(mapping: MappingNode, reading: _Reading) -> dict[str, Money | Decimal]:
    """By folded name."""
    found: dict[str, Money | Decimal] = {}
    section = mapping.get("ceiling")
    for name, node in section.mapping().entries.items() if section is not None else ():
        with reading.problems.collect():
            _tool(name, node, reading)
            found[folded(name)] = node.convert(parse_money) if _is_money(node) else node.number()
    return found


def _is_money(node: Node) -> bool:
    return isinstance(node.value(), str)


def _cell(
    cell: str, mapping: MappingNode, ceilings: Mapping[str, Money | Decimal], reading: _Reading
) -> dict[str, Action]:
    found: dict[str, Action] = {}
    for name, node in mapping.entries.items():
        with reading.problems.collect():
            placed = _tool(name, node, reading)
            if len(placed.tool.rules) > reading.default_rules:
                node.fail(f"{name!r} has `rules`: a tool is governed by `rules` or by `cases`, never by both")
            action = _action(f"cases.cells.{cell}.{name}", node.mapping(), placed, reading)
            _check_ceiling(action, node.mapping(), ceilings.get(folded(name)), reading.around)
            found[folded(name)] = action
    return found


def _action(action_id: str, mapping: MappingNode, placed: Placed, reading: _Reading) -> Action:
    with reading.problems.collect():
        mapping.check_keys(keys.ACTION, keys.LATER)
    place = _place(placed, reading)
    node, bound, rules = mapping.get("value"), mapping.get("max"), mapping.get("rules")
    value = None if node is None else read_amount(node, Measure.VALUE, place)
    if value is None:
        if bound is not None:
            bound.fail("of what? say `value`, such as args.amount")
        money = next((one.name for one in (placed.tool.arguments or {}).values() if one.type.kind is Kind.MONEY), None)
        if money is not None:
            mapping.fail(f"{placed.tool.name!r} moves money: say `value: args.{money}`")
    maximum = None if bound is None else read_bound(bound, place, value)
    read = () if rules is None else read_rules(rules, action_id, place, reading.problems)
    return Action(action_id, value, maximum, read, mapping.origin)


def _check_ceiling(action: Action, mapping: MappingNode, ceiling: Money | Decimal | None, around: Surroundings) -> None:
    if ceiling is None:
        return
    if action.value is None:
        mapping.fail("the action has a ceiling: say `value`, so that it can be compared")
    kind = Kind.MONEY if isinstance(ceiling, Money) else Kind.NUMBER
    currency = ceiling.currency if isinstance(ceiling, Money) else None
    of_value = action.value.type
    if of_value.kind not in (kind, Kind.ANY) or (of_value.currency or currency) != currency:
        mapping.require("value").fail("the ceiling of this action is in another unit")
    known = _known(action.maximum, around)
    if known is not None and _number(known) > _number(ceiling):
        mapping.require("max").fail("is above the ceiling of this action")


def _known(bound: Expression | None, around: Surroundings) -> Value | None:
    """The value of a bound that reads constants only; None where it is known at the decision only."""
    if bound is None or bound.functions or any(path[0] != "constants" for path in bound.paths):
        return None
    try:
        return bound.evaluate(Environment({"constants": around.guards.constants}, _ANY_TIME))
    except EvaluationError:
        return None


def _number(value: Value) -> Decimal:
    number = value.amount if isinstance(value, Money) else value
    assert isinstance(number, Decimal), "a bound is money or a number"
    return number


def _place(placed: Placed, reading: _Reading) -> Place:
    """Where the expressions of a cell stand: the tool's own place, with the facts of the section."""
    scope = placed.place.scope
    absent = {name: why for name, why in scope.absent.items() if name not in reading.roots}
    return replace(placed.place, scope=Scope({**scope.roots, **reading.roots}, absent))


def _governed(
    key: str,
    placed: Placed | None,
    cases: Cases,
    actions: Mapping[str, Mapping[str, Action]],
    ceilings: Mapping[str, Money | Decimal],
    reading: _Reading,
) -> Placed | None:
    """The tool as the matrix governs it; as it was where it has its own rules, or reads and stands in no cell."""
    if placed is None:
        return None
    own = actions.get(key, {})
    if not own:
        is_open = placed.tool.effect is ToolEffect.READ or len(placed.tool.rules) > reading.default_rules
        return placed if is_open else replace(placed, tool=replace(placed.tool, matrix=Matrix(cases)))
    with reading.problems.collect():
        facts = _merged(placed.tool, reading)
        tool = replace(placed.tool, facts=facts, matrix=Matrix(cases, own, ceilings.get(key)))
        return Placed(tool, _place(placed, reading))
    return None


def _merged(tool: Tool, reading: _Reading) -> dict[str, FactUse]:
    """The facts of the section, then the tool's own."""
    for name, use in tool.facts.items():
        other = reading.facts.get(name)
        if other is not None and other.key.source != use.key.source:
            reading.problems.add(
                tool.origin or Origin("", 0),
                joined(f"tools.{tool.name}.facts", name),
                f"`cases` reads {name!r} by {other.key.source}, and this tool by {use.key.source}",
            )
    return {**reading.facts, **tool.facts}
