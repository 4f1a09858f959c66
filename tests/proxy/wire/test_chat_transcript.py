"""The messages of a Chat request: its turns, and edits that leave every other byte where it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.wire import envelope
from proxy.wire.anthropic_transcript import AnthropicTranscript
from proxy.wire.chat_calls import LEGACY
from proxy.wire.chat_transcript import ChatTranscript, result_message, turns_of
from proxy.wire.transcript import HiddenResult, Side, SideTurn

SYSTEM = {"role": "system", "content": "be kind"}
ASK = {"role": "user", "content": [{"type": "text", "text": "refund "}, {"type": "text", "text": "A1"}]}
CALL = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"n":1}'}}
SAID = {"role": "assistant", "content": None, "tool_calls": [CALL]}
DONE = {"role": "tool", "tool_call_id": "c1", "content": "paid"}
THANKS = {"role": "assistant", "content": "It is paid."}
MORE = {"role": "user", "content": "and A2?"}
ALL = [SYSTEM, ASK, SAID, DONE, THANKS, MORE]


def chat(*messages: Any) -> ChatTranscript:
    return ChatTranscript(json.dumps({"model": "m", "messages": messages}).encode())


def one(message: Any) -> SideTurn:
    (turn,) = turns_of([json.dumps(message).encode()])
    return turn


def test_roles_make_turns() -> None:
    """A result belongs to the user's side; `developer` is `system`."""
    turns = chat(*ALL).turns()
    assert [(turn.side, turn.first, turn.last) for turn in turns] == [
        (Side.SYSTEM, 0, 0),
        (Side.USER, 1, 1),
        (Side.ASSISTANT, 2, 2),
        (Side.USER, 3, 3),
        (Side.ASSISTANT, 4, 4),
        (Side.USER, 5, 5),
    ]
    assert [result.call for result in turns[3].results] == ["c1"]
    assert one(SYSTEM | {"role": "developer"}).meaning() == one(SYSTEM).meaning()


def test_the_opening_and_the_newest() -> None:
    """The first user-side turn is read without what comes behind it, the newest ones without what comes before."""
    transcript = chat(*ALL)
    opening, newest = transcript.opening(), transcript.newest()
    assert opening == transcript.turns()[1]
    assert newest == (transcript.turns()[4], transcript.turns()[5])
    assert chat(ASK, SAID, {"role": "nobody"}).opening() == one(ASK)
    assert chat({"role": "nobody"}, SAID, DONE).newest()[0] is not None


@pytest.mark.parametrize(
    ("messages", "opening", "newest"),
    [((), False, (False, False)), ((SAID,), False, (True, False)), ((ASK,), True, (False, True))],
)
def test_a_side_that_is_not_there_is_none(messages: tuple[Any, ...], opening: bool, newest: tuple[bool, bool]) -> None:
    """A conversation may lack either side."""
    transcript = chat(*messages)
    assert (transcript.opening() is not None) is opening
    assert tuple(turn is not None for turn in transcript.newest()) == newest
    assert ChatTranscript(b"{}").turns() == []


def test_calls_are_read_however_clients_hold_them() -> None:
    """Arguments as text or parsed, of a function or of the old form, are the same arguments; free text is an input."""
    parsed = one({"role": "assistant", "tool_calls": [CALL | {"function": {"name": "refund", "arguments": {"n": 1}}}]})
    assert parsed.calls == one(SAID).calls
    old = [one({"role": "assistant", LEGACY: {"name": "refund", "arguments": a}}).calls for a in ('{"n":1}', {"n": 1})]
    assert old[0] == old[1]
    assert [(call.id, call.name, call.arguments) for call in old[0]] == [("", "refund", {"n": 1})]
    free = one(
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}]}
    )
    assert [(call.name, call.arguments) for call in free.calls] == [("sh", {"input": "ls"})]


def test_a_refusal_is_text_and_an_image_is_not() -> None:
    """The digest of what is no text stands for it: the same image is the same, whatever the order of its keys."""
    said = one({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]})
    assert said.texts == ["no"]
    image = {"type": "image_url", "image_url": {"url": "data:x", "detail": 1e400}}
    images = [{"role": "user", "content": [part]} for part in (image, dict(reversed(image.items())), image | {"x": 1})]
    raw = [json.dumps(message).replace("Infinity", "1e999999999").encode() for message in images]
    first, second, third = (turns_of([each])[0].other for each in raw)
    assert first == second != third


