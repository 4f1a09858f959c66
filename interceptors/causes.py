"""Why a call is not simply run, and what that answers: one function for every cause that is not a rule of the policy.

DESIGN 4: the one place that maps what broke, lacks or is forbidden by the system to an outcome. Nothing here allows,
but `unknown_tools: allow`, which is the policy's own word.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, assert_never

from policies.model import Category, Ruling, UnknownTools
from policies.system_reasons import SYSTEM_REASONS

if TYPE_CHECKING:
    from collections.abc import Mapping


class RefusalCause(Enum):
    """What stands against a call besides the rules of its tool. The value is a short text for operators."""

    MALFORMED = "the call is malformed"
    AMBIGUOUS_TOOL = "two declared tools have one name"
    UNUSABLE_SCHEMA = "the declared schema cannot be used"
    SCHEMA_VIOLATED = "the declared schema is violated"
    MISSING_PARAMETER = "an argument is missing"
    INVALID_PARAMETER = "an argument has a value that is not accepted"
    UNDECLARED_PARAMETER = "an argument is not declared"
    UNGROUNDED = "an argument does not come from where it must"
    NOT_ALLOWED = "an argument is not on its list"
    SENSITIVE_DATA = "an argument holds what may not leave"
    UNKNOWN_TOOL = "the policy does not name the tool"
    NOT_PERMITTED = "the identity may not use the tool"
    HALTED = "writes are halted"
    POLICY_UNAVAILABLE = "no valid policy is in force"
    FACT_TIMEOUT = "a fact was not read in time"
    FACT_UNAVAILABLE = "the source of a fact failed"
    FACT_INVALID = "the source of a fact answered with no valid record"
    FACT_MISSING = "the source of a fact has no such record"
    FACT_KEY_UNREADABLE = "the key of a fact cannot be read from a session field or another fact"
    FACT_KEYS_TOO_MANY = "too many records would have to be read"
    FIELD_UNREADABLE = "a field is missing or of another type"
    EXPRESSION_ERROR = "an expression has no value"
    NO_LIMIT = "no limit is recorded"
    LOW_CONFIDENCE = "the declared confidence is too low"
    ASKED_IN_VAIN = "asked too often in vain"
    NOT_CONFIRMED = "the customer has not said yes to this call"
    NO_AMOUNT = "the fee schedule gives no amount"
    NO_CELL = "no policy for this case and customer"
    OWNER_KEEPS = "the owner keeps this class for people"
    NOT_IN_CELL = "the cell does not hold the action"
    ABOVE_LIMIT = "the value is above the limit of the cell, or above the ceiling"
    REJECTED = "people have refused exactly this call"
    APPROVAL_EXPIRED = "the approval of the call was not used in time"
    APPROVAL_VOID = "what the approval of the call rested on has changed"
    QUEUE_FULL = "more cases wait for people than the policy lets wait"
    CASE_CHANGED = "the case changed within the conversation"
    PENDING = "the outcome of the same call is not known yet"
    RAISED = "an interceptor raised"
    STORE_DOWN = "the store failed"
    SCHEMA_INVALID = "the answer does not fit the schema that was asked for"
    SCHEMA_INVALID_AGAIN = "the answer does not fit the schema that was asked for, and was asked for again"
    TEXT_CALL = "the text is written in the shape of a call"
    FALSE_CLAIM = "the text says that something was done which was not"
    REPEATED = "the same call was refused before"
    REFUSED_TOGETHER = "a call beside it was refused"
    LOG_DOWN = "the log failed"
    HOLD_LIMIT = "the time limit of the hold was reached"


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome without its circumstances. `category` is None for ALLOW only."""

    ruling: Ruling
    reason: str
    category: Category | None


