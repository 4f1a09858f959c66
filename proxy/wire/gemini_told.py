"""A whole answer of ours as Gemini's (WIRE.md 4): a stream of one chunk, or one body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire import envelope

if TYPE_CHECKING:
    from proxy.wire.told import Told


def body(told: Told) -> bytes:
    content = {"role": "model", "parts": [{"text": told.text}]}
    return envelope.encode(
        {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
            "modelVersion": told.model,
            "responseId": f"cg{told.name}",
        }
    )
