"""What holds for every Gemini turn, every split of its bytes and every set of verdicts (G1, G2, G3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.gemini import GEMINI
from proxy.wire.gemini_calls import GeminiCalls, Place
from tests import strategies as model
from tests.proxy.wire import gemini_turns as gemini
from tests.replay import REFUSAL, Rule, allow, deny, replay, split_at

if TYPE_CHECKING:
    from collections.abc import Collection

    from interceptors.calls import Call

turns = st.lists(model.turns(), min_size=1, max_size=3)


def at(positions: Collection[int]) -> Rule:
    def rule(call: Call) -> bool:
        return call.position in positions

    return rule


def stated(turns: list[model.Turn]) -> list[tuple[int, str, object]]:
    return [(index, call.name, json.loads(call.arguments)) for index, turn in enumerate(turns) for call in turn.calls]


def by_candidate(calls: list[tuple[int, str, object]]) -> list[tuple[int, str, object]]:
    return sorted(calls, key=lambda call: call[0])


@given(turns, model.endings, model.cut_places, st.booleans(), st.booleans())
def test_allowed_streams_pass_byte_for_byte(
    said: list[model.Turn], ending: bytes, cuts: list[int], partial: bool, ids: bool
) -> None:
    """G2, G3: where all is allowed the bytes down are the bytes up, whatever their split; every call was judged."""
    data = gemini.stream(said, ending, partial=partial, ids=ids)
    result = replay(GEMINI, split_at(data, cuts), allow)
    assert result.data == data
    judged = sorted(json.dumps([call.name, json.loads(call.raw or "{}")], sort_keys=True) for call in result.ran)
    assert judged == sorted(json.dumps([name, args], sort_keys=True) for _, name, args in stated(said))


@given(turns, model.endings, model.cut_places, st.booleans(), st.booleans())
def test_denied_streams_leak_nothing(
    said: list[model.Turn], ending: bytes, cuts: list[int], partial: bool, ids: bool
) -> None:
    """G1: not a word of a refused call, whole or in fragments, and each candidate keeps its text and its end."""
    result = replay(GEMINI, split_at(gemini.stream(said, ending, partial=partial, ids=ids), cuts), deny)
    read = gemini.read_stream(result.data)
    assert read.calls == []
    assert b"Zq" not in result.data
    assert "Zq" not in read.strings
    assert read.ends == dict.fromkeys(range(len(said)), "STOP")
    assert read.usage["candidatesTokenCount"] == said[0].output_tokens
    for index, turn in enumerate(said):
        assert read.text.get(index, "").count(REFUSAL) == len(turn.calls)
        own = "".join(part.text for part in turn.parts if isinstance(part, model.Text))
        assert read.text.get(index, "").replace(f"\n\n{REFUSAL}", "").replace(REFUSAL, "") == own


@given(turns, model.cut_places, st.booleans(), st.data())
def test_partial_denial_keeps_the_others(
    said: list[model.Turn], cuts: list[int], partial: bool, data: st.DataObject
) -> None:
    """Of parallel calls exactly the allowed ones reach the client, in their candidate and with their arguments."""
    stream = gemini.stream(said, partial=partial)
    order = [(call.name, json.loads(call.raw or "{}")) for call in replay(GEMINI, stream, allow).ran]
    kept = data.draw(st.sets(st.integers(0, max(0, len(order) - 1))))
    result = replay(GEMINI, split_at(stream, cuts), at(kept))
    read = gemini.read_stream(result.data)
    expected = sorted(json.dumps(one, sort_keys=True) for place, one in enumerate(order) if place in kept)
    assert sorted(json.dumps(call[1:], sort_keys=True) for call in read.calls) == expected


@given(turns, st.booleans(), st.data())
def test_bodies_decide_as_streams(said: list[model.Turn], ids: bool, data: st.DataObject) -> None:
    """G3: one gate; a JSON body gives the calls and decisions of its stream, and keeps its own bytes or grammar."""
    body = gemini.body(said, ids=ids)
    calls = stated(said)
    kept = data.draw(st.sets(st.integers(0, max(0, len(calls) - 1))))
    result = replay(GEMINI, body, at(kept), streamed=False)
    read = gemini.read_body(result.data)
    assert by_candidate(read.calls) == [call for place, call in enumerate(calls) if place in kept]
    assert read.ends == dict.fromkeys(range(len(said)), "STOP")
    if len(kept) >= len(calls):
        assert result.data == body
    streamed = replay(GEMINI, gemini.stream(said[:1], ids=ids), at(kept))
    alone = replay(GEMINI, gemini.body(said[:1], ids=ids), at(kept), streamed=False)
    assert alone.decisions() == streamed.decisions()


@pytest.mark.parametrize("partial", [False, True])
def test_each_single_split_gives_the_same_bytes(partial: bool) -> None:
    """G3: every place of one cut of a stream with text, an allowed call, a refused one and an end, by exhaustion."""
    calls = (model.ToolUse("c1", "process_refund", ('{"Zqa":"xy"}',)), model.ToolUse("c2", "send_mail", ('{"b":1}',)))
    stream = gemini.stream([model.Turn((model.Text("a\u2028b"), *calls, model.Text("z")))], partial=partial)
    whole = replay(GEMINI, stream, at({0}))
    for place in range(len(stream)):
        cut = replay(GEMINI, [stream[:place], stream[place:]], at({0}))
        assert (cut.data, cut.decisions()) == (whole.data, whole.decisions()), place


def test_each_leg_has_calls_of_its_own() -> None:
    """The same call again, in a leg that follows, is another one: it is judged anew."""
    calls = GeminiCalls(frozenset())
    chunk = {"candidates": [{"content": {"parts": [{"functionCall": {"name": "pay"}}]}, "finishReason": "STOP"}]}
    raw = json.dumps(chunk).encode()
    (first,), _, has_reason = calls.chunk(raw, chunk)
    calls.next_leg()
    (second,), _, _ = calls.chunk(raw, chunk)
    assert has_reason
    assert (first, second) == (Place(0, 0, 0), Place(0, 1, 1))
