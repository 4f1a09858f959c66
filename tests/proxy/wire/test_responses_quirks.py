"""Streams that clients of Responses read in different ways: one reading is judged, and that one leaves (G5).

Each row of `STREAMS` is one way to say two things at once; what is released must be what the SDK finds, in all places.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from interceptors.calls import Cause, MalformedToolCall, ToolCall
from proxy.wire import responses_body_reader, responses_body_writer, responses_output, responses_progress
from proxy.wire.events import Breach
from proxy.wire.openai_responses import OPENAI_RESPONSES
from proxy.wire.responses_calls import ItemKey, LooseKey
from proxy.wire.responses_events import call_events, reply_events
from proxy.wire.responses_items import call_name
from proxy.wire.responses_reader import ResponsesStreamReader
from proxy.wire.responses_seen import Output
from proxy.wire.responses_types import CALL_DELTAS, CALL_WHOLES, CONTENT, FREE, ITEMS, Kind, kind_of
from proxy.wire.responses_writer import ResponsesStreamWriter
from tests import strategies as model
from tests.proxy.wire.responses_model import events, read_responses, responses_frames
from tests.replay import Replay, allow, deny, replay

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = (model.Text("Hm."), model.ToolUse("call_1", "refund", ('{"n": ', "1}")), model.Text("Bye."))
FUNCTION = "response.function_call_arguments"
Events = list[dict[str, Any]]


def started() -> Events:
    """Created, in progress, a message, a call (output index 1), a message, completed."""
    found: Events = json.loads(json.dumps(events(model.Turn(PARTS))))
    return found


def sent(found: Events) -> bytes:
    return model.framed(responses_frames([{**event, "sequence_number": at} for at, event in enumerate(found)]))


def of(found: Events, kind: str, place: int = 1) -> dict[str, Any]:
    return next(one for one in found if one["type"] == kind and one.get("output_index") == place)


def final(found: Events) -> list[Any]:
    output: list[Any] = found[-1]["response"]["output"]
    return output


def _other_in_item(found: Events) -> None:
    of(found, "response.output_item.done")["item"]["arguments"] = '{"n": 9}'


def _other_in_deltas(found: Events) -> None:
    of(found, f"{FUNCTION}.delta")["delta"] = '{"n": 9, "m": '


def _other_in_done(found: Events) -> None:
    of(found, f"{FUNCTION}.done")["arguments"] = '{"n": 9}'


def _other_name(found: Events) -> None:
    of(found, "response.output_item.added")["item"]["name"] = "lookup"


def _other_id(found: Events) -> None:
    of(found, "response.output_item.added")["item"]["call_id"] = "call_9"


def _other_start(found: Events) -> None:
    of(found, "response.output_item.added")["item"]["arguments"] = '{"n": 9}'


@pytest.mark.parametrize(
    "change", [_other_in_item, _other_in_deltas, _other_in_done, _other_name, _other_id, _other_start]
)
def test_a_call_that_is_stated_in_two_ways_never_runs(change: Callable[[Events], None]) -> None:
    """Clients execute the deltas, their `done`, the item or the snapshot: all must say the same."""
    found = started()
    change(found)
    result = replay(OPENAI_RESPONSES, sent(found), allow)
    (call,) = result.refused
    assert isinstance(call, MalformedToolCall)
    assert call.cause is Cause.CONFLICT
    assert read_responses(result.data).calls == []
    assert b'"n\\"' not in result.data


def test_a_snapshot_that_says_something_else_is_rebuilt() -> None:
    """Its call was judged, and may have run, when its item was done; the snapshot says what was judged."""
    found = started()
    final(found)[1]["arguments"] = '{"n": 9}'
    result = replay(OPENAI_RESPONSES, sent(found), allow)
    assert [call.raw for call in result.ran] == ['{"n": 1}']
    assert read_responses(result.data).calls == [(0, "call_1", "refund", '{"n": 1}')]


@pytest.mark.parametrize("rule", [allow, deny])
def test_an_item_that_only_the_snapshot_holds_is_judged_first(rule: Any) -> None:
    """It leaves as an item of its own before the end, or its reply does."""
    found = started()
    item = {**final(found)[1], "call_id": "call_2", "id": "fc_2", "arguments": '{"n": 2}'}
    final(found).append(item)
    result = replay(OPENAI_RESPONSES, sent(found), rule)
    ids = ["call_1", "call_2"] if rule is allow else []
    assert [call[1] for call in read_responses(result.data).calls] == ids
    assert len(result.calls) == 2


def test_an_item_that_is_only_done_leaves_whole() -> None:
    """Some clients wait for `output_item.added`, some execute the done item."""
    found = started()
    found = [one for one in found if one.get("output_index") != 1 or one["type"] == "response.output_item.done"]
    result = replay(OPENAI_RESPONSES, sent(found), allow)
    assert read_responses(result.data).calls == [(0, "call_1", "refund", '{"n": 1}')]


def test_a_call_that_is_open_at_the_end_and_whole_in_the_snapshot() -> None:
    """Its item leaves done, as the snapshot has it."""
    found = [one for one in started() if (one.get("output_index"), one["type"]) != (1, "response.output_item.done")]
    result = replay(OPENAI_RESPONSES, sent(found), allow)
    assert read_responses(result.data).calls == [(0, "call_1", "refund", '{"n": 1}')]


def test_the_same_call_twice_is_one_call() -> None:
    """One id with the same arguments is one call and leaves once; with others neither can be told by its result."""
    found = events(model.Turn((PARTS[1], PARTS[1])))
    result = replay(OPENAI_RESPONSES, sent(found), allow)
    assert len(result.released) == 1
    assert len(read_responses(result.data).calls) == 1
    other = model.ToolUse("call_1", "refund", ('{"n": 2}',))
    result = replay(OPENAI_RESPONSES, sent(events(model.Turn((PARTS[1], other)))), allow)
    assert [call.raw for call in result.ran] == ['{"n": 1}']
    assert [call.cause for call in result.refused if isinstance(call, MalformedToolCall)] == [Cause.DUPLICATE_ID]


def _late_delta(found: Events) -> None:
    found.insert(-1, {"type": f"{FUNCTION}.delta", "item_id": "fc_1", "output_index": 1, "delta": "x"})


def _done_again(found: Events) -> None:
    found.insert(-1, of(found, "response.output_item.done"))


def _other_type(found: Events) -> None:
    of(found, "response.output_item.done")["item"]["type"] = "message"


def _no_item(found: Events) -> None:
    found.insert(2, {"type": f"{FUNCTION}.delta", "item_id": "fc_9", "output_index": 9, "delta": "x"})


def _wrong_owner(found: Events) -> None:
    found.insert(5, {"type": f"{FUNCTION}.delta", "item_id": "msg_0", "output_index": 0, "delta": "x"})


def _index_again(found: Events) -> None:
    found.insert(-1, of(found, "response.output_item.added"))


def _early_call(found: Events) -> None:
    found[0]["response"]["output"] = [final(found)[1]]


def _behind_the_end(found: Events) -> None:
    found.append({**of(found, "response.output_item.added"), "output_index": 3})


def _another_case(found: Events) -> None:
    item = of(found, "response.output_item.done")["item"]
    item["Arguments"] = '{"n": 9}'


@pytest.mark.parametrize(
    ("change", "breach"),
    [
        (_late_delta, Breach.FROZEN_CALL),
        (_done_again, Breach.FROZEN_CALL),
        (_other_type, Breach.FROZEN_CALL),
        (_no_item, Breach.WRONG_PLACE),
        (_wrong_owner, Breach.WRONG_PLACE),
        (_index_again, Breach.WRONG_PLACE),
        (_early_call, Breach.WRONG_PLACE),
        (_behind_the_end, Breach.WRONG_PLACE),
        (_another_case, Breach.WRONG_SHAPE),
    ],
)
def test_what_cannot_be_read_in_one_way_breaks_the_stream(change: Callable[[Events], None], breach: Breach) -> None:
    """A call that is complete is frozen, and an event has its place; the error is the dialect's own."""
    found = started()
    change(found)
    result = replay(OPENAI_RESPONSES, sent(found), allow)
    assert result.breach is breach
    last = json.loads(result.data.rsplit(b"data: ", 1)[1])
    assert (last["type"], last["error"]["code"]) == ("error", "upstream_failed")


