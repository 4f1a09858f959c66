"""The keys of the policy language, object by object. Whatever stands in no list here is an error at load."""

from __future__ import annotations

from typing import Final

TOP: Final = (
    "language",
    "policy",
    "owner",
    "mode",
    "time_zone",
    "unknown_tools",
    "pass_types",
    "policy_stale_seconds_max",
    "defaults",
    "identities",
    "session",
    "reasons",
    "constants",
    "facts",
    "tools",
)
MERGED: Final = ("identities", "session", "reasons", "constants", "facts", "tools")
"""Sections that may be spread over the files of a folder; their entries may not stand twice."""

IDENTITY: Final = ("token", "tools")
SESSION_FIELD: Final = ("jwt", "hmac", "type")
REASON: Final = ("category", "reply")
SYSTEM_REASON: Final = ("reply",)
FACT: Final = ("key", "http", "file", "headers", "timeout", "missing", "fields")
FACT_KEY: Final = ("pattern",)
FACT_FIELD: Final = ("at", "type", "money", "unit", "timestamp")
TOOL: Final = ("effect", "on_refusal", "facts", "arguments", "rules", "escalation")
DEFAULTS: Final = ("effect", "on_refusal", "rules", "escalation")
ARGUMENT: Final = ("type", "pattern", "one_of", "money", "unit", "list", "object", "min", "max", "optional")
RULE: Final = ("forbid", "escalate", "clarify", "when", "unless")
RULINGS: Final = ("forbid", "escalate", "clarify")

LATER: Final = frozenset(
    {
        "approvers",
        "autonomous",
        "batch",
        "cases",
        "claims",
        "compact_above",
        "confidence",
        "confirm",
        "currency",
        "escalate_with",
        "fee_schedule",
        "from",
        "handoff",
        "hold_text",
        "inject",
        "limits",
        "not_executed_when",
        "not_user",
        "provider_tools",
        "quorum",
        "reads",
        "result",
        "resume_after",
        "settle_within",
        "sql",
        "structured",
        "text_calls",
        "unknown_results",
        "writes",
    }
)
"""Keys of the design that this version does not enforce, so that it does not accept them."""
