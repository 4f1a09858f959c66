"""The items of a Responses request: whose they are, what answers what, what goes up of what the client holds."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire import envelope
from proxy.wire.events import TEXT_KIND
from proxy.wire.responses_history import CALL_KINDS, items_of, mark_of, result_items, turns_of
from proxy.wire.responses_items import reply_id
from proxy.wire.responses_output import sealed_id
from proxy.wire.responses_reasoning import Stand, orphans
from proxy.wire.responses_splice import StreamSplice
from proxy.wire.responses_transcript import ResponsesTranscript, stateless
from proxy.wire.responses_turn import RESPONSES_CONTINUATION
from proxy.wire.standing import Held, Named, Standing, pointed, pointer, pointer_turn
from proxy.wire.transcript import HiddenResult, Side

USER = {"role": "user", "content": "hi"}
RS: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}
FC = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
OUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}
REPLY = {**SAID, "id": reply_id("resp_1", 0)}


def body(items: Any, **more: Any) -> bytes:
    return json.dumps({"model": "m", "input": items, **more}).encode()


def transcript(*items: Any, **more: Any) -> ResponsesTranscript:
    return ResponsesTranscript(body(list(items), **more))


def test_whose_each_item_is() -> None:
    """Results are the user's; what the model did and thought is one turn; instructions are neither's."""
    shell = {"type": "shell_call", "call_id": "s", "environment": {"type": "container_reference"}, "action": {}}
    ran = {"type": "shell_call_output", "call_id": "s", "output": []}
    items = [{"role": "developer", "content": "be kind"}, USER, RS, shell, ran, SAID, FC, OUT, {**USER, "content": "x"}]
    turns = transcript(*items).turns()
    assert [turn.side for turn in turns] == [Side.SYSTEM, Side.USER, Side.ASSISTANT, Side.USER]
    assert [call.name for call in turns[2].calls] == ["f"]
    assert (turns[2].first, turns[2].last) == (2, 6)
    assert [(result.call, result.value) for result in turns[3].results] == [("c1", "ok")]
    assert turns[3].texts == ["x"]


def test_a_text_alone_is_the_users() -> None:
    """`input` may be a text; where nothing is edited it stays one."""
    found = ResponsesTranscript(body("hi"))
    assert [turn.texts for turn in found.turns()] == [["hi"]]
    assert found.opening() == found.turns()[0]


MANGLED = [
    lambda items: [item for item in items if item["type"] != "reasoning"],
    lambda items: [{key: value for key, value in item.items() if key not in ("id", "status")} for item in items],
    lambda items: [dict(reversed(item.items())) for item in items],
    lambda items: [
        {**item, "arguments": json.dumps(json.loads(item["arguments"]), indent=1)} if "arguments" in item else item
        for item in items
    ],
    lambda items: [{**item, "content": item["content"][0]["text"]} if "content" in item else item for item in items],
]


@pytest.mark.parametrize("change", MANGLED)
def test_a_turn_means_the_same_however_it_is_spelled(change: Any) -> None:
    """Dropped reasoning, ids and statuses, arguments written anew, a content as a text."""
    items = [{**RS, "status": None}, {**SAID, "id": "msg_1", "status": "completed"}, {**FC, "status": "completed"}]
    before = [turn.meaning() for turn in transcript(USER, *items).turns()]
    assert [turn.meaning() for turn in transcript(USER, *change(copy.deepcopy(items))).turns()] == before
    other = [*items[:2], {**items[2], "arguments": '{"a": 2}'}]
    assert [turn.meaning() for turn in transcript(USER, *other).turns()] != before


@pytest.mark.parametrize("items", [["x"], [{"role": "nobody", "content": "x"}], [1]])
def test_what_cannot_be_read_is_an_error(items: Any) -> None:
    """And the message says where."""
    with pytest.raises(envelope.EnvelopeError, match="input"):
        transcript(*items).turns()


def test_what_the_provider_holds_is_a_turn_of_its_own() -> None:
    """A pointer stands before the items; two ids are two turns, and the ledger finds both by their names."""
    first = transcript(OUT, USER, previous_response_id="resp_1")
    other = transcript(OUT, USER, previous_response_id="resp_2")
    kept = transcript(OUT, USER, conversation={"id": "conv_1"})
    assert [turn.side for turn in first.turns()] == [Side.ASSISTANT, Side.USER]
    assert first.opening() == pointer_turn(Held.ANSWER, "resp_1")
    assert len({each.turns()[0].meaning() for each in (first, other, kept)}) == 3
    assert pointed(kept.messages[0]) == (Held.CONVERSATION, "conv_1")
    said, came = first.newest()
    assert said == first.turns()[0]
    assert came is not None
    assert [result.call for result in came.results] == ["c1"]


def test_the_id_that_goes_up_is_the_last_one() -> None:
    """The client knows a merged turn by its first id; where nothing was merged nothing changes."""
    found = transcript(USER, previous_response_id="resp_1")
    sent = json.loads(found.body([pointer(Held.ANSWER, "resp_2"), *found.messages[1:]]))
    assert sent == {"model": "m", "input": [USER], "previous_response_id": "resp_2"}
    kept = transcript(USER, conversation="conv_1")
    assert json.loads(kept.body(kept.messages)) == {"model": "m", "input": [USER], "conversation": "conv_1"}


def test_what_stands_under_which_name() -> None:
    """Each name that the client may use; a conversation only while it is owed something."""
    owed = (HiddenResult("c1", "f", "function_call", "{}"),)
    names = Named("resp_1", "conv_1"), Named("resp_2", "conv_1")
    assert Standing(*names, owed, ("c1",), ("c1",)).pairs() == [
        (Held.ANSWER, "resp_1", "resp_2"),
        (Held.CONVERSATION, "conv_1", "conv_1"),
    ]
    assert Standing(*names, (), (), ()).pairs() == [(Held.ANSWER, "resp_1", "resp_2")]
    assert Standing(Named(), Named(), owed, (), ()).pairs() == []


R, P, W, X = Stand.REASONING, Stand.REPLY, Stand.OWN, Stand.OTHER


@pytest.mark.parametrize(
    ("stands", "gone"),
    [
        ([R, W], set()),
        ([R, P], {0}),
        ([R, P, W], set()),
        ([R, W, P], set()),
        ([R, P, R, W], {0}),
        ([R, R, P, X], {0, 1}),
        ([R, P, X, R, P], {0, 3}),
        ([R, X], set()),
        ([P, W], set()),
    ],
)
def test_reasoning_goes_with_what_it_was_written_for(stands: list[Stand], gone: set[int]) -> None:
    """Dropped where only replies of ours follow it; kept where anything of the provider's does."""
    assert orphans(stands) == gone


