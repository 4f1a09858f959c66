"""The forms of the keys about what is passed to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from policies.approvals import OnApproval
from policies.escalate_with import SummaryField
from policies.json_schema import handoff

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT: Final = {"type": "string", "minLength": 1}
_FIELD: Final = {"enum": [each.value for each in SummaryField]}

TOOL_FORMS: Final[Mapping[str, Any]] = {"on_approval": {"enum": [each.value for each in OnApproval]}}
DEFAULT_FORMS: Final[Mapping[str, Any]] = {"escalate_with": {"anyOf": [_TEXT, {"$ref": "#/$defs/ESCALATE_WITH"}]}}
FORMS: Final[Mapping[str, Mapping[str, Any]]] = {
    **handoff.FORMS,
    "ESCALATE_WITH": {"tool": _TEXT, "arguments": {"type": "object", "additionalProperties": _FIELD}},
}
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    **handoff.REQUIRED,
    "OPERATOR": ("token",),
    "ESCALATE_WITH": ("tool",),
}
