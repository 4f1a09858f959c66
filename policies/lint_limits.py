"""Lint of limits: money that nothing bounds, sums of bare numbers, and caps that a spelling walks around."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.findings import Finding, FindingCode
from policies.limits import Limit, Measure
from policies.model import ToolEffect
from policies.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from policies.expressions import Expression
    from policies.limits import OncePer
    from policies.model import Argument, Tool


def limits_of(tool: Tool) -> tuple[Limit | OncePer, ...]:
    """All limits of a tool, `once_per` last."""
    return (*tool.limits, *((tool.once_per,) if tool.once_per is not None else ()))


def loose_limits(tool: Tool) -> Iterator[Finding]:
    """What looks wrong in the limits of a tool, and that a tool which moves money has none."""
    moves_money = any(_is_money(argument) for argument in (tool.arguments or {}).values())
    if tool.effect is ToolEffect.WRITE and moves_money and not tool.reserves:
        message = f"{tool.name!r} moves money and no limit adds it up: each call is judged as if it were the only one"
        yield Finding(tool.origin, FindingCode.WRITE_WITHOUT_LIMIT, message)
    for limit in tool.limits:
        if limit.measure is Measure.SUM and limit.amount is not None and limit.amount.type.kind is Kind.NUMBER:
            message = f"{limit.id} adds up {limit.amount.source}, a number without a currency: declare it as money"
            yield Finding(limit.origin, FindingCode.LIMIT_WITHOUT_CURRENCY, message)
    for one in limits_of(tool):
        named = one.per if isinstance(one, Limit) else one.values
        for expression in _free_texts(named):
            message = (
                f"{one.id} counts by {expression.source}, a text that can be spelled in many ways: give it a pattern"
            )
            yield Finding(one.origin, FindingCode.LIMIT_PER_FREE_TEXT, message)


def _is_money(argument: Argument) -> bool:
    inner = (*argument.fields.values(), *((argument.element,) if argument.element is not None else ()))
    return argument.type.kind is Kind.MONEY or any(map(_is_money, inner))


def _free_texts(named: Iterable[Expression]) -> Iterator[Expression]:
    """Those that read a text which the model writes as it likes."""
    for expression in named:
        is_text = expression.type.kind is Kind.STRING and not expression.type.safe
        if is_text and any(path[0] == "args" for path in expression.paths):
            yield expression
