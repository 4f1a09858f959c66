"""A whole answer of ours as a completion of Chat's (WIRE.md 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.sse import event_frame

if TYPE_CHECKING:
    from proxy.wire.told import Told

_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def body(told: Told) -> bytes:
    message = {"role": "assistant", "content": told.text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return envelope.encode({**_head(told, "chat.completion"), "choices": [choice], "usage": _USAGE})


def events(told: Told) -> bytes:
    deltas: list[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", "content": ""}, None),
        ({"content": told.text}, None),
        ({}, "stop"),
    ]
    chunks = [_chunk(told, [_choice(delta, reason)]) for delta, reason in deltas]
    if _wants_usage(told.request):
        chunks.append(_chunk(told, [], usage=_USAGE))
    return b"".join(event_frame(None, chunk) for chunk in (*chunks, b"[DONE]"))


def _head(told: Told, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-cg{told.name}", "object": kind, "created": told.created, "model": told.model}


def _choice(delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


def _chunk(told: Told, choices: list[dict[str, Any]], **more: Any) -> bytes:
    return envelope.encode({**_head(told, "chat.completion.chunk"), "choices": choices, **more})


def _wants_usage(request: bytes) -> bool:
    options = envelope.value_of(envelope.members(request).get("stream_options", b"null"))
    return isinstance(options, dict) and options.get("include_usage") is True
