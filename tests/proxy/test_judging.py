"""A body in which nothing is to be judged leaves without a gate, as the gate would have sent it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.pipeline import Pipeline
from policies import load_policy_text
from proxy.gate_commands import Command, Finish, Write
from proxy.judge import Scene
from proxy.judging import Judging
from proxy.ledger.keeper import Prepared
from proxy.limits import Limits
from proxy.onward import Onward
from proxy.policy_source import Revision
from proxy.texts import TextRules
from proxy.wire.events import Observed
from proxy.wire.registry import DIALECTS
from proxy.wire.sse import Frame
from proxy.wire.texts import Hearing
from tests.strategies import anthropic_body, chat_body, mutations, turns

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect

SCENE = Scene("ex_1", "d", "m", "tenant", None, "", {})
POLICY = load_policy_text("language: 1\npolicy: p\ntools: {t: {on_refusal: model}}\n")
REVISION = Revision(POLICY, Pipeline(POLICY), {}, {})
GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}]}
CALLING = {
    "candidates": [{"content": {"parts": [{"functionCall": {"name": "t", "args": {}}}]}, "finishReason": "STOP"}]
}
OLLAMA = {"model": "m", "message": {"role": "assistant", "content": "hi"}, "done": True, "done_reason": "stop"}
CONVERSE = {"output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}}, "stopReason": "end_turn"}
SAID = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "hi"}],
    "status": "completed",
}
RESPONSES = {"id": "resp_1", "object": "response", "status": "completed", "output": [SAID]}
STATED = [json.dumps(each).encode() for each in (GEMINI, CALLING, OLLAMA, CONVERSE, RESPONSES)]
WHOLE = st.one_of(turns().map(anthropic_body), turns().map(lambda turn: chat_body([turn])), st.sampled_from(STATED))
BODIES = st.one_of(WHOLE, WHOLE.flatmap(mutations))


def judging(
    dialect: Dialect, *, holds: bool = False, mark: str = "", noting: object = None, streamed: bool = False
) -> tuple[Judging, Hearing]:
    hearing = Hearing(dialect, frozenset(), streamed=streamed, holds=holds)
    prepared = Prepared(b"{}", b"{}", mark, noting=cast("Any", noting))
    onward = Onward(dialect, prepared, cast("Any", None), cast("Any", None))
    texts = TextRules(forbids_calls=holds)
    return Judging(dialect, hearing.reader(), onward, REVISION, texts, streamed=streamed, waits=False), hearing


def gated(judged: Judging, body: bytes) -> list[Command]:
    gate = judged.gate(SCENE, Limits())
    return [*gate.receive(0, Frame(body, None, body)), *gate.end(0), *gate.close()]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
@given(body=BODIES, holds=st.booleans(), mark=st.sampled_from(("", "h_1")))
def test_what_leaves_without_a_gate_is_what_the_gate_sends(
    dialect: Dialect, body: bytes, holds: bool, mark: str
) -> None:
    """Its bytes, and nothing else that the gate asks for; any other body is the gate's, as if nobody had looked."""
    (quick, heard), (long, said) = judging(dialect, holds=holds, mark=mark), judging(dialect, holds=holds, mark=mark)
    commands = gated(long, body)
    plain = quick.plain(Frame(body, None, body))
    assert (gated(quick, body) if plain is None else [Write(plain), Finish()]) == commands
    assert heard.said == said.said


def plain(body: bytes, **named: Any) -> bytes | None:
    return judging(DIALECTS[0], **named)[0].plain(Frame(body, None, body))


def test_only_a_body_that_leaves_nothing_behind_goes_without_a_gate() -> None:
    """Not a stream, not where its text is held, its thinking marked, its end noted, or anything in it is told of."""
    block = {"type": "text", "text": "hi"}
    body = json.dumps({"type": "message", "role": "assistant", "content": [block], "stop_reason": "end_turn"}).encode()
    assert plain(body) == body
    for named in ({"holds": True}, {"mark": "h_1"}, {"noting": object()}, {"streamed": True}):
        assert plain(body, **cast("Any", named)) is None
    seen = json.dumps({"content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]}).encode()
    assert plain(seen) is None
    call = json.dumps({"content": [{"type": "tool_use", "id": "c", "name": "t", "input": {}}]}).encode()
    assert plain(call) is None
    assert Observed("web_search") in judging(DIALECTS[0])[1].reader().receive(Frame(seen, None, seen))


def test_most_bodies_without_calls_go_without_a_gate() -> None:
    """In each dialect whose provider keeps nothing."""
    for dialect in DIALECTS:
        if dialect.continuation.references is None:
            found = [judging(dialect)[0].plain(Frame(body, None, body)) for body in (*STATED, chat_body_of("hi"))]
            assert any(each is not None for each in found) or dialect.name.startswith("bedrock"), dialect.name


def chat_body_of(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