def test_a_type_that_no_table_knows_is_a_call() -> None:
    """An item, and an event that bears content: held, judged by its type, and free only by `pass_types`."""
    item = {"id": "x_1", "type": "launch_call", "target": "moon"}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    event = {"type": "response.launch.now", "item_id": "x_2", "delta": "go"}
    found = [*started()[:2], {**done, "type": "response.output_item.added"}, done, event, {**started()[-1]}]
    final(found)[:] = [item]
    data = sent(found)
    result = replay(OPENAI_RESPONSES, data, deny)
    assert [call.name for call in result.refused] == ["launch_call", "response.launch.now"]
    assert b"moon" not in result.data
    assert b'"go"' not in result.data
    read_responses(result.data)
    assert replay(OPENAI_RESPONSES, data, allow).data == data
    known = frozenset({"launch_call", "response.launch.now"})
    passed = replay(OPENAI_RESPONSES, data, deny, pass_types=known)
    assert (passed.data, passed.calls, passed.observed) == (data, [], ["launch_call", "response.launch.now"])


ITEM_NAMES = [
    ({"type": "function_call", "name": "f"}, "f"),
    ({"type": "function_call", "name": "f", "namespace": "crm"}, "crm/f"),
    ({"type": "function_call", "name": "f", "namespace": "f"}, "f"),
    ({"type": "custom_tool_call", "name": "edit"}, "edit"),
    ({"type": "shell_call", "action": {}}, "shell_call"),
    ({"type": "mcp_approval_request", "server_label": "crm", "name": "pay"}, "mcp/crm/pay"),
    ({"type": "computer_call"}, "computer_call"),
]


