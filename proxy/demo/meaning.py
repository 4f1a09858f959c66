"""What a document of a history means: two that mean the same have one digest, however they are written.

Anthropic: key order, white space, the spelling of numbers, `cache_control`, a text as a string or as one block, and
keys that state their default make no difference. Everything else does, keys that nobody knows included.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo.documents import read_plain

if TYPE_CHECKING:
    from proxy.demo.turns import Document

_INTEGER_BITS_MAX = 53
_DEFAULTS: dict[str, tuple[Any, ...]] = {
    "cache_control": (),
    "caller": ({"type": "direct"},),
    "is_error": (False,),
    "citations": ([],),
    "annotations": ([],),
}


def digest(value: Any) -> bytes:
    """32 bytes that stand for a canonical value."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).digest()


def plain(value: Any) -> Any:
    """Any JSON value, its numbers by their value: 120, 120.0 and 1.2e2 are one."""
    match value:
        case dict():
            return {key: plain(inner) for key, inner in value.items()}
        case list():
            return [plain(inner) for inner in value]
        case None | bool() | str():
            return value
        case int():
            return value if value.bit_length() <= _INTEGER_BITS_MAX else f"integer {value}"
        case _:
            number = float(str(value))
            return plain(int(number)) if number.is_integer() else number


def block(document: Document) -> Document:
    """A content block of Anthropic Messages."""
    kept = _without_defaults(document)
    if document.get("type") == "tool_result":
        kept["content"] = [_inner(one) for one in blocks(document.get("content") or [])]
    return {key: inner if key == "content" else plain(inner) for key, inner in kept.items()}


def blocks(content: Any) -> list[Any]:
    """A content as its blocks; a text alone is one text block."""
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def system(value: Any) -> list[Any]:
    """The top-level `system`."""
    return [] if not value else [_inner(one) for one in blocks(value)]


def tool(document: Document) -> Document:
    """A tool's definition."""
    return {key: plain(inner) for key, inner in _without_defaults(document).items()}


def anthropic_message(message: Document, *, thinking: bool = True) -> Document:
    """A message; without `thinking` as if it had none."""
    content = [one for one in blocks(message.get("content")) if thinking or not is_thinking(one)]
    return {"role": message.get("role"), "content": [_inner(one) for one in content]}


def chat_message(message: Document) -> Document:
    """A message of Chat Completions: argument texts by their value, no content and an empty one alike, no reasoning."""
    kept = _without_defaults(message)
    kept.pop("reasoning_content", None)
    content = kept.pop("content", None)
    if isinstance(content, list) and all(part.get("type") == "text" for part in content):
        content = "".join(part["text"] for part in content)
    if content:
        kept["content"] = plain(content)
    if "tool_calls" in kept:
        kept["tool_calls"] = [_chat_call(call) for call in kept["tool_calls"]]
    return kept


def is_thinking(document: Any) -> bool:
    return isinstance(document, dict) and document.get("type") in ("thinking", "redacted_thinking")


def arguments(text: str) -> Any:
    """The value of an argument text, or the text where it is no JSON."""
    try:
        return read_plain(text) if text else {}
    except ValueError:
        return text


def _chat_call(call: Document) -> Document:
    kept: Document = plain(_without_defaults(call))
    kept.pop("index", None)
    function = kept.get("function")
    if isinstance(function, dict) and isinstance(function.get("arguments"), str):
        kept["function"] = {**function, "arguments": plain(arguments(function["arguments"]))}
    return kept


def _inner(one: Any) -> Any:
    return block(one) if isinstance(one, dict) else plain(one)


def _without_defaults(document: Document) -> Document:
    return {
        key: inner
        for key, inner in document.items()
        if inner is not None and key != "cache_control" and inner not in _DEFAULTS.get(key, ())
    }
