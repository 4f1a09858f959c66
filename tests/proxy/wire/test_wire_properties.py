"""What holds for every turn, every split of its bytes and every set of verdicts, in both dialects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.openai_chat import OPENAI_CHAT
from tests import strategies as model
from tests.proxy.wire import grammar
from tests.replay import REFUSAL, Rule, allow, deny, replay, split_at

if TYPE_CHECKING:
    from interceptors.calls import Call

chat_turns = st.lists(model.turns(freeform=True), min_size=1, max_size=3)


def by_id(ids: frozenset[str]) -> Rule:
    def rule(call: Call) -> bool:
        return call.id in ids

    return rule


def _stated(turn: model.Turn, choice: int = 0) -> list[tuple[int, str, str, str]]:
    return [(choice, call.id, call.name, call.arguments) for call in turn.calls]


def _meaning(calls: list[tuple[int, str, str, str]]) -> list[tuple[int, str, str, object]]:
    return [(choice, call_id, name, _value(arguments)) for choice, call_id, name, arguments in calls]


def _value(arguments: str) -> object:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def _leaks(turn: model.Turn, read: grammar.Read, data: bytes) -> None:
    """No id and no word of an argument, neither in the bytes nor in the fragments put together."""
    for call in turn.calls:
        assert call.id.encode() not in data
        assert call.id not in read.strings
    assert "Zq" not in read.strings
    assert b"Zq" not in data


@given(model.turns(), model.endings, model.cut_places)
def test_anthropic_allowed_streams_pass_byte_for_byte(turn: model.Turn, ending: bytes, cuts: list[int]) -> None:
    """G2, G3: where all is allowed the bytes down are the bytes up, whatever their split."""
    data = model.anthropic_stream(turn, ending)
    result = replay(ANTHROPIC_MESSAGES, split_at(data, cuts), allow)
    assert result.data == data
    assert [(call.id, call.raw) for call in result.ran] == [(call.id, call.arguments) for call in turn.calls]


@given(chat_turns, model.endings, model.cut_places)
def test_chat_allowed_streams_pass_byte_for_byte(turns: list[model.Turn], ending: bytes, cuts: list[int]) -> None:
    """G2, G3, with n choices, custom calls and interleaved fragments."""
    data = model.chat_stream(turns, ending)
    result = replay(OPENAI_CHAT, split_at(data, cuts), allow)
    assert result.data == data
    assert sorted((call.id, call.raw) for call in result.ran) == sorted(
        (call.id, call.arguments) for turn in turns for call in turn.calls
    )


@given(model.turns(), model.endings, model.cut_places)
def test_anthropic_denied_streams_leak_nothing(turn: model.Turn, ending: bytes, cuts: list[int]) -> None:
    """G1: not a byte of a refused call, in a stream that keeps the grammar, its text, its usage and its end."""
    result = replay(ANTHROPIC_MESSAGES, split_at(model.anthropic_stream(turn, ending), cuts), deny)
    read = grammar.read_anthropic(result.data)
    _leaks(turn, read, result.data)
    assert read.calls == []
    assert read.usage == {"output_tokens": turn.output_tokens}
    texts = [part.text if isinstance(part, model.Text) else REFUSAL for part in turn.parts if _is_said(part)]
    assert read.text[0] == "".join(texts)


def _is_said(part: model.Part) -> bool:
    return isinstance(part, model.Text | model.ToolUse)


@given(chat_turns, model.endings, model.cut_places)
def test_chat_denied_streams_leak_nothing(turns: list[model.Turn], ending: bytes, cuts: list[int]) -> None:
    """G1, choice by choice; the usage chunk behind the end survives."""
    result = replay(OPENAI_CHAT, split_at(model.chat_stream(turns, ending), cuts), deny)
    read = grammar.read_chat(result.data)
    assert read.calls == []
    assert read.usage["completion_tokens"] == turns[0].output_tokens
    for index, turn in enumerate(turns):
        _leaks(turn, read, result.data)
        said = [part.text for part in turn.parts if isinstance(part, model.Text)]
        assert read.text[index].startswith("".join(said))
        assert read.text[index].count(REFUSAL) == len(turn.calls)


@given(model.turns(), st.data())
def test_anthropic_partial_denial_keeps_the_others(turn: model.Turn, data: st.DataObject) -> None:
    """Of parallel calls exactly the allowed ones reach the client, with their own ids and arguments."""
    kept = data.draw(st.sets(st.sampled_from([call.id for call in turn.calls]))) if turn.calls else set()
    result = replay(ANTHROPIC_MESSAGES, model.anthropic_stream(turn), by_id(frozenset(kept)))
    read = grammar.read_anthropic(result.data)
    assert _meaning(read.calls) == _meaning([call for call in _stated(turn) if call[1] in kept])
    for call in turn.calls:
        assert (call.id in read.strings) == (call.id in kept)


@given(chat_turns, model.cut_places, st.data())
def test_chat_partial_denial_keeps_the_others(turns: list[model.Turn], cuts: list[int], data: st.DataObject) -> None:
    """The same, with dense indexes and in the call's own choice."""
    ids = [call.id for turn in turns for call in turn.calls]
    kept = data.draw(st.sets(st.sampled_from(ids))) if ids else set()
    chunks = split_at(model.chat_stream(turns), cuts)
    result = replay(OPENAI_CHAT, chunks, by_id(frozenset(kept)))
    read = grammar.read_chat(result.data)
    stated = [call for index, turn in enumerate(turns) for call in _stated(turn, index)]
    assert read.calls == [call for call in stated if call[1] in kept]


