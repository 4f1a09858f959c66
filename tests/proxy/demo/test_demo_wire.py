"""The scripted provider's own parts: grammar on the wire, fragments, encodings, identifiers, what a script sees."""

from __future__ import annotations

import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from proxy.demo import anthropic_wire, chat_wire
from proxy.demo.asked import anthropic_asked, chat_asked
from proxy.demo.delivery import Dialogue, arranged
from proxy.demo.documents import read
from proxy.demo.encodings import decoded, encoder
from proxy.demo.identifiers import Identifiers
from proxy.demo.turns import Block, Call, Delivery, Encoding, Text, Thinking, Turn

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
parts = st.one_of(
    st.builds(Text, texts),
    st.builds(Call, st.sampled_from(["look", "pay"]), st.sampled_from(["{}", '{"a": "\\u00e9\\\\"}', "broken"])),
)
turns = st.builds(Turn, st.lists(parts, min_size=1, max_size=4).map(tuple))


@given(turns, st.integers(1, 50))
def test_anthropic_events_follow_the_grammar(turn: Turn, chars: int) -> None:
    """Names equal types, indexes are dense, each block opens and closes once, fragments make up the part."""
    frames = anthropic_wire.events(turn, "m", Identifiers(), chars)
    events = []
    for frame in frames:
        name, data = frame.removesuffix(b"\n\n").split(b"\n")
        events.append(read(data.removeprefix(b"data: ")))
        assert name == b"event: " + events[-1]["type"].encode()

    kinds = [event["type"] for event in events]
    assert (kinds[0], kinds[-2:]) == ("message_start", ["message_delta", "message_stop"])
    for index, part in enumerate(turn.parts):
        own = [event for event in events if event.get("index") == index]
        assert [own[0]["type"], own[-1]["type"]] == ["content_block_start", "content_block_stop"]
        deltas = [event["delta"] for event in own[1:-1]]
        said = "".join(delta.get("text", "") + delta.get("partial_json", "") for delta in deltas)
        assert said == (part.text if isinstance(part, Text) else part.arguments)


@given(turns, st.integers(1, 50), st.booleans())
def test_chat_chunks_follow_the_grammar(turn: Turn, chars: int, usage: bool) -> None:
    """One id throughout, ids and names in the first fragment only, dense call indexes, one finish, `[DONE]` last."""
    frames = chat_wire.events(turn, "m", Identifiers(), chars, include_usage=usage)
    assert frames[-1] == b"data: [DONE]\n\n"
    chunks = [read(frame.removeprefix(b"data: ")) for frame in frames[:-1]]
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert (chunks[-1]["choices"] == []) is usage
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    assert [choice["finish_reason"] is None for choice in choices] == [True] * (len(choices) - 1) + [False]
    deltas = [choice["delta"] for choice in choices]
    calls = [part for part in turn.parts if isinstance(part, Call)]
    fragments = [call for delta in deltas for call in delta.get("tool_calls", ())]
    for index, call in enumerate(calls):
        own = [fragment for fragment in fragments if fragment["index"] == index]
        assert ["id" in fragment for fragment in own] == [True] + [False] * (len(own) - 1)
        assert "".join(fragment["function"]["arguments"] for fragment in own) == call.arguments
    assert {fragment["index"] for fragment in fragments} == set(range(len(calls)))
    said = "".join(delta.get("content") or "" for delta in deltas)
    assert said == "".join(part.text for part in turn.parts if isinstance(part, Text))


def test_blocks_of_one_dialect_stay_in_it() -> None:
    """Any block can be stated for Anthropic, whole and in deltas; Chat has no place for it and says so."""
    delta = {"type": "input_json_delta", "partial_json": '{"q":1}'}
    start = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    turn = Turn((Thinking(signature="blob", redacted=True), Block(start, start | {"input": {"q": 1}}, (delta,))))

    streamed = b"".join(anthropic_wire.events(turn, "m", Identifiers(), 9))
    assert streamed.count(b'"type":"server_tool_use"') == streamed.count(b'{"q":1}'.replace(b'"', b'\\"')) == 1
    whole = read(anthropic_wire.body(turn, "m", Identifiers()))["content"]
    assert whole == [{"type": "redacted_thinking", "data": "blob"}, start | {"input": {"q": 1}}]
    with pytest.raises(ValueError, match="server_tool_use"):
        chat_wire.body(turn, "m", Identifiers())


