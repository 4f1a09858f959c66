"""The reasons the system itself gives, and the words that stand in for a reason without a `reply`.

A policy may give a system reason a `reply` and nothing else. No default text holds a figure: figures come from a
policy's own templates only.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from policies.model import Category

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class SystemReason:
    """`message` is what the customer reads unless the policy says otherwise; `next` tells the agent what can be done."""

    code: str
    category: Category
    message: str
    next: str


_TABLE = (
    SystemReason(
        "malformed",
        Category.VALIDATION,
        "I could not read that request properly. Please say once more what you need.",
        "send the call again with arguments that are one strict JSON object",
    ),
    SystemReason(
        "unknown_tool",
        Category.PERMISSION,
        "I am not able to do that here.",
        "use one of the tools that the policy names",
    ),
    SystemReason(
        "missing_parameter",
        Category.VALIDATION,
        "I need one more detail before I can do that. Could you tell me what is missing?",
        "ask the user for the missing value; do not guess it",
    ),
    SystemReason(
        "invalid_parameter",
        Category.VALIDATION,
        "One of the details does not look right. Could you check it and tell me again?",
        "ask the user for the value again, or correct it; do not guess it",
    ),
    SystemReason(
        "undeclared_parameter",
        Category.VALIDATION,
        "I could not do that in the way I tried.",
        "send the call again with the declared arguments only",
    ),
    SystemReason(
        "not_permitted",
        Category.PERMISSION,
        "I am not permitted to do that.",
        "do not retry; this agent may not use the tool",
    ),
    SystemReason(
        "facts_incomplete",
        Category.ESCALATED,
        "I cannot confirm this on my own, so I am passing it to a colleague.",
        "a person decides; do not retry",
    ),
    SystemReason(
        "facts_unavailable",
        Category.TRANSIENT,
        "I cannot look that up at the moment. Please try again in a little while.",
        "retry later with the same arguments",
    ),
    SystemReason(
        "no_limit",
        Category.ESCALATED,
        "I have no authority recorded for this, so I am passing it to a colleague.",
        "a person decides; do not retry",
    ),
    SystemReason(
        "halted",
        Category.POLICY,
        "This is paused at the moment. Please try again later or ask for a colleague.",
        "do not retry until the halt is lifted",
    ),
    SystemReason(
        "policy_unavailable",
        Category.TRANSIENT,
        "This is not available at the moment. Please try again in a little while.",
        "retry later; the policy in force could not be read",
    ),
    SystemReason(
        "too_long",
        Category.TRANSIENT,
        "That took too long, so I stopped. Please try again.",
        "retry once with the same arguments",
    ),
    SystemReason(
        "internal_error",
        Category.INTERNAL,
        "Something went wrong on our side, so I did not do that.",
        "do not retry; an operator has to look",
    ),
)

SYSTEM_REASONS: Mapping[str, SystemReason] = MappingProxyType({reason.code: reason for reason in _TABLE})

CATEGORY_MESSAGES: Mapping[Category, str] = MappingProxyType(
    {
        Category.POLICY: "I am not able to do that under our rules.",
        Category.VALIDATION: "Something about that request does not fit. Could you check the details?",
        Category.PERMISSION: "I am not permitted to do that.",
        Category.TRANSIENT: "That is not available at the moment. Please try again in a little while.",
        Category.ESCALATED: "I cannot decide this on my own, so I am passing it to a colleague.",
        Category.INTERNAL: "Something went wrong on our side, so I did not do that.",
    }
)

CATEGORY_NEXT: Mapping[Category, str] = MappingProxyType(
    {
        Category.POLICY: "do not retry; tell the user",
        Category.VALIDATION: "correct the call, or ask the user, and try again",
        Category.PERMISSION: "do not retry; tell the user",
        Category.TRANSIENT: "retry later with the same arguments",
        Category.ESCALATED: "a person decides; do not retry",
        Category.INTERNAL: "do not retry; an operator has to look",
    }
)