@pytest.mark.parametrize(("item", "name"), ITEM_NAMES)
def test_how_a_policy_names_a_call(item: dict[str, Any], name: str) -> None:
    """Built-in tools by their item, members of a namespace behind it, a tool of an MCP server behind both."""
    assert call_name(item) == name


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ({"type": "shell_call"}, Kind.CALL),
        ({"type": "shell_call", "environment": None}, Kind.CALL),
        ({"type": "shell_call", "environment": {"type": "local"}}, Kind.CALL),
        ({"type": "shell_call", "environment": {"type": "container_reference"}}, Kind.OBSERVED),
        ({"type": "tool_search_call", "execution": "client"}, Kind.CALL),
        ({"type": "tool_search_call", "execution": "server"}, Kind.OBSERVED),
        ({"type": "tool_search_call"}, Kind.CALL),
        ({"type": "mcp_call"}, Kind.OBSERVED),
        ({"type": "something"}, None),
    ],
)
def test_who_executes_an_item(item: dict[str, Any], kind: Kind | None) -> None:
    """What does not say that it ran at the provider is the client's."""
    assert kind_of(item) is kind


def test_the_tables_know_what_the_sdk_knows() -> None:
    """Every item and event type of the installed SDK has its row: a new one fails here."""
    from typing import get_args

    from openai.types import responses as sdk

    output = get_args(get_args(sdk.ResponseOutputItem)[0])
    types = {get_args(one.model_fields["type"].annotation)[0] for one in output}
    assert types - set(ITEMS) == set()
    union = get_args(get_args(sdk.ResponseStreamEvent)[0])
    named = {get_args(one.model_fields["type"].annotation)[0] for one in union}
    lifecycle = {
        f"response.{name}" for name in ("created", "queued", "in_progress", "completed", "failed", "incomplete")
    }
    items = {"response.output_item.added", "response.output_item.done", "response.shell_call_command.added"}
    assert named - CONTENT - FREE - set(CALL_DELTAS) - set(CALL_WHOLES) - lifecycle - items == set()


