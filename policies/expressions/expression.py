"""A compiled expression: the tree that decides, with what the linter and the loader want to know of it."""

from __future__ import annotations

from dataclasses import dataclass

from policies.expressions.environment import Environment
from policies.expressions.scope import Scope
from policies.values import Type, Value


@dataclass(frozen=True, slots=True)
class Expression:
    """`paths` are the dotted paths it reads (`("args", "payments", "[*]", "amount")`), `functions` those it calls."""

    source: str
    type: Type
    paths: frozenset[tuple[str, ...]]
    functions: frozenset[str]

    @property
    def needs_time_zone(self) -> bool:
        """Whether it counts days on a calendar."""
        raise NotImplementedError

    def evaluate(self, environment: Environment) -> Value:
        """The value, of `type` where that is known. `EvaluationError` for everything else."""
        raise NotImplementedError

    def holds(self, environment: Environment) -> bool:
        """`evaluate` of a condition: `EvaluationError` where the value is no boolean."""
        raise NotImplementedError


def compile_expression(source: str, scope: Scope) -> Expression:
    """`ExpressionError` where the text is no expression, names what is not declared, or mixes types."""
    raise NotImplementedError
