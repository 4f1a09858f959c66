"""Held texts of Responses: allowed they change no byte, refused they leave nothing but their reply."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.gate import Decide, Gate, Record, Write
from proxy.wire.events import RELEASED, Answer, Replaced, TextKey, WholeText
from proxy.wire.openai_responses import OPENAI_RESPONSES
from proxy.wire.responses_texts import ResponsesBodyTexts, ResponsesStreamTexts
from proxy.wire.sse import Frame, Framer
from proxy.wire.texts import TextReader
from tests import strategies as model
from tests.proxy.wire.responses_model import (
    events,
    read_responses,
    read_responses_body,
    responses_body,
    responses_stream,
)
from tests.replay import split_at

REPLY = "No, sorry."
WORDS = st.lists(st.sampled_from(["qzx", "wvk", "jqj"]), min_size=1, max_size=4).map("".join).map(model.Text)
CALLS = st.sampled_from(["run", "not"]).map(lambda name: model.ToolUse("", name, ("{}",)))
PARTS = st.lists(st.one_of(WORDS, CALLS, st.just(model.Thinking("hm", "sig"))), min_size=1, max_size=5)


def turn_of(parts: list[Any]) -> model.Turn:
    named = [
        model.ToolUse(f"call_{place}", part.name, part.pieces) if isinstance(part, model.ToolUse) else part
        for place, part in enumerate(parts)
    ]
    return model.Turn(tuple(named))


def through(data: bytes, *, streamed: bool, text: Answer, cuts: tuple[int, ...] = ()) -> tuple[bytes, list[str]]:
    """What leaves of a response, and the texts that were asked about; calls of `not` are refused."""
    finder = ResponsesStreamTexts() if streamed else ResponsesBodyTexts()
    gate = Gate(
        TextReader(OPENAI_RESPONSES.reader(streamed, frozenset()), finder, holds=True),
        OPENAI_RESPONSES.writer(streamed),
        1 << 20,
    )
    out: list[bytes] = []
    asked: list[str] = []

    def answer(key: Any) -> Answer:
        if isinstance(key, TextKey):
            return text
        call = gate.call(key)
        assert call is not None
        return Replaced("no call") if call.name == "not" else RELEASED

    def carry_out(commands: Any) -> None:
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
        for part in split_at(data, cuts):
            for frame in framer.feed(part):
                carry_out(gate.receive(0, frame))
    else:
        carry_out(gate.receive(0, Frame(data, None, data)))
    carry_out(gate.end(0))
    carry_out(gate.close())
    return b"".join(out), asked


def said(parts: list[Any]) -> str:
    return "".join(part.text for part in parts if isinstance(part, model.Text))


@given(PARTS.filter(lambda parts: all(getattr(part, "name", "") != "not" for part in parts)), model.cut_places)
def test_an_allowed_text_leaves_byte_for_byte(parts: list[Any], cuts: list[int]) -> None:
    """Whatever stands around it, and however the stream is split; it was asked about as a whole, once."""
    turn = turn_of(parts)
    for streamed, data in ((True, responses_stream(turn)), (False, responses_body(turn))):
        left, asked = through(data, streamed=streamed, text=RELEASED, cuts=tuple(cuts))
        assert left == data
        assert asked == ([said(parts)] if said(parts) else [])


@given(PARTS, model.cut_places)
def test_nothing_of_a_refused_text_leaves(parts: list[Any], cuts: list[int]) -> None:
    """Its reply stands there once, every call beside it gets its own answer, and the response keeps its grammar."""
    turn = turn_of(parts)
    for streamed, data in ((True, responses_stream(turn)), (False, responses_body(turn))):
        left, _ = through(data, streamed=streamed, text=Replaced(REPLY), cuts=tuple(cuts))
        read = read_responses(left) if streamed else read_responses_body(left)
        assert not any(word in read.strings for word in ("qzx", "wvk", "jqj"))
        assert read.text[0].count(REPLY) == (1 if said(parts) else 0)
        names = [part.name for part in parts if isinstance(part, model.ToolUse)]
        assert [name for _, _, name, _ in read.calls] == ["run"] * names.count("run")
        assert read.text[0].count("no call") == names.count("not")


def test_a_refused_text_that_was_cut_is_answered_whole() -> None:
    """The reply is whole, whatever its text was: the response says so, streamed and not."""
    turn = model.Turn((model.Text("qzx"),))
    found = events(turn)
    found[-1]["type"] = "response.incomplete"
    cut = {**found[-1]["response"], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    found[-1]["response"] = cut
    data = model.framed([[f"event: {one['type']}", f"data: {model.dump(one)}"] for one in found])
    left, _ = through(data, streamed=True, text=Replaced(REPLY))
    body, _ = through(json.dumps(cut).encode(), streamed=False, text=Replaced(REPLY))
    for read in (read_responses(left), read_responses_body(body)):
        assert (read.reasons[0], read.text[0]) == ("completed", REPLY)
    assert b"response.incomplete" not in left
    assert through(data, streamed=True, text=RELEASED)[0] == data


@given(WORDS, st.floats(0, 1))
def test_a_text_that_is_cut_leaves_nothing(text: model.Text, share: float) -> None:
    """The stream may end anywhere: what was held and refused is nowhere in what left."""
    data = responses_stream(model.Turn((text,)))
    left, _ = through(data[: int(len(data) * share)], streamed=True, text=Replaced(REPLY))
    assert not any(word in left for word in (b"qzx", b"wvk", b"jqj"))


def test_a_text_that_is_stated_in_two_ways_is_not_held() -> None:
    """A client that reads the snapshot would read another text than the one that was judged."""
    for place in ("item", "snapshot"):
        found = json.loads(json.dumps(events(model.Turn((model.Text("qzxqzx"),)))))
        whole = found[-2]["item"] if place == "item" else found[-1]["response"]["output"][0]
        whole["content"][0]["text"] = "wvk"
        frames = [[f"event: {one['type']}", f"data: {model.dump(one)}"] for one in found]
        left, _ = through(model.framed(frames), streamed=True, text=RELEASED)
        assert b"wvk" not in left
        assert b"qzx" not in left
