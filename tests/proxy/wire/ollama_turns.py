"""Turns as Ollama's lines, and lines as what a client reads; it knows nothing of the product."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from tests import strategies as model

_USED = {"total_duration": 90, "prompt_eval_count": 7}


def _line(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    full = {"role": "assistant", "content": "", **message}
    return {"model": "qwen3", "created_at": "2026-11-30T10:00:00Z", "message": full, "done": False, **more}


def _end(turn: model.Turn) -> dict[str, Any]:
    return {"done": True, "done_reason": "stop", **_USED, "eval_count": turn.output_tokens}


def _entry(call: model.ToolUse) -> dict[str, Any]:
    return {"function": {"name": call.name, "arguments": json.loads(call.arguments)}}


def lines(turn: model.Turn) -> list[dict[str, Any]]:
    """Calls come whole, one or more a line; the end comes with the last line or behind it."""
    rng = random.Random(turn.order)
    found: list[dict[str, Any]] = []
    for part in turn.parts:
        match part:
            case model.Text(text=text):
                found.append(_line({"content": text}))
            case model.Thinking(text=text):
                found.append(_line({"thinking": text}))
            case model.ToolUse():
                calls = found[-1]["message"].get("tool_calls") if found else None
                if calls is not None and rng.random() < 0.5:
                    calls.append(_entry(part))
                else:
                    found.append(_line({"tool_calls": [_entry(part)]}))
    if not found or rng.random() < 0.7:
        found.append(_line({}))
    found[-1] |= _end(turn)
    return found


def stream(turn: model.Turn) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines(turn))


def body(turn: model.Turn) -> bytes:
    message: dict[str, Any] = {"content": "".join(part.text for part in turn.parts if isinstance(part, model.Text))}
    if thinking := "".join(part.text for part in turn.parts if isinstance(part, model.Thinking)):
        message["thinking"] = thinking
    if turn.calls:
        message["tool_calls"] = [_entry(call) for call in turn.calls]
    return json.dumps(_line(message, **_end(turn))).encode()


@dataclass
class Read:
    """What a client has of an answer."""

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)


def read(data: bytes) -> Read:
    """Every line is an object; the last one, and no other, is done."""
    found = Read()
    for line in data.split(b"\n")[:-1] if data.endswith(b"\n") else [data]:
        value = json.loads(line)
        assert not found.end
        found.text += value["message"]["content"]
        calls = value["message"].get("tool_calls")
        assert calls is None or calls
        found.calls += [(call["function"]["name"], call["function"]["arguments"]) for call in calls or ()]
        if value["done"]:
            found.end = value
    assert found.end
    return found