@given(model.turns(), st.data())
def test_anthropic_bodies_decide_as_streams(turn: model.Turn, data: st.DataObject) -> None:
    """G3: one gate; a JSON body gives the calls and decisions of its stream, and keeps its own bytes or grammar."""
    kept = data.draw(st.sets(st.sampled_from([call.id for call in turn.calls]))) if turn.calls else set()
    rule, body = by_id(frozenset(kept)), model.anthropic_body(turn)
    from_body = replay(ANTHROPIC_MESSAGES, body, rule, streamed=False)
    from_stream = replay(ANTHROPIC_MESSAGES, model.anthropic_stream(turn), rule)
    assert from_body.decisions() == from_stream.decisions()
    assert [call.arguments for call in from_body.ran] == [call.arguments for call in from_stream.ran]
    read = grammar.read_anthropic_body(from_body.data)
    assert [call[1] for call in read.calls] == [call.id for call in turn.calls if call.id in kept]
    if len(kept) == len(turn.calls):
        assert from_body.data == body


@given(chat_turns, st.data())
def test_chat_bodies_decide_as_streams(turns: list[model.Turn], data: st.DataObject) -> None:
    """G3, by choice."""
    ids = [call.id for turn in turns for call in turn.calls]
    kept = data.draw(st.sets(st.sampled_from(ids))) if ids else set()
    rule, body = by_id(frozenset(kept)), model.chat_body(turns)
    from_body = replay(OPENAI_CHAT, body, rule, streamed=False)
    from_stream = replay(OPENAI_CHAT, model.chat_stream(turns), rule)
    assert sorted(from_body.decisions()) == sorted(from_stream.decisions())
    read = grammar.read_chat_body(from_body.data)
    stated = [call for index, turn in enumerate(turns) for call in _stated(turn, index)]
    assert read.calls == [call for call in stated if call[1] in kept]
    if len(kept) == len(ids):
        assert from_body.data == body


@given(st.lists(model.turns(server_tools=False), min_size=1, max_size=2), st.sampled_from(model.Quirk), st.data())
def test_ambiguous_framing_leaves_in_one_reading(
    turns: list[model.Turn], quirk: model.Quirk, data: st.DataObject
) -> None:
    """G5: servers that number fragments otherwise are read by one rule, and what leaves can be read in one way only."""
    ids = [call.id for turn in turns for call in turn.calls]
    kept = data.draw(st.sets(st.sampled_from(ids))) if ids else set()
    stream = model.chat_stream(turns, quirk=quirk)
    result = replay(OPENAI_CHAT, split_at(stream, data.draw(model.cut_places)), by_id(frozenset(kept)))
    read = grammar.read_chat(result.data)
    stated = [call for index, turn in enumerate(turns) for call in _stated(turn, index)]
    assert _meaning(read.calls) == _meaning([call for call in stated if call[1] in kept])
    assert not any(call.id in read.strings for turn in turns for call in turn.calls if call.id not in kept)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_each_single_split_gives_the_same_bytes(ending: bytes) -> None:
    """G3: every place of one cut of a stream with text, an allowed call, a refused one and an end, by exhaustion."""
    first = model.ToolUse("call_Zq1", "process_refund", ('{"Zqa":', "1}"))
    turn = model.Turn((model.Text("a\u2028b"), first, model.ToolUse("call_Zq2", "send_mail", ("{}",))))
    rule: Rule = by_id(frozenset({first.id}))
    for dialect, data in (
        (ANTHROPIC_MESSAGES, model.anthropic_stream(turn, ending)),
        (OPENAI_CHAT, model.chat_stream([turn], ending)),
    ):
        whole = replay(dialect, data, rule)
        for place in range(len(data)):
            cut = replay(dialect, [data[:place], data[place:]], rule)
            assert (cut.data, cut.decisions()) == (whole.data, whole.decisions()), place
