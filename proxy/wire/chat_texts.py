"""Where the text of a Chat turn stands: in the `content` of each choice. Reasoning and refusals are not text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire.chat_calls import LIMIT_REASONS
from proxy.wire.texts import MisplacedTextError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPOKEN: Final = frozenset({"text", "output_text"})
"""Types of the parts of a content that is a list which are text."""


class ChatTexts:
    def __init__(self, streamed: bool) -> None:
        self._part, self._other = ("delta", "message") if streamed else ("message", "delta")

    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:
        found: dict[int, str] = {}
        for place, choice in enumerate(value.get("choices") or ()):
            if holds and ((choice.get(self._other) or {}).get("content") or choice.get("text")):
                raise MisplacedTextError  # some clients would read it there
            content = (choice.get(self._part) or {}).get("content")
            if content and (text := _text(content)):
                found[self._index(place, choice)] = text
        return found

    def ends(self, value: Any) -> Mapping[int, bool]:
        choices = enumerate(value.get("choices") or ())
        return {
            self._index(place, choice): reason in LIMIT_REASONS
            for place, choice in choices
            if isinstance(reason := choice.get("finish_reason"), str)
        }

    def _index(self, place: int, choice: Any) -> int:
        return place if self._part == "message" else int(choice.get("index", 0))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") in _SPOKEN]
    return "".join(part for part in parts if isinstance(part, str))
