"""The agent's own escalation tool: what a call that is passed to people becomes, towards the agent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class SummaryField(Enum):
    """What of a case an argument of the escalation tool takes: one text, or the amount as money."""

    TOOL = "tool"
    REASON = "reason"
    WHO = "who"  # the signed session, field by field
    ROOT_CAUSE = "root_cause"
    AMOUNT = "amount"
    EVIDENCE = "evidence"  # the facts that the tool's `escalation: gather` names
    RECOMMENDED_ACTION = "recommended_action"
    ESCALATION = "escalation"  # the id of the case
    RECEIPT = "receipt"  # of the refusal


@dataclass(frozen=True, slots=True)
class EscalateWith:
    """`tool` is spelled as the policy does; `arguments` are those of it that take something."""

    tool: str
    arguments: Mapping[str, SummaryField]
