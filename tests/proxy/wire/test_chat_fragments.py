"""Fragments of Chat calls: the one that says nothing but more arguments is read by a shorter way, and read alike."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
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
CHOICES = st.fixed_dictionaries(
    {"index": st.integers(0, 1), "delta": st.fixed_dictionaries({"tool_calls": st.lists(CALLS, max_size=3)})},
    optional={"finish_reason": st.sampled_from(["tool_calls", "length", None])},
)
FRAGMENTS = MORE.map(lambda call: [{"index": 0, "delta": {"tool_calls": [call]}}])
CHUNKS = st.lists(st.one_of(FRAGMENTS, st.lists(CHOICES, max_size=2)), max_size=8)


def read(chunks: list[list[dict[str, Any]]], part: str) -> list[Any]:
    """What is said of each chunk, up to the first that breaks the stream, and of the end."""
    calls = ChatCalls(frozenset())
    said: list[Any] = []
    for choices in chunks:
        value = {"choices": [{**{k: v for k, v in one.items() if k != "delta"}, part: one["delta"]} for one in choices]}
        raw = json.dumps(value).encode()
        try:
            said.append(calls.chunk(raw, json.loads(raw), part))
        except (StepError, TooMuchError, WrongShapeError) as error:
            return [*said, type(error)]
    return [*said, calls.finish_all(), calls.cut_all()]


@given(CHUNKS, st.sampled_from(["delta", "message"]), st.sampled_from(["tool_calls", "length"]))
def test_more_arguments_are_read_as_any_fragment_is(chunks: list[list[dict[str, Any]]], part: str, reason: str) -> None:
    """A fragment that also says that its type is none says the same, and is looked at as any other."""
    first = [{"index": number, "id": f"c{number}", "function": {"name": "pay", "arguments": ""}} for number in (0, 1)]
    free = {"index": 2, "id": "c2", "type": "custom", "custom": {"name": "pay", "input": ""}}
    last = {"index": 0, "delta": {"tool_calls": []}, "finish_reason": reason}
    chunks = [[{"index": 0, "delta": {"tool_calls": [*first, free]}}], *chunks, [last]]
    longer: list[list[dict[str, Any]]] = [
        [
            {**one, "delta": {"tool_calls": [{"type": None, **call} for call in one["delta"]["tool_calls"]]}}
            for one in choices
        ]
        for choices in chunks
    ]
    assert read(chunks, part) == read(longer, part)
