"""The `tools` and `defaults` sections: a tool's rules are compiled in the scope it declares."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import re2

from policies.documents import keys
from policies.documents.arguments import arguments_type, read_arguments
from policies.documents.asking import with_asking
from policies.documents.facts import fact_type
from policies.documents.fee_schedules import read_fees
from policies.documents.guards import GuardScope, read_egress
from policies.documents.limits import Limits, read_limits
from policies.documents.money import with_money
from policies.documents.people import with_passed_on
from policies.documents.rules import Place, read_escalation, read_rules
from policies.documents.settlement import read_settle_within
from policies.documents.upkeep import with_upkeep
from policies.expressions import EACH, Expression, ExpressionError, Scope, compile_expression, dotted
from policies.model import SETTLE_WITHIN, Argument, Batch, Fact, FactUse, OnRefusal, Rule, Tool, ToolEffect, folded
from policies.nodes import listed, suggestion
from policies.values import ANY, Kind, Type, record_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import timedelta

    from policies.guards import Egress
    from policies.limits import Limit
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems
    from policies.templates import Template

_ROOT = re2.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY_KINDS = (Kind.STRING, Kind.NUMBER, Kind.DATE, Kind.ANY)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the rest of the policy offers to every tool. None in `facts` is a fact that could not be read."""

    session: Type | None  # None: the policy has no such section
    constants: Type | None
    facts: Mapping[str, Fact | None]
    reasons: Collection[str]
    has_time_zone: bool
    guards: GuardScope = field(default_factory=GuardScope)

    def place(self, args: Type, facts: Mapping[str, Type], why_not: str) -> Place:
        """The place of expressions that may read these; `why_not` is said of the other facts."""
        roots = {"args": args, **facts}
        absent = {name: why_not for name in self.facts if name not in facts}
        for name, root in (("session", self.session), ("constants", self.constants)):
            if root is None:
                absent[name] = f"the policy has no `{name}` section"
            else:
                roots[name] = root
        return Place(Scope(roots, absent), self.has_time_zone, self.reasons)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a tool is where it does not say. The rules and limits are judged in addition to its own."""

    effect: ToolEffect = ToolEffect.WRITE
    on_refusal: OnRefusal | None = None
    rules: tuple[Rule, ...] = ()
    escalation: Mapping[str, Template] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    settle_within: timedelta = SETTLE_WITHIN
    egress: Egress | None = None
    batch: Batch = Batch.INDEPENDENT


@dataclass(frozen=True, slots=True)
class Placed:
    """A tool with the place in which its expressions, and the replies of its reasons, stand."""

    tool: Tool
    place: Place


def default_place(surroundings: Surroundings) -> Place:
    """Of the rules of `defaults` and the replies of the system's reasons: no tool, so no facts, and open arguments."""
    return surroundings.place(ANY, {}, "what holds for every tool may read args, session and constants only")


def read_defaults(node: Node, surroundings: Surroundings, problems: Problems) -> Defaults:
    mapping = node.mapping()
    with problems.collect():
        mapping.check_keys(keys.DEFAULTS, keys.LATER)
    place = default_place(surroundings)
    limits, settle_within = Limits(), SETTLE_WITHIN
    with problems.collect():
        if (node_of_limits := mapping.get("limits")) is not None:
            limits = read_limits(node_of_limits, "defaults", place, problems, may_be_once=False)
    with problems.collect():
        settle_within = read_settle_within(mapping)
    judged = _judged(mapping, "defaults", place, Defaults(), problems)
    egress = _egress(mapping, None, surroundings, problems)
    batch = read_batch(mapping, Batch.INDEPENDENT, problems)
    return Defaults(*judged, limits=limits.limits, settle_within=settle_within, egress=egress, batch=batch)


def read_tools(
    section: Node, surroundings: Surroundings, defaults: Defaults, problems: Problems
) -> dict[str, Placed | None]:
    """Every tool by its folded name; None for one that is among the problems."""
    found: dict[str, Placed | None] = {}
    spelled: dict[str, str] = {}
    names = {folded(name): name for name in section.mapping().entries}
    surroundings = replace(surroundings, guards=replace(surroundings.guards, tools=names))
    for name, node in section.mapping().entries.items():
        with problems.collect():
            key = folded(name)
            if not key or not name.isprintable() or name != name.strip():
                node.fail(f"{name!r} is no name of a tool")
            if key in spelled:
                node.fail(f"the tools {spelled[key]!r} and {name!r} differ only in case, width or separators")
            spelled[key] = name
            found[key] = None
            found[key] = _read_tool(name, node.mapping(), surroundings, defaults, problems)
    return found


