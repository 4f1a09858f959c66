"""Fragments of a Chat call that clients read and the gate did not judge."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interceptors.calls import Call, ToolCall
from proxy.wire.openai_chat import OPENAI_CHAT
from tests.replay import Replay, replay

EVIL = '{"a":9}'


def harmless(call: Call) -> bool:
    """The rule of the policy: nine is too much."""
    return isinstance(call, ToolCall) and call.arguments.get("a") != 9


def chunk(*choices: tuple[int, list[dict[str, Any]]], reason: str | None = None) -> bytes:
    stated = [
        {"index": index, "delta": {"tool_calls": calls} if calls else {}, "finish_reason": reason}
        for index, calls in choices
    ]
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": stated}).encode() + b"\n\n"


def start(arguments: str = "") -> dict[str, Any]:
    return {"index": 0, "id": "call_1", "type": "function", "function": {"name": "pay", "arguments": arguments}}


def more(arguments: str, **members: Any) -> dict[str, Any]:
    return {"index": 0, "function": {"arguments": arguments}, **members}


END = chunk((0, []), reason="tool_calls") + b"data: [DONE]\n\n"


def entries(result: Replay) -> list[dict[str, Any]]:
    """Each entry of each `tool_calls` that left."""
    data = [json.loads(line[6:]) for line in result.data.split(b"\n") if line.startswith(b"data: {")]
    choices = [choice for value in data for choice in value.get("choices", ())]
    return [call for choice in choices for call in choice.get("delta", {}).get("tool_calls", ())]


@pytest.mark.parametrize("kind", ["custom", "other"])
def test_arguments_under_another_type_are_not_left_out_of_the_verdict(kind: str) -> None:
    """Clients look at the type of the first fragment only, and append what any later one brings."""
    result = replay(OPENAI_CHAT, chunk((0, [start()])) + chunk((0, [more(EVIL, type=kind)])) + END, harmless)
    assert not result.ran
    assert not entries(result)


def test_arguments_of_a_function_are_none_of_free_text() -> None:
    """A call that began as free text goes on as a function: clients read the one or the other."""
    first = {"index": 0, "id": "call_1", "type": "custom", "custom": {"name": "pay", "input": "x"}}
    result = replay(OPENAI_CHAT, chunk((0, [first])) + chunk((0, [more(EVIL)])) + END, harmless)
    assert not result.ran


def test_of_interleaved_calls_the_token_limit_cuts_the_one_that_was_written_to_last() -> None:
    """Its arguments may be a whole object and yet not be all."""
    second = {"index": 1, "id": "call_2", "type": "function", "function": {"name": "pay", "arguments": "{}"}}
    opened = chunk((0, [start()])) + chunk((0, [second])) + chunk((0, [more('{"a":1}')]))
    result = replay(OPENAI_CHAT, opened + chunk((0, []), reason="length") + b"data: [DONE]\n\n", harmless)
    assert not result.ran


def test_a_member_of_a_fragment_does_not_replace_what_was_judged() -> None:
    """The canonical form says what was judged, whatever else came with the call."""
    odd = {**start("{}"), "index": 3, "custom": None}
    (call,) = entries(replay(OPENAI_CHAT, chunk((0, [odd])) + END, harmless))
    assert (call["index"], call["function"], "custom" in call) == (0, {"name": "pay", "arguments": "{}"}, False)


def test_two_parts_of_a_call_in_one_chunk_leave_as_one() -> None:
    """A client that takes each entry of a chunk for a call would run the first part, with no arguments."""
    result = replay(OPENAI_CHAT, chunk((0, [start(), more('{"a":1}')])) + END, harmless)
    assert [call["function"]["arguments"] for call in entries(result)] == ['{"a":1}']


def test_two_parts_for_one_choice_in_one_chunk_break_the_turn() -> None:
    """A client that reads the first choice only would run the call without its arguments."""
    result = replay(OPENAI_CHAT, chunk((0, [start()]), (0, [more('{"a":1}')])) + END, harmless)
    assert result.breach is not None
    assert not entries(result)


@pytest.mark.parametrize("late", [{"index": 0}, {"index": None}, {"index": 0, "id": "call_1"}])
def test_an_empty_fragment_of_a_complete_call_breaks_the_turn(late: dict[str, Any]) -> None:
    """What is complete is frozen: a client may begin another call with it."""
    result = replay(OPENAI_CHAT, chunk((0, [start("{}")]), reason="tool_calls") + chunk((0, [late])) + END, harmless)
    assert len(entries(result)) == 1
    assert result.breach is not None
