"""Which keys of the policy language are made wrong, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

SILENT: Final = frozenset(
    {
        "language",
        "policy",
        "owner",
        "reasons",
        "pass_types",
        "provider_tools",
        "policy_stale_seconds_max",
        "unknown_results",
        "claims",
        "approvals",
        "operators",
        "on_approval",
        "escalate_with",
        "token",
        "autonomous",
        "hold_text",
        "http",
        "file",
        "headers",
        "timeout",
        "on_refusal",
        "batch",
        "escalation",
        "settle_within",
        "list",
        "keep",
        "drop",
        "max_bytes",
        "max_items",
        "errors",
        "fresh_for",
        "reads",
        "writes",
        "resume_after",
        "broken_pairs",
        "server_held",
    }
)
"""Keys with nothing below that a decision on one call reads."""
EXPRESSIONS: Final = frozenset(
    {"when", "unless", "sum", "value", "per", "once_per", "fact_counts", "not_executed_when", "segment"}
)
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "mode": ("halt", "enforce"),
    "effect": ("read", "write"),
    "unknown_tools": ("forbid", "escalate", "allow"),
    "unit": ("major", "minor", "milli"),
    "format": ("json", "yaml"),
    "each": ("day", "month"),
    "time_zone": ("Etc/GMT-14", "Etc/GMT+12"),
}
DROPPED: Final = frozenset(
    {
        "missing",
        "egress",
        "inject",
        "not_executed_when",
        "from",
        "allow",
        "min",
        "max",
        "per",
        "within",
        "each",
        "fact_counts",
        "optional",
        "when",
        "unless",
        "owner_keeps",
        "ceiling",
        "value",
        "confirm",
        "confidence",
        "currency",
    }
)
"""Keys that make a policy stricter or more exact where they stand; without them it may still load."""
LISTS: Final = frozenset(
    {
        "rules",
        "limits",
        "one_of",
        "per",
        "once_per",
        "from",
        "owner_keeps",
        "not_user",
        "domains",
        "urls",
        "paths",
        "accounts",
        "values",
        "constants",
        "tools",
    }
)
"""Lists whose items are dropped one by one."""
AMOUNTS: Final = frozenset({"min", "max", "within"})
ENTRIES: Final = frozenset({"arguments", "cells", "ceiling", "identities"})
"""Mappings whose entries are dropped one by one."""
