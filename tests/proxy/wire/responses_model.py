"""Turns of `tests.strategies` as Responses streams and bodies, and a client's reading of what left.

Written from the documents, not from the product. `read_responses` raises AssertionError where the grammar is broken.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests import strategies as model
from tests.proxy.wire.grammar import Read, frames, strings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

TERMINAL = ("response.completed", "response.incomplete", "response.failed")


def item_of(part: model.Part, place: int) -> dict[str, Any]:
    match part:
        case model.Text(text=text):
            content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
            return {
                "id": f"msg_{place}",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": content,
            }
        case model.Thinking(text=text, signature=signature):
            summary = [{"type": "summary_text", "text": text}]
            return {"id": f"rs_{place}", "type": "reasoning", "summary": summary, "encrypted_content": signature}
        case model.ServerTool(id=own):
            return {
                "id": f"ws_{own}",
                "type": "web_search_call",
                "status": "completed",
                "action": {"type": "search", "query": "weather"},
            }
        case model.ToolUse(id=own, name=name, freeform=True):
            head = {"id": f"ctc_{place}", "type": "custom_tool_call", "status": "completed", "call_id": own}
            return {**head, "name": name, "input": part.arguments}
        case model.ToolUse(id=own, name=name):
            head = {"id": f"fc_{place}", "type": "function_call", "status": "completed", "call_id": own}
            return {**head, "name": name, "arguments": part.arguments}


def response(turn: model.Turn, status: str) -> dict[str, Any]:
    output = [item_of(part, place) for place, part in enumerate(turn.parts)] if status != "in_progress" else []
    usage = {"input_tokens": 5, "output_tokens": turn.output_tokens, "total_tokens": 5 + turn.output_tokens}
    details = {"max_output_tokens": None, "error": None, "incomplete_details": None, "metadata": {}}
    head = {"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", **details}
    return {**head, "output": output, "store": True, "usage": usage if output else None}


def responses_body(turn: model.Turn) -> bytes:
    return model.dump(response(turn, "completed")).encode()


def events(turn: model.Turn) -> list[dict[str, Any]]:
    started = response(turn, "in_progress")
    found: list[dict[str, Any]] = [
        {"type": "response.created", "response": started},
        {"type": "response.in_progress", "response": started},
    ]
    for place, part in enumerate(turn.parts):
        found += _item_events(part, place)
    found.append({"type": "response.completed", "response": response(turn, "completed")})
    return [{**event, "sequence_number": number} for number, event in enumerate(found)]


def _item_events(part: model.Part, place: int) -> list[dict[str, Any]]:
    whole = item_of(part, place)
    at = {"item_id": whole["id"], "output_index": place}
    start = dict(whole)
    middle: list[dict[str, Any]] = []
    match part:
        case model.Text(text=text):
            start |= {"status": "in_progress", "content": []}
            inner = {**at, "content_index": 0}
            half = len(text) // 2
            middle = [{"type": "response.content_part.added", **inner, "part": {**whole["content"][0], "text": ""}}]
            middle += [
                {"type": "response.output_text.delta", **inner, "delta": piece, "logprobs": []}
                for piece in (text[:half], text[half:])
            ]
            middle.append({"type": "response.output_text.done", **inner, "text": text, "logprobs": []})
            middle.append({"type": "response.content_part.done", **inner, "part": whole["content"][0]})
        case model.Thinking(text=text):
            start |= {"summary": []}
            middle = [{"type": "response.reasoning_summary_text.delta", **at, "summary_index": 0, "delta": text}]
        case model.ServerTool():
            start |= {"status": "in_progress"}
            middle = [{"type": "response.web_search_call.completed", **at}]
        case model.ToolUse(pieces=pieces, freeform=freeform):
            kind, member = ("custom_tool_call_input", "input") if freeform else ("function_call_arguments", "arguments")
            start |= {"status": "in_progress", member: ""}
            middle = [{"type": f"response.{kind}.delta", **at, "delta": piece} for piece in pieces]
            middle.append({"type": f"response.{kind}.done", **at, member: part.arguments})
    opening = {"type": "response.output_item.added", "output_index": place, "item": start}
    return [opening, *middle, {"type": "response.output_item.done", "output_index": place, "item": whole}]


def responses_frames(found: Sequence[dict[str, Any]]) -> list[list[str]]:
    return [[f"event: {event['type']}", f"data: {model.dump(event)}"] for event in found]


def responses_stream(turn: model.Turn, ending: bytes = b"\n") -> bytes:
    return model.framed(responses_frames(events(turn)), ending)


def _take(result: Read, item: dict[str, Any]) -> None:
    if item["type"] in ("function_call", "custom_tool_call"):
        result.calls.append((0, item["call_id"], item["name"], item.get("arguments", item.get("input"))))
    for part in item.get("content") or ():
        result.text[0] += part.get("text", "")


def read_responses(data: bytes) -> Read:
    """By the items that were done; the final snapshot must say the same, and so must the deltas."""
    result = Read(reasons={0: None}, text={0: ""})
    added: dict[int, Any] = {}
    done: dict[int, Any] = {}
    said: dict[int, str] = {}
    final: dict[str, Any] | None = None
    for number, (event, raw) in enumerate(frames(data)):
        value = json.loads(raw)
        kind, place = value["type"], value.get("output_index")
        assert event == kind, "the event is named otherwise than its data"
        assert value["sequence_number"] == number, "sequence numbers have a gap"
        assert final is None, "an event behind the end"
        result.strings += strings_of(value)
        if kind == "response.output_item.added":
            assert place == len(added), "output indexes are not dense"
            added[place] = value["item"]
        elif kind == "response.output_item.done":
            assert place in added
            assert place not in done
            assert value["item"]["id"] == added[place]["id"]
            done[place] = value["item"]
        elif place is not None:
            assert place in added
            assert place not in done, "an event of an item that is done"
            assert value.get("item_id", added[place]["id"]) == added[place]["id"]
            if isinstance(value.get("delta"), str):
                said[place] = said.get(place, "") + value["delta"]
        elif kind in TERMINAL:
            final = value["response"]
    assert final is not None
    items = [done[place] for place in sorted(done)]
    assert set(added) == set(done), "an item was not done"
    assert final["output"] == items, "the snapshot says something else"
    for place, item in done.items():
        _take(result, item)
        streamed = {"function_call": "arguments", "custom_tool_call": "input"}.get(item["type"])
        if streamed:
            assert said.get(place, "") == item[streamed], "the deltas say something else"
    result.usage, result.reasons[0] = final["usage"], final["status"]
    assert items
    return result


def read_responses_body(data: bytes) -> Read:
    value = json.loads(data)
    result = Read(reasons={0: value["status"]}, text={0: ""}, usage=value["usage"], strings=strings_of(value))
    for item in value["output"]:
        _take(result, item)
    assert value["output"]
    return result