def test_an_input_can_stand_in_the_start_event() -> None:
    """Both ways in which a stream can state arguments can be scripted, also so that they disagree."""
    turn = Turn((Call("pay", '{"a":2}', start_input='{"a":1}'), Call("look", "", start_input='{"b":3}')))

    frames = anthropic_wire.events(turn, "m", Identifiers(), 99)
    starts = [read(f.split(b"data: ")[1])["content_block"]["input"] for f in frames if b"block_start" in f]
    assert starts == [{"a": 1}, {"b": 3}]
    assert sum(b"partial_json" in frame for frame in frames) == 2


def test_events_are_arranged() -> None:
    """Pings stand behind each event, extra frames behind the first, and an error replaces the rest."""
    dialogue = Dialogue(b"ping", b"error")

    assert arranged([b"1", b"2"], Delivery(), dialogue) == [b"1", b"2"]
    assert arranged([b"1", b"2"], Delivery(pings=True), dialogue) == [b"1", b"ping", b"2", b"ping"]
    assert arranged([b"1", b"2"], Delivery(extra_events=(b"x", b"y")), dialogue) == [b"1", b"x", b"y", b"2"]
    assert arranged([b"1", b"2", b"3"], Delivery(error_after=1), dialogue) == [b"1", b"error"]


@given(st.lists(st.binary(max_size=30), max_size=5), st.sampled_from([None, *Encoding]))
def test_encodings_are_real(pieces: list[bytes], encoding: Encoding | None) -> None:
    """What is encoded piece by piece, a decoder reads back, each piece as soon as it was sent."""
    coding = encoder(encoding)
    sent = [coding.feed(piece) for piece in pieces]
    whole = b"".join(sent) + coding.end()

    assert decoded(whole, encoding.value if encoding else "") == b"".join(pieces)
    readers = {
        None: bytes,
        Encoding.GZIP: zlib.decompressobj(31).decompress,
        Encoding.DEFLATE: zlib.decompressobj().decompress,
        Encoding.BROTLI: brotli.Decompressor().process,
        Encoding.ZSTD: zstandard.ZstdDecompressor().decompressobj().decompress,
    }
    assert readers[encoding](b"".join(sent)) == b"".join(pieces)


def test_a_body_that_is_not_what_it_says_is_an_error() -> None:
    """An unknown encoding, and bytes that are not in it, are refused."""
    for encoding in ("compress", "gzip", "br", "zstd", "deflate"):
        with pytest.raises(ValueError, match=encoding):
            decoded(b"plain", encoding)


def test_identifiers_never_repeat_and_are_the_same_again() -> None:
    """Unlike within a run, alike between runs."""
    first, second = Identifiers(), Identifiers()
    made = [first.next("toolu_01", 22) for _ in range(500)]

    assert len(set(made)) == 500
    assert made == [second.next("toolu_01", 22) for _ in range(500)]
    assert {len(one) for one in made} == {30}


def test_a_script_sees_the_newest_user_text() -> None:
    """Results and rounds are counted from the newest text of a user; a text beside results does not start anew."""
    use = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "42"}]}
    history = [
        {"role": "user", "content": "old"},
        {"role": "assistant", "content": "yes?"},
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [answer, {"type": "text", "text": "go on"}]},
    ]
    asked = anthropic_asked({"model": "m", "messages": history, "stream": True})
    assert (asked.user_text, asked.results, asked.rounds, asked.streamed) == ("one\ntwo", ("42",), 1, True)

    chat = [*history[:2], {"role": "user", "content": "new"}, {"role": "assistant", "content": "x"}]
    asked = chat_asked({"model": "m", "messages": [*chat, {"role": "tool", "content": "42"}]})
    assert (asked.user_text, asked.results, asked.rounds, asked.streamed) == ("new", ("42",), 1, False)
