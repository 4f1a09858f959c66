"""The money of a call: its first money argument, as the policy types it. For figures and people: no rule reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.readings import ReadingError, read_money
from policies.values import Kind, Unit

if TYPE_CHECKING:
    from interceptors.calls import Json
    from policies.model import Argument, Policy, Tool
    from policies.values import Money


def money_argument(tool: Tool) -> Argument | None:
    return next((one for one in (tool.arguments or {}).values() if one.type.kind is Kind.MONEY), None)


def stake(policy: Policy, tool_name: str, arguments: Json) -> Money | None:
    """The money of these arguments, as a receipt keeps them; None where there is none, or where it is no amount."""
    tool = policy.tool(tool_name)
    argument = None if tool is None else money_argument(tool)
    if argument is None or not isinstance(arguments, dict) or argument.name not in arguments:
        return None
    return read_stake(argument, arguments[argument.name])


def read_stake(argument: Argument, value: Json) -> Money | None:
    if argument.type.currency is None:
        return None
    try:
        return read_money(value, argument.type.currency, argument.money_unit or Unit.MAJOR)
    except (ReadingError, ValueError):  # it was refused for just that
        return None
