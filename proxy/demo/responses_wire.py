"""A turn in the grammar of OpenAI Responses: items, the events of a stream, the body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo.anthropic_wire import fragments
from proxy.demo.turns import Block, Call, Text, Thinking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from proxy.demo.identifiers import Identifiers
    from proxy.demo.turns import Document, Part, Turn

CREATED = 1_796_040_000


def items_of(turn: Turn, identifiers: Identifiers, *, encrypted: bool) -> list[Document]:
    """The output of a turn. A `Block` states its item whole; a missing id or call id is made."""
    return [_item(part, identifiers, encrypted=encrypted) for part in turn.parts]


def _item(part: Part, identifiers: Identifiers, *, encrypted: bool) -> Document:
    match part:
        case Text(text):
            content = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
            head = {"id": identifiers.next("msg_", 48), "type": "message", "status": "completed"}
            return {**head, "content": [content], "role": "assistant"}
        case Thinking(text):
            summary = [{"type": "summary_text", "text": text}] if text else []
            item = {"id": identifiers.next("rs_", 48), "type": "reasoning", "summary": summary}
            return item | ({"encrypted_content": identifiers.next("gAAAAA", 60)} if encrypted else {})
        case Call(custom=True):
            head = {"id": identifiers.next("ctc_", 48), "type": "custom_tool_call", "status": "completed"}
            return {**head, "call_id": part.id or identifiers.next("call_", 24), "input": part.arguments} | {
                "name": part.name
            }
        case Call():
            head = {"id": identifiers.next("fc_", 48), "type": "function_call", "status": "completed"}
            named = {"call_id": part.id or identifiers.next("call_", 24), "name": part.name}
            return {**head, "arguments": part.arguments, **named}
        case Block(whole=whole):
            own = {"id": identifiers.next("it_", 48)}
            if whole["type"].endswith("_call"):
                own["call_id"] = identifiers.next("call_", 24)
            return {**own, **whole}


def response_of(identifier: str, request: Document, items: Sequence[Document], turn: Turn, status: str) -> Document:
    """The response object with this output, as it stands at that status."""
    counted, done = turn.counted, status in ("completed", "incomplete")
    usage = {
        "input_tokens": counted.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": counted.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": counted.input_tokens + counted.output_tokens,
    }
    conversation = request.get("conversation")
    name = conversation.get("id") if isinstance(conversation, dict) else conversation
    return {
        "id": identifier,
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": False,
        "conversation": {"id": name} if name else None,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": request.get("instructions"),
        "max_output_tokens": request.get("max_output_tokens"),
        "model": request["model"],
        "output": list(items),
        "parallel_tool_calls": True,
        "previous_response_id": request.get("previous_response_id"),
        "store": request.get("store", True) is not False,
        "temperature": 1.0,
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools", []),
        "usage": usage if done else None,
        "metadata": {},
    }


def body(response: Document) -> bytes:
    return orjson.dumps(response, option=orjson.OPT_INDENT_2)


def events(response: Document, fragment_chars: int) -> list[bytes]:
    """The frames of a stream that ends with this response."""
    begun = response | {"status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    found: list[Document] = [{"type": f"response.{name}", "response": begun} for name in ("created", "in_progress")]
    for place, item in enumerate(response["output"]):
        found += _item_events(item, place, fragment_chars)
    found.append({"type": f"response.{response['status']}", "response": response})
    return [frame(event | {"sequence_number": number}) for number, event in enumerate(found)]


def frame(event: Document) -> bytes:
    return b"event: " + str(event["type"]).encode() + b"\ndata: " + orjson.dumps(event) + b"\n\n"


def _item_events(item: Document, place: int, chars: int) -> Iterator[Document]:
    begun = dict(item)
    if "status" in item:
        begun["status"] = "in_progress"
    at: dict[str, Any] = {"item_id": item["id"], "output_index": place}
    middle: list[Document] = []
    match item["type"]:
        case "message":
            begun["content"], (part,) = [], item["content"]
            inner = {**at, "content_index": 0}
            middle = [{"type": "response.content_part.added", **inner, "part": part | {"text": ""}}]
            for piece in fragments(part["text"], chars):
                middle.append({"type": "response.output_text.delta", **inner, "delta": piece, "logprobs": []})
            middle.append({"type": "response.output_text.done", **inner, "text": part["text"], "logprobs": []})
            middle.append({"type": "response.content_part.done", **inner, "part": part})
        case "function_call":
            begun["arguments"] = ""
            name = "response.function_call_arguments"
            middle = [{"type": f"{name}.delta", **at, "delta": piece} for piece in fragments(item["arguments"], chars)]
            middle.append({"type": f"{name}.done", **at, "arguments": item["arguments"]})
        case "custom_tool_call":
            begun["input"] = ""
            name = "response.custom_tool_call_input"
            middle = [{"type": f"{name}.delta", **at, "delta": piece} for piece in fragments(item["input"], chars)]
            middle.append({"type": f"{name}.done", **at, "input": item["input"]})
        case "reasoning":
            begun["summary"] = []
        case _:
            pass
    yield {"type": "response.output_item.added", "output_index": place, "item": begun}
    yield from middle
    yield {"type": "response.output_item.done", "output_index": place, "item": item}
