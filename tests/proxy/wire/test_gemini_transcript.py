"""A Gemini history: calls and results pair by order and name, in both spellings, and edits keep the pairs (G7)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.wire.envelope import EnvelopeError
from proxy.wire.gemini_transcript import GeminiTranscript, turns_of
from proxy.wire.gemini_types import WrongShapeError, candidates
from proxy.wire.positional import is_positional, kept, named, unpaired
from proxy.wire.transcript import HiddenResult, Side

USER = {"role": "user", "parts": [{"text": "refund A1, please"}]}


def call(name: str, args: Any, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}, **more}


def answer(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def transcript(*contents: Any) -> GeminiTranscript:
    return GeminiTranscript(json.dumps({"contents": list(contents)}).encode())


def test_results_pair_with_calls_by_order_and_name() -> None:
    """Equal calls are told apart by their order; a result finds the first open call of its name."""
    turns = transcript(
        USER,
        model(call("look", {"id": 1}), call("pay", {"id": 1}), call("look", {"id": 1})),
        user(answer("pay", {"output": {"status": "paid"}}), answer("look", {"result": "x"}), answer("look", {})),
    ).turns()
    ids = [one.id for one in turns[1].calls]
    assert len(set(ids)) == 3
    assert [result.call for result in turns[2].results] == [ids[1], ids[0], ids[2]]
    assert turns[2].results[0].value == {"status": "paid"}
    assert turns[2].results[1].value == "x"


def test_a_result_without_its_call_answers_none() -> None:
    """A name that no open call has pairs with nothing, and not with a call of an earlier turn."""
    turns = transcript(
        USER, model(call("pay", {})), user(answer("pay", {})), model({"text": "ok"}), user(answer("pay", {}))
    )
    results = [result.call for turn in turns.turns() for result in turn.results]
    assert results[0] == turns.turns()[1].calls[0].id
    assert results[1] == unpaired("pay")


@pytest.mark.parametrize(
    ("response", "is_error", "value"),
    [
        ({"error": "no"}, True, "no"),
        ({"output": {"a": 1}}, False, {"a": 1}),
        ({"result": '{"a": 1}'}, False, {"a": 1}),
        ({"status": "ok", "error": "x"}, True, {"status": "ok", "error": "x"}),
        ({"status": "ok"}, False, {"status": "ok"}),
    ],
)
def test_the_value_of_a_result(response: Any, is_error: bool, value: Any) -> None:
    """What the function gave is read out of the member that clients wrap it in; an error is one."""
    (result,) = transcript(USER, model(call("pay", {})), user(answer("pay", response))).turns()[2].results
    assert (result.is_error, result.value) == (is_error, value)


def test_both_spellings_and_dropped_ids_mean_the_same() -> None:
    """Clients drop ids, signatures and thoughts, and may write the protocol buffer's names: one meaning, one place."""
    came = model(
        {"text": "hm", "thought": True}, {"text": "I "}, {"text": "look"}, call("pay", {"a": 1.0}, thoughtSignature="s")
    )
    came["parts"][3]["functionCall"]["id"] = "x1"
    held = {"role": "model", "parts": [{"text": "I look"}, {"function_call": {"name": "pay", "args": {"a": 1}}}]}
    one, other = (turns_of([json.dumps(each).encode()])[0].meaning() for each in (came, held))
    assert one == other


def test_the_meaning_of_a_turn_depends_on_that_turn_alone() -> None:
    """Read behind the turn that called or by itself, results mean the same: a known prefix is not read again."""
    results = user(answer("look", {"a": 1}), answer("pay", {}))
    whole = transcript(USER, model(call("look", {}), call("pay", {})), results).turns()
    alone = GeminiTranscript(json.dumps({"messages": [results]}).encode()).turns()
    assert whole[2].meaning() == alone[0].meaning()
    assert whole[2].results[0].call != alone[0].results[0].call


def test_an_image_in_either_base64_means_the_same() -> None:
    """The official client reads bytes and writes them again, in the alphabet for URLs."""
    images = [{"inlineData": {"mimeType": "image/png", "data": data}} for data in ("a+b/cQ==", "a-b_cQ==", "other")]
    first, second, third = (turns_of([json.dumps(user(image)).encode()])[0].meaning() for image in images)
    assert first == second != third


