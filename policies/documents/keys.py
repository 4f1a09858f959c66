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
    "unknown_results",
    "pass_types",
    "policy_stale_seconds_max",
    "defaults",
    "identities",
    "session",
    "reasons",
    "constants",
    "facts",
    "not_user",
    "tools",
    "cases",
    "reply_language",
    "structured",
    "text_calls",
    "claims",
    "provider_tools",
    "approvals",
    "operators",
    "resume_after",
    "broken_pairs",
    "server_held",
    "compact_above",
    "handoff",
)
MERGED: Final = ("identities", "session", "reasons", "constants", "facts", "tools")
"""Sections that may be spread over the files of a folder; their entries may not stand twice."""

IDENTITY: Final = ("token", "tools", "autonomous", "hold_text")
SESSION_FIELD: Final = ("jwt", "hmac", "type")
REASON: Final = ("category", "reply")
SYSTEM_REASON: Final = ("reply",)
FACT: Final = ("key", "http", "file", "headers", "timeout", "missing", "fields")
FACT_KEY: Final = ("pattern",)
FACT_FIELD: Final = ("at", "type", "money", "unit", "currency", "timestamp")
TOOL: Final = (
    "effect",
    "on_refusal",
    "batch",
    "facts",
    "arguments",
    "rules",
    "limits",
    "result",
    "not_executed_when",
    "settle_within",
    "inject",
    "fee_schedule",
    "egress",
    "escalation",
    "confidence",
    "confirm",
    "on_approval",
    "escalate_with",
    "reads",
    "writes",
    "closes_topic",
)
DEFAULTS: Final = (
    "effect",
    "on_refusal",
    "batch",
    "rules",
    "limits",
    "settle_within",
    "egress",
    "escalation",
    "escalate_with",
)
ESCALATE_WITH: Final = ("tool", "arguments")
ARGUMENT: Final = (
    "type",
    "pattern",
    "one_of",
    "money",
    "unit",
    "list",
    "object",
    "min",
    "max",
    "optional",
    "from",
    "allow",
    "egress",
)
ALLOW: Final = ("domains", "urls", "paths", "accounts", "values", "forbid")
LIST: Final = ("file",)
EGRESS: Final = ("list", "forbid")
RULE: Final = ("forbid", "escalate", "clarify", "when", "unless")
LIMIT: Final = (
    "forbid",
    "escalate",
    "sum",
    "count",
    "value",
    "once_per",
    "per",
    "within",
    "each",
    "max",
    "fact_counts",
)
LIMIT_RULINGS: Final = ("forbid", "escalate")
FEE_SCHEDULE: Final = (
    "source",
    "candidate",
    "amount",
    "paid",
    "price",
    "departure",
    "arrival",
    "event",
    "cancelled_at",
    "zone",
    "forbid",
    "escalate",
    "inject",
)
CONFIRM: Final = ("when",)
CONFIDENCE: Final = ("value", "clarify_below", "escalate_below")
RESULT: Final = ("fields", "format", "keep", "drop", "max_bytes", "max_items", "errors", "fresh_for")
RESULT_ERROR: Final = ("match", "as")
GATHER: Final = "gather"
"""The key of `escalation` that names facts; every other one names a line of the summary."""
CASES: Final = ("case", "segment", "facts", "ceiling", "owner_keeps", "cells")
CASE_SOURCE: Final = ("tool", "argument")
ACTION: Final = ("value", "max", "rules")
STRUCTURED: Final = ("as",)
APPROVALS: Final = ("approvers", "quorum", "answer_within", "valid_for", "open_max")
HANDOFF: Final = ("languages", "phrases", "facts", "escalation")
PHRASES: Final = ("only",)
OPERATOR: Final = ("token", "kind", "tools")
RULINGS: Final = ("forbid", "escalate", "clarify")

LATER: Final = frozenset(
    {
        "sql",
    }
)
"""Keys of the design that this version does not enforce, so that it does not accept them."""
