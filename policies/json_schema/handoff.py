"""The forms of `handoff`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from policies.handoff_words import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT: Final = {"type": "string", "minLength": 1}
_PHRASES: Final = {"type": "array", "items": _TEXT, "minItems": 1}
_EITHER: Final = {"anyOf": [_PHRASES, {"$ref": "#/$defs/PHRASES"}]}

TOP_FORMS: Final[Mapping[str, Any]] = {"handoff": {"$ref": "#/$defs/HANDOFF"}}
FORMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "HANDOFF": {
        "languages": {"type": "array", "items": {"enum": list(LANGUAGES)}},
        "phrases": {"type": "object", "additionalProperties": _EITHER},
        "facts": {"type": "object", "additionalProperties": _TEXT},
        "escalation": {"type": "object", "additionalProperties": {"anyOf": [_TEXT, _PHRASES]}},
    },
    "PHRASES": {"only": _PHRASES},
}
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {"PHRASES": ("only",)}