def test_a_reply_goes_up_without_its_id_and_without_its_reasoning() -> None:
    """The provider knows no such id, and would miss the call that the reasoning was written for."""
    found = transcript(USER, RS, REPLY, {**USER, "content": "b"})
    opened = [found.unsealed(message, "")[0] for message in found.messages]
    items = items_of(opened)
    assert [json.loads(item) for item in items] == [USER, SAID, {**USER, "content": "b"}]
    untouched = transcript(USER, RS, FC, OUT)
    assert [untouched.unsealed(message, "") for message in untouched.messages] == [
        (message, 0) for message in untouched.messages
    ]


def test_reasoning_of_a_merged_turn_goes_up_only_behind_what_it_depends_on() -> None:
    """Its id names the hidden turn; without that turn it is taken out."""
    sealed = {**RS, "id": sealed_id("rs_2", "hg1")}
    found = transcript(USER, sealed, SAID)
    assert mark_of(sealed["id"]) == ("hg1", "rs_2")
    opened, removed = found.unsealed(found.messages[1], "hg1")
    assert (json.loads(opened)["id"], removed) == ("rs_2", 0)
    assert found.unsealed(found.messages[1], "hg2") == (b"", 1)
    assert found.turns()[1].marks == ["hg1"]


@pytest.mark.parametrize("kind", sorted(CALL_KINDS))
def test_each_kind_of_call_has_its_kind_of_result(kind: str) -> None:
    """An unknown kind has none; a call's id comes back."""
    first = json.loads(result_items(HiddenResult("c9", "f", kind, '{"isError":true}'))[0])
    assert "c9" in first.values()
    assert first.get("approve", False) is False
    assert result_items(HiddenResult("c9", "f", "launch_call", "{}")) == []


