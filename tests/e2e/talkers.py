"""Clients as they are: each holds its conversation in its own spelling, and sends back what it was given, changed so.

A habit is kept for a whole conversation, as a real client keeps it. None of them breaks a history by itself: what a
provider refuses without a gate between is not the gate's to survive.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo.turns import Dialect
from tests.e2e.client import events

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

Message = dict[str, Any]
THINKING = ("thinking", "redacted_thinking")
TOOLS = (
    "read_allowed",
    "write_allowed",
    "read_refused",
    "write_refused",
    "write_escalated",
    "write_unclear",
    "read_broken",
)


NOTHING = "(nothing)"
"""What a client writes where nothing is left of a turn."""


@dataclass(frozen=True, slots=True)
class Habits:
    """What a client does to what it was given."""

    drops_thinking: bool = False
    keeps_latest: bool = False  # of the thinking, that of the newest turn
    merges_text: bool = False
    reencodes: bool = False
    strips_unknown: bool = False
    reorders: bool = False

    def names(self) -> Iterator[str]:
        return (name for name in self.__slots__ if getattr(self, name))

    @property
    def keeps_thinking(self) -> bool:
        return not self.drops_thinking and not self.keeps_latest


def random_habits(dice: random.Random) -> Habits:
    """A third of all clients change nothing."""
    if dice.random() < 0.34:
        return Habits()
    drops = dice.random()
    return Habits(
        drops_thinking=drops < 0.3,
        keeps_latest=0.3 <= drops < 0.4,
        merges_text=dice.random() < 0.4,
        reencodes=dice.random() < 0.4,
        strips_unknown=dice.random() < 0.4,
        reorders=dice.random() < 0.4,
    )


@dataclass(slots=True)
class Talk:
    """One conversation of one client. `messages` are what it sends next time, but for its newest words."""

    dialect: Dialect
    streamed: bool
    habits: Habits
    seed: int
    variant: int = 0
    messages: list[Message] = field(default_factory=list)
    extra: Message = field(default_factory=dict)  # members of the request

    def body(self) -> bytes:
        """The next request."""
        messages = _latest_only(self.messages) if self.habits.keeps_latest else self.messages
        name = f"{self.seed}.{self.variant}"
        body: Message = {"model": "scripted", "stream": self.streamed, "messages": messages}
        if self.dialect is Dialect.ANTHROPIC:
            body |= {"max_tokens": 100_000, "metadata": {"user_id": name}, "system": "You are a desk."}
            body["tools"] = [{"name": tool, "input_schema": _schema(tool)} for tool in TOOLS]
        else:
            body |= {"user": name}
            body["tools"] = [
                {"type": "function", "function": {"name": tool, "parameters": _schema(tool)}} for tool in TOOLS
            ]
            if self.streamed:
                body["stream_options"] = {"include_usage": True}
        return orjson.dumps(body | self.extra)

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def take(self, message: Message) -> None:
        """The turn as this client keeps it."""
        change = changed_anthropic if self.dialect is Dialect.ANTHROPIC else changed_chat
        self.messages.append(change(copy.deepcopy(message), self.habits))

    def answer(self, words: str, more: str = "") -> None:
        """The results of the last turn's calls, and perhaps more words of the user's."""
        results = [(identifier, f"{words} {number}") for number, identifier in enumerate(self.calls())]
        if self.dialect is Dialect.CHAT:
            for identifier, text in results:
                self.messages.append({"role": "tool", "tool_call_id": identifier, "content": text})
            if more:
                self.say(more)
            return
        blocks: list[Message] = [
            {"type": "tool_result", "tool_use_id": identifier, "content": text} for identifier, text in results
        ]
        self.messages.append({"role": "user", "content": [*blocks, *([_text(more)] if more else [])]})

    def filled_in(self) -> bool:
        """Whether the newest turn said nothing that may be sent, so that words of the client's own stand there."""
        return _text(NOTHING) in _blocks(self.messages[-1])

    def calls(self) -> list[str]:
        """The ids of the calls that the newest message asks for."""
        last = self.messages[-1] if self.messages else {}
        if last.get("role") != "assistant":
            return []
        if self.dialect is Dialect.CHAT:
            return [call["id"] for call in last.get("tool_calls") or ()]
        return [block["id"] for block in _blocks(last) if block["type"] == "tool_use"]

    def user_places(self) -> list[int]:
        """Where a user's own words stand alone."""
        return [
            place
            for place, message in enumerate(self.messages)
            if message["role"] == "user" and isinstance(message["content"], str)
        ]

    def rewind(self, place: int) -> None:
        """Back to before the user's words at that place."""
        del self.messages[place:]

    def compact(self, place: int) -> None:
        """All before that place becomes a summary, and no thinking is kept, since it would be refused."""
        summary: Message = {"role": "user", "content": f"Summary of {place} messages."}
        nod: Message = {"role": "assistant", "content": "I see."}
        self.messages = [summary, nod, *map(_without_thinking, self.messages[place:])]

    def fork(self) -> Talk:
        return replace(self, messages=copy.deepcopy(self.messages))