def test_a_member_under_two_names_is_refused() -> None:
    """Two parsers would take two of them."""
    part = {"functionCall": {"name": "a"}, "function_call": {"name": "b"}}
    with pytest.raises(EnvelopeError):
        transcript(USER, model(part)).turns()


def test_hidden_results_join_the_clients_own_in_the_order_of_the_calls() -> None:
    """All responses stand in one content, as many as there were calls, before what else the user says."""
    own = user(answer("look", {"n": 2}), {"text": "and now?"})
    asked = transcript(USER, model(call("look", {"n": 2})), own)
    first, second = named("look", "aa", ()), named("look", "bb", ())
    hidden = HiddenResult(first, "look", "functionCall", '{"isError":true}', provider_id="x1")
    (content,) = asked.with_results([asked.messages[2]], [hidden], [first, second])
    parts = json.loads(content)["parts"]
    assert parts[0] == {"functionResponse": {"id": "x1", "name": "look", "response": {"error": {"isError": True}}}}
    assert parts[1:] == own["parts"]


def test_hidden_results_alone_are_a_content_of_their_own() -> None:
    """The client answered nothing, since it saw no call."""
    asked = transcript(USER, model({"text": "x"}), user({"text": "and?"}))
    hidden = HiddenResult(named("look", "aa", ()), "look", "functionCall", "{}")
    first, second = asked.with_results([asked.messages[2]], [hidden], [hidden.call])
    assert "functionResponse" in json.loads(first)["parts"][0]
    assert second == asked.messages[2]


def test_a_notice_stands_in_the_response_that_it_is_about() -> None:
    """The other response, and every other content, keeps its bytes."""
    asked = transcript(
        USER, model(call("look", {}), call("pay", {})), user(answer("look", {"a": 1}), answer("pay", {"b": 2}))
    )
    calls = asked.turns()[1].calls
    edited = [asked.with_notice(message, {calls[1].id}, "unknown") for message in asked.messages]
    assert edited[:2] == list(asked.messages[:2])
    parts = json.loads(edited[2])["parts"]
    assert parts[0] == answer("look", {"a": 1})
    assert parts[1]["functionResponse"]["response"] == {"notice": "unknown", "b": 2}


def test_the_newest_turns_are_read_alone() -> None:
    """What the last model turn called, and what came back for it."""
    asked = transcript(
        USER, model(call("look", {})), user(answer("look", {})), model(call("pay", {"a": 1})), user(answer("pay", {}))
    )
    said, came = asked.newest()
    assert said is not None
    assert came is not None
    assert [one.name for one in said.calls] == ["pay"]
    assert [one.call for one in came.results] == [said.calls[0].id]
    assert came.side is Side.USER
    opening = asked.opening()
    assert opening is not None
    assert opening.texts == ["refund A1, please"]


def test_a_name_tells_what_an_id_would() -> None:
    """The tool alone is what is kept; arguments are compared by their digests."""
    first = named("pay.now", "0123456789abcdef", ())
    second = named("pay.now", "0123456789abcdef", {first})
    assert first != second
    assert kept(first) == kept(second) == kept(unpaired("pay.now")) == "#pay.now"
    assert is_positional(first)
    assert kept("call_1.x.y") == "call_1.x.y"


@pytest.mark.parametrize(
    "value",
    [
        {"Candidates": []},
        {"candidates": [{"content": {"Parts": []}}]},
        {"candidates": [{"content": {"parts": [{"function_call": {}}]}}]},
        {"candidates": [{"content": {"parts": [{"functioncall": {}}]}}]},
        {"candidates": [{"functionCall": {"name": "pay"}}]},
        {"candidates": [{"parts": [{"functionCall": {}}]}]},
        {"functionCalls": [{"name": "pay"}]},
        {"toolCall": {"functionCalls": []}},
        {"candidates": [{"index": 0}, {"index": 0}]},
        {"candidates": [{"index": -1}]},
        {"candidates": {}},
        {"candidates": [{"content": []}]},
        {"candidates": [{"content": {"parts": ["x"]}}]},
    ],
)
def test_a_call_in_a_place_or_spelling_that_only_some_clients_read_breaks(value: Any) -> None:
    """G5: no client's parser finds a call where the gate sees none."""
    with pytest.raises(WrongShapeError):
        list(candidates(value))
