"""Turns as Gemini's bytes, and Gemini's bytes as what a client reads; it knows nothing of the product."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests import strategies as model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SIGNATURE = "c2lnbmF0dXJl"


def parts(turn: model.Turn, *, ids: bool = False) -> list[dict[str, Any]]:
    """The parts of a turn; the first call has the signature (WIRE.md 4)."""
    found: list[dict[str, Any]] = []
    signed = False
    for part in turn.parts:
        match part:
            case model.Text(text=text):
                found.append({"text": text})
            case model.Thinking(text=text):
                found.append({"text": text, "thought": True})
            case model.ServerTool():
                found.append({"executableCode": {"language": "PYTHON", "code": "print(1)"}})
            case model.ToolUse(id=call_id, name=name):
                call = {"name": name, "args": json.loads(part.arguments)} | ({"id": call_id} if ids else {})
                found.append({"functionCall": call} | ({} if signed else {"thoughtSignature": SIGNATURE}))
                signed = True
    return found


def _usage(turn: model.Turn) -> dict[str, int]:
    return {
        "promptTokenCount": 7,
        "candidatesTokenCount": turn.output_tokens,
        "totalTokenCount": 7 + turn.output_tokens,
    }


def body(turns: Sequence[model.Turn], *, ids: bool = False) -> bytes:
    candidates = [
        {"content": {"parts": parts(turn, ids=ids), "role": "model"}, "finishReason": "STOP", "index": index}
        for index, turn in enumerate(turns)
    ]
    return json.dumps({"candidates": candidates, "usageMetadata": _usage(turns[0]), "responseId": "r1"}).encode()


def stream(turns: Sequence[model.Turn], ending: bytes = b"\r\n", *, partial: bool = False, ids: bool = False) -> bytes:
    """Each candidate's parts, one or more a chunk; the reason comes with the last ones or behind them."""
    rng = random.Random(turns[0].order)
    lanes = [list(_lane(turn, index, rng, partial=partial, ids=ids)) for index, turn in enumerate(turns)]
    events = []
    while any(lanes):
        lane = rng.choice([lane for lane in lanes if lane])
        events.append({"candidates": [lane.pop(0)], "responseId": "r1", "modelVersion": "m"})
    events[-1]["usageMetadata"] = _usage(turns[0])
    return b"".join(b"data: " + json.dumps(event).encode() + ending + ending for event in events)


def _lane(turn: model.Turn, index: int, rng: random.Random, *, partial: bool, ids: bool) -> Iterator[dict[str, Any]]:
    left = [piece for part in parts(turn, ids=ids) for piece in (_fragments(part, rng) if partial else [part])]
    with_end = rng.random() < 0.6
    while left:
        size = rng.randint(1, 3)
        taken, left = left[:size], left[size:]
        end = {"finishReason": "STOP"} if with_end and not left else {}
        yield {"content": {"parts": taken, "role": "model"}, "index": index} | end
    if not with_end or not turn.parts:
        yield {"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "STOP", "index": index}


def fragments_of(arguments: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """The elements of `partialArgs` that state these arguments."""
    part = {"functionCall": {"name": "f", "args": arguments}}
    parts = _fragments(part, random.Random(seed))
    return [piece for one in parts for piece in one["functionCall"].get("partialArgs", [])]


def _fragments(part: dict[str, Any], rng: random.Random) -> list[dict[str, Any]]:
    """A call as Vertex streams it by paths; one with an empty list or object in it comes whole."""
    call = part.get("functionCall")
    leaves = list(_leaves(call["args"], "$")) if call else []
    if not leaves or any(value in ([], {}) for _, value in leaves):
        return [part]
    head = {"functionCall": {"name": call["name"], "willContinue": True}}
    signed = {"thoughtSignature": part["thoughtSignature"]} if "thoughtSignature" in part else {}
    pieces: list[dict[str, Any]] = []
    for path, value in leaves:
        if isinstance(value, str):
            place = rng.randint(0, min(len(value), 100))
            said = [value[:place], *(value[start : start + 100] for start in range(place, len(value), 100))]
            pieces += [{"jsonPath": path, "stringValue": one, "willContinue": True} for one in said]
            pieces.append({"jsonPath": path, "stringValue": ""})
        elif value is None:
            pieces.append({"jsonPath": path, "nullValue": "NULL_VALUE"})
        else:
            pieces.append({"jsonPath": path, "boolValue" if isinstance(value, bool) else "numberValue": value})
    middle = [{"functionCall": {"partialArgs": [piece], "willContinue": True}} for piece in pieces]
    return [head | signed, *middle, {"functionCall": {}}]


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}")
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{place}]")
    else:
        yield path, value


@dataclass
class Read:
    """What a client has of an answer: by candidate its text and calls, and all strings for a search."""

    text: dict[int, str] = field(default_factory=dict)
    calls: list[tuple[int, str, Any]] = field(default_factory=list)
    signatures: int = 0
    ends: dict[int, str] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)
    strings: str = ""


def read_stream(data: bytes) -> Read:
    found = Read()
    events = [line[6:] for line in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n") if line]
    opened: dict[int, Any] = {}
    for event in events:
        _take(found, json.loads(event), opened)
    assert not opened
    return found


def read_body(data: bytes) -> Read:
    found = Read()
    _take(found, json.loads(data), {})
    return found


def _take(found: Read, value: dict[str, Any], opened: dict[int, Any]) -> None:
    found.strings += json.dumps(value)
    found.usage = value.get("usageMetadata") or found.usage
    for candidate in value["candidates"]:
        index = candidate.get("index", 0)
        for part in (candidate.get("content") or {}).get("parts") or []:
            found.signatures += "thoughtSignature" in part
            if "functionCall" in part:
                _call(found, index, part["functionCall"], opened)
            elif "text" in part and not part.get("thought"):
                found.text[index] = found.text.get(index, "") + part["text"]
        if "finishReason" in candidate:
            assert index not in found.ends
            found.ends[index] = candidate["finishReason"]


def _call(found: Read, index: int, call: dict[str, Any], opened: dict[int, Any]) -> None:
    if index not in opened:
        opened[index] = call.get("args", {})
        found.calls.append((index, call["name"], opened[index]))
    for piece in call.get("partialArgs", []):
        _set(opened[index], piece)
    if not call.get("willContinue"):
        del opened[index]


def _set(target: Any, piece: dict[str, Any]) -> None:
    steps = [int(step) if step.isdigit() else step for step in _words(piece["jsonPath"])]
    for step, following in pairwise(steps):
        target = _child(target, step, [] if isinstance(following, int) else {})
    value = next((piece[name] for name in ("stringValue", "numberValue", "boolValue") if name in piece), None)
    before = (
        target.get(steps[-1]) if isinstance(target, dict) else (target[steps[-1]] if steps[-1] < len(target) else None)
    )
    value = before + value if isinstance(before, str) else value
    if isinstance(target, list) and steps[-1] == len(target):
        target.append(value)
    else:
        target[steps[-1]] = value


def _words(path: str) -> list[str]:
    return path[1:].replace("[", ".").replace("]", "").split(".")[1:]


def _child(target: Any, step: Any, fresh: Any) -> Any:
    if isinstance(target, list) and step == len(target):
        target.append(fresh)
    elif isinstance(target, dict):
        target.setdefault(step, fresh)
    return target[step]
