"""The forms and the words of the keys about the history that goes up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from policies.upkeep import BrokenPairs, ResultError, ServerHeld

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT: Final = {"type": "string", "minLength": 1}
_DURATION: Final = {"type": "string", "pattern": "^[0-9]+[dhms]$"}
_PATHS: Final = {"type": "array", "items": _TEXT, "minItems": 1}
_NAMED: Final = {"type": "object", "additionalProperties": _TEXT}

TOP_FORMS: Final[Mapping[str, Any]] = {
    "resume_after": _DURATION,
    "broken_pairs": {"enum": [each.value for each in BrokenPairs]},
    "server_held": {"enum": [each.value for each in ServerHeld]},
    "compact_above": {"type": "integer", "minimum": 100, "maximum": 10_000_000},
}
TOOL_FORMS: Final[Mapping[str, Any]] = {"reads": _NAMED, "writes": _NAMED, "closes_topic": {"type": "boolean"}}
FORMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "RESULT": {
        "keep": _PATHS,
        "drop": _PATHS,
        "max_bytes": {"type": "integer", "minimum": 64},
        "max_items": {"type": "integer", "minimum": 1},
        "errors": {
            "anyOf": [{"const": "standard"}, {"type": "array", "items": {"$ref": "#/$defs/RESULT_ERROR"}}],
        },
        "fresh_for": {"anyOf": [_DURATION, {"const": 0}]},
    },
    "RESULT_ERROR": {"match": _TEXT, "as": {"enum": [kind.value for kind in ResultError]}},
}


def forms(result: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Those of `result` beside `result`, and of the objects in it."""
    return {**FORMS, "RESULT": {**result, **FORMS["RESULT"]}}


TOP_WORDS: Final[Mapping[str, str]] = {
    "resume_after": "After so long a pause, what tools read before it is asked for again.",
    "broken_pairs": "What becomes of a request in which a call has no result, or a result no call.",
    "server_held": "What becomes of a request whose history the provider keeps, under a policy that edits what is old.",
    "compact_above": "Past so many tokens, estimated, matters that are closed become summaries built from receipts.",
}
TOOL_WORDS: Final[Mapping[str, str]] = {
    "reads": "The things that its result tells of, each named by an argument.",
    "writes": "The things that it changes: what was read of them before is out of date.",
    "closes_topic": "A call of it ends a matter, as a write that was executed does.",
}
WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "RESULT": {
        "keep": "The fields that survive where a result first goes up.",
        "drop": "The fields that do not.",
        "max_bytes": "How much of it survives, in bytes.",
        "max_items": "How many items of each list survive.",
        "errors": "Results that are errors and do not say so become structured errors.",
        "fresh_for": "How long it holds; 0: never past the answer it was read for.",
    },
    "RESULT_ERROR": {
        "match": "An RE2 pattern that occurs anywhere in such a result.",
        "as": "The kind of error that it is.",
    },
}
