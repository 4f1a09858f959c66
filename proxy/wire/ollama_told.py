"""A whole answer of ours as Ollama's (WIRE.md 6): lines, or one body."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope

if TYPE_CHECKING:
    from proxy.wire.told import Told

_FIGURES: Final = (
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)


def body(told: Told) -> bytes:
    return envelope.encode(_said(told, told.text, is_done=True))


def lines(told: Told) -> bytes:
    said = _said(told, told.text, is_done=False), _said(told, "", is_done=True)
    return b"".join(envelope.encode(line) + b"\n" for line in said)


def _said(told: Told, text: str, *, is_done: bool) -> dict[str, Any]:
    created = datetime.fromtimestamp(told.created, UTC).isoformat().replace("+00:00", "Z")
    message = {"role": "assistant", "content": text}
    end = {"done_reason": "stop", **dict.fromkeys(_FIGURES, 0)} if is_done else {}
    return {"model": told.model, "created_at": created, "message": message, "done": is_done, **end}
