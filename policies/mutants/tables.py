"""Which keys of the policy language are made wrong, and how; and which are not, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_ONLY_AN_EXCHANGE: Final = "no decision on a call reads it: only an exchange shows it"
_ONLY_THE_HISTORY: Final = "it edits the history that goes up, and a suite sends none"
_WHERE_FROM: Final = "a case says itself what the source answers"
_PEOPLE: Final = "it says what people may do with a decision, and nothing of the decision"

UNSEEN: Final[Mapping[str, str]] = {
    "language": "any other value is an error",
    "policy": "another name is another policy, and the suite names its own",
    "owner": "it is told to people, and decides nothing",
    "policy_stale_seconds_max": "it is about a policy that cannot be read",
    "pass_types": _ONLY_AN_EXCHANGE,
    "provider_tools": _ONLY_AN_EXCHANGE,
    "unknown_results": _ONLY_AN_EXCHANGE,
    "text_calls": _ONLY_AN_EXCHANGE,
    "claims": _ONLY_AN_EXCHANGE,
    "structured": _ONLY_AN_EXCHANGE,
    "hold_text": _ONLY_AN_EXCHANGE,
    "token": "a case names the agent itself",
    "approvals": _PEOPLE,
    "on_approval": _PEOPLE,
    "operators": "a case has no operator",
    "escalate_with": "a case reads the decision, and not what the agent gets in its place",
    "http": _WHERE_FROM,
    "file": _WHERE_FROM,
    "headers": _WHERE_FROM,
    "timeout": _WHERE_FROM,
    "source": "another text bears the candidate out no more, which is an error",
    "candidate": "another candidate is not borne out by the text, which is an error",
    "list": "there is one list, and any other name is an error",
    "keep": _ONLY_THE_HISTORY,
    "drop": _ONLY_THE_HISTORY,
    "max_bytes": _ONLY_THE_HISTORY,
    "max_items": _ONLY_THE_HISTORY,
    "errors": _ONLY_THE_HISTORY,
    "fresh_for": _ONLY_THE_HISTORY,
    "reads": _ONLY_THE_HISTORY,
    "writes": _ONLY_THE_HISTORY,
    "resume_after": _ONLY_THE_HISTORY,
    "broken_pairs": _ONLY_THE_HISTORY,
    "server_held": _ONLY_THE_HISTORY,
    "compact_above": _ONLY_THE_HISTORY,
    "closes_topic": _ONLY_THE_HISTORY,
}
"""Keys that no case of a suite can see, each with why. Nothing below them is made wrong either."""
EXPRESSIONS: Final = frozenset(
    {
        "when",
        "unless",
        "sum",
        "value",
        "per",
        "once_per",
        "fact_counts",
        "not_executed_when",
        "segment",
        "paid",
        "price",
        "departure",
        "arrival",
        "event",
        "cancelled_at",
    }
)
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "mode": ("halt", "enforce"),
    "effect": ("read", "write"),
    "unknown_tools": ("forbid", "escalate", "allow"),
    "unit": ("major", "minor", "milli"),
    "format": ("json", "yaml"),
    "each": ("day", "month"),
    "time_zone": ("Etc/GMT-14", "Etc/GMT+12"),
    "zone": ("Etc/GMT-14", "Etc/GMT+12"),
    "on_refusal": ("code", "model"),
    "batch": ("independent", "all_or_nothing"),
    "autonomous": ("true", "false"),
}
OTHERS: Final[Mapping[str, Mapping[str, str]]] = {
    "type": {"integer": "string", "number": "string", "date": "string", "boolean": "string", "string": "integer"},
    "money": {"USD": "EUR", "EUR": "USD"},
    "count": {"true": "false"},
}
"""Values that one other stands for: another kind, another currency."""
OF_ARGUMENTS: Final = {"integer": "number", "number": "integer", "date": "string", "boolean": "string"}
"""The same of an argument's kind: one that takes more, or less."""
DROPPED: Final = frozenset(
    {
        "missing",
        "handoff",
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
        "reply_language",
        "fee_schedule",
        "zone",
        "batch",
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
        "gather",
        "languages",
        "only",
    }
)
"""Lists whose items are dropped one by one."""
AMOUNTS: Final = frozenset({"min", "max", "within", "settle_within", "confidence", "clarify_below", "escalate_below"})
ENTRIES: Final = frozenset({"arguments", "cells", "ceiling", "identities", "reply", "escalation"})
"""Mappings whose entries are dropped one by one."""
NAMED: Final = frozenset(
    {
        "tools",
        "arguments",
        "constants",
        "facts",
        "fields",
        "identities",
        "cells",
        "object",
        "reasons",
        "session",
        "escalation",
    }
)
"""Mappings whose keys are names that the policy's author chose, and that may be spelled like a key of the language."""