@pytest.mark.parametrize(
    "message",
    [
        b"5",
        b'{"content":"x"}',
        b'{"role":"nobody"}',
        b'{"role":[]}',
        b'{"role":{}}',
        b'{"role":null}',
        b'{"role":"user","role":"system"}',
        b'{"role":"assistant","tool_calls":5}',
        b'{"role":"assistant","tool_calls":true}',
        b'{"role":"assistant","tool_calls":{"a":1}}',
        b'{"role":"assistant","tool_calls":["x"]}',
        b'{"role":"assistant","function_call":"refund"}',
        b'{"role":"assistant","function_call":[1]}',
    ],
)
def test_what_cannot_be_read_is_refused(message: bytes) -> None:
    """Each shape that the dialect does not have is an error of the request, never one of the gate."""
    with pytest.raises(envelope.EnvelopeError):
        ChatTranscript(b'{"messages":[%s]}' % message).turns()


@pytest.mark.parametrize(
    "message",
    [
        b'{"role":[],"content":"x"}',
        b'{"role":"user"}',
        b'{"role":"user","content":[5]}',
        b'{"role":"user","content":5}',
    ],
)
def test_the_other_dialect_refuses_as_well(message: bytes) -> None:
    """The same for the messages of the Anthropic dialect."""
    with pytest.raises(envelope.EnvelopeError):
        AnthropicTranscript(b'{"messages":[%s]}' % message).turns()


def test_blocks_that_nobody_knows_harm_nothing() -> None:
    """A block whose type is no text, or that holds a number nobody judged, is digested as it is; a result may lack
    the id of its call."""
    blocks = b'[{"type":[]},{"type":"image","source":{"n":1e999999999}},{"type":"tool_result","content":"x"}]'
    transcript = AnthropicTranscript(b'{"messages":[{"role":"user","content":%s}]}' % blocks)
    (turn,) = transcript.turns()
    assert (len(turn.other), [result.call for result in turn.results]) == (2, [""])
    (message,) = transcript.messages
    assert envelope.value_of(transcript.with_notice(message, {"c1"}, "!")) == envelope.value_of(message)
    (edited,) = transcript.with_results([message], [HiddenResult("c1", "refund", "function", "{}")], ["c1"])
    assert [block.get("tool_use_id") for block in envelope.value_of(edited)["content"]] == ["c1", None, None, None]


def result(call: str, kind: str = "function") -> HiddenResult:
    return HiddenResult(call, "refund", kind, f'{{"refused":"{call}"}}')


def test_results_stand_first_in_the_order_of_the_calls() -> None:
    """The gate's own and the client's, then what else the turn says; the client's keep their bytes."""
    own, words = b'{ "role":"tool", "tool_call_id":"c2", "content":"x" }', b'{"role":"user",  "content":"hm"}'
    found = chat().with_results([words, own], [result("c3"), result("c1")], ["c1", "c2", "c3"])
    assert found == [result_message(result("c1")), own, result_message(result("c3")), words]
    assert chat().with_results([], [result("c1")], ["c1"]) == [result_message(result("c1"))]
    assert chat().with_results([own], [result("c2")], ["c2"]) == [result_message(result("c2"))], "one result a call"
    assert chat().with_results([words, own], [], []) == [own, words]


def test_a_refusal_is_a_result_of_its_form() -> None:
    """By the id of its call, and in the old form by the name of the function."""
    assert envelope.value_of(result_message(result("c1"))) == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": '{"refused":"c1"}',
    }
    old = envelope.value_of(result_message(result("", LEGACY)))
    assert old == {"role": "function", "name": "refund", "content": '{"refused":""}'}


def test_a_notice_stands_before_its_result() -> None:
    """Only in results of the calls that are meant; every other message keeps its bytes."""
    transcript = chat(*ALL)
    noticed = [transcript.with_notice(message, {"c1"}, "Mind:") for message in transcript.messages]
    assert envelope.value_of(noticed[3]) == DONE | {"content": "Mind:\npaid"}
    assert [*noticed[:3], *noticed[4:]] == [*transcript.messages[:3], *transcript.messages[4:]]
    assert transcript.with_notice(transcript.messages[3], {"c2"}, "Mind:") == transcript.messages[3]


def test_a_body_keeps_what_is_not_edited() -> None:
    """The members stand in their order with their bytes; the messages are those that were given."""
    transcript = ChatTranscript(b'{"model": "m",  "messages" : [ {"role":"user"} ], "n" : 1.50}')
    assert transcript.body(transcript.messages) == b'{"model":"m","messages":[{"role":"user"}],"n":1.50}'
    assert transcript.body([]) == b'{"model":"m","messages":[],"n":1.50}'


def test_nothing_here_is_bound_to_what_stands_before() -> None:
    """The dialect has no thinking to take out or to open."""
    raw = b'{ "role":"assistant","content":"a","reasoning":"cg1.x.y" }'
    assert chat().without_thinking(raw) == raw
    assert chat().unsealed(raw, "x") == (raw, 0)
