"""A compiled expression: the tree that decides, with what the linter and the loader want to know of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policies.expressions.checker import check
from policies.expressions.errors import EvaluationError
from policies.expressions.evaluator import evaluate
from policies.expressions.functions import FUNCTIONS
from policies.expressions.operators import words
from policies.expressions.parser import parse
from policies.expressions.quick import quick
from policies.expressions.syntax import Call, Node, Path, walk
from policies.values import Type, Value, kind_of

if TYPE_CHECKING:
    from policies.expressions.environment import Environment
    from policies.expressions.quick import Quick
    from policies.expressions.scope import Scope


@dataclass(frozen=True, slots=True)
class Expression:
    """`paths` are the dotted paths it reads (`("args", "payments", "[*]", "amount")`), `functions` those it calls."""

    source: str
    type: Type
    paths: frozenset[tuple[str, ...]]
    functions: frozenset[str]
    tree: Node = field(repr=False)
    quick: Quick | None = field(repr=False, compare=False)

    @property
    def needs_time_zone(self) -> bool:
        """Whether it counts days on a calendar."""
        return any(FUNCTIONS[name].calendar for name in self.functions)

    def evaluate(self, environment: Environment) -> Value:
        """The value, of `type` where that is known. `EvaluationError` for everything else."""
        if self.quick is not None and (value := self.quick(environment.roots)) is not None:
            return value  # type: ignore[no-any-return]  # the closure of a tree gives what its walk gives
        return evaluate(self.tree, environment)

    def holds(self, environment: Environment) -> bool:
        """`evaluate` of a condition: `EvaluationError` where the value is no boolean."""
        value = self.evaluate(environment)
        if value is True or value is False:
            return value
        raise EvaluationError(f"expected a condition, not {words(kind_of(value))}")


def compile_expression(source: str, scope: Scope) -> Expression:
    """`ExpressionError` where the text is no expression, names what is not declared, or mixes types."""
    tree = check(parse(source), scope)
    nodes = [node for node, _ in walk(tree)]
    return Expression(
        source=source,
        type=tree.type,
        paths=frozenset(node.steps for node in nodes if isinstance(node, Path)),
        functions=frozenset(node.function for node in nodes if isinstance(node, Call)),
        tree=tree,
        quick=quick(tree),
    )
