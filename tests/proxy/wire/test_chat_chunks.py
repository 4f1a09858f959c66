"""Chunks of Chat answers: what nearly all of them say is read by a shorter way, and read alike."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.wire.assembly import StepError, TooMuchError
from proxy.wire.chat_calls import ChatCalls, WrongShapeError

NUMBERS = st.sampled_from([0, 1, 2, True, -1, 0.0, "0", None])
TEXTS = st.sampled_from(["", "{", '"a":1', "}", "{}", None, {}, {"a": 1}, 7, []])
NAMES = st.sampled_from(["pay", "look", ""])
BODIES = st.fixed_dictionaries({}, optional={"arguments": TEXTS, "name": NAMES, "Arguments": TEXTS, "input": TEXTS})
MORE = st.fixed_dictionaries({"index": st.integers(0, 2), "function": st.fixed_dictionaries({"arguments": TEXTS})})
CALLS = st.one_of(
    MORE,
    MORE,
    st.fixed_dictionaries(
        {},
        optional={
            "index": NUMBERS,
            "id": st.sampled_from(["call_1", "call_2", ""]),
            "function": BODIES,
            "custom": BODIES,
            "Function": BODIES,
            "extra": st.integers(0, 1),
        },
    ),
)
REASONS = ["tool_calls", "length"]
TEXT = ["", "a", None, 7, [], [{"type": "text", "text": "a"}], [{"type": "tool_use"}], [{}]]
ODD: dict[str, dict[str, list[Any]]] = {  # what may stand in a chunk beside what nearly all say, or in its place
    "chunk": {
        "choices": [None, {}, [], [7]],
        "object": ["other", None],
        "Choices": [None],
        "delta": [None],
        "usage": [None, {}],
    },
    "choice": {
        "index": [1, 1023, 1024, -1, True, None, "0", 0.0],
        "delta": [None, [], {}, "a"],
        "message": [None, {}, {"content": "a"}, {"tool_calls": [{}]}],
        "finish_reason": ["tool_calls", "length", "", 0, False, []],
        "tool_calls": [None],
        "Delta": [None],
        "logprobs": [{}],
        "text": ["a"],
    },
    "delta": {
        "content": TEXT,
        "reasoning": TEXT,
        "tool_calls": [None, [], [7], {}, [{}], [{"index": 0}, {"index": 1}]],
        "Tool_calls": [[]],
        "function_call": [None, {}, {"name": "pay"}],
        "unknown": TEXT,
        "executed_tools": [[{}]],
    },
}


def of(delta: dict[str, Any]) -> dict[str, Any]:
    """A chunk of one choice that goes on."""
    return {"object": "chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


@st.composite
def chunks_of_one(draw: st.DrawFn) -> dict[str, Any]:
    """Text, or more of a call, with at most two odd things."""
    call = draw(st.one_of(MORE, CALLS))
    delta = draw(st.sampled_from([{}, {"content": "a"}, {"tool_calls": [call]}]))
    chunk = of(delta)
    parts = {"chunk": chunk, "choice": chunk["choices"][0], "delta": delta}
    for _ in range(draw(st.integers(0, 2))):
        part, member, value = draw(st.sampled_from(ODDITIES))
        parts[part][member] = value
    return chunk


ODDITIES = [
    (part, member, one) for part, members in ODD.items() for member, values in members.items() for one in values
]


def read(chunks: list[dict[str, Any]], part: str) -> list[Any]:
    """What is said of each chunk, up to the first that breaks the stream, and of the end."""
    calls = ChatCalls(frozenset())
    said: list[Any] = []
    for value in chunks:
        try:
            said.append(calls.chunk(json.dumps(value).encode(), value, part))
        except (StepError, TooMuchError, WrongShapeError) as error:
            return [*said, type(error)]
    return [*said, calls.finish_all(), calls.cut_all()]


def longer(chunk: dict[str, Any]) -> dict[str, Any]:
    """It says the same: each of its calls also that its type is none, and it what no table knows."""
    chunk = json.loads(json.dumps(chunk))
    choices = chunk.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        delta = choice.get("delta") if isinstance(choice, dict) else None
        calls = delta.get("tool_calls") if isinstance(delta, dict) else None
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                call.setdefault("type", None)
    return {**chunk, "unknown": None}


FIRST = [{"index": number, "id": f"c{number}", "function": {"name": "pay", "arguments": ""}} for number in (0, 1)]
FREE = {"index": 2, "id": "c2", "type": "custom", "custom": {"name": "pay", "input": ""}}


def check(chunks: list[dict[str, Any]], part: str, reason: str = "tool_calls") -> None:
    """Between the beginning of three calls and an end, these chunks are read as they are by the longer way."""
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    chunks = [of({"tool_calls": [*FIRST, FREE]}), *chunks, last]
    assert read(chunks, part) == read([longer(chunk) for chunk in chunks], part)
    assert read(chunks[1:], part) == read([longer(chunk) for chunk in chunks[1:]], part)


@pytest.mark.parametrize("part", ["delta", "message"])
@pytest.mark.parametrize("said", [{"content": "a"}, {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}])
def test_each_odd_thing_is_seen(said: dict[str, Any], part: str) -> None:
    """Text, and more arguments of one call, are read by shorter ways; anything else beside them is not overlooked."""
    for place, member, value in ODDITIES:
        chunk = of(dict(said))
        {"chunk": chunk, "choice": chunk["choices"][0], "delta": chunk["choices"][0]["delta"]}[place][member] = value
        check([chunk, of(said)], part)


@settings(max_examples=300)
@given(st.lists(chunks_of_one(), max_size=5), st.sampled_from(["delta", "message"]), st.sampled_from(REASONS))
def test_what_nearly_all_chunks_say_is_read_as_any_other_is(
    chunks: list[dict[str, Any]], part: str, reason: str
) -> None:
    """The same of any of them together, and of fragments of each shape."""
    check(chunks, part, reason)
