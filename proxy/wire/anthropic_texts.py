"""Where the text of an Anthropic turn stands: in its text blocks, all of one choice. Thinking is not text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire.anthropic_types import LIMIT_REASONS
from proxy.wire.texts import MisplacedTextError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING: Final[Mapping[int, str]] = {}
_NO_END: Final[Mapping[int, bool]] = {}


class AnthropicStreamTexts:
    def __init__(self) -> None:
        self._open: set[int] = set()  # indexes of text blocks

    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:
        match value.get("type"):
            case "content_block_delta":
                return self._delta(value.get("index"), value.get("delta"))
            case "content_block_start":
                return self._start(value.get("index"), value.get("content_block"))
            case "content_block_stop" if value.get("index") in self._open:
                self._open.discard(value["index"])
                return {0: ""}
            case "message_start":
                self._open.clear()
                said = _body_text(value.get("message"))
                if holds and said:
                    raise MisplacedTextError  # the start of a message is no block's frame
                return said
        return _NOTHING

    def _start(self, index: Any, block: Any) -> Mapping[int, str]:
        self._open.discard(index)
        if block.get("type") != "text":
            return _NOTHING
        self._open.add(index)
        text = block.get("text")
        return {0: text if isinstance(text, str) else ""}

    def _delta(self, index: Any, delta: Any) -> Mapping[int, str]:
        if delta.get("type") == "text_delta":
            text = delta.get("text")
            return {0: text if isinstance(text, str) else ""}
        return {0: ""} if index in self._open else _NOTHING

    def ends(self, value: Any) -> Mapping[int, bool]:
        return _end(value.get("delta")) if value.get("type") == "message_delta" else _NO_END


class AnthropicBodyTexts:
    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:  # noqa: ARG002 - a body is held as a whole anyway
        return _body_text(value)

    def ends(self, value: Any) -> Mapping[int, bool]:
        return _end(value)


def is_text(block: Any) -> bool:
    """Whether a parsed block is one of the text."""
    return isinstance(block, dict) and block.get("type") == "text"


def _body_text(message: Any) -> Mapping[int, str]:
    content = message.get("content") if isinstance(message, dict) else None
    texts = [block.get("text") for block in content if is_text(block)] if isinstance(content, list) else []
    return {0: "".join(text for text in texts if isinstance(text, str))} if texts else _NOTHING


def _end(stated: Any) -> Mapping[int, bool]:
    reason = stated.get("stop_reason") if isinstance(stated, dict) else None
    return {0: reason in LIMIT_REASONS} if isinstance(reason, str) else _NO_END
