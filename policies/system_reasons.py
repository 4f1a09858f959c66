"""The reasons of the system itself: a closed set beside the policy's own. A policy may give one a `reply`, no more.

`message` and `next` are for the agent, the log and the receipt: English, without a figure or a value of the call.
What a customer reads is the policy's `reply`, else `DEFAULT_REPLIES` of the reason's category.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from policies.model import Category

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class SystemReason:
    """One code with its category, and what the agent is told: what happened (`message`) and what to do (`next`)."""

    code: str
    category: Category
    message: str
    next: str


_ASK = "Ask the customer for it, then call the tool again."
_PERSON = "A person decides this call; do not repeat it."
_LATER = "Try the same call again later."
_OPERATOR = "Do not repeat the call; the operator of the gate must look at it."
_STOP = "Do not repeat the call."

_ROWS: Final = (
    SystemReason(
        "malformed",
        Category.VALIDATION,
        "The call could not be read in one way only, so it was not run.",
        "Make the call again: the exact tool name and one complete JSON object as its arguments.",
    ),
    SystemReason(
        "ambiguous_tool",
        Category.POLICY,
        "The request declares several tools whose names differ only in case, width or separators.",
        "Declare each tool once; until then these tools are not run.",
    ),
    SystemReason(
        "unusable_schema",
        Category.INTERNAL,
        "The JSON Schema that the request declares for this tool cannot be used, so the call could not be checked.",
        "Declare a valid schema without references to other documents; until then this tool is not run.",
    ),
    SystemReason("missing_parameter", Category.VALIDATION, "The call lacks something it needs.", _ASK),
    SystemReason(
        "invalid_parameter",
        Category.VALIDATION,
        "A value of the call is not one that this tool accepts.",
        "Correct it, or ask the customer, then call the tool again.",
    ),
    SystemReason(
        "undeclared_parameter",
        Category.VALIDATION,
        "The call holds an argument that this tool does not have.",
        "Call the tool again with its declared arguments only.",
    ),
    SystemReason(
        "ungrounded",
        Category.VALIDATION,
        "A value of the call does not come from where it must come from.",
        "Ask the customer to write it, then call the tool again with exactly that.",
    ),
    SystemReason("not_allowed", Category.POLICY, "A value of the call is not on the list of what is allowed.", _STOP),
    SystemReason(
        "sensitive_data",
        Category.POLICY,
        "The call holds a secret or personal data that may not leave in it.",
        "Do not repeat the call with it.",
    ),
    SystemReason("unknown_tool", Category.POLICY, "The policy does not name this tool.", _STOP),
    SystemReason("not_permitted", Category.PERMISSION, "This agent may not use this tool.", _STOP),
    SystemReason("halted", Category.POLICY, "All tools that change something are halted.", "Wait for the operator."),
    SystemReason("policy_unavailable", Category.INTERNAL, "No valid policy is in force.", _OPERATOR),
    SystemReason("facts_unavailable", Category.TRANSIENT, "A record that decides this call could not be read.", _LATER),
    SystemReason("facts_incomplete", Category.ESCALATED, "A record that decides this call is incomplete.", _PERSON),
    SystemReason("no_limit", Category.ESCALATED, "No limit is recorded for this call.", _PERSON),
    SystemReason(
        "low_confidence",
        Category.VALIDATION,
        "The declared confidence is too low to act on.",
        "Ask the customer what is meant, then call the tool again.",
    ),
    SystemReason(
        "asked_in_vain",
        Category.ESCALATED,
        "What the call lacks was asked for twice, and is lacking still.",
        _PERSON,
    ),
    SystemReason(
        "confirm",
        Category.VALIDATION,
        "The customer was asked to confirm exactly this call.",
        "Wait for the customer's yes, then make the same call again, unchanged.",
    ),
    SystemReason("no_amount", Category.ESCALATED, "The fee schedule gives no amount for this call.", _PERSON),
    SystemReason("no_cell", Category.ESCALATED, "No policy is recorded for this case and customer.", _PERSON),
    SystemReason("owner_keeps", Category.ESCALATED, "A person decides in cases of this kind.", _PERSON),
    SystemReason("not_in_cell", Category.POLICY, "This is not among what may be done in this case.", _STOP),
    SystemReason("above_limit", Category.ESCALATED, "The value is above what is allowed in this case.", _PERSON),
    SystemReason("case_changed", Category.ESCALATED, "The case changed within the conversation.", _PERSON),
    SystemReason(
        "handoff",
        Category.ESCALATED,
        "The customer asked for a person, so the model was not asked.",
        "A person gets back to the customer.",
    ),
    SystemReason("rejected", Category.POLICY, "People have refused exactly this call.", _STOP),
    SystemReason(
        "approval_expired",
        Category.ESCALATED,
        "The approval of this call was not used in time, so it holds no longer; people must decide again.",
        _PERSON,
    ),
    SystemReason(
        "approval_void",
        Category.ESCALATED,
        "What the approval of this call rested on has changed, so it holds no longer; people must decide again.",
        _PERSON,
    ),
    SystemReason(
        "queue_full",
        Category.TRANSIENT,
        "People cannot take another case at present, so this call is refused.",
        _LATER,
    ),
    SystemReason(
        "pending_reconciliation",
        Category.POLICY,
        "The same call was made before, and its outcome is not known yet.",
        "Do not repeat the call; its outcome is being looked up.",
    ),
    SystemReason(
        "schema_invalid",
        Category.VALIDATION,
        "The answer is not one JSON object that fits the schema of this request.",
        "Answer once more with one JSON object that fits the schema, and nothing else.",
    ),
    SystemReason(
        "text_call",
        Category.POLICY,
        "The text is written in the shape of a call, which nobody judged.",
        "Call tools as tools, never in text.",
    ),
    SystemReason(
        "false_claim",
        Category.POLICY,
        "The text says that something was done, and no such call was released.",
        "Do not say so before it was done.",
    ),
    SystemReason("hold_limit", Category.TRANSIENT, "The call could not be decided within the time limit.", _LATER),
    SystemReason("repeated", Category.POLICY, "The same call was refused before, unchanged.", _STOP),
    SystemReason(
        "refused_together",
        Category.POLICY,
        "Another call of the same turn was refused, and these calls run together or not at all.",
        "Make the calls again without the one that was refused.",
    ),
    SystemReason("internal_error", Category.INTERNAL, "The gate failed while it decided this call.", _OPERATOR),
    SystemReason("store_unavailable", Category.INTERNAL, "The gate cannot record decisions at present.", _OPERATOR),
)

SYSTEM_REASONS: Final[Mapping[str, SystemReason]] = MappingProxyType({row.code: row for row in _ROWS})

DEFAULT_REPLIES: Final[Mapping[Category, str]] = MappingProxyType(
    {
        Category.POLICY: "I am sorry, our rules do not allow me to do this.",
        Category.VALIDATION: "I need some more information before I can do this. Could you check the details with me?",
        Category.PERMISSION: "I am sorry, I am not able to do this for you.",
        Category.TRANSIENT: "I cannot do this at the moment. Please try again in a few minutes.",
        Category.ESCALATED: "I have passed this to a colleague who will get back to you.",
        Category.INTERNAL: "Something went wrong on our side, so I have not done this. Please try again later.",
    }
)
"""What the customer reads where the policy gives no reply: in English and with no figure in it."""
