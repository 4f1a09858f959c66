"""Clients of several makes read what left; none of them may run what was not judged as it runs.

The makes differ in what they take for one call: the index, the place in a list, the first arguments that parse. The
streams are made of pieces that are each nearly right.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from interceptors.calls import Call, ToolCall
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.openai_chat import OPENAI_CHAT
from tests.replay import replay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 400
Ran = list[tuple[str, str | None]]
PIECES = [
    '{"a":',
    "1}",
    "9}",
    "{}",
    "",
    '{"a":1}',
    '{"a":9}',
    " ",
    "}",
    '{"a":1,',
    '"a":9}',
    '"b":2}',
    ",",
    "null",
    '"',
]


def harmless(call: Call) -> bool:
    return isinstance(call, ToolCall) and call.name in ("good", "read") and call.arguments.get("a") != 9


def spelled(arguments: Any) -> str | None:
    """The arguments in one spelling; None for what no client could run."""
    try:
        value = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except ValueError:
        return None
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else None


def events(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        if line.startswith(b"data: {"):
            yield json.loads(line[6:])


def fragments(data: bytes) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for value in events(data):
        for choice in value.get("choices", ()):
            for call in (choice.get("delta") or {}).get("tool_calls") or ():
                yield call, call.get("function") or {}


def by_index(data: bytes) -> Ran:
    """Names and arguments are joined under their index."""
    calls: dict[Any, list[str]] = {}
    for call, function in fragments(data):
        joined = calls.setdefault(call.get("index"), ["", ""])
        joined[0] += function.get("name") or ""
        joined[1] += function.get("arguments") or ""
    return [(name, spelled(arguments)) for name, arguments in calls.values()]


def by_id(data: bytes) -> Ran:
    """A new id begins a new call, as does a new index without one; other fragments belong to the call before."""
    calls: list[list[str]] = []
    known: set[object] = set()
    for call, function in fragments(data):
        key = call.get("id") or call.get("index")
        if key not in known and (call.get("id") or function.get("name")):
            calls.append(["", ""])
            known |= {key, call.get("index")}
        if calls:
            calls[-1][0] = function.get("name") or calls[-1][0]
            calls[-1][1] += function.get("arguments") or ""
    return [(name, spelled(arguments)) for name, arguments in calls]


def as_soon_as_it_parses(data: bytes) -> Ran:
    """A call runs with the first arguments that are whole JSON."""
    calls: dict[int, list[str]] = {}
    ran: Ran = []
    done: set[int] = set()
    for call, function in fragments(data):
        index = call.get("index")
        index = len(calls) if index is None else index
        if index in done:
            continue
        joined = calls.setdefault(index, [function.get("name") or "", ""])
        joined[1] += function.get("arguments") or ""
        if joined[1] and (found := spelled(joined[1])) is not None:
            ran.append((joined[0], found))
            done.add(index)
    return ran + [(name, spelled(text)) for index, (name, text) in calls.items() if index not in done]


def entry_by_entry(data: bytes) -> Ran:
    """Each entry with a name is a call, with what later chunks add under its index."""
    calls: dict[int, list[str]] = {}
    for value in events(data):
        for choice in value.get("choices", ())[:1]:
            fresh: set[int] = set()
            for call in (choice.get("delta") or {}).get("tool_calls") or ():
                function, index = call.get("function") or {}, call.get("index")
                if index in fresh:
                    continue
                fresh.add(index)
                joined = calls.setdefault(index, [function.get("name") or "", ""])
                joined[1] += function.get("arguments") or ""
    return [(name, spelled(arguments)) for name, arguments in calls.values()]


def blocks_by_index(data: bytes) -> Ran:
    """A block runs when it stops."""
    blocks: dict[int, list[Any]] = {}
    ran: Ran = []
    for value in events(data):
        kind = value["type"]
        if kind == "message_start":
            opening = value["message"].get("content") or ()
            ran += [(block["name"], spelled(block["input"])) for block in opening if block["type"] == "tool_use"]
        elif kind == "content_block_start":
            blocks[value["index"]] = [value["content_block"], ""]
        elif kind == "content_block_delta" and value["index"] in blocks:
            blocks[value["index"]][1] += value["delta"].get("partial_json", "")
        elif kind == "content_block_stop" and value["index"] in blocks:
            block, text = blocks.pop(value["index"])
            if block["type"] == "tool_use":
                ran.append((block["name"], spelled(text or block["input"])))
    return ran


def blocks_by_place(data: bytes) -> Ran:
    """A block is appended to a list, and addressed by its place there."""
    blocks: list[list[Any]] = []
    for value in events(data):
        kind = value["type"]
        if kind == "message_start":
            blocks += [[block, ""] for block in value["message"].get("content") or ()]
        elif kind == "content_block_start":
            blocks.append([value["content_block"], ""])
        elif kind == "content_block_delta" and value["index"] < len(blocks):
            blocks[value["index"]][1] += value["delta"].get("partial_json", "")
    used = [(block, text) for block, text in blocks if block["type"] == "tool_use"]
    return [(block["name"], spelled(text or block["input"])) for block, text in used]


def chat_stream(dice: random.Random) -> bytes:
    def call() -> dict[str, Any]:
        function = {
            "name": dice.choice(["good", "good", "read", "evil", "", "go", None]),
            "arguments": dice.choice([*PIECES, {"a": 1}, {"a": 9}]),
        }
        made = {
            "index": dice.choice([0, 0, 0, 1, 1, 2, None, 5]),
            "id": dice.choice(["c1", "c1", "c2", "c3", "", None]),
            "type": dice.choice(["function", "function", "function", "custom", None]),
            "function": {name: value for name, value in function.items() if dice.random() < 0.6},
            "custom": {"name": "evil", "input": "9"},
        }
        often = {"index": 0.85, "id": 0.5, "type": 0.5, "function": 0.95, "custom": 0.05}
        return {name: value for name, value in made.items() if dice.random() < often[name]}

    def chunk() -> bytes:
        calls = [call() for _ in range(dice.choice([0, 1, 1, 1, 2]))]
        reason = dice.choice([None] * 6 + ["tool_calls", "stop", "length"])
        choice = {"index": 0, "delta": {"tool_calls": calls} if calls else {}, "finish_reason": reason}
        value = {"object": "chat.completion.chunk", "choices": [choice]}
        return b"data: " + json.dumps(value).encode() + b"\n\n"

    return b"".join(chunk() for _ in range(dice.randint(1, 7))) + dice.choice([b"", b"data: [DONE]\n\n"])


def anthropic_stream(dice: random.Random) -> bytes:
    def event(value: dict[str, Any]) -> bytes:
        return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()

    def tool(call_id: str) -> dict[str, Any]:
        name, given = dice.choice(["good", "good", "read", "evil"]), dice.choice([{}, {}, {}, {"a": 1}, {"a": 9}])
        return {"type": "tool_use", "id": call_id, "name": name, "input": given}

    def made() -> dict[str, Any]:
        index = dice.choice([0, 0, 0, 1, 1, 2])
        others = [{"type": "text", "text": ""}, {"type": "server_tool_use", "id": "s", "name": "evil", "input": {}}]
        block = dice.choice([tool(dice.choice(["t1", "t2"])), *others])
        text = {"type": "input_json_delta", "partial_json": dice.choice(PIECES)}
        reason = dice.choice(["tool_use", "end_turn", "max_tokens", None])
        choices: list[tuple[float, dict[str, Any]]] = [
            (6, {"type": "content_block_start", "index": index, "content_block": block}),
            (7, {"type": "content_block_delta", "index": index, "delta": text}),
            (5, {"type": "content_block_stop", "index": index}),
            (1, {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}}),
            (0.5, {"type": "message_stop"}),
            (0.5, {"type": "message_start", "message": {"content": dice.choice([[], [tool("t9")]])}}),
        ]
        return dice.choices([value for _, value in choices], [weight for weight, _ in choices])[0]

    opening = event({"type": "message_start", "message": {"content": []}})
    return opening + b"".join(event(made()) for _ in range(dice.randint(2, 10)))


CLIENTS: list[Callable[[bytes], Ran]] = [
    by_index,
    by_id,
    as_soon_as_it_parses,
    entry_by_entry,
    blocks_by_index,
    blocks_by_place,
]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_a_client_runs_nothing_but_what_was_judged(client: Callable[[bytes], Ran], seed: int) -> None:
    """Each call that a client finds was released, with these arguments, and as often."""
    is_chat = not client.__name__.startswith("blocks")
    dialect, stream = (OPENAI_CHAT, chat_stream) if is_chat else (ANTHROPIC_MESSAGES, anthropic_stream)
    dice = random.Random(seed)
    ran = 0
    for _ in range(ROUNDS):
        data = stream(dice)
        result = replay(dialect, data, harmless)
        released = Counter((call.name, spelled(dict(call.arguments))) for call in result.ran)
        found = Counter((name, arguments) for name, arguments in client(result.data) if arguments is not None)
        assert found <= released, (data, result.data)
        ran += sum(found.values())
    assert ran, "these streams release nothing: the test cannot fail"