def _built_in(place: int) -> Events:
    """A shell call as OpenAI streams it: its events name no item."""
    item: dict[str, Any] = {"id": "sh_1", "type": "shell_call", "call_id": "call_s", "status": "completed"}
    item["action"] = {"commands": ["ls", "pwd"], "timeout_ms": None}
    begun = {**item, "status": "in_progress", "action": {"commands": [], "timeout_ms": None}}
    at = {"output_index": place}
    found: Events = [{"type": "response.output_item.added", **at, "item": begun}]
    for number, command in enumerate(("ls", "pwd")):
        inner = {**at, "command_index": number}
        found.append({"type": "response.shell_call_command.added", **inner, "command": ""})
        found.append({"type": "response.shell_call_command.delta", **inner, "delta": command})
        found.append({"type": "response.shell_call_command.done", **inner, "command": command})
    return [*found, {"type": "response.output_item.done", **at, "item": item}]


def _with_built_in() -> Events:
    found = started()
    found[-1:-1] = _built_in(3)
    final(found).append(found[-2]["item"])
    return found


def test_a_shell_call_and_its_commands() -> None:
    """Its commands stand in its events and in its item: equal they pass, unequal they never run."""
    data = sent(_with_built_in())
    result = replay(OPENAI_RESPONSES, data, allow)
    assert result.data == data
    shell = result.released[-1]
    assert isinstance(shell, ToolCall)
    assert shell.arguments["commands"] == ["ls", "pwd"]
    found = _with_built_in()
    next(one for one in found if one["type"] == "response.shell_call_command.delta")["delta"] = "rm -rf /"
    result = replay(OPENAI_RESPONSES, sent(found), allow)
    assert [call.name for call in result.refused] == ["shell_call"]
    assert b"rm -rf" not in result.data


def _released_arguments(data: bytes) -> Replay:
    return replay(OPENAI_RESPONSES, data, allow, streamed=False)


def test_arguments_as_an_object_leave_as_a_text() -> None:
    """Some servers state them so; what leaves is canonical."""
    body = {"id": "r", "object": "response", "status": "completed", "output": []}
    item = {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "status": "completed"}
    body["output"] = [{**item, "arguments": {"n": 1}}]
    result = _released_arguments(json.dumps(body).encode())
    assert [call.arguments for call in result.ran] == [{"n": 1}]
    assert json.loads(result.data)["output"][0]["arguments"] == '{"n": 1}'


def test_a_body_that_ends_early_holds_no_call_that_was_cut() -> None:
    """The item says whether it is whole; where it does not, the response does."""
    item = {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    for status, own, runs in (
        ("incomplete", "incomplete", False),
        ("incomplete", "in_progress", False),
        ("incomplete", "completed", True),
        ("completed", "in_progress", True),
    ):
        body = {"id": "r", "status": status, "output": [{**item, "status": own}]}
        result = _released_arguments(json.dumps(body).encode())
        assert bool(result.released) == runs, (status, own)


def test_the_parts_of_the_family_are_what_the_dialect_gives() -> None:
    """The gate gets the readers and writers of this family; keys of both kinds differ."""
    assert isinstance(OPENAI_RESPONSES.reader(True, frozenset()), ResponsesStreamReader)
    assert isinstance(OPENAI_RESPONSES.reader(False, frozenset()), responses_body_reader.ResponsesBodyReader)
    assert isinstance(OPENAI_RESPONSES.writer(True), ResponsesStreamWriter)
    assert isinstance(OPENAI_RESPONSES.writer(False), responses_body_writer.ResponsesBodyWriter)
    assert issubclass(ResponsesStreamReader, Output)
    assert ItemKey(1) != LooseKey(1)


def test_a_turn_that_upstream_does_not_end_is_ended_whole() -> None:
    """What was open is done with what was said of it, and the snapshot holds it."""
    progress = responses_progress.Progress()
    assert json.loads(progress.completed())["status"] == "completed"
    found = started()
    data = sent(found[: found.index(of(found, "response.output_item.done"))])
    read = read_responses(replay(OPENAI_RESPONSES, data, deny).data)
    assert read.reasons == {0: "completed"}
    assert read.calls == []
    assert responses_output.sealed_id("rs_1", "hg1").startswith("rs_cg1.hg1.")


def test_whole_items_as_events_keep_the_grammar() -> None:
    """A message of ours has the events that a client waits for."""
    kinds = [kind for kind, _ in reply_events(0, "msg_x", "No.")]
    assert kinds[0] == "response.output_item.added"
    assert kinds[-1] == "response.output_item.done"
    assert len(kinds) == 6
    assert call_events.__doc__
