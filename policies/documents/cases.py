"""The `cases` section: cells of case and segment, compiled for every tool that they name or that they forbid.

It is read after the tools. A tool is governed by its own `rules` or by `cases`, never by both; a write without rules
is governed by `cases`, also where no cell names it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from policies.documents import keys
from policies.documents.case_ceilings import check_ceiling, read_ceilings
from policies.documents.case_sources import Reading, check_name, read_kept, read_segment, read_source, tool_of
from policies.documents.limits import read_amount, read_bound
from policies.documents.rules import Place, read_rules
from policies.documents.tools import Placed, Surroundings, read_uses
from policies.expressions import Scope
from policies.limits import Measure
from policies.matrix import Action, Cases, Matrix
from policies.model import Origin, ToolEffect, folded
from policies.nodes import joined
from policies.values import ANY, Kind, Money

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from policies.model import FactUse, Tool
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems
    from policies.values import Type

CELLS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class Governed:
    """The section, and the tools as it leaves them."""

    cases: Cases
    tools: dict[str, Placed | None]


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
    reading = Reading(around, tools, default_rules, roots, facts, problems)
    source = read_source(mapping.require("case"), reading)
    segment = None if (given := mapping.get("segment")) is None else read_segment(given, reading)
    actions: dict[str, dict[str, Action]] = {}
    cells: dict[str, tuple[str, ...]] = {}
    ceilings = read_ceilings(mapping, reading)
    section = mapping.require("cells").mapping()
    if len(section.entries) > CELLS_MAX:
        section.fail(f"more than {CELLS_MAX} cells")
    for name, entry in section.entries.items():
        with problems.collect():
            check_name(name, entry, source, with_segment=segment is not None)
            cells[name] = tuple(entry.mapping().entries)
            for tool, action in _cell(name, entry.mapping(), ceilings, reading).items():
                actions.setdefault(tool, {})[name] = action
    for name in ceilings:
        if name not in actions:
            mapping.require("ceiling").fail(f"no cell names {name!r}, so its ceiling bounds nothing")
    cases = Cases(source, segment, facts, read_kept(mapping, source), cells, mapping.origin)
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


def _cell(
    cell: str, mapping: MappingNode, ceilings: Mapping[str, Money | Decimal], reading: Reading
) -> dict[str, Action]:
    found: dict[str, Action] = {}
    for name, node in mapping.entries.items():
        with reading.problems.collect():
            placed = tool_of(name, node, reading)
            if len(placed.tool.rules) > reading.default_rules:
                node.fail(f"{name!r} has `rules`: a tool is governed by `rules` or by `cases`, never by both")
            action = _action(f"cases.cells.{cell}.{name}", node.mapping(), placed, reading)
            check_ceiling(action, node.mapping(), ceilings.get(folded(name)), reading.around)
            found[folded(name)] = action
    return found


def _action(action_id: str, mapping: MappingNode, placed: Placed, reading: Reading) -> Action:
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


def _place(placed: Placed, reading: Reading) -> Place:
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
    reading: Reading,
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


def _merged(tool: Tool, reading: Reading) -> dict[str, FactUse]:
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