_ROWS: Final[Mapping[RefusalCause, tuple[Ruling, str]]] = MappingProxyType(
    {
        RefusalCause.MALFORMED: (Ruling.FORBID, "malformed"),
        RefusalCause.AMBIGUOUS_TOOL: (Ruling.FORBID, "ambiguous_tool"),
        RefusalCause.UNUSABLE_SCHEMA: (Ruling.FORBID, "unusable_schema"),
        RefusalCause.SCHEMA_VIOLATED: (Ruling.CLARIFY, "invalid_parameter"),
        RefusalCause.MISSING_PARAMETER: (Ruling.CLARIFY, "missing_parameter"),
        RefusalCause.INVALID_PARAMETER: (Ruling.CLARIFY, "invalid_parameter"),
        RefusalCause.UNDECLARED_PARAMETER: (Ruling.FORBID, "undeclared_parameter"),
        RefusalCause.UNGROUNDED: (Ruling.CLARIFY, "ungrounded"),
        RefusalCause.NOT_ALLOWED: (Ruling.FORBID, "not_allowed"),
        RefusalCause.SENSITIVE_DATA: (Ruling.FORBID, "sensitive_data"),
        RefusalCause.NOT_PERMITTED: (Ruling.FORBID, "not_permitted"),
        RefusalCause.HALTED: (Ruling.FORBID, "halted"),
        RefusalCause.POLICY_UNAVAILABLE: (Ruling.FORBID, "policy_unavailable"),
        RefusalCause.FACT_TIMEOUT: (Ruling.FORBID, "facts_unavailable"),
        RefusalCause.FACT_UNAVAILABLE: (Ruling.FORBID, "facts_unavailable"),
        RefusalCause.FACT_INVALID: (Ruling.FORBID, "facts_unavailable"),
        RefusalCause.FACT_KEY_UNREADABLE: (Ruling.ESCALATE, "facts_incomplete"),
        RefusalCause.FACT_KEYS_TOO_MANY: (Ruling.ESCALATE, "facts_incomplete"),
        RefusalCause.FIELD_UNREADABLE: (Ruling.ESCALATE, "facts_incomplete"),
        RefusalCause.EXPRESSION_ERROR: (Ruling.ESCALATE, "facts_incomplete"),
        RefusalCause.NO_LIMIT: (Ruling.ESCALATE, "no_limit"),
        RefusalCause.LOW_CONFIDENCE: (Ruling.CLARIFY, "low_confidence"),
        RefusalCause.ASKED_IN_VAIN: (Ruling.ESCALATE, "asked_in_vain"),
        RefusalCause.NOT_CONFIRMED: (Ruling.CLARIFY, "confirm"),
        RefusalCause.NO_AMOUNT: (Ruling.ESCALATE, "no_amount"),
        RefusalCause.NO_CELL: (Ruling.ESCALATE, "no_cell"),
        RefusalCause.OWNER_KEEPS: (Ruling.ESCALATE, "owner_keeps"),
        RefusalCause.NOT_IN_CELL: (Ruling.FORBID, "not_in_cell"),
        RefusalCause.ABOVE_LIMIT: (Ruling.ESCALATE, "above_limit"),
        RefusalCause.CASE_CHANGED: (Ruling.ESCALATE, "case_changed"),
        RefusalCause.REJECTED: (Ruling.FORBID, "rejected"),
        RefusalCause.APPROVAL_EXPIRED: (Ruling.ESCALATE, "approval_expired"),
        RefusalCause.APPROVAL_VOID: (Ruling.ESCALATE, "approval_void"),
        RefusalCause.QUEUE_FULL: (Ruling.FORBID, "queue_full"),
        RefusalCause.PENDING: (Ruling.FORBID, "pending_reconciliation"),
        RefusalCause.RAISED: (Ruling.FORBID, "internal_error"),
        RefusalCause.SCHEMA_INVALID: (Ruling.FORBID, "schema_invalid"),
        RefusalCause.SCHEMA_INVALID_AGAIN: (Ruling.ESCALATE, "schema_invalid"),
        RefusalCause.TEXT_CALL: (Ruling.FORBID, "text_call"),
        RefusalCause.FALSE_CLAIM: (Ruling.FORBID, "false_claim"),
        RefusalCause.REPEATED: (Ruling.FORBID, "repeated"),
        RefusalCause.REFUSED_TOGETHER: (Ruling.FORBID, "refused_together"),
        RefusalCause.STORE_DOWN: (Ruling.FORBID, "store_unavailable"),
        RefusalCause.LOG_DOWN: (Ruling.FORBID, "store_unavailable"),
        RefusalCause.HOLD_LIMIT: (Ruling.FORBID, "hold_limit"),
    }
)


def answer(
    cause: RefusalCause,
    *,
    unknown_tools: UnknownTools = UnknownTools.FORBID,
    missing: tuple[Ruling, str] = (Ruling.ESCALATE, "facts_incomplete"),
) -> Answer:
    """The outcome of a cause: the policy's word for UNKNOWN_TOOL, the fact's for FACT_MISSING, else a row of the table.

    Both defaults are those of a policy that is silent. The category of a reason that only a policy knows is `POLICY`
    here; whoever holds the policy refines it.
    """
    if cause is RefusalCause.UNKNOWN_TOOL:
        ruling, reason = _unknown_tool(unknown_tools)
    elif cause is RefusalCause.FACT_MISSING:
        ruling, reason = missing
    else:
        ruling, reason = _ROWS[cause]
    system = SYSTEM_REASONS.get(reason)
    return Answer(ruling, reason, category_of(ruling, Category.POLICY if system is None else system.category))


def _unknown_tool(unknown_tools: UnknownTools) -> tuple[Ruling, str]:
    match unknown_tools:
        case UnknownTools.FORBID:
            return Ruling.FORBID, "unknown_tool"
        case UnknownTools.ESCALATE:
            return Ruling.ESCALATE, "unknown_tool"
        case UnknownTools.ALLOW:
            return Ruling.ALLOW, ""
        case _:
            assert_never(unknown_tools)


def category_of(ruling: Ruling, category: Category) -> Category | None:
    """The category that an answer carries: its reason's, where that does not contradict the ruling.

    An escalation is `escalated` and a question `validation` (asking again is the point of it), whatever the reason
    says elsewhere; a forbid is never `escalated`, or the customer would be told of a colleague who knows nothing.
    """
    match ruling:
        case Ruling.ALLOW:
            return None
        case Ruling.ESCALATE:
            return Category.ESCALATED
        case Ruling.CLARIFY:
            return Category.VALIDATION
        case Ruling.FORBID:
            return Category.POLICY if category is Category.ESCALATED else category
        case _:
            assert_never(ruling)
