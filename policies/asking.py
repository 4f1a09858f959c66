"""What a tool asks before its calls run: how sure the model is, and what the customer says."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from policies.expressions import Expression

CLARIFY_BELOW: Final = Decimal("0.80")
ESCALATE_BELOW: Final = Decimal("0.60")


class Whose(Enum):
    """Who can be asked for a yes."""

    USER = "user"


@dataclass(frozen=True, slots=True)
class Confirm:
    """Whose yes a call needs when everything else allows it, and of which calls (None: of each)."""

    whose: Whose = Whose.USER
    when: Expression | None = None


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure the model says it is, from 0 to 1: it can only narrow. Below both bounds the call is escalated."""

    value: Expression
    clarify_below: Decimal = CLARIFY_BELOW
    escalate_below: Decimal = ESCALATE_BELOW


@dataclass(frozen=True, slots=True)
class ReplyLanguage:
    """In which language the customer is answered: the one that a field of `session` names, else `tag`."""

    field: str = ""
    tag: str = ""
