"""The `limits` of a tool: what its calls may add up to, and what may be done once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from policies.documents import keys
from policies.limits import Calendar, Limit, Measure, OncePer
from policies.model import Ruling
from policies.nodes import ScalarNode, listed
from policies.spelling import parse_duration
from policies.values import Kind

if TYPE_CHECKING:
    from collections.abc import Collection

    from policies.documents.rules import Place
    from policies.expressions import Expression
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems

WINDOW_MAX = timedelta(days=3660)

_KINDS = ("sum", "count", "value", "once_per")
# The keys that go with each, besides the outcome.
_WITH: dict[str, tuple[str, ...]] = {
    "sum": ("per", "within", "each", "max", "fact_counts"),
    "count": ("per", "within", "each", "max", "fact_counts"),
    "value": ("max",),
    "once_per": ("within",),
}
_AMOUNTS = (Kind.MONEY, Kind.NUMBER, Kind.ANY)
_NAMES = (Kind.STRING, Kind.NUMBER, Kind.BOOLEAN, Kind.MONEY, Kind.DATE, Kind.ANY)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a tool that are well-formed; `once_per` is there at most once."""

    limits: tuple[Limit, ...] = ()
    once_per: OncePer | None = None


def read_limits(node: Node, owner: str, place: Place, problems: Problems, *, may_be_once: bool = True) -> Limits:
    """The limits of a tool, or of `defaults`, which may not say `once_per`: which values, no tool has said yet."""
    limits: list[Limit] = []
    once: OncePer | None = None
    for index, item in enumerate(node.sequence()):
        with problems.collect():
            read = _read_limit(item.mapping(), f"{owner}.limits[{index}]", place, problems)
            if isinstance(read, Limit):
                limits.append(read)
                continue
            if not may_be_once:
                item.fail("`once_per` stands in a tool: what is done once depends on its arguments")
            if once is not None:
                item.fail("a tool has one `once_per`: it is what makes two calls the same intent")
            once = read
    return Limits(tuple(limits), once)


def _read_limit(mapping: MappingNode, limit_id: str, place: Place, problems: Problems) -> Limit | OncePer:
    with problems.collect():
        mapping.check_keys(keys.LIMIT, keys.LATER)
    rulings = [key for key in keys.LIMIT_RULINGS if key in mapping]
    if len(rulings) != 1:
        mapping.fail(f"a limit has one of {listed(keys.LIMIT_RULINGS)}")
    kinds = [key for key in _KINDS if key in mapping]
    if len(kinds) != 1:
        mapping.fail(f"a limit has one of {listed(_KINDS)}")
    kind = kinds[0]
    for key in ("per", "within", "each", "max", "fact_counts"):
        if key in mapping and key not in _WITH[kind]:
            mapping.require(key).fail(f"'{key}' does not go with '{kind}'")
    ruling, reason = Ruling(rulings[0]), place.reason(mapping.require(rulings[0]))
    if kind == "once_per":
        values = _names(mapping.require(kind), place)
        return OncePer(limit_id, ruling, reason, values, _within(mapping), mapping.origin)
    amount = read_amount(mapping.require(kind), Measure(kind), place)
    maximum = read_bound(mapping.require("max"), place, amount)
    node = mapping.get("per")
    per = () if node is None else _names(node, place)
    window = _window(mapping, place)
    counted = _fact_counts(mapping, place, amount, window)
    return Limit(limit_id, ruling, reason, Measure(kind), amount, per, window, maximum, counted, mapping.origin)


def read_amount(node: Node, measure: Measure, place: Place) -> Expression | None:
    """What is measured of a call: money or a number, from any of its arguments; None for `count`."""
    if measure is Measure.COUNT:
        if not node.boolean():
            node.fail("`count: true` counts the calls; leave the limit out instead")
        return None
    amount = place.expression(node)
    if amount.type.kind is Kind.LIST:
        node.fail(f"'{measure.value}' is one amount, this is a list: write sum({amount.source})")
    if amount.type.kind not in _AMOUNTS:
        node.fail(f"'{measure.value}' is money or a number, this is a {amount.type.kind.value}")
    return amount


def read_bound(node: Node, place: Place, amount: Expression | None) -> Expression:
    """What bounds an amount (`max`, `fact_counts`): of its kind and currency, and nothing that the call says itself."""
    bound = place.expression(node)
    kind = Kind.NUMBER if amount is None else amount.type.kind
    if any(path[0] == "args" for path in bound.paths):
        node.fail("this must not read args: the model writes them, and would set its own limit")
    if bound.type.kind not in _AMOUNTS or (kind is not Kind.ANY and bound.type.kind not in (kind, Kind.ANY)):
        node.fail(f"must be a {kind.value} like what is bounded, this is a {bound.type.kind.value}")
    currencies = {one.type.currency for one in (amount, bound) if one is not None and one.type.currency}
    if len(currencies) > 1:
        node.fail(f"{' and '.join(sorted(currencies))} do not mix")
    return bound


def _fact_counts(
    mapping: MappingNode, place: Place, amount: Expression | None, window: timedelta | Calendar | None
) -> Expression | None:
    node = mapping.get("fact_counts")
    if node is None:
        return None
    if window is not None:
        node.fail("a fact counts from the beginning: 'fact_counts' goes with neither 'within' nor 'each'")
    counted = read_bound(node, place, amount)
    if not any(path[0] not in ("session", "constants") for path in counted.paths):
        node.fail("'fact_counts' reads a fact: what its source has counted already")
    return counted


def _names(node: Node, place: Place) -> tuple[Expression, ...]:
    """One expression or a list of them, each of which names something: a text, a number, a date, an amount."""
    items = (node,) if isinstance(node, ScalarNode) else node.sequence()
    if not items:
        node.fail("must not be empty")
    found = []
    for item in items:
        expression = place.expression(item)
        if expression.type.kind not in _NAMES:
            item.fail(f"expected a single value to tell calls apart by, this is a {expression.type.kind.value}")
        if not expression.paths:
            item.fail("this is the same for every call")
        found.append(expression)
    return tuple(found)


def _window(mapping: MappingNode, place: Place) -> timedelta | Calendar | None:
    each = mapping.get("each")
    if each is None:
        return _within(mapping)
    if "within" in mapping:
        each.fail("a limit has either 'within', which rolls, or 'each', which begins on the calendar")
    window = each.choice(Calendar)
    if not place.has_time_zone:
        each.fail("`time_zone` is required: days are counted on a calendar")
    return window


def _within(mapping: MappingNode) -> timedelta | None:
    node = mapping.get("within")
    return None if node is None else duration(node, WINDOW_MAX)


def duration(node: Node, longest: timedelta) -> timedelta:
    """A duration above zero, such as `24h`."""
    found = node.convert(parse_duration)
    if not timedelta(0) < found <= longest:
        node.fail(f"must be above zero and at most {longest.days}d")
    return found


def reasons_of(limits: Collection[Limit], once: OncePer | None) -> tuple[str, ...]:
    """The reasons that these limits may give."""
    return (*(limit.reason for limit in limits), *((once.reason,) if once is not None else ()))
