"""Where the text of a Converse turn stands: in its text blocks, all of one choice. Reasoning is not text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire.bedrock_types import BLOCK_DELTA, BLOCK_START, BLOCK_STOP, LIMIT_REASONS, MESSAGE_STOP, blocks_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING: Final[Mapping[int, str]] = {}
_NO_END: Final[Mapping[int, bool]] = {}


class ConverseStreamTexts:
    def __init__(self) -> None:
        self._open: set[int] = set()  # indexes of text blocks

    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:  # noqa: ARG002 - each event can be held by itself
        if BLOCK_DELTA in value:
            said = value[BLOCK_DELTA]
            text = said["delta"].get("text")
            if isinstance(text, str):
                self._open.add(said["contentBlockIndex"])
                return {0: text}
            return {0: ""} if said["contentBlockIndex"] in self._open else _NOTHING
        if BLOCK_START in value:
            self._open.discard(value[BLOCK_START]["contentBlockIndex"])
        elif BLOCK_STOP in value and value[BLOCK_STOP]["contentBlockIndex"] in self._open:
            self._open.discard(value[BLOCK_STOP]["contentBlockIndex"])
            return {0: ""}
        elif MESSAGE_STOP in value:
            self._open.clear()
        return _NOTHING

    def ends(self, value: Any) -> Mapping[int, bool]:
        return _end(value[MESSAGE_STOP]) if MESSAGE_STOP in value else _NO_END


class ConverseBodyTexts:
    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:  # noqa: ARG002 - a body is held as a whole anyway
        texts = [text for block in blocks_of(value) or () if (text := text_of(block)) is not None]
        return {0: "".join(texts)} if texts else _NOTHING

    def ends(self, value: Any) -> Mapping[int, bool]:
        return _end(value)


def text_of(block: Any) -> str | None:
    """What a parsed block says to the user, whether it cites or not; None for any other block."""
    if isinstance(text := block.get("text"), str):
        return text
    cited = block.get("citationsContent")
    content = cited.get("content") if isinstance(cited, dict) else None
    if not isinstance(content, list):
        return None
    return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))


def _end(said: Mapping[str, Any]) -> Mapping[int, bool]:
    reason = said.get("stopReason")
    return {0: reason in LIMIT_REASONS} if isinstance(reason, str) else _NO_END
