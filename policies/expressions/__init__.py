"""The expression language of policies: small, typed, exact, free of side effects, bounded in every dimension."""

from policies.expressions.environment import Environment, Unreadable
from policies.expressions.errors import EvaluationError, ExpressionError
from policies.expressions.expression import Expression, compile_expression
from policies.expressions.scope import EACH, Scope, dotted
from policies.expressions.sentences import sentence, value_sentence

__all__ = [
    "EACH",
    "Environment",
    "EvaluationError",
    "Expression",
    "ExpressionError",
    "Scope",
    "Unreadable",
    "compile_expression",
    "dotted",
    "sentence",
    "value_sentence",
]