def read_turn(dialect: Dialect, body: bytes, *, streamed: bool) -> Message | None:
    """The assistant message that a client makes of an answer; None where it was cut off or says an error."""
    if not streamed:
        document = orjson.loads(body)
        if dialect is Dialect.CHAT:
            found: Message = document["choices"][0]["message"]
            return found
        return {"role": "assistant", "content": document["content"]}
    return _read_anthropic(body) if dialect is Dialect.ANTHROPIC else _read_chat(body)


def _read_anthropic(body: bytes) -> Message | None:
    blocks: list[Message] = []
    inputs: dict[int, str] = {}
    started = ended = False
    for event in _events(body):
        match event["type"]:
            case "error":
                return None
            case "message_start":
                assert not started, "a second start"
                started = True
            case "content_block_start":
                assert event["index"] == len(blocks), "indexes are dense"
                blocks.append(event["content_block"])
            case "content_block_delta":
                _add(blocks, inputs, event["index"], event["delta"])
            case "message_stop":
                ended = True
    for place, text in inputs.items():
        blocks[place]["input"] = orjson.loads(text or "{}")
    return {"role": "assistant", "content": blocks} if ended else None


def _add(blocks: list[Message], inputs: dict[int, str], index: int, delta: Message) -> None:
    assert index == len(blocks) - 1, "a delta of the block that is open"
    match delta["type"]:
        case "text_delta":
            blocks[index]["text"] += delta["text"]
        case "thinking_delta":
            blocks[index]["thinking"] += delta["thinking"]
        case "signature_delta":
            blocks[index]["signature"] = delta["signature"]
        case "input_json_delta":
            inputs[index] = inputs.get(index, "") + delta["partial_json"]


def _read_chat(body: bytes) -> Message | None:
    message: Message = {"role": "assistant", "content": None}
    calls: list[Message] = []
    identity = set()
    ended = False
    for event in _events(body):
        if event == "[DONE]":
            ended = True
            continue
        if "error" in event:
            return None
        identity.update([event["id"]] if event["choices"] else [])  # Azure's first chunk has none
        for choice in event["choices"]:
            delta = choice["delta"]
            if delta.get("content") is not None:
                message["content"] = (message["content"] or "") + delta["content"]
            for call in delta.get("tool_calls") or ():
                if call["index"] == len(calls):
                    calls.append({"id": call["id"], "type": "function", "function": {**call["function"]}})
                else:
                    assert call["index"] == len(calls) - 1, "indexes are dense"
                    calls[-1]["function"]["arguments"] += call["function"]["arguments"]
    assert len(identity) <= 1, "one id"
    if calls:
        message["tool_calls"] = calls
    elif message["content"] is None:
        message["content"] = ""
    return message if ended else None


def _events(body: bytes) -> list[Any]:
    return events(body) if body.endswith(b"\n\n") else []


def changed_anthropic(message: Message, habits: Habits) -> Message:
    """A turn as such a client keeps it."""
    blocks = [block for block in message["content"] if not (habits.drops_thinking and block["type"] in THINKING)]
    blocks = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    if habits.merges_text:
        blocks = _merged(blocks)
    if habits.reencodes:
        for block in blocks:
            if block["type"] == "tool_use":
                block["input"] = dict(reversed(block["input"].items()))
    if habits.strips_unknown:
        blocks = [{key: value for key, value in block.items() if key != "caller"} for block in blocks]
    if habits.reorders:
        blocks = [dict(reversed(block.items())) for block in blocks]
    if all(block["type"] in THINKING for block in blocks):  # so that what is left stands there from the first on
        blocks.append(_text(NOTHING))
    return {"role": "assistant", "content": blocks}


def _merged(blocks: list[Message]) -> list[Message]:
    merged: list[Message] = []
    for block in blocks:
        if block["type"] == "text" and merged and merged[-1]["type"] == "text":
            merged[-1] = _text(f"{merged[-1]['text']}\n{block['text']}")
        else:
            merged.append(block)
    return merged


def changed_chat(message: Message, habits: Habits) -> Message:
    """A turn as such a client keeps it."""
    kept = {key: value for key, value in message.items() if value is not None or key == "content"}
    if habits.strips_unknown:
        kept = {key: value for key, value in kept.items() if key in ("role", "content", "tool_calls")}
    if habits.merges_text and not kept.get("content"):
        kept["content"] = "" if not kept.get("tool_calls") else None
    if habits.reencodes:
        for call in kept.get("tool_calls") or ():
            arguments = dict(reversed(orjson.loads(call["function"]["arguments"]).items()))
            call["function"]["arguments"] = orjson.dumps(arguments, option=orjson.OPT_INDENT_2).decode()
    return dict(reversed(kept.items())) if habits.reorders else kept


def _latest_only(messages: list[Message]) -> list[Message]:
    last = max((place for place, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    return [message if place == last else _without_thinking(message) for place, message in enumerate(messages)]


def _without_thinking(message: Message) -> Message:
    if message["role"] != "assistant" or not isinstance(message["content"], list):
        return message
    kept = [block for block in message["content"] if block["type"] not in THINKING]
    return {**message, "content": kept or [_text(NOTHING)]}


def _blocks(message: Message) -> list[Message]:
    content = message["content"]
    return content if isinstance(content, list) else []


def _text(text: str) -> Message:
    return {"type": "text", "text": text}


def _schema(tool: str) -> Message:
    required = ["n"] if tool == "write_unclear" else []
    return {"type": "object", "properties": {"n": {"type": "number"}}, "required": required}
