"""Answers made to keep the gate busy: many calls, long names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interceptors import strict_json
from interceptors.calls import Cause
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.assembly import CALLS_MAX, NAME_LENGTH_MAX
from proxy.wire.events import Breach, CallCompleted, Observed, WireBroken
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.sse import Frame, event_frame


def block(number: int, kind: str = "tool_use", name: str = "good") -> dict[str, Any]:
    return {"type": kind, "id": f"toolu_{number}", "name": name, "input": {}}


def tool(number: int, name: str = "good") -> dict[str, Any]:
    call = {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {"index": number, **call}


def frame(value: dict[str, Any]) -> Frame:
    data = json.dumps(value).encode()
    event = value.get("type")
    return Frame(event_frame(event, data), event, data)


def chat(calls: list[dict[str, Any]], part: str) -> Frame:
    return frame({"choices": [{"index": 0, part: {"tool_calls": calls}, "finish_reason": "tool_calls"}]})


def last_event(count: int, kind: str, name: str = "good") -> list[Any]:
    """What the reader says in the end of an answer of so many calls."""
    if kind == "chat-body":
        return OPENAI_CHAT.reader(False, frozenset()).receive(chat([tool(i, name) for i in range(count)], "message"))
    if kind == "chat-stream":
        reader = OPENAI_CHAT.reader(True, frozenset())
        return [event for i in range(count) for event in reader.receive(chat([tool(i, name)], "delta"))]
    if kind == "anthropic-body":
        body = {"type": "message", "content": [block(i, name=name) for i in range(count)], "stop_reason": "tool_use"}
        return ANTHROPIC_MESSAGES.reader(False, frozenset()).receive(frame(body))
    stream = ANTHROPIC_MESSAGES.reader(True, frozenset())
    starts = [
        {"type": "content_block_start", "index": i, "content_block": block(i, kind.removeprefix("anthropic-"), name)}
        for i in range(count)
    ]
    return [
        event
        for start in starts
        for each in (start, {"type": "content_block_stop", "index": start["index"]})
        for event in stream.receive(frame(each))
    ]


KINDS = ["chat-body", "chat-stream", "anthropic-body", "anthropic-tool_use", "anthropic-server_tool_use"]


@pytest.mark.parametrize("kind", KINDS)
def test_more_calls_than_the_limit_break_the_turn(kind: str) -> None:
    """20,000 calls in 4 MB held the loop for a minute: each is judged, and each frame looked at all of them."""
    kept = [event for event in last_event(CALLS_MAX, kind) if isinstance(event, CallCompleted | Observed)]
    assert len(kept) == CALLS_MAX
    events = last_event(CALLS_MAX + 1, kind)
    assert WireBroken(Breach.TOO_MUCH) in events


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_of_megabytes_breaks_the_turn(kind: str) -> None:
    """Folding, logging and keeping it cost seconds."""
    assert WireBroken(Breach.TOO_MUCH) not in last_event(1, kind, "n" * NAME_LENGTH_MAX)
    assert WireBroken(Breach.TOO_MUCH) in last_event(1, kind, "n" * (NAME_LENGTH_MAX + 1))


def test_a_type_that_may_pass_is_noted_once_however_often_it_comes() -> None:
    """One receipt for it, not one for each piece of a stream."""
    reader = OPENAI_CHAT.reader(True, frozenset({"musing"}))
    part = {"choices": [{"index": 0, "delta": {"content": [{"type": "musing", "text": "hm"}]}}]}
    events = [event for _ in range(CALLS_MAX * 2) for event in reader.receive(frame(part))]
    assert [event for event in events if isinstance(event, Observed)] == [Observed("musing")]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"a":[' + "1.5," * strict_json.VALUES_MAX + "1]}", Cause.TOO_LARGE),
        ('{"a":' + "[" * 64 + "]" * 64 + "}", Cause.TOO_DEEP),
        ("[" + "[]," * 600_000 + "[]]", Cause.TOO_LARGE),
        ("[" + "1," * 2_100_000 + "1]", Cause.TOO_LARGE),
    ],
)
def test_a_document_of_too_many_values_is_refused_before_they_are_looked_at(text: str, cause: Cause) -> None:
    """A million numbers in the arguments of one call took seconds of the loop."""
    with pytest.raises(strict_json.StrictJsonError) as caught:
        strict_json.parse(text)
    assert caught.value.cause is cause


def test_a_long_text_and_the_deepest_nesting_are_read() -> None:
    """The bounds are on values, not on what a text holds."""
    assert strict_json.parse('{"a":"' + "x,[" * 100_000 + '"}')
    assert strict_json.parse("[" * strict_json.DEPTH_MAX + "]" * strict_json.DEPTH_MAX)
