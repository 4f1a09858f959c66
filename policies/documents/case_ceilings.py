"""Of the `cases` section: what no cell may go above."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from policies.documents.case_sources import tool_of
from policies.expressions import Environment, EvaluationError
from policies.model import folded
from policies.values import Kind, Money, parse_money

if TYPE_CHECKING:
    from policies.documents.case_sources import Reading
    from policies.documents.tools import Surroundings
    from policies.expressions import Expression
    from policies.matrix import Action
    from policies.nodes import MappingNode, Node
    from policies.values import Value

_ANY_TIME: Final = datetime.min.replace(tzinfo=UTC)


def read_ceilings(mapping: MappingNode, reading: Reading) -> dict[str, Money | Decimal]:
    """What the calls of a tool may not go above in any cell, by folded name."""
    found: dict[str, Money | Decimal] = {}
    section = mapping.get("ceiling")
    for name, node in section.mapping().entries.items() if section is not None else ():
        with reading.problems.collect():
            tool_of(name, node, reading)
            found[folded(name)] = node.convert(parse_money) if _is_money(node) else node.number()
    return found


def _is_money(node: Node) -> bool:
    return isinstance(node.value(), str)


def check_ceiling(action: Action, mapping: MappingNode, ceiling: Money | Decimal | None, around: Surroundings) -> None:
    """Refuse an action that cannot be compared with its ceiling, and one whose constant limit is above it."""
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
