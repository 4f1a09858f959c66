"""A whole answer of ours as Converse's (WIRE.md 5): messages of an event stream, or one body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.bedrock_frames import message

if TYPE_CHECKING:
    from proxy.wire.told import Told

_END = {"stopReason": "end_turn"}
_FIGURES = {"usage": {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}, "metrics": {"latencyMs": 0}}


def body(told: Told) -> bytes:
    said = {"role": "assistant", "content": [{"text": told.text}]}
    return envelope.encode({"output": {"message": said}, **_END, **_FIGURES})


def messages(told: Told) -> bytes:
    found: list[tuple[str, dict[str, Any]]] = [
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": told.text}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", _END),
        ("metadata", _FIGURES),
    ]
    return b"".join(message(name, envelope.encode(payload)) for name, payload in found)
