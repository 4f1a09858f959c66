"""What an escalated call becomes where the agent has an escalation tool: a call with the case's summary in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from interceptors.calls import ToolCall
from interceptors.gathered import NOT_AVAILABLE
from interceptors.strict_json import canonical
from policies.currencies import exponent
from policies.escalate_with import EscalateWith, SummaryField
from policies.expressions import Unreadable
from policies.values import Kind, Unit, parse_money, render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.calls import Json
    from interceptors.decisions import Decision
    from policies.model import Argument, Policy, Tool
    from policies.values import Value

_OWN: Final = frozenset({"tool", "reason", "amount"})
"""Lines of a summary that no policy names."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An escalated call, as it is recorded. `session` holds the signed fields."""

    decision: Decision
    receipt: str
    escalation: str
    session: Mapping[str, object]


def handed_over(refused: Refused, becomes: EscalateWith, policy: Policy, place: ToolCall, name: str) -> ToolCall | None:
    """The call of the escalation tool, in the place and under the id of the refused one; `name` is as the request
    declares it. None where the tool needs an amount and the case has none that it can take.
    """
    tool = policy.tool(becomes.tool)
    declared = {} if tool is None or tool.arguments is None else tool.arguments
    said = _said(refused, policy)
    arguments: dict[str, Json] = {}
    for argument, field in becomes.arguments.items():
        value = _spelled(declared[argument], said[field]) if argument in declared else None
        if value is not None:
            arguments[argument] = value
        elif argument not in declared or not declared[argument].optional:
            return None
    return ToolCall(name, arguments, canonical(arguments).decode(), place.id, place.position)


def _said(refused: Refused, policy: Policy) -> dict[SummaryField, str]:
    """Typed values as texts; empty where the case has none. What the model wrote stands in none but the amount, and in
    the lines that the policy's own templates make."""
    decision, lines = refused.decision, refused.decision.summary
    tool: Tool = policy.tool(decision.tool) or policy.unknown_tool
    known = _OWN | tool.escalation.keys()
    return {
        SummaryField.TOOL: decision.tool,
        SummaryField.REASON: decision.reason,
        SummaryField.WHO: "; ".join(_signed(refused.session)),
        SummaryField.ROOT_CAUSE: lines.get("root_cause", ""),
        SummaryField.AMOUNT: lines.get("amount", ""),
        SummaryField.EVIDENCE: "; ".join(f"{name}: {text}" for name, text in lines.items() if name not in known),
        SummaryField.RECOMMENDED_ACTION: lines.get("recommended_action", ""),
        SummaryField.ESCALATION: refused.escalation,
        SummaryField.RECEIPT: refused.receipt,
    }


def _signed(session: Mapping[str, object]) -> list[str]:
    return [f"{name}: {_shown(value)}" for name, value in session.items() if not isinstance(value, Unreadable)]


def _shown(value: object) -> str:
    scalar: Value = value  # type: ignore[assignment] # what a session field reads
    try:
        return render(scalar)
    except ValueError:
        return NOT_AVAILABLE


def _spelled(argument: Argument, text: str) -> Json:
    """A text as this argument takes it; None where there is nothing that it can take."""
    if argument.type.kind is not Kind.MONEY:
        return text or (None if argument.optional else NOT_AVAILABLE)
    if not text:
        return None
    money = parse_money(text)
    if money.currency != argument.type.currency:
        return None
    places = {Unit.MAJOR: 0, Unit.MINOR: exponent(money.currency), Unit.MILLI: 3}[argument.money_unit or Unit.MAJOR]
    number = money.amount.scaleb(places)
    return int(number) if number == number.to_integral_value() else number