def _read_tool(name: str, mapping: MappingNode, around: Surroundings, defaults: Defaults, problems: Problems) -> Placed:
    with problems.collect():
        mapping.check_keys(keys.TOOL, keys.LATER)
    arguments: dict[str, Argument] | None = None
    args = ANY
    node = mapping.get("arguments")
    if node is not None:
        with problems.collect():
            arguments = read_arguments(node, problems, around.guards)
            # What is broken there is open here: it need not be told again where it is read.
            broken = {key: ANY for key in node.mapping().entries if key not in arguments}
            args = record_of({**arguments_type(arguments).fields, **broken})
    facts: dict[str, FactUse] = {}
    roots: dict[str, Type] = {}
    node = mapping.get("facts")
    if node is not None:
        with problems.collect():
            facts, roots = read_uses(node.mapping(), args, around, problems)
    place = around.place(args, roots, f"the tool {name!r} does not map this fact, add it to its `facts`")
    fee_schedule, place = read_fees(mapping, name, arguments, place, around.guards.lists, problems)
    effect, on_refusal, rules, escalation = _judged(mapping, name, place, defaults, problems)
    tool = Tool(name, effect, on_refusal, facts, arguments, defaults.rules + rules, escalation, mapping.origin)
    tool = replace(tool, fee_schedule=fee_schedule, batch=read_batch(mapping, defaults.batch, problems))
    tool = replace(tool, egress=_egress(mapping, defaults.egress, around, problems))
    tool = with_passed_on(with_asking(tool, mapping, place, problems), mapping, problems)
    tool = with_upkeep(tool, mapping, place, problems)
    return Placed(with_money(tool, mapping, place, around.constants, defaults, problems), place)


def read_batch(mapping: MappingNode, default: Batch, problems: Problems) -> Batch:
    with problems.collect():
        if (node := mapping.get("batch")) is not None:
            return node.choice(Batch)
    return default


def _egress(mapping: MappingNode, default: Egress | None, around: Surroundings, problems: Problems) -> Egress | None:
    with problems.collect():
        if (node := mapping.get("egress")) is not None:
            return read_egress(node, around.reasons)
    return default


def _judged(
    mapping: MappingNode, owner: str, place: Place, defaults: Defaults, problems: Problems
) -> tuple[ToolEffect, OnRefusal | None, tuple[Rule, ...], Mapping[str, Template]]:
    """What `defaults` and a tool have in common."""
    effect, on_refusal, escalation = defaults.effect, defaults.on_refusal, defaults.escalation
    rules: tuple[Rule, ...] = ()
    with problems.collect():
        if (node := mapping.get("effect")) is not None:
            effect = node.choice(ToolEffect)
    with problems.collect():
        if (node := mapping.get("on_refusal")) is not None:
            on_refusal = node.choice(OnRefusal)
    with problems.collect():
        if (node := mapping.get("rules")) is not None:
            rules = read_rules(node, owner, place, problems)
    with problems.collect():
        if (node := mapping.get("escalation")) is not None:
            escalation = read_escalation(node.mapping(), place, problems)
    return effect, on_refusal, rules, escalation


def read_uses(
    mapping: MappingNode, args: Type, around: Surroundings, problems: Problems
) -> tuple[dict[str, FactUse], dict[str, Type]]:
    """The facts of a tool in an order in which they can be read, and the roots that they are in its expressions."""
    uses: dict[str, FactUse] = {}
    roots: dict[str, Type] = {}
    waiting: dict[str, Node] = {}
    for name, node in mapping.entries.items():
        if name in around.facts:
            waiting[name] = node
        else:
            with problems.collect():
                node.fail(f"the fact {name!r} is not declared{suggestion(name, around.facts)}")
    while waiting:
        ready = [name for name, node in waiting.items() if _root_of(node) not in waiting]
        if not ready:
            for name, node in waiting.items():
                problems.add(node.origin, node.path, f"the key of {name!r} depends on itself: {listed(list(waiting))}")
            roots.update(dict.fromkeys(waiting, ANY))
            break
        for name in ready:
            roots[name] = ANY
            with problems.collect():
                place = around.place(
                    args, _without(roots, name), "the tool does not map this fact, add it to its `facts`"
                )
                key = _read_key(waiting[name], place.scope)
                uses[name] = FactUse(name, key, many=any(EACH in path for path in key.paths))
                roots[name] = fact_type(around.facts[name], many=uses[name].many)
            del waiting[name]
    return uses, roots


def _without(roots: Mapping[str, Type], name: str) -> dict[str, Type]:
    """The roots without the fact whose key is being read."""
    return {root: declared for root, declared in roots.items() if root != name}


def _root_of(node: Node) -> str:
    match = _ROOT.match(getattr(node, "spelling", ""))
    return match.group() if match else ""


def _read_key(node: Node, scope: Scope) -> Expression:
    text = node.source()
    try:
        key = compile_expression(text, scope)
    except ExpressionError as error:
        node.fail(str(error))
    path = next(iter(key.paths), ())
    if len(key.paths) != 1 or key.functions or dotted(path) != text or path[0] == "constants":
        node.fail("the key of a fact is a path such as args.order_id, session.customer_id or order.customer_id")
    if key.type.kind is Kind.LIST and EACH not in path:
        node.fail(f"the key of a fact is one value, this is a list: write {dotted([*path, EACH])} to read each")
    kind = key.type.element.kind if key.type.element is not None else key.type.kind
    if kind not in _KEY_KINDS:
        node.fail(f"the key of a fact is a text, a number or a date, this is a {kind.value}")
    return key
