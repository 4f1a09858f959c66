"""What holds for every Responses turn, every split of its bytes and every set of verdicts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.openai_responses import OPENAI_RESPONSES
from tests import strategies as model
from tests.proxy.wire import sdks
from tests.proxy.wire.responses_model import (
    read_responses,
    read_responses_body,
    responses_body,
    responses_stream,
)
from tests.replay import REFUSAL, Rule, allow, bytewise, deny, replay, split_at

if TYPE_CHECKING:
    from interceptors.calls import Call

TURNS = model.turns(freeform=True)


def by_id(ids: frozenset[str]) -> Rule:
    def rule(call: Call) -> bool:
        return call.id in ids

    return rule


@given(TURNS, model.endings, model.cut_places)
def test_allowed_streams_pass_byte_for_byte(turn: model.Turn, ending: bytes, cuts: list[int]) -> None:
    """G2, G3: where all is allowed the bytes down are the bytes up, whatever their split."""
    data = responses_stream(turn, ending)
    result = replay(OPENAI_RESPONSES, split_at(data, cuts), allow)
    assert result.data == data
    assert [(call.id, call.raw) for call in result.ran] == [(call.id, call.arguments) for call in turn.calls]


@given(TURNS)
def test_allowed_bodies_pass_byte_for_byte(turn: model.Turn) -> None:
    """The same for a body; and both give the same calls."""
    data = responses_body(turn)
    result = replay(OPENAI_RESPONSES, data, allow, streamed=False)
    assert result.data == data
    assert result.decisions() == replay(OPENAI_RESPONSES, responses_stream(turn), allow).decisions()


@given(TURNS, model.endings, model.cut_places)
def test_denied_streams_leak_nothing(turn: model.Turn, ending: bytes, cuts: list[int]) -> None:
    """G1: not a byte of a refused call, in a stream that keeps its grammar, its text, its usage and its end."""
    result = replay(OPENAI_RESPONSES, split_at(responses_stream(turn, ending), cuts), deny)
    read = read_responses(result.data)
    assert b"Zq" not in result.data
    assert "Zq" not in read.strings
    assert read.calls == []
    assert (read.usage["output_tokens"], read.reasons[0]) == (turn.output_tokens, "completed")
    spoken = [part.text if isinstance(part, model.Text) else REFUSAL for part in turn.parts if _is_said(part)]
    assert read.text[0] == "".join(spoken)
    assert sum(sdks.calls_found(OPENAI_RESPONSES, result.data).values()) == 0


def _is_said(part: model.Part) -> bool:
    return isinstance(part, model.Text | model.ToolUse)


@given(TURNS)
def test_denied_bodies_leak_nothing(turn: model.Turn) -> None:
    """The same for a body."""
    result = replay(OPENAI_RESPONSES, responses_body(turn), deny, streamed=False)
    read = read_responses_body(result.data)
    assert b"Zq" not in result.data
    assert read.calls == []
    assert read.text[0].count(REFUSAL) == len(turn.calls)


@given(TURNS, model.cut_places, st.data())
def test_partial_denial_keeps_the_others(turn: model.Turn, cuts: list[int], data: st.DataObject) -> None:
    """Of parallel calls exactly the allowed ones reach the client, in all four places, streamed and not."""
    kept = (
        frozenset(data.draw(st.sets(st.sampled_from([call.id for call in turn.calls])))) if turn.calls else frozenset()
    )
    streamed = replay(OPENAI_RESPONSES, split_at(responses_stream(turn), cuts), by_id(kept))
    whole = replay(OPENAI_RESPONSES, responses_body(turn), by_id(kept), streamed=False)
    expected = [(0, call.id, call.name, call.arguments) for call in turn.calls if call.id in kept]
    for read in (read_responses(streamed.data), read_responses_body(whole.data)):
        assert read.calls == expected
        for call in turn.calls:
            assert (call.id in read.strings) == (call.id in kept)


@pytest.mark.parametrize("rule", [allow, deny])
def test_every_split_gives_the_same(rule: Rule) -> None:
    """G3: cut at each byte, and at all of them."""
    call = model.ToolUse("call_Zq1", "send_mail", ('{"a":', '"Zq😀"}'))
    turn = model.Turn((model.Thinking("hm", "sig"), model.Text("né"), call, model.Text("end")))
    data = responses_stream(turn, b"\r\n")
    whole = replay(OPENAI_RESPONSES, data, rule)
    assert replay(OPENAI_RESPONSES, bytewise(data), rule).data == whole.data
    for place in range(0, len(data), 7):
        cut = replay(OPENAI_RESPONSES, [data[:place], data[place:]], rule)
        assert (cut.data, cut.decisions()) == (whole.data, whole.decisions()), place


@given(TURNS.filter(lambda turn: bool(turn.calls)), st.integers(0, 10**6))
def test_a_stream_that_is_cut_releases_no_call_in_part(turn: model.Turn, place: int) -> None:
    """Of a call whose item was not done nothing leaves, wherever the stream ends; the turn is ended for the client."""
    data = responses_stream(turn)
    data = data[: place % len(data)]
    result = replay(OPENAI_RESPONSES, data, allow)
    done = [call for call in turn.calls if f'"call_id":"{call.id}"'.encode() in result.data]
    assert [call.id for call in done] == [call.id for call in result.ran]
    if result.refused:
        final = json.loads(result.data.rsplit(b"data: ", 1)[1])
        assert final["type"] == "response.completed"
        assert sdks.calls_found(OPENAI_RESPONSES, result.data).total() == len(result.ran)
