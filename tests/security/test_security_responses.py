"""What an OpenAI Responses request and answer can hide from the gate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from interceptors.calls import ToolCall
from proxy.wire.openai_responses import OPENAI_RESPONSES
from proxy.wire.sse import event_frame
from tests.replay import replay

if TYPE_CHECKING:
    from interceptors.calls import Call

HAND = {"type": "web_search"}


def escaped(text: str, place: int) -> str:
    """The text as JSON, with one of its characters as an escape."""
    return f'"{text[:place]}\\u{ord(text[place]):04x}{text[place + 1 :]}"'


@pytest.mark.parametrize("kind", ["additional_tools", "tool_search_output"])
@pytest.mark.parametrize("place", [0, 4, 10])
def test_tools_that_an_item_brings_are_seen_however_its_type_is_spelled(kind: str, place: int) -> None:
    """An item that brings tools of the provider is found by what its type says, not by the bytes of its name."""
    body = f'{{"model":"m","input":[{{"type":{escaped(kind, place)},"tools":{json.dumps([HAND])}}}]}}'
    assert OPENAI_RESPONSES.request(body.encode()).tools.provider == ("web_search",)


@pytest.mark.parametrize("member", ["type", "tools"])
def test_tools_that_an_item_brings_are_seen_however_its_members_are_spelled(member: str) -> None:
    """The names of an item's members may be escaped as well."""
    item = json.dumps({"type": "additional_tools", "tools": [HAND]}).replace(f'"{member}"', escaped(member, 1))
    assert OPENAI_RESPONSES.request(f'{{"model":"m","input":[{item}]}}'.encode()).tools.provider == ("web_search",)


def never(_: Call) -> bool:
    return False


def stream(*events: dict[str, Any]) -> bytes:
    return b"".join(event_frame(event["type"], json.dumps(event).encode()) for event in events)


@pytest.mark.parametrize("late", ['{"a":1}', '{"a":9}'])
def test_a_refused_item_of_no_table_does_not_leave_as_its_own_twin_in_the_snapshot(late: str) -> None:
    """A final snapshot that holds an item of an unknown type twice shows it no more often than it was judged."""
    item = {"type": "zap_call", "id": "zap_1", "call_id": "call_1", "status": "completed", "arguments": '{"a":1}'}
    twin = {**item, "arguments": late}
    data = stream(
        {"type": "response.created", "response": {"id": "resp_1", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": [item, twin]}},
    )
    result = replay(OPENAI_RESPONSES, data, never)
    assert [call.name for call in result.refused if isinstance(call, ToolCall)] == ["zap_call"]
    assert b"zap_call" not in result.data
