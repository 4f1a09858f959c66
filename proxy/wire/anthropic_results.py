"""What stands in the results of an Anthropic message, and other texts in its place (WIRE.md 8.1 d)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.transcript import Content

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_RESULT = b'"tool_result"'


def contents(blocks: Sequence[bytes]) -> list[Content]:
    """Of the results among these blocks, in their order."""
    found = (envelope.members(block) for block in blocks)
    return [_content(members) for members in found if members.get("type") == _RESULT]


def with_content(blocks: Sequence[bytes], contents: Iterator[Content | None]) -> list[bytes]:
    """The blocks; each result takes the next of `contents`."""
    found = []
    for block in blocks:
        members = envelope.members(block)
        new = next(contents) if members.get("type") == _RESULT else None
        found.append(block if new is None else _edited(block, members, new))
    return found


def without(blocks: Sequence[bytes], dropped: Iterator[bool]) -> list[bytes]:
    """The blocks but for those results of which the next of `dropped` holds."""
    return [block for block in blocks if envelope.members(block).get("type") != _RESULT or not next(dropped)]


def _edited(block: bytes, members: Mapping[str, bytes], new: Content) -> bytes:
    error: object = True if new.is_error else envelope.REMOVED
    if members.get("is_error") in (b"true", b"false") and (members["is_error"] == b"true") == new.is_error:
        error = members["is_error"]
    return envelope.edited(block, content=_changed(members.get("content", b"null"), new), is_error=error)


def _changed(content: bytes, new: Content) -> bytes:
    if not content.startswith(b"["):
        return envelope.encode("\n".join(new.texts))
    parts: list[bytes] = []
    texts = list(new.texts)
    for part in envelope.elements(content):
        if envelope.members(part).get("type") == b'"text"':
            parts += [envelope.edited(part, text=texts.pop(0))] if texts else []
        elif new.keeps_other:
            parts.append(part)
    parts[:0] = [envelope.encode({"type": "text", "text": text}) for text in texts]
    return envelope.join_list(parts)


def _content(members: Mapping[str, bytes]) -> Content:
    is_error = members.get("is_error") == b"true"
    raw = members.get("content", b"null")
    if not raw.startswith(b"["):
        text = envelope.value_of(raw)
        return Content((text,) if isinstance(text, str) else (), is_error)
    texts: list[str] = []
    other = 0
    for part in envelope.elements(raw):
        value: Any = envelope.value_of(part)
        if isinstance(value, dict) and value.get("type") == "text":
            texts.append(str(value.get("text", "")))
        else:
            other += len(part)
    return Content(tuple(texts), is_error, other)
