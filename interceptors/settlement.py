"""What the result of a released call says of the money that the call reserved (DESIGN 8).

`executed`; `not_executed` only where it matches the tool's `not_executed_when`; every other error is `unknown`. An
error is what the dialect marks as one, or an object that says so itself: nothing else is guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.kinds import MoneyState
from interceptors.readings import read_field
from policies.expressions import Environment, EvaluationError

if TYPE_CHECKING:
    from datetime import datetime

    from interceptors.calls import Json
    from interceptors.history import PastResult
    from policies.model import Policy, Tool


def state_of(policy: Policy, tool: Tool, result: PastResult, now: datetime) -> MoneyState:
    """The state that this result settles the call's reservation to."""
    if _is_not_executed(policy, tool, result, now):
        return MoneyState.NOT_EXECUTED
    return MoneyState.UNKNOWN if result.is_error or _says_error(result.value) else MoneyState.EXECUTED


def _is_not_executed(policy: Policy, tool: Tool, result: PastResult, now: datetime) -> bool:
    """An expression that cannot be read decides nothing: money comes free only by what was surely said."""
    if tool.not_executed_when is None or not isinstance(result.value, dict):
        return False
    document = result.value
    fields = {
        name: read_field(document, field.path, field.type, field.money_unit) for name, field in tool.result.items()
    }
    roots = {"result": fields, "constants": policy.constants}
    try:
        return tool.not_executed_when.holds(Environment(roots, now, policy.time_zone))
    except EvaluationError:
        return False


def _says_error(value: Json) -> bool:
    """`error` that is neither null, false nor empty, or `isError: true`."""
    if not isinstance(value, dict):
        return False
    return bool(value.get("error")) or value.get("isError") is True or value.get("is_error") is True
