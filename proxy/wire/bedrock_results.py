"""What stands in the results of a Converse message, and other texts in its place (WIRE.md 8.1 d, 8.5).

A part of a result that is JSON counts as its text, and takes an object as JSON again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire import envelope
from proxy.wire.bedrock_types import RESULT
from proxy.wire.transcript import Content

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_ERROR = "error"


def contents(blocks: Sequence[bytes]) -> list[Content]:
    """Of the results among these blocks, in their order."""
    return [_content(envelope.members(raw)) for raw in map(result_of, blocks) if raw is not None]


def with_content(blocks: Sequence[bytes], contents: Iterator[Content | None]) -> list[bytes]:
    """The blocks; each result takes the next of `contents`."""
    found = []
    for block in blocks:
        result = result_of(block)
        new = next(contents) if result is not None else None
        found.append(block if new is None or result is None else _edited(block, result, new))
    return found


def without(blocks: Sequence[bytes], dropped: Iterator[bool]) -> list[bytes]:
    """The blocks but for those results of which the next of `dropped` holds."""
    return [block for block in blocks if result_of(block) is None or not next(dropped)]


def result_of(block: bytes) -> bytes | None:
    """What a block that is a result holds."""
    return envelope.members(block).get(RESULT)


def _edited(block: bytes, result: bytes, new: Content) -> bytes:
    members = envelope.members(result)
    stated = envelope.value_of(members.get("status", b"null"))
    status: object = _ERROR if new.is_error else envelope.REMOVED if stated == _ERROR else members.get("status")
    parts: list[bytes] = []
    texts = list(new.texts)
    for part in envelope.list_or_none(members.get("content", b"[]")):
        if _text_of(part) is not None:
            parts += [_part(texts.pop(0), envelope.members(part))] if texts else []
        elif new.keeps_other:
            parts.append(part)
    parts[:0] = [envelope.encode({"text": text}) for text in texts]
    changes = {"content": envelope.join_list(parts), "status": envelope.REMOVED if status is None else status}
    return envelope.edited(block, **{RESULT: envelope.edited(result, **changes)})


def _part(text: str, before: Mapping[str, bytes]) -> bytes:
    if "json" in before and text.lstrip().startswith("{"):
        try:
            envelope.value_of(text.encode())
        except envelope.EnvelopeError:
            return envelope.encode({"text": text})
        return envelope.join({"json": text.encode()})
    return envelope.encode({"text": text})


def _text_of(part: bytes) -> str | None:
    members = envelope.members(part)
    if "json" in members:
        return members["json"].decode()
    text = envelope.value_of(members["text"]) if "text" in members else None
    return text if isinstance(text, str) else None


def _content(result: Mapping[str, bytes]) -> Content:
    parts = envelope.list_or_none(result.get("content", b"[]"))
    texts = [text for part in parts if (text := _text_of(part)) is not None]
    other = sum(len(part) for part in parts if _text_of(part) is None)
    return Content(tuple(texts), envelope.value_of(result.get("status", b"null")) == _ERROR, other)
