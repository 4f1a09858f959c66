"""The double of Bedrock refuses what the real one refuses, in its words, and frames its events as AWS does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.eventstream import EventStreamBuffer

from proxy.demo import eventstream
from proxy.demo.bedrock_history import converse_refusal
from proxy.demo.bedrock_wire import converse_events, converse_message
from proxy.demo.turns import Call, Text, Turn

USER = {"role": "user", "content": [{"text": "hi"}]}
TWO = converse_message(Turn((Text("hm"), Call("look", '{"a": 1}', "tooluse_1"), Call("pay", "{}", "tooluse_2"))))
TOOLS = {"tools": [{"toolSpec": {"name": "look"}}]}


def answers(*ids: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"toolResult": {"toolUseId": one, "content": [{"text": "x"}]}} for one in ids]}


def test_what_the_double_said_it_takes_back() -> None:
    """Calls with their results first, in any order, and a text behind them."""
    behind = answers("tooluse_2", "tooluse_1")
    behind["content"].append({"text": "and?"})
    assert converse_refusal({"messages": [USER, TWO, behind], "toolConfig": TOOLS}) is None


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([], "messages field is empty"),
        ([TWO], "must start with a user message"),
        ([USER, USER], "alternate"),
        ([{"role": "user", "content": []}], "messages.0 is empty"),
        ([{"role": "user", "content": [{"text": " "}]}], "is blank"),
        ([{"role": "user", "content": [{"text": "a", "image": {}}]}], "one and only one"),
        ([USER, TWO], "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1, tooluse_2"),
        ([USER, TWO, answers("tooluse_1")], "for the following Ids: tooluse_2"),
        ([USER, TWO, {"role": "user", "content": [{"text": "x"}, *answers("tooluse_1", "tooluse_2")["content"]]}],
         "for the following Ids"),
        ([USER, TWO, answers("tooluse_1", "tooluse_2", "tooluse_3")], "exceeds the number of toolUse blocks"),
        ([USER, TWO, answers("x" * 65)], "failed to satisfy constraint"),
    ],
)  # fmt: skip
def test_converse_refuses(messages: list[Any], text: str) -> None:
    """Roles, shapes, ids of 1 to 64 characters, and a result for each call before any other block."""
    refused = converse_refusal({"messages": messages, "toolConfig": TOOLS})
    assert refused is not None
    assert text in refused.message
    assert refused.type == "ValidationException"


def test_calls_need_the_tools_that_they_call() -> None:
    """A history with calls and no `toolConfig` is refused."""
    refused = converse_refusal({"messages": [USER, TWO, answers("tooluse_1", "tooluse_2")]})
    assert refused is not None
    assert "toolConfig field must be defined" in refused.message


def test_botocore_reads_what_the_double_frames() -> None:
    """Checksums and headers are AWS's, by its own parser; the usage stands behind the end."""
    buffer = EventStreamBuffer()
    buffer.add_data(b"".join(converse_events(Turn((Text("hello"),)), 3)) + eventstream.exception("x", b"{}"))
    *events, failed = list(buffer)
    names = [event.headers[":event-type"] for event in events]
    assert names == ["messageStart", *["contentBlockDelta"] * 2, "contentBlockStop", "messageStop", "metadata"]
    assert json.loads(events[-1].payload)["usage"]["outputTokens"] == 42
    assert failed.headers[":exception-type"] == "x"
