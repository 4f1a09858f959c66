"""The forms and the words of the keys about what is passed to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from policies.approvals import OnApproval
from policies.escalate_with import SummaryField

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT: Final = {"type": "string", "minLength": 1}
_FIELD: Final = {"enum": [each.value for each in SummaryField]}

TOOL_FORMS: Final[Mapping[str, Any]] = {"on_approval": {"enum": [each.value for each in OnApproval]}}
DEFAULT_FORMS: Final[Mapping[str, Any]] = {"escalate_with": {"anyOf": [_TEXT, {"$ref": "#/$defs/ESCALATE_WITH"}]}}
FORMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ESCALATE_WITH": {"tool": _TEXT, "arguments": {"type": "object", "additionalProperties": _FIELD}},
}
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {"OPERATOR": ("token",), "ESCALATE_WITH": ("tool",)}

TOOL_WORDS: Final[Mapping[str, str]] = {
    "on_approval": "How an approved call goes on: `next_time` it is made, `inline` while it waits, or `deliver`.",
}
DEFAULT_WORDS: Final[Mapping[str, str]] = {
    "escalate_with": "The agent's own escalation tool: a call that is passed to people becomes a call of it.",
}
WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "APPROVALS": {
        "approvers": "The persons who may approve; without it, every reviewer.",
        "quorum": "How many different persons must approve.",
        "answer_within": "A case without an answer for so long is closed.",
        "valid_for": "How long an approval, or a refusal, of people holds.",
        "open_max": "With so many open cases a call is refused instead of passed on.",
    },
    "OPERATOR": {
        "token": "What it shows on the admin listener: `${NAME}` or `${file:/path}`.",
        "kind": "Whose word its calls are: an operator's, the customer's, or a back end's.",
        "tools": "The tools it may use; without it, every one.",
    },
    "ESCALATE_WITH": {
        "tool": "The escalation tool, as the policy spells it.",
        "arguments": "What of the case each of its arguments takes; without it, those of the same name.",
    },
}
