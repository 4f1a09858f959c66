"""A member in another case is a call to clients whose parser folds case, and nothing to the gate."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.events import Breach, WireBroken
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.sse import Frame, event_frame

FUNCTION = {"name": "good", "arguments": "{}"}
TOOL = {"index": 0, "id": "call_1", "type": "function", "function": FUNCTION}
DELTA = {"tool_calls": [TOOL]}
BLOCK = {"type": "tool_use", "id": "toolu_1", "name": "good", "input": {}}


def chunk(part: str, **choice: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, part: DELTA, "finish_reason": None, **choice}]}


def with_tool(**members: Any) -> dict[str, Any]:
    return chunk("delta", delta={"tool_calls": [{**TOOL, **members}]})


@pytest.mark.parametrize(
    "value",
    [
        {"id": "c", "Choices": chunk("delta")["choices"]},
        {**chunk("delta"), "choice\u017f": []},
        chunk("Delta"),
        chunk("delta", delta={"Tool_Calls": [TOOL]}),
        chunk("delta", tool_calls=[TOOL]),
        chunk("delta", delta={"Function_call": FUNCTION}),
        with_tool(Function={"name": "evil", "arguments": "{}"}),
        with_tool(function={**FUNCTION, "Arguments": '{"a":1}'}),
        with_tool(function={**FUNCTION, "NAME": "evil"}),
    ],
)
def test_a_chat_call_under_another_case_breaks_the_turn(value: dict[str, Any]) -> None:
    """`Tool_Calls` is a call for a parser that folds case: the turn breaks."""
    for streamed, text in ((True, json.dumps(value)), (False, json.dumps(value).replace("elta", "essage"))):
        data = text.encode() if streamed else text.replace('"dessage"', '"message"').replace('"D', '"M').encode()
        frame = Frame(event_frame(None, data), None, data)
        assert OPENAI_CHAT.reader(streamed, frozenset()).receive(frame) == [WireBroken(Breach.WRONG_SHAPE)]


@pytest.mark.parametrize(
    "value",
    [
        {"type": "message_start", "message": {"id": "m", "Content": [BLOCK]}},
        {
            "type": "message_start",
            "message": {"id": "m", "content": [{"type": "text", "text": "x", "Type": "tool_use"}]},
        },
        {"type": "content_block_start", "index": 0, "content_block": {**BLOCK, "Name": "evil"}},
        {
            "type": "content_block_start",
            "index": 0,
            "Content_Block": BLOCK,
            "content_block": {"type": "text", "text": ""},
        },
        {"type": "ping", "TYPE": "content_block_start", "index": 0},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "", "Partial_json": "{}"}},
    ],
)
def test_an_anthropic_call_under_another_case_breaks_the_turn(value: dict[str, Any]) -> None:
    """`Content_Block` is a call for a parser that folds case: the turn breaks."""
    data = json.dumps(value).encode()
    frame = Frame(event_frame(value["type"], data), value["type"], data)
    assert ANTHROPIC_MESSAGES.reader(True, frozenset()).receive(frame) == [WireBroken(Breach.WRONG_SHAPE)]


@pytest.mark.parametrize("members", [{"Content": [BLOCK]}, {"content": [{**BLOCK, "Input": {"a": 1}}]}])
def test_an_anthropic_body_with_another_case_is_refused(members: dict[str, Any]) -> None:
    """A body that spells a member of a call in another case is refused."""
    data = json.dumps({"id": "m", "type": "message", "role": "assistant", **members}).encode()
    reader = ANTHROPIC_MESSAGES.reader(False, frozenset())
    assert reader.receive(Frame(data, None, data)) == [WireBroken(Breach.WRONG_SHAPE)]
