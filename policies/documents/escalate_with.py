"""`escalate_with`, of a tool and of `defaults`: read once all tools are known, since it names one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from policies.documents import keys
from policies.escalate_with import EscalateWith, SummaryField
from policies.model import folded
from policies.nodes import MappingNode, listed, suggestion
from policies.values import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.documents.tools import Placed
    from policies.model import Argument, Tool
    from policies.nodes import Node
    from policies.problems import Problems

    Tools = dict[str, Placed | None]

_KEY = "escalate_with"
_BY_NAME = {one.value: one for one in SummaryField}


def read_escalate_with(root: MappingNode, tools: Tools, problems: Problems) -> tuple[Tools, EscalateWith | None]:
    """The tools with what their escalated calls become, and what those of a tool that is not named do."""
    own: dict[str, EscalateWith] = {}
    default: EscalateWith | None = None
    nodes = {folded(name): node for name, node in _entries(root, "tools").items()}
    for key, placed in tools.items():
        node = _entry(nodes.get(key), _KEY)
        with problems.collect():
            if placed is not None and node is not None and (found := _read(node, tools)) is not None:
                _check_use(node, placed.tool, found, nodes, tools)
                own[key] = found
    with problems.collect():
        if (node := _entries(root, "defaults").get(_KEY)) is not None and (default := _read(node, tools)) is not None:
            _check_end(node, default.tool, nodes)
    ends = {folded(one.tool) for one in (*own.values(), default) if one is not None}
    handed = {key: own.get(key, None if key in ends else default) for key in tools}
    return {key: _with(placed, handed[key]) for key, placed in tools.items()}, default


def _with(placed: Placed | None, found: EscalateWith | None) -> Placed | None:
    if placed is None or found is None:
        return placed
    tool = placed.tool
    return replace(placed, tool=replace(tool, passed_on=replace(tool.passed_on, escalate_with=found)))


def _entries(root: MappingNode, section: str) -> Mapping[str, Node]:
    """Those of a section; what is wrong with the section itself is told by its own reader."""
    node = root.get(section)
    return node.entries if isinstance(node, MappingNode) else {}


def _entry(node: Node | None, key: str) -> Node | None:
    return node.get(key) if isinstance(node, MappingNode) else None


def _read(node: Node, tools: Tools) -> EscalateWith | None:
    """None where the tool that it names is among the problems itself."""
    named, stated = node, None
    if isinstance(node, MappingNode):
        node.check_keys(keys.ESCALATE_WITH, keys.LATER)
        named, stated = node.require("tool"), node.get("arguments")
    name = named.text()
    if folded(name) not in tools:
        known = [one.tool.name for one in tools.values() if one is not None]
        named.fail(f"the policy has no tool {name!r}{suggestion(name, known)}")
    placed = tools[folded(name)]
    if placed is None:
        return None
    tool = placed.tool
    if tool.name != name:
        named.fail(f"the tool is spelled {tool.name!r}, got {name!r}")
    if tool.arguments is None:
        named.fail(f"{name!r} declares no `arguments`, so that it is not known what it takes")
    found = _by_name(tool.arguments) if stated is None else _stated(stated, tool)
    left = [each.name for each in tool.arguments.values() if not each.optional and each.name not in found]
    if left:
        node.fail(f"{name!r} needs {listed(left)}, which nothing of the summary is put into")
    if not found:
        node.fail(f"no argument of {name!r} takes anything of the summary: {listed(list(_BY_NAME))}")
    for argument, field in found.items():
        if not _takes(tool.arguments[argument], field):
            node.fail(f"the argument {argument!r} of {name!r} cannot take {field.value!r}: it is no string")
    return EscalateWith(name, found)


def _by_name(arguments: Mapping[str, Argument]) -> dict[str, SummaryField]:
    return {name: _BY_NAME[name] for name in arguments if name in _BY_NAME}


def _stated(node: Node, tool: Tool) -> dict[str, SummaryField]:
    arguments = tool.arguments or {}
    found: dict[str, SummaryField] = {}
    for name, item in node.mapping().entries.items():
        if name not in arguments:
            item.fail(f"{tool.name!r} has no argument {name!r}{suggestion(name, arguments)}")
        found[name] = item.choice(SummaryField)
    return found


def _takes(argument: Argument, field: SummaryField) -> bool:
    kind = argument.type.kind
    return kind in (Kind.STRING, Kind.ANY) or (kind is Kind.MONEY and field is SummaryField.AMOUNT)


def _check_use(node: Node, tool: Tool, found: EscalateWith, nodes: Mapping[str, Node], tools: Tools) -> None:
    if folded(found.tool) == folded(tool.name):
        node.fail(f"{tool.name!r} cannot escalate with itself")
    _check_end(node, found.tool, nodes)
    end = tools[folded(found.tool)]
    assert end is not None, "it was read"
    taken = {currency for name in found.arguments if (currency := _currency((end.tool.arguments or {})[name]))}
    own = {currency for each in (tool.arguments or {}).values() if (currency := _currency(each))}
    if taken and own and not taken & own:
        node.fail(f"{found.tool!r} takes {listed(sorted(taken))}, and {tool.name!r} moves {listed(sorted(own))}")


def _check_end(node: Node, name: str, nodes: Mapping[str, Node]) -> None:
    if _entry(nodes.get(folded(name)), _KEY) is not None:
        node.fail(f"{name!r} escalates with another tool itself: what it cannot do has no further way")


def _currency(argument: Argument) -> str | None:
    return argument.type.currency if argument.type.kind is Kind.MONEY else None
