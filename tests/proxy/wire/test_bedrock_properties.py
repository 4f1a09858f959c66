"""What holds for every Converse turn, every split of its bytes and every set of verdicts (G1, G2, G3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.bedrock import BEDROCK_CONVERSE
from proxy.wire.bedrock_invoke import BEDROCK_INVOKE
from tests import strategies as model
from tests.proxy.wire import bedrock_turns as bedrock
from tests.proxy.wire import sdks
from tests.proxy.wire.test_gemini_properties import at
from tests.replay import REFUSAL, allow, deny, replay, split_at

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect


def stated(turn: model.Turn) -> list[tuple[str, str, object]]:
    return [(call.id, call.name, json.loads(call.arguments or "{}")) for call in turn.calls]


def own_text(turn: model.Turn) -> str:
    return "".join(part.text for part in turn.parts if isinstance(part, model.Text))


def _streams(turn: model.Turn) -> list[tuple[Dialect, bytes]]:
    return [(BEDROCK_CONVERSE, bedrock.stream(turn)), (BEDROCK_INVOKE, bedrock.invoke_stream(turn))]


@given(model.turns(), model.cut_places)
def test_allowed_streams_pass_byte_for_byte(turn: model.Turn, cuts: list[int]) -> None:
    """G2, G3: where all is allowed the bytes down are the bytes up, whatever their split; every call was judged."""
    for dialect, data in _streams(turn):
        result = replay(dialect, split_at(data, cuts), allow)
        assert result.data == data
        assert [(call.id, call.name, dict(call.arguments)) for call in result.ran] == [
            (call_id, name, dict(value)) for call_id, name, value in _parsed(turn)
        ]


def _parsed(turn: model.Turn) -> list[tuple[str, str, dict[str, object]]]:
    whole = replay(BEDROCK_CONVERSE, bedrock.body(turn), allow, streamed=False)
    return [(call.id, call.name, dict(call.arguments)) for call in whole.ran]


@given(model.turns(), model.cut_places)
def test_denied_streams_leak_nothing(turn: model.Turn, cuts: list[int]) -> None:
    """G1: not a word of a refused call; text, usage and end stay, and the reply is said for each call."""
    result = replay(BEDROCK_CONVERSE, split_at(bedrock.stream(turn), cuts), deny)
    read = bedrock.read(result.data)
    assert read.calls == []
    assert b"Zq" not in result.data
    assert read.usage["outputTokens"] == turn.output_tokens
    assert read.reason == "end_turn"
    assert read.text.count(REFUSAL) == len(turn.calls)
    assert read.text.replace(REFUSAL, "") == own_text(turn)


@given(model.turns(), model.cut_places, st.data())
def test_partial_denial_keeps_the_others(turn: model.Turn, cuts: list[int], data: st.DataObject) -> None:
    """Of parallel calls exactly the allowed ones reach the client, streamed or not, by the same decisions; the indexes
    stay dense."""
    kept = data.draw(st.sets(st.integers(0, max(0, len(turn.calls) - 1))))
    result = replay(BEDROCK_CONVERSE, split_at(bedrock.stream(turn), cuts), at(kept))
    expected = [call for place, call in enumerate(stated(turn)) if place in kept]
    read = bedrock.read(result.data)
    assert read.calls == expected
    assert read.indexes == list(range(len(turn.parts)))
    assert read.reason == ("tool_use" if expected else "end_turn")
    body = bedrock.body(turn)
    whole = replay(BEDROCK_CONVERSE, body, at(kept), streamed=False)
    assert bedrock.read_body(whole.data).calls == expected
    assert bedrock.read_body(whole.data).reason == read.reason
    assert whole.decisions() == result.decisions()
    if len(kept) >= len(turn.calls):
        assert whole.data == body


@given(model.turns(server_tools=False), model.cut_places, st.data())
def test_claude_in_chunks_is_claude(turn: model.Turn, cuts: list[int], data: st.DataObject) -> None:
    """InvokeModel: what leaves of a stream in chunks is what would leave of Anthropic's own, event by event."""
    kept = data.draw(st.sets(st.integers(0, max(0, len(turn.calls) - 1))))
    result = replay(BEDROCK_INVOKE, split_at(bedrock.invoke_stream(turn), cuts), at(kept))
    found = sdks.calls_found(BEDROCK_INVOKE, result.data)
    expected = [call for place, call in enumerate(stated(turn)) if place in kept]
    assert sorted(found.elements()) == sorted((name, json.dumps(value, sort_keys=True)) for _, name, value in expected)


def test_each_single_split_gives_the_same_bytes() -> None:
    """G3: every place of one cut of a stream with text, an allowed call, a refused one and an end, by exhaustion."""
    calls = (
        model.ToolUse("c1", "process_refund", ('{"Zqa":', '"xy"}')),
        model.ToolUse("c2", "send_mail", ('{"b":1}',)),
    )
    turn = model.Turn((model.Text("a\u2028b"), *calls, model.Text("z")))
    for dialect, stream in _streams(turn):
        whole = replay(dialect, stream, at({0}))
        for place in range(len(stream)):
            cut = replay(dialect, [stream[:place], stream[place:]], at({0}))
            assert (cut.data, cut.decisions()) == (whole.data, whole.decisions()), place
