"""What the result of a released call says of the money that the call reserved (DESIGN 8).

`executed`; `not_executed` only where it matches the tool's `not_executed_when`; every other error is `unknown`. An
error is what the dialect marks as one, or an object that says so itself: nothing else is guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.kinds import MoneyState
from interceptors.readings import read_declared
from interceptors.structured import structured
from policies.expressions import Environment, EvaluationError, Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from interceptors.calls import Json
    from interceptors.history import PastResult
    from policies.model import Policy, Tool
    from policies.values import Value


def state_of(policy: Policy, tool: Tool, result: PastResult, now: datetime) -> MoneyState:
    """The state that this result settles the call's reservation to.

    A tool that declares what its results hold (`result`) is believed only where they hold it: a gateway's error page in
    place of a result is `unknown`.
    """
    document = structured(tool, result.value)
    fields = _fields(tool, document)
    if fields is None:
        return MoneyState.UNKNOWN
    try:
        if _is_not_executed(policy, tool, fields, now):
            return MoneyState.NOT_EXECUTED
    except EvaluationError:
        return MoneyState.UNKNOWN
    return MoneyState.UNKNOWN if result.is_error or _says_error(document) else MoneyState.EXECUTED


def _fields(tool: Tool, document: Json) -> Mapping[str, Value | Unreadable] | None:
    """The declared fields of a result; None where they are declared and it is no object."""
    if not tool.result:
        return {}
    if not isinstance(document, dict):
        return None
    return {name: read_declared(document, field) for name, field in tool.result.items()}


def _is_not_executed(policy: Policy, tool: Tool, fields: Mapping[str, Value | Unreadable], now: datetime) -> bool:
    """Raises `EvaluationError`: money comes free only by what was surely said."""
    if tool.not_executed_when is None:
        return False
    roots = {"result": fields, "constants": policy.constants}
    return tool.not_executed_when.holds(Environment(roots, now, policy.time_zone))


def _says_error(value: Json) -> bool:
    """`error` that is neither null, false nor empty, or `isError: true`."""
    if not isinstance(value, dict):
        return False
    return bool(value.get("error")) or value.get("isError") is True or value.get("is_error") is True
