"""A whole answer of ours as a message of Anthropic's (WIRE.md 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.sse import event_frame

if TYPE_CHECKING:
    from proxy.wire.told import Told

_END = {"stop_reason": "end_turn", "stop_sequence": None}
_USAGE = {"input_tokens": 0, "output_tokens": 0}


def body(told: Told) -> bytes:
    content = [{"type": "text", "text": told.text}]
    return envelope.encode({**_message(told), "content": content, **_END, "usage": _USAGE})


def events(told: Told) -> bytes:
    begun = {**_message(told), "content": [], "stop_reason": None, "stop_sequence": None, "usage": _USAGE}
    found: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": told.text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": _END, "usage": {"output_tokens": 0}},
        {"type": "message_stop"},
    ]
    return b"".join(event_frame(event["type"], envelope.encode(event)) for event in found)


def _message(told: Told) -> dict[str, Any]:
    return {"id": f"msg_cg{told.name}", "type": "message", "role": "assistant", "model": told.model}
