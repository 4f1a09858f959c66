"""What stands in the results of a Responses request, and other texts in its place (WIRE.md 8.3 d)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.responses_references import read, type_of
from proxy.wire.responses_types import SHELL, Kind, kind_of
from proxy.wire.transcript import Content

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEXTS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "apply_patch_call_output"}
)
"""Results whose output is a text, or a list of parts."""


def contained_in(messages: Iterable[bytes]) -> frozenset[str]:
    """The shell calls that ran at the provider: what answers them is no result of the client's."""
    items = (read(message) for message in messages if b"shell" in message)
    return frozenset(
        str(item.get("call_id")) for item in items if type_of(item) == SHELL and kind_of(item) is Kind.OBSERVED
    )


def content_of(message: bytes) -> Content:
    """Of an item that is a result. What is no text of it is not looked into."""
    item: dict[str, Any] = envelope.value_of(message)
    output = item.get("output")
    is_error = item.get("status") in ("failed", "incomplete")
    if type_of(item) not in _TEXTS or not isinstance(output, str | list):
        return Content((), is_error, len(message))
    if isinstance(output, str):
        return Content((output,), is_error)
    texts = [part["text"] for part in output if _is_text(part)]
    other = sum(len(envelope.encode(part)) for part in output if not _is_text(part))
    return Content(tuple(texts), is_error, other)


def edited(message: bytes, new: Content | None) -> bytes:
    """The item with these texts in its output, under no id of the provider's; None leaves it, and so does a kind of
    result that bears no text."""
    item: dict[str, Any] = envelope.value_of(message)
    output = item.get("output")
    if new is None or type_of(item) not in _TEXTS or not isinstance(output, str | list):
        return message
    own: object = envelope.REMOVED if "call_id" in item else item.get("id")  # some results name their call by it
    if isinstance(output, str):
        return envelope.edited(message, output="\n".join(new.texts), id=own)
    parts: list[bytes] = []
    texts = list(new.texts)
    for part, raw in zip(output, envelope.elements(envelope.members(message)["output"]), strict=True):
        if _is_text(part):
            parts += [envelope.edited(raw, text=texts.pop(0))] if texts else []
        elif new.keeps_other:
            parts.append(raw)
    parts[:0] = [envelope.encode({"type": "input_text", "text": text}) for text in texts]
    return envelope.edited(message, output=envelope.join_list(parts), id=own)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)
