"""What holds for every turn of Ollama, every split of its bytes and every set of verdicts (G1, G2, G3)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.ndjson import LINES, LineFramer
from proxy.wire.ollama import OLLAMA_CHAT
from proxy.wire.ollama_reader import Number
from proxy.wire.sse import FramingFault
from tests import strategies as model
from tests.proxy.wire import ollama_turns as ollama
from tests.proxy.wire.test_gemini_properties import at
from tests.replay import REFUSAL, allow, deny, replay, split_at


def stated(turn: model.Turn) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments)) for call in turn.calls]


def own_text(turn: model.Turn) -> str:
    return "".join(part.text for part in turn.parts if isinstance(part, model.Text))


@given(model.turns(), model.cut_places)
def test_allowed_streams_pass_byte_for_byte(turn: model.Turn, cuts: list[int]) -> None:
    """G2, G3: where all is allowed the bytes down are the bytes up, whatever their split; every call was judged."""
    data = ollama.stream(turn)
    result = replay(OLLAMA_CHAT, split_at(data, cuts), allow)
    assert result.data == data
    assert [(call.name, json.loads(call.raw)) for call in result.ran] == stated(turn)


@given(model.turns(), model.cut_places)
def test_denied_streams_leak_nothing(turn: model.Turn, cuts: list[int]) -> None:
    """G1: not a word of a refused call; the text, the usage and the end stay, and the reply is said for each call."""
    result = replay(OLLAMA_CHAT, split_at(ollama.stream(turn), cuts), deny)
    read = ollama.read(result.data)
    assert read.calls == []
    assert b"Zq" not in result.data
    assert read.end["eval_count"] == turn.output_tokens
    assert read.text.count(REFUSAL) == len(turn.calls)
    assert read.text.replace(f"\n\n{REFUSAL}", "").replace(REFUSAL, "") == own_text(turn)


@given(model.turns(), model.cut_places, st.data())
def test_partial_denial_keeps_the_others(turn: model.Turn, cuts: list[int], data: st.DataObject) -> None:
    """Of parallel calls exactly the allowed ones reach the client, streamed or not, by the same decisions."""
    kept = data.draw(st.sets(st.integers(0, max(0, len(turn.calls) - 1))))
    result = replay(OLLAMA_CHAT, split_at(ollama.stream(turn), cuts), at(kept))
    expected = [call for place, call in enumerate(stated(turn)) if place in kept]
    assert ollama.read(result.data).calls == expected
    body = ollama.body(turn)
    whole = replay(OLLAMA_CHAT, body, at(kept), streamed=False)
    assert ollama.read(whole.data).calls == expected
    assert whole.decisions() == result.decisions()
    if len(kept) >= len(turn.calls):
        assert whole.data == body


def test_each_single_split_gives_the_same_bytes() -> None:
    """G3: every place of one cut of a stream with text, an allowed call, a refused one and an end, by exhaustion."""
    calls = (model.ToolUse("c1", "process_refund", ('{"Zqa":"xy"}',)), model.ToolUse("c2", "send_mail", ('{"b":1}',)))
    stream = ollama.stream(model.Turn((model.Text("a\u2028b"), *calls, model.Text("z"))))
    whole = replay(OLLAMA_CHAT, stream, at({0}))
    for place in range(len(stream)):
        cut = replay(OLLAMA_CHAT, [stream[:place], stream[place:]], at({0}))
        assert (cut.data, cut.decisions()) == (whole.data, whole.decisions()), place


@given(st.lists(st.binary(max_size=12)), st.booleans())
def test_lines_are_the_stream_whatever_its_split(parts: list[bytes], ends: bool) -> None:
    """The raw bytes of all frames are the bytes that came; a fault is the same for every split."""
    data = b"".join(parts) + (b"\n" if ends else b"")
    one, many = LineFramer(64), LineFramer(64)
    frames = [*one.feed(data), *filter(None, [one.close()])]
    others = [frame for part in [*parts, b"\n" if ends else b""] for frame in many.feed(part)]
    others += [*filter(None, [many.close()])]
    if one.fault is None and many.fault is None:
        assert b"".join(frame.raw for frame in frames) == data
        assert frames == others
    else:
        assert data.decode("utf-8", "replace") != data.decode("utf-8", "ignore") or len(data) > 64


def test_a_line_is_bounded_and_utf_8() -> None:
    """What cannot be read in one way, or is too large, ends the stream."""
    framer = LINES.framer(10)
    framer.feed(b"x" * 11)
    assert framer.fault is FramingFault.TOO_LARGE
    framer = LINES.framer(10)
    assert framer.feed(b"\xff\n{}\n") == []
    assert framer.fault is FramingFault.NOT_UTF8
    assert framer.pending >= 0


@pytest.mark.parametrize("stated_stream", [None, True, False])
def test_a_chat_streams_unless_it_says_no(stated_stream: bool | None) -> None:
    """`stream` is true where it is left out, as the server has it."""
    body = {"model": "m", "messages": []} | ({} if stated_stream is None else {"stream": stated_stream})
    assert OLLAMA_CHAT.request(json.dumps(body).encode()).streamed is (stated_stream is not False)


def test_each_leg_has_calls_of_its_own() -> None:
    """The same call again, in a leg that follows, is another one: it is judged anew."""
    reader = OLLAMA_CHAT.reader(True, frozenset())
    (frame,) = LineFramer(1000).feed(
        ollama.stream(model.Turn((model.ToolUse("c", "pay", ("{}",)),))).split(b"\n")[0] + b"\n"
    )
    first = reader.receive(frame)
    reader.next_leg()
    second = reader.receive(frame)
    keys = [event.keys for event in (first[0], second[0])]  # type: ignore[union-attr] # the first event is the frame's
    assert keys == [(Number(0, 0),), (Number(1, 1),)]
