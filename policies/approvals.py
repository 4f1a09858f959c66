"""How people decide what a policy passes to them: who may, how many, how long, and how the call goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.escalate_with import EscalateWith
    from policies.handoff import Handoff
    from policies.secrets import Expandable

ANSWER_WITHIN: Final = timedelta(days=3)
"""How long a case waits for people, where the policy does not say."""
VALID_FOR: Final = timedelta(days=1)
"""How long their answer holds, where the policy does not say."""


class OnApproval(Enum):
    """How a call goes on that people approved."""

    NEXT_TIME = "next_time"  # proposed again, unchanged, it runs
    INLINE = "inline"  # as `next_time`, and a streamed response waits a while for the answer
    DELIVER = "deliver"  # the gate hands it to the owner's back end


class OperatorKind(Enum):
    """Who proposes a call through the admin listener. The value stands in receipts."""

    OPERATOR = "operator"
    CUSTOMER = "customer"
    BACK_END = "back_end"


@dataclass(frozen=True, slots=True)
class Operator:
    """One who proposes calls through `POST /decide`. `tools` are folded names; None: every tool."""

    name: str
    kind: OperatorKind
    token: Expandable
    tools: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Approvals:
    """`approvers` are names of persons; None: every reviewer. `open_max`: above it calls are refused, not passed on;
    None: no bound."""

    approvers: tuple[str, ...] | None = None
    quorum: int = 1
    answer_within: timedelta = ANSWER_WITHIN
    valid_for: timedelta = VALID_FOR
    open_max: int | None = None


@dataclass(frozen=True, slots=True)
class People:
    """What a policy says of people."""

    approvals: Approvals = field(default_factory=Approvals)
    operators: Mapping[str, Operator] = field(default_factory=dict)
    handoff: Handoff | None = None  # None: no words of a customer ask for a person


@dataclass(frozen=True, slots=True)
class PassedOn:
    """What a tool says of its calls that are passed to people."""

    on_approval: OnApproval = OnApproval.NEXT_TIME
    escalate_with: EscalateWith | None = None  # None: the agent gets the reply
