"""The forms of the keys by which a tool asks before its calls run, and by which people are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from policies.approvals import OperatorKind
from policies.asking import Whose

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT: Final = {"type": "string", "minLength": 1}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_NUMBER: Final = {"type": "number"}
_DURATION: Final = {"type": "string", "pattern": "^[0-9]+[dhms]$"}

TOOL_FORMS: Final[Mapping[str, Any]] = {
    "confidence": {"anyOf": [_TEXT, {"$ref": "#/$defs/CONFIDENCE"}]},
    "confirm": {"anyOf": [{"enum": [one.value for one in Whose]}, {"$ref": "#/$defs/CONFIRM"}]},
}
FORMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "CONFIRM": {"when": {"type": ["string", "number", "boolean"]}},
    "CONFIDENCE": {"value": _TEXT, "clarify_below": _NUMBER, "escalate_below": _NUMBER},
    "APPROVALS": {
        "approvers": {**_TEXTS, "minItems": 1},
        "quorum": {"type": "integer", "minimum": 1, "maximum": 16},
        "answer_within": _DURATION,
        "valid_for": _DURATION,
        "open_max": {"type": "integer", "minimum": 1, "maximum": 100_000},
    },
    "OPERATOR": {"token": _TEXT, "kind": {"enum": [one.value for one in OperatorKind]}, "tools": _TEXTS},
}
