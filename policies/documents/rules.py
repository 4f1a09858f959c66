"""Rules and templates, compiled in the scope in which they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from policies.documents import keys
from policies.documents.scalars import identifier
from policies.expressions import Expression, ExpressionError, Scope, compile_expression
from policies.model import Rule, Ruling
from policies.nodes import listed, suggestion
from policies.system_reasons import SYSTEM_REASONS
from policies.templates import Template
from policies.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from policies.nodes import MappingNode, Node
    from policies.problems import Problems

C = TypeVar("C", Expression, Template)


@dataclass(frozen=True, slots=True)
class Place:
    """Where expressions stand: what they may read, whether days can be counted, and which reasons there are."""

    scope: Scope
    has_time_zone: bool
    reasons: Collection[str]

    def condition(self, node: Node) -> Expression:
        """An expression that is true or false."""
        expression = self._compiled(node, node.source(), compile_expression)
        if expression.type.kind not in (Kind.BOOLEAN, Kind.ANY):
            node.fail(f"a condition is true or false, this is a {expression.type.kind.value}")
        return expression

    def expression(self, node: Node) -> Expression:
        """An expression of any type."""
        return self._compiled(node, node.source(), compile_expression)

    def template(self, node: Node) -> Template:
        return self._compiled(node, node.text(), Template.compile)

    def reason(self, node: Node) -> str:
        """A reason code of the policy or of the system."""
        code = node.text()
        if code not in self.reasons and code not in SYSTEM_REASONS:
            node.fail(f"the reason {code!r} is not declared{suggestion(code, self.reasons)}")
        return code

    def _compiled(self, node: Node, text: str, compile_text: Callable[[str, Scope], C]) -> C:
        try:
            compiled = compile_text(text, self.scope)
        except ExpressionError as error:
            node.fail(str(error))
        if compiled.needs_time_zone and not self.has_time_zone:
            node.fail("`time_zone` is required: days are counted on a calendar")
        return compiled


def read_rules(node: Node, owner: str, place: Place, problems: Problems) -> tuple[Rule, ...]:
    """The rules of a tool, or of `defaults`, that are well-formed; the others are among the problems."""
    rules: list[Rule] = []
    for index, item in enumerate(node.sequence()):
        with problems.collect():
            rules.append(_read_rule(item.mapping(), f"{owner}.rules[{index}]", place, problems))
    return tuple(rules)


def _read_rule(mapping: MappingNode, rule_id: str, place: Place, problems: Problems) -> Rule:
    with problems.collect():
        mapping.check_keys(keys.RULE, keys.LATER)
    rulings = [key for key in keys.RULINGS if key in mapping]
    if len(rulings) != 1:
        mapping.fail(f"a rule has one of {listed(keys.RULINGS)}")
    conditions: dict[str, Expression] = {}
    for key in ("when", "unless"):
        node = mapping.get(key)
        with problems.collect():
            if node is not None:
                conditions[key] = place.condition(node)
    reason = place.reason(mapping.require(rulings[0]))
    return Rule(rule_id, Ruling(rulings[0]), reason, conditions.get("when"), conditions.get("unless"), mapping.origin)


def read_escalation(mapping: MappingNode, place: Place, problems: Problems) -> dict[str, Template]:
    """The lines of the summary that a person reads."""
    found: dict[str, Template] = {}
    for name, node in mapping.entries.items():
        with problems.collect():
            if name == keys.GATHER:
                _check_gather(node, place)
                continue
            node.apply(identifier, name)
            found[name] = place.template(node)
    return found


def _check_gather(node: Node, place: Place) -> None:
    facts = [root for root in place.scope.roots if root not in ("args", "session", "constants")]
    for item in node.sequence():
        if item.text() not in facts:
            item.fail(f"the tool does not map the fact {item.text()!r}, add it to its `facts`")