def test_results_stand_first_in_the_order_of_the_calls() -> None:
    """Ours among the client's own, then its other items, which keep their bytes."""
    own = [b'{"type": "function_call_output",  "call_id": "c2", "output": "ok"}', b'{"role":"user","content":"b"}']
    hidden = [HiddenResult(call, "f", "function_call", "{}") for call in ("c1", "c3")]
    merged = transcript(USER).with_results(own, hidden, ["c1", "c2", "c3"])
    assert [json.loads(item).get("call_id") for item in merged] == ["c1", "c2", "c3", None]
    assert merged[1] == own[0]
    assert merged[3] == own[1]


def test_a_notice_stands_before_a_result() -> None:
    """Of the calls that are named, in the forms that a result has."""
    found = transcript(USER)
    assert json.loads(found.with_notice(json.dumps(OUT).encode(), {"c1"}, "!"))["output"] == "!\nok"
    listed = {**OUT, "output": [{"type": "input_text", "text": "ok"}]}
    parts = json.loads(found.with_notice(json.dumps(listed).encode(), {"c1"}, "!"))["output"]
    assert [part["text"] for part in parts] == ["!", "ok"]
    assert found.with_notice(json.dumps(OUT).encode(), {"c2"}, "!") == json.dumps(OUT).encode()


def test_a_request_without_a_store_holds_reasoning_whole_or_not_at_all() -> None:
    """Without its encrypted content the provider cannot find it, nor should it miss it."""
    sealed = {**RS, "encrypted_content": "gAAA"}
    raw = [json.dumps(item).encode() for item in (sealed, FC)]
    assert stateless(raw) == raw
    bare = [json.loads(item) for item in stateless([json.dumps(item).encode() for item in (RS, FC, SAID)])]
    assert bare == [{key: value for key, value in FC.items() if key != "id"}, SAID]


def continued(request: bytes, tokens: int = 10) -> Any:
    messages = [b"[" + json.dumps(FC).encode() + b"]", json.dumps(OUT).encode()]
    found = RESPONSES_CONTINUATION.continued(request, messages, tokens)
    return None if found is None else json.loads(found)


def test_a_turn_goes_on_with_all_that_was_said() -> None:
    """Behind the request's own input; a conversation holds both already, and gets the results alone."""
    assert continued(body("hi"))["input"] == [{"type": "message", **USER}, FC, OUT]
    assert continued(body([USER], previous_response_id="r"))["input"] == [USER, FC, OUT]
    assert continued(body([USER], conversation="conv_1"))["input"] == [OUT]


def test_bounds_and_choices_of_a_turn_that_goes_on() -> None:
    """What is left of the bound; a choice that forces a call is lifted, one that names which may be called stays."""
    assert continued(body("x", max_output_tokens=30))["max_output_tokens"] == 20
    assert continued(body("x", max_output_tokens=10)) is None
    assert continued(body("x", tool_choice="required"))["tool_choice"] == "auto"
    assert continued(body("x", tool_choice={"type": "shell"}))["tool_choice"] == "auto"
    allowed = {"type": "allowed_tools", "mode": "required", "tools": []}
    assert continued(body("x", tool_choice=allowed))["tool_choice"] == {**allowed, "mode": "auto"}
    assert continued(body("x", tool_choice="none"))["tool_choice"] == "none"


def test_a_text_that_is_to_be_said_again_is_remarked() -> None:
    """A held text has no id by which a result could come: the model hears of it as a text."""
    (message,) = RESPONSES_CONTINUATION.results([HiddenResult("", "", TEXT_KIND, "no")])
    assert "no" in json.loads(message)["content"]


@given(st.recursive(st.none() | st.text(max_size=4) | st.integers(), lambda one: st.lists(one, max_size=3)))
def test_a_frame_that_says_nothing_stays_as_it_is(value: object) -> None:
    """A later leg's frame is joined where it is the dialect's; anything else is the reader's to refuse."""
    from proxy.wire.sse import Frame

    data = json.dumps(value).encode()
    frame = Frame(b"data: " + data + b"\n\n", None, data)
    assert StreamSplice().join(frame) is frame
    assert turns_of([]) == []
