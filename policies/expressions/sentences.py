"""An expression in plain English, told from the tree that decides."""

from __future__ import annotations

from collections.abc import Mapping

from policies.expressions.expression import Expression
from policies.values import Value


def sentence(expression: Expression, constants: Mapping[str, Value]) -> str:
    """`days since order.delivered_at is at most window_days (14)`."""
    raise NotImplementedError
