"""The watcher finds every request that does not extend what the provider saw, in meaning or in bytes, and no other."""

from __future__ import annotations

import gzip

import orjson
import pytest

from proxy.demo.provider import Received
from proxy.demo.turns import Dialect
from proxy.demo.watcher import extends, retries, unextended
from tests.proxy.demo.strict import TOOLS, assistant, result, text, use, user

THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
TURN = assistant(THOUGHT, text("one moment"), use("a", input={"n": 1.5, "m": None}))
FIRST = {"model": "m", "system": "be kind", "tools": TOOLS, "messages": [user(text("hello"))]}
CACHED = {"type": "ephemeral"}


def body(*messages, **more) -> bytes:
    return orjson.dumps({**FIRST, **more, "messages": list(messages)})


def anthropic(was: bytes, turn, now: bytes, **more) -> list[str]:
    return extends(was, turn, now, dialect=Dialect.ANTHROPIC, **more)


HELLO = user(text("hello"))
BEFORE = body(HELLO)
RESULTS = user(result("a"))
AFTER = body(HELLO, TURN, RESULTS)

EXTENDS = {
    "the turn and its results": AFTER,
    "other parameters": body(HELLO, TURN, RESULTS, max_tokens=7, tool_choice={"type": "none"}),
    "the turn written anew": AFTER.replace(b'"n":1.5,"m":null', b'"m" : null, "n" : 1.50'),
    "keys of the turn left out": body(
        HELLO,
        {**TURN, "content": [*TURN["content"][:2], use("a", input={"n": 1.5, "m": None}, caller={"type": "direct"})]},
        RESULTS,
    ),
    "a breakpoint that moved": body(user({**text("hello"), "cache_control": CACHED}), TURN, RESULTS),
}
BREAKS = {
    "messages.0 has another meaning": body(user(text("hallo")), TURN, RESULTS),
    "messages.0 has other bytes": AFTER.replace(b'{"type":"text","text":"hello"}', b'{"text":"hello","type":"text"}'),
    "system has another meaning": body(HELLO, TURN, RESULTS, system="be brief"),
    "tools has another meaning": body(HELLO, TURN, RESULTS, tools=TOOLS[:1]),
    "tools has other bytes": AFTER.replace(b'"tools":[{"name":"f"', b'"tools":[ {"name":"f"'),
    "messages.1 is no assistant message": body(HELLO, user(text("well?"))),
    "messages.1 is not the turn that was said": body(HELLO, assistant(THOUGHT, text("one moment"))),
    "messages: 1 where 1 and a turn were seen": BEFORE,
}


@pytest.mark.parametrize("now", EXTENDS.values(), ids=EXTENDS)
def test_extends(now: bytes) -> None:
    """The turn may be written in any way that means the same; what was sent before may only move its breakpoints."""
    assert anthropic(BEFORE, TURN, now) == []


@pytest.mark.parametrize(("problem", "now"), BREAKS.items(), ids=BREAKS)
def test_breaks(problem: str, now: bytes) -> None:
    """Each difference is named with its place."""
    assert anthropic(BEFORE, TURN, now) == [problem]


def test_a_breakpoint_excuses_nothing_else() -> None:
    """It may come and go; the keys beside it keep their order."""
    marked = body(user({**text("hello"), "cache_control": CACHED}))
    turned = AFTER.replace(b'{"type":"text","text":"hello"}', b'{"text":"hello","type":"text"}')

    assert anthropic(marked, TURN, AFTER) == []
    assert anthropic(marked, TURN, turned) == ["messages.0 has other bytes"]


def test_what_is_no_turn_is_passed_over() -> None:
    """Other methods have no body to follow; encoded bodies are read."""
    zipped = Received("POST", "/v1/messages", (("Content-Encoding", "gzip"),), gzip.compress(AFTER))
    listed = Received("GET", "/v1/models", (), b"")

    assert unextended([listed, seen(BEFORE, TURN), listed, zipped], lambda one: 1) == []


def test_meaning_alone() -> None:
    """Bytes can be left out of it, thinking too; a missing call never."""
    assert anthropic(BEFORE, TURN, BREAKS["messages.0 has other bytes"], exact=False) == []
    dropped = body(HELLO, assistant(*TURN["content"][1:]), RESULTS)
    assert anthropic(BEFORE, TURN, dropped) == ["messages.1 is not the turn that was said"]
    assert anthropic(BEFORE, TURN, dropped, thinking=False) == []
    assert anthropic(BEFORE, None, dropped) == []
    assert anthropic(BEFORE, TURN, BREAKS["messages.1 is not the turn that was said"], thinking=False) != []


def test_arguments_that_are_no_json() -> None:
    """No request can carry them: whatever stands in their place will do, for that call alone."""
    broken = assistant(use("a", input='{"n": 1'), use("b"))
    mended = assistant(use("a", input={"n": 1}), use("b"))

    assert anthropic(BEFORE, broken, body(HELLO, mended, user(result("a"), result("b")))) == []
    other = assistant(use("a", input={}), use("b", input={"x": 1}))
    assert anthropic(BEFORE, broken, body(HELLO, other, user(result("a"), result("b")))) != []


def test_chat() -> None:
    """Messages of Chat: argument texts by their value, an empty content and none alike, ids and names exactly."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"n": 1.50}'}}
    said = {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None, "annotations": []}
    answer = {"role": "tool", "tool_call_id": "c", "content": "ok"}
    ask = {"role": "user", "content": "hi"}
    was = orjson.dumps({"messages": [ask]})

    def problems(**changed) -> list[str]:
        message = {"role": "assistant", "content": "", "tool_calls": [{**call, **changed}]}
        now = orjson.dumps({"messages": [ask, message, answer]})
        return extends(was, said, now, dialect=Dialect.CHAT)

    assert problems(function={"name": "f", "arguments": '{"n":1.5}'}) == []
    assert problems(index=0) == []
    for changed in (
        {"id": "d"},
        {"function": {"name": "g", "arguments": '{"n": 1.5}'}},
        {"extra_content": {"google": {}}},
    ):
        assert problems(**changed) == ["messages.1 is not the turn that was said"]


def seen(raw: bytes, turn=None, conversation: str = "1", target: str = "/v1/messages", refused: str = "") -> Received:
    return Received("POST", target, (("x-conversation", conversation),), raw, refused, turn)


def test_conversations_are_followed() -> None:
    """Each request extends or repeats an earlier one of its conversation; forks and rewinds are such, strangers not."""

    def problems(*requests: Received) -> list[str]:
        return unextended(requests, lambda one: one.header("x-conversation"))

    fork = body(HELLO, TURN, user(result("a"), text("and?")))
    other = body(user(text("bye")))
    assert (
        problems(seen(BEFORE, TURN), seen(AFTER, assistant(text("done"))), seen(AFTER), seen(fork), seen(BEFORE)) == []
    )
    assert problems(seen(BEFORE, TURN), seen(other, TURN, "2"), seen(AFTER)) == []
    assert (
        problems(seen(BEFORE, TURN), seen(other, target="/v1/messages/count_tokens"), seen(other, refused="no")) == []
    )
    assert problems(seen(BEFORE, TURN), seen(other, TURN)) == [
        "request 1: messages.0 has another meaning",
        "request 1: messages: 1 where 1 and a turn were seen",
    ]
    assert retries(BEFORE, BEFORE)
    assert not retries(BEFORE, AFTER)
