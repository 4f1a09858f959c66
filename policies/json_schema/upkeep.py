"""The forms of the keys about the history that goes up."""

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
