"""Lint of rules: gates that never decide, that prove nothing, or that ask for a record and not whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.documents.arguments import arguments_type
from policies.expressions import Scope
from policies.expressions.syntax import Comparator, Comparison, Membership, Path, walk
from policies.findings import Finding, FindingCode
from policies.model import Ruling, ToolEffect
from policies.values import ANY, Kind, Type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from policies.expressions import Expression
    from policies.expressions.syntax import Node
    from policies.model import Policy, Rule, Tool


def conditions(rule: Rule) -> tuple[Expression, ...]:
    return tuple(expression for expression in (rule.when, rule.unless) if expression is not None)


def unreachable(tool: Tool) -> Iterator[Finding]:
    """All rules are judged and the narrowest wins, so a rule that always fires silences what is no narrower.

    Of two rules with one outcome the first gives the reason.
    """
    yield from _unreachable(tool.rules)
    for action in tool.matrix.actions.values() if tool.matrix is not None else ():
        yield from _unreachable(action.rules)


def _unreachable(rules: Sequence[Rule]) -> Iterator[Finding]:
    order = (Ruling.FORBID, Ruling.ESCALATE, Ruling.CLARIFY)
    always = [(order.index(rule.ruling), at) for at, rule in enumerate(rules) if not conditions(rule)]
    if not always:
        return
    strongest, at_strongest = min(always)
    for at, rule in enumerate(rules):
        rank = order.index(rule.ruling)
        if rank > strongest or (rank == strongest and at > at_strongest):
            message = f"{rule.id} never decides: {rules[at_strongest].id} always fires"
            yield Finding(rule.origin, FindingCode.UNREACHABLE_RULE, message)


_CLAIMS = (Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)


def decorative(policy: Policy, tool: Tool) -> Iterator[Finding]:
    """A gate that the model opens by what it writes.

    A rule is decorative where all it reads are arguments of the call it judges (and constants), and one of them is a
    *claim*: a boolean, a date, or a text that is neither of a closed set nor of a pattern. Sums, counts, ids and closed
    sets are what the call *does*, so a bound on them is a real one; so is an allowlist, a constant list that the value
    is looked up in. Two arguments that are only compared with each other are decorative whatever they are.
    """
    scope = Scope({"args": arguments_type(tool.arguments)})
    for rule in tool.all_rules:
        paths = {path for expression in conditions(rule) for path in expression.paths}
        claimed = sorted(path for path in paths if path[0] == "args")
        constants = {path[1] for path in paths if path[0] == "constants" and len(path) > 1}
        if not claimed or len(claimed) != sum(path[0] != "constants" for path in paths):
            continue
        if any(isinstance(policy.constants.get(name), tuple) for name in constants):
            continue
        is_claim = any(_is_claim(_type_of(scope, path), reads_constant=bool(constants)) for path in claimed)
        if is_claim or any(map(_compares_arguments, conditions(rule))):
            names = ", ".join(".".join(path) for path in claimed)
            message = f"{rule.id} reads only {names}, which the model writes itself: it proves nothing"
            yield Finding(rule.origin, FindingCode.DECORATIVE_GATE, message)


def _type_of(scope: Scope, path: tuple[str, ...]) -> Type:
    try:
        found = scope.type_of(path)
    except ValueError:  # a rule of `defaults` reads what this tool does not declare
        return ANY
    return found.element if found.kind is Kind.LIST and found.element is not None else found


def _is_claim(type_: Type, *, reads_constant: bool) -> bool:
    if type_.kind is Kind.ANY:
        return not reads_constant
    return type_.kind in _CLAIMS or (type_.kind is Kind.STRING and not type_.safe)


def _compares_arguments(expression: Expression) -> bool:
    return any(
        isinstance(node, Comparison) and _roots(node.left) == _roots(node.right) == {"args"}
        for node, _ in walk(expression.tree)
    )


def not_owned(policy: Policy, tool: Tool) -> Iterator[Finding]:
    """A write whose records the model chooses by an argument, where no rule asks whose they are.

    Facts whose keys come from each other are one group: it is owned where a rule compares a field of one of them, or
    the argument that is its key, with a field of `session`.
    """
    if tool.effect is not ToolEffect.WRITE:
        return
    compared = {path for rule in tool.all_rules for one in conditions(rule) for path in _compared_with_session(one)}
    for name, use in tool.facts.items():
        key = next(iter(use.key.paths))
        if key[0] != "args":
            continue
        group = _derived(tool, name)
        if key not in compared and not any(path[0] in group for path in compared):
            message = f"{tool.name!r} reads {name!r} by an argument and compares it with no session field: whose is it?"
            yield Finding(tool.origin or policy.facts[name].origin, FindingCode.FACT_NOT_OWNED, message)


def _derived(tool: Tool, name: str) -> set[str]:
    """The fact and all whose keys come from it; a tool's facts stand in the order in which they are read."""
    group = {name}
    for other, use in tool.facts.items():
        if any(path[0] in group for path in use.key.paths):
            group.add(other)
    return group


def _compared_with_session(expression: Expression) -> Iterator[tuple[str, ...]]:
    for node, _ in walk(expression.tree):
        sides: tuple[Node, Node]
        match node:
            case Comparison(comparator=Comparator.EQUAL | Comparator.UNEQUAL, left=left, right=right):
                sides = (left, right)
            case Membership(item=item, items=items):
                sides = (item, items)
            case _:
                continue
        for one, other in (sides, sides[::-1]):
            if "session" in _roots(one):
                yield from _paths(other)


def _paths(node: Node) -> set[tuple[str, ...]]:
    return {inner.steps for inner, _ in walk(node) if isinstance(inner, Path)}


def _roots(node: Node) -> set[str]:
    return {path[0] for path in _paths(node)}
