"""A tool with its limits, and with what settles what they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from policies.documents.limits import Limits, read_limits
from policies.documents.settlement import read_settle_within, read_settlement
from policies.nodes import joined

if TYPE_CHECKING:
    from policies.documents.rules import Place
    from policies.documents.tools import Defaults
    from policies.model import Tool
    from policies.nodes import MappingNode
    from policies.problems import Problems
    from policies.values import Type


def with_money(
    tool: Tool, mapping: MappingNode, place: Place, constants: Type | None, defaults: Defaults, problems: Problems
) -> Tool:
    """The tool with what its mapping says of money; the limits of `defaults` stand before its own."""
    own, settle_within = Limits(), defaults.settle_within
    with problems.collect():
        if (node := mapping.get("limits")) is not None:
            own = read_limits(node, tool.name, place, problems)
    with problems.collect():
        settle_within = read_settle_within(mapping, defaults.settle_within)
    settlement = read_settlement(mapping, constants, tool.arguments, problems, has_time_zone=place.has_time_zone)
    whole = replace(
        tool,
        limits=defaults.limits + own.limits,
        once_per=own.once_per,
        inject=settlement.inject,
        result=settlement.result,
        result_format=settlement.result_format,
        not_executed_when=settlement.not_executed_when,
        settle_within=settle_within,
    )
    if not whole.reserves:
        for key in ("not_executed_when", "settle_within"):
            if key in mapping:
                message = f"'{key}' goes with a limit that sums, counts or says once_per: without, nothing is held"
                problems.add(mapping.origin_of(key), joined(mapping.path, key), message)
    if whole.inject is not None and whole.once_per is None:
        message = "'inject' goes with a `once_per` limit: without, each call is an intent of its own"
        problems.add(mapping.origin_of("inject"), joined(mapping.path, "inject"), message)
    return whole
