"""A client's reading of what left, with the grammar of each dialect: written from the documents, not from the product.

`read_anthropic` and `read_chat` raise AssertionError where the grammar is broken, and return the calls they found.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

MISSING = "a call without this member"


@dataclass
class Read:
    """`calls` are (choice, id, name, arguments as text); `strings` is every text of the response, joined."""

    calls: list[tuple[int, str, str, str]] = field(default_factory=list)
    reasons: dict[int, str | None] = field(default_factory=dict)
    text: dict[int, str] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)
    strings: str = ""


def frames(data: bytes) -> list[tuple[str | None, str]]:
    """(event, data) of each event, by the letter of the specification."""
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    assert lines[-2:] == [b"", b""] or data == b"", "the last event has no blank line"
    found: list[tuple[str | None, str]] = []
    event: str | None = None
    parts: list[bytes] = []
    for line in lines:
        if not line:
            if parts:
                found.append((event, b"\n".join(parts).decode()))
            event, parts = None, []
            continue
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            event = value.decode()
        elif name == b"data":
            parts.append(value)
        else:
            assert name in (b"", b"id", b"retry"), f"a line that is no field: {line!r}"
    return found


def strings_of(value: Any) -> str:
    """Every text and key of a value, joined in order."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "".join(strings_of(key) + strings_of(item) for key, item in value.items())
    if isinstance(value, list):
        return "".join(map(strings_of, value))
    return str(value)


def read_anthropic(data: bytes) -> Read:
    result = Read(reasons={0: None}, text={0: ""})
    blocks: list[dict[str, Any]] = []
    open_block: int | None = None
    seen: list[str] = []
    for event, raw in frames(data):
        value = json.loads(raw)
        kind = value["type"]
        assert event == kind, "the event is named otherwise than its data"
        result.strings += strings_of({key: item for key, item in value.items() if key != "type"})
        if kind == "ping":
            continue
        assert kind != "error", value
        seen.append(kind)
        match kind:
            case "content_block_start":
                assert open_block is None, "a block begins in another"
                assert value["index"] == len(blocks), "the index is not the block's place"
                open_block = value["index"]
                blocks.append({"pieces": "", "deltas": 0, **value["content_block"]})
            case "content_block_delta":
                assert value["index"] == open_block, "a delta outside its block"
                delta = value["delta"]
                block = blocks[-1]
                block["deltas"] += 1
                block["pieces"] += delta.get("partial_json", "")
                result.text[0] += delta.get("text", "")
            case "content_block_stop":
                assert value["index"] == open_block, "a stop outside its block"
                open_block = None
            case "message_delta":
                assert open_block is None
                result.reasons[0] = value["delta"]["stop_reason"]
                result.usage = value["usage"]
    assert seen[:1] == ["message_start"]
    assert seen.count("message_start") == 1
    assert seen[-2:] == ["message_delta", "message_stop"], seen[-2:]
    assert seen.count("message_delta") == seen.count("message_stop") == 1
    for block in blocks:
        assert block["type"] != "text" or block["deltas"]
        if block["type"] == "tool_use":
            arguments = block["pieces"] or json.dumps(block["input"])
            result.calls.append((0, block["id"], block["name"], arguments))
    assert (result.reasons[0] == "tool_use") == bool(result.calls)
    return result


def read_anthropic_body(data: bytes) -> Read:
    value = json.loads(data)
    result = Read(reasons={0: value["stop_reason"]}, text={0: ""}, usage=value["usage"], strings=strings_of(value))
    for block in value["content"]:
        if block["type"] == "tool_use":
            result.calls.append((0, block["id"], block["name"], json.dumps(block["input"])))
        result.text[0] += block.get("text", "")
    assert value["content"]
    assert (value["stop_reason"] == "tool_use") == bool(result.calls)
    return result


def read_chat(data: bytes, *, reasons_agree: bool = True) -> Read:
    result = Read()
    calls: dict[tuple[int, int], dict[str, Any]] = {}
    found = frames(data)
    assert found[-1][1] == "[DONE]"
    for _, raw in found[:-1]:
        value = json.loads(raw)
        assert "error" not in value, value
        result.strings += strings_of(value)
        result.usage = value.get("usage") or result.usage
        for choice in value["choices"]:
            index, delta = choice["index"], choice["delta"]
            result.text.setdefault(index, "")
            assert not result.reasons.get(index), "a choice goes on after its finish"
            result.reasons[index] = choice["finish_reason"] or None
            result.text[index] += delta.get("content") or ""
            assert delta.get("tool_calls") != [], "an empty list of calls"
            for fragment in delta.get("tool_calls") or ():
                _add_fragment(calls, index, fragment)
    for (choice_index, _), call in sorted(calls.items()):
        result.calls.append((choice_index, call["id"], call["name"], call["arguments"]))
    if reasons_agree:
        _check_reasons(result)
    return result


def _add_fragment(calls: dict[tuple[int, int], dict[str, Any]], choice: int, fragment: dict[str, Any]) -> None:
    key = (choice, fragment["index"])
    kind = "custom" if "custom" in fragment else "function"
    body = fragment.get(kind) or {}
    arguments = body.get("input" if kind == "custom" else "arguments") or ""
    assert isinstance(arguments, str), "arguments that are no text"
    if key not in calls:
        assert fragment["index"] == sum(one == choice for one, _ in calls), "call indexes are not dense"
        assert fragment["id"], "a first fragment without an id"
        assert body["name"], "a first fragment without a name"
        calls[key] = {"id": fragment["id"], "name": body["name"], "arguments": arguments}
        return
    assert not fragment.get("id"), "an id that is stated twice"
    assert not body.get("name"), "a name that is stated twice"
    calls[key]["arguments"] += arguments


def _check_reasons(result: Read) -> None:
    with_calls = {choice for choice, *_ in result.calls}
    for choice, reason in result.reasons.items():
        assert reason, "a choice without an end"
        assert (reason == "tool_calls") == (choice in with_calls), (reason, choice, result.calls)


def read_chat_body(data: bytes) -> Read:
    value = json.loads(data)
    result = Read(usage=value["usage"], strings=strings_of(value))
    for choice in value["choices"]:
        index, message = choice["index"], choice["message"]
        result.reasons[index] = choice["finish_reason"]
        result.text[index] = message.get("content") or ""
        assert message.get("tool_calls") != []
        for call in message.get("tool_calls") or ():
            body = call[call["type"]]
            result.calls.append((index, call["id"], body["name"], body.get("arguments", body.get("input"))))
    _check_reasons(result)
    return result
