"""One call of a Responses turn: its name for the policy, its arguments as text, and its item written anew.

Built-in tools are named as their items (`shell_call`), members of a namespace behind it (`crm/lookup`), a tool of an
MCP server that asks for approval `mcp/<server>/<tool>`.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.assembly import FREEFORM
from proxy.wire.responses_types import (
    APPROVAL,
    COMPUTER,
    CUSTOM,
    FUNCTION,
    ITEMS,
    LOCAL_SHELL,
    MESSAGE,
    PATCH,
    REFERENCE,
    SEARCH,
    SHELL,
)
from proxy.wire.seal import SEALED, sealed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.events import Material

_ARGUMENTS = {
    FUNCTION: "arguments",
    CUSTOM: "input",
    LOCAL_SHELL: "action",
    SHELL: "action",
    PATCH: "operation",
    SEARCH: "arguments",
    APPROVAL: "arguments",
}
SPOKEN = frozenset({FUNCTION, CUSTOM, APPROVAL})
"""Types whose arguments are a text."""
_COMPUTER = ("action", "actions", "pending_safety_checks")
_ENVELOPE = ("call_id", "id", "status", "type")
ITEM = "item"
"""The member of a material's `extra` that holds the bytes of its item."""


def kind_name(kind: str) -> str:
    """The kind of a call as the assembler knows it."""
    return FREEFORM if kind == CUSTOM else kind


def call_name(item: Mapping[str, Any]) -> str:
    kind, name = item.get("type"), _text(item.get("name"))
    if kind == APPROVAL:
        return f"mcp/{_text(item.get('server_label'))}/{name}" if name else ""
    if kind not in (FUNCTION, CUSTOM):
        return str(kind)
    namespace = _text(item.get("namespace"))
    # A tool that was loaded by itself bears its own name as its namespace.
    return f"{namespace}/{name}" if namespace and name and namespace != name else name


def call_id(item: Mapping[str, Any]) -> str:
    """By which the result of a call names it."""
    return _text(item.get("id") if item.get("type") == APPROVAL else item.get("call_id") or item.get("id"))


def call_arguments(raw: bytes, item: Mapping[str, Any]) -> tuple[str, bool]:
    """The text of the arguments, and whether they have the type that the dialect gives them."""
    kind = str(item.get("type"))
    if kind == COMPUTER or kind not in ITEMS:
        members = envelope.members(raw)
        kept = {name: value for name, value in members.items() if _is_argument(kind, name)}
        return envelope.join(kept).decode(), True
    member = _ARGUMENTS[kind]
    value = item.get(member)
    if value is None:
        return "", member not in item or kind not in SPOKEN
    if isinstance(value, str):
        return value, kind in SPOKEN
    return envelope.raw_at(raw, member).decode(), kind not in SPOKEN


def _is_argument(kind: str, member: str) -> bool:
    return member in _COMPUTER if kind == COMPUTER else member not in _ENVELOPE


def canonical_item(material: Material) -> bytes:
    """The item of a call with the arguments that were judged."""
    raw: bytes = material.extra[ITEM]
    kind = CUSTOM if material.kind == FREEFORM else material.kind
    if kind == COMPUTER or kind not in ITEMS:
        own = {name: value for name, value in envelope.members(raw).items() if not _is_argument(kind, name)}
        return envelope.join({**own, **envelope.members(material.arguments.encode() or b"{}")})
    text = material.arguments
    changes: dict[str, Any] = {_ARGUMENTS[kind]: text if kind in SPOKEN else (text or "{}").encode()}
    if kind in (FUNCTION, CUSTOM):
        changes["call_id"] = material.id
    if kind == FUNCTION and "/" not in material.name:  # a namespace stands beside the name
        changes["name"] = material.name
    return envelope.edited(raw, **changes)


def opening_item(material: Material) -> bytes:
    """The item of a call as a stream first shows it."""
    raw = canonical_item(material)
    kind = CUSTOM if material.kind == FREEFORM else material.kind
    changes: dict[str, Any] = {_ARGUMENTS[kind]: ""} if kind in (FUNCTION, CUSTOM) else {}
    if "status" in envelope.members(raw):
        changes["status"] = "in_progress"
    return envelope.edited(raw, **changes) if changes else raw


def reply_id(response: str, place: object, mark: str = "") -> str:
    """The id of a message of ours. It is the same for the same place of the same response, and no provider's; it names
    the hidden turn, if any, that stood before it."""
    return "msg_" + sealed(mark, hashlib.sha256(f"{response}/{place}".encode()).hexdigest()[:32])


def is_reply(item: Mapping[str, Any]) -> bool:
    """Whether an item of a request is a message of ours, or names one."""
    return item.get("type") in (MESSAGE, REFERENCE, None) and _text(item.get("id")).startswith(f"msg_{SEALED}")


def text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def reply_item(item_id: str, text: str) -> bytes:
    """A message of ours, whole."""
    head = {"id": item_id, "type": MESSAGE, "status": "completed", "role": "assistant"}
    return envelope.encode({**head, "content": [text_part(text)]})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
