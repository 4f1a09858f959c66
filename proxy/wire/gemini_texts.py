"""Where the text of a Gemini turn stands: in the text parts of each candidate. Thoughts are not text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire.gemini_types import LIMIT_REASONS, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class GeminiTexts:
    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:  # noqa: ARG002 - each chunk can be held by itself
        found: dict[int, str] = {}
        for candidate in value.get("candidates") or ():
            parts = (candidate.get("content") or {}).get("parts") or ()
            texts = [text for part in parts if (text := text_of(part)) is not None]
            if texts:
                found[candidate.get("index", 0)] = "".join(texts)
        return found

    def ends(self, value: Any) -> Mapping[int, bool]:
        return {
            candidate.get("index", 0): candidate["finishReason"] in LIMIT_REASONS
            for candidate in value.get("candidates") or ()
            if candidate.get("finishReason") is not None
        }
