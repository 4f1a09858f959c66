"""Held texts in the real dialects: allowed they change no byte, refused they leave nothing but their reply."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proxy.demo import anthropic_wire, chat_wire
from proxy.demo.identifiers import Identifiers
from proxy.demo.turns import Call, Dialect, Stop, Text, Thinking, Turn
from proxy.gate import Decide, Gate, Record, Write
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.events import RELEASED, Answer, Replaced, TextKey, WholeText
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.sse import Frame, Framer
from proxy.wire.texts import TextReader
from tests.proxy.wire import grammar

if TYPE_CHECKING:
    from collections.abc import Sequence

WIRE = {Dialect.ANTHROPIC: ANTHROPIC_MESSAGES, Dialect.CHAT: OPENAI_CHAT}
REPLY = "No, sorry."
READ = {
    (Dialect.ANTHROPIC, True): grammar.read_anthropic,
    (Dialect.ANTHROPIC, False): grammar.read_anthropic_body,
    (Dialect.CHAT, True): grammar.read_chat,
    (Dialect.CHAT, False): grammar.read_chat_body,
}
WORDS = st.lists(st.sampled_from(["qzx", "wvk", "jqj", "xkz"]), min_size=1, max_size=6).map("".join)
PARTS = st.lists(
    st.one_of(WORDS.map(Text), st.just(Thinking("hm")), st.sampled_from(["run", "not"]).map(Call)),
    min_size=1,
    max_size=5,
)
WAYS = st.sampled_from(sorted(READ, key=str))


def written(dialect: Dialect, turn: Turn, *, streamed: bool) -> bytes:
    if dialect is Dialect.ANTHROPIC:
        if not streamed:
            return anthropic_wire.body(turn, "m", Identifiers())
        return b"".join(anthropic_wire.events(turn, "m", Identifiers(), 4))
    if not streamed:
        return chat_wire.body(turn, "m", Identifiers())
    return b"".join(chat_wire.events(turn, "m", Identifiers(), 4, include_usage=True))


def through(
    dialect: Dialect, data: bytes, *, streamed: bool, text: Answer, cuts: Sequence[int] = ()
) -> tuple[bytes, list[str]]:
    """What leaves of a response, and the texts that were asked about; calls of `not` are refused."""
    wire = WIRE[dialect]
    reader = TextReader(wire.reader(streamed, frozenset()), wire.texts(streamed), holds=True)
    gate = Gate(reader, wire.writer(streamed), 1 << 20)
    out: list[bytes] = []
    asked: list[str] = []

    def answer(key: Any) -> Answer:
        if isinstance(key, TextKey):
            return text
        call = gate.call(key)
        assert call is not None
        return Replaced("no call") if call.name == "not" else RELEASED

    def carry_out(commands: Sequence[Any]) -> None:
        queue = deque(commands)
        while queue:
            match queue.popleft():
                case Write(data=written):
                    out.append(written)
                case Decide(calls=calls):
                    asked.extend(each.text for each in calls.values() if isinstance(each, WholeText))
                    queue.extendleft(reversed(gate.decided({key: answer(key) for key in calls})))
                case Record(keys=keys):
                    queue.extendleft(reversed(gate.recorded({key: answer(key) for key in keys})))

    if streamed:
        framer = Framer(1 << 20)
        places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
        for begin, end in pairwise(places):
            for frame in framer.feed(data[begin:end]):
                carry_out(gate.receive(0, frame))
    else:
        carry_out(gate.receive(0, Frame(data, None, data)))
    carry_out(gate.end(0))
    carry_out(gate.close())
    return b"".join(out), asked


def said(parts: Sequence[Any]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


@given(WAYS, PARTS.filter(lambda parts: Call("not") not in parts), st.lists(st.integers(0, 9_000), max_size=8))
def test_an_allowed_text_leaves_byte_for_byte(way: tuple[Dialect, bool], parts: list[Any], cuts: list[int]) -> None:
    """G2, G3: whatever stands around it, and however the stream is split; it was asked about as a whole, once."""
    dialect, streamed = way
    data = written(dialect, Turn(tuple(parts)), streamed=streamed)

    left, asked = through(dialect, data, streamed=streamed, text=RELEASED, cuts=cuts)

    assert left == data
    assert "".join(asked) == said(parts)
    assert len(asked) <= 1


@given(WAYS, PARTS, st.lists(st.integers(0, 9_000), max_size=8), st.sampled_from([None, Stop.LENGTH]))
def test_nothing_of_a_refused_text_leaves(
    way: tuple[Dialect, bool], parts: list[Any], cuts: list[int], stop: Stop | None
) -> None:
    """Its reply stands there once, every call beside it gets its own answer, and the response is one of its dialect."""
    dialect, streamed = way
    parts = parts if stop is None else [part for part in parts if not isinstance(part, Call)]
    assume(parts)
    data = written(dialect, Turn(tuple(parts), stop=stop), streamed=streamed)

    left, asked = through(dialect, data, streamed=streamed, text=Replaced(REPLY), cuts=cuts)

    read = READ[way](left)
    assert not any(word in read.strings for word in ("qzx", "wvk", "jqj", "xkz"))
    assert read.strings.count(REPLY) == (1 if said(parts) else 0)
    assert [name for _, _, name, _ in read.calls] == ["run"] * parts.count(Call("run"))
    assert read.strings.count("no call") == parts.count(Call("not"))
    if said(parts) and not read.calls:
        assert read.reasons[0] in ("end_turn", "stop")
    assert left == through(dialect, data, streamed=streamed, text=Replaced(REPLY), cuts=())[0]
    assert asked == ([said(parts)] if said(parts) else [])


@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.CHAT])
@given(words=WORDS, share=st.floats(0, 1))
def test_a_text_that_is_cut_leaves_nothing(dialect: Dialect, words: str, share: float) -> None:
    """The stream may end anywhere: what was held and refused is nowhere in what left."""
    data = written(dialect, Turn((Text(words),)), streamed=True)
    left, _ = through(dialect, data[: int(len(data) * share)], streamed=True, text=Replaced(REPLY))
    assert not any(word.encode() in left for word in ("qzx", "wvk", "jqj", "xkz"))
