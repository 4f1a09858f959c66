"""Items that are named by their ids: which they are, how they read, what goes up in their place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire import envelope
from proxy.wire.openai_responses import OPENAI_RESPONSES
from proxy.wire.responses_items import reply_id
from proxy.wire.responses_output import sealed_id
from proxy.wire.responses_references import ResponsesReferences, refuse_own
from proxy.wire.responses_transcript import ResponsesTranscript
from proxy.wire.transcript import Side
from proxy.wire.turn import KnownItem

REFERENCES = ResponsesReferences()
USER = {"role": "user", "content": "hi"}
RS: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}
FC = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
OUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}
REPLY = {**SAID, "id": reply_id("resp_1", 0)}


def to(item: Any) -> dict[str, Any]:
    return {"type": "item_reference", "id": item["id"]}


def body(*items: Any) -> bytes:
    return json.dumps({"model": "m", "input": list(items)}).encode()


def known(*items: Any, turn: str = "") -> ResponsesTranscript:
    """A request that names these items, all of which are known."""
    named = [to(item) if "id" in item else item for item in items]
    behind = {item["id"]: KnownItem(json.dumps(item).encode(), turn) for item in items if "id" in item}
    return ResponsesTranscript(REFERENCES.known(body(*named), behind))


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"type": "item_reference", "id": "a"}, "a"),
        ({"id": "a"}, "a"),
        ({"id": "a", "type": None}, "a"),
        ({"type": "item_reference", "id": "a", "status": None}, "a"),
        ({"type": "item_reference", "id": 1}, ""),
        ({"type": "item_reference"}, ""),
        (FC, ""),
        (SAID, ""),
        ({"role": "user", "content": "x", "id": "a"}, ""),
        ({"type": "other", "id": "a"}, ""),
        (USER, ""),
        ("x", ""),
    ],
)
def test_what_a_reference_is(item: Any, name: str) -> None:
    """Its type may be left out; whatever says something of its own is none."""
    if isinstance(item, dict):
        assert REFERENCES.named(body(USER, item)) == ([name] if name else [])
    assert REFERENCES.named(b'{"input": "item_reference"}') == []


def test_a_known_reference_reads_as_its_item() -> None:
    """Its turn means what the literal one means: text, calls, thinking; and it says which hidden turn it belongs to."""
    literal = ResponsesTranscript(body(USER, RS, SAID, FC, OUT)).turns()
    named = known(USER, RS, SAID, FC, OUT, turn="hg1").turns()
    assert [turn.meaning() for turn in named] == [turn.meaning() for turn in literal]
    assert [turn.calls for turn in named] == [turn.calls for turn in literal]
    assert (literal[1].marks, named[1].marks) == ([""], ["", "hg1", "hg1", "hg1"])


def test_what_is_not_known_says_nothing() -> None:
    """It is the model's turn, without text or call."""
    (_, said) = ResponsesTranscript(body(USER, to(RS), to(SAID), to(FC))).turns()
    assert (said.side, said.texts, said.calls, said.other, said.marks) == (Side.ASSISTANT, [], [], [], [""])


ITEMS = st.lists(st.sampled_from([USER, RS, SAID, FC, OUT, REPLY, to(RS), to(SAID), to(FC), to(REPLY)]))


@given(items=ITEMS, spaces=st.sampled_from([None, 2]))
def test_what_was_put_beside_an_id_comes_off_again(items: list[Any], spaces: int | None) -> None:
    """Item by item the same bytes; and only ids that are known got something."""
    sent = json.dumps({"model": "m", "input": items}, indent=spaces).encode()
    behind = {item["id"]: KnownItem(json.dumps(item).encode()) for item in (RS, FC)}
    put = REFERENCES.known(sent, behind)
    named = envelope.elements(envelope.members(put)["input"])
    assert sum(raw.startswith(b'{"callgate_item":') for raw in named) == sum(item in (to(RS), to(FC)) for item in items)
    back = envelope.elements(envelope.members(REFERENCES.collapsed(put))["input"])
    assert back == envelope.elements(envelope.members(sent)["input"])


def goes_up(found: ResponsesTranscript, mark: str = "") -> list[Any]:
    """The items as they go up, and nothing of the gate's beside them."""
    opened = [found.unsealed(message, mark)[0] for message in found.messages]
    sent = REFERENCES.collapsed(found.body(opened))
    assert b"callgate" not in sent
    items: list[Any] = json.loads(sent)["input"]
    return items


def test_a_reply_goes_up_as_what_it_said_without_an_id() -> None:
    """The reasoning before it goes, since the provider looks for the call; what is the provider's own stays an id."""
    spoken = {key: value for key, value in REPLY.items() if key != "id"}
    assert goes_up(known(USER, RS, REPLY, {**USER, "content": "b"})) == [USER, spoken, {**USER, "content": "b"}]
    assert goes_up(known(USER, RS, REPLY, FC, OUT)) == [USER, to(RS), spoken, to(FC), OUT]


def test_a_reply_of_which_nothing_is_known_is_taken_out() -> None:
    """The provider knows no such id; what can be told of the reasoning before it is told by its id."""
    found = ResponsesTranscript(body(USER, to(RS), to(REPLY), {**USER, "content": "b"}))
    assert goes_up(found) == [USER, {**USER, "content": "b"}]
    assert [found.unsealed(message, "")[1] for message in found.messages] == [0, 1, 1, 0]


@pytest.mark.parametrize("is_known", [True, False])
def test_reasoning_of_a_later_leg_gets_its_own_id_back(is_known: bool) -> None:
    """Behind the hidden turn that it depends on; without it, it goes, and nothing that is known asks for it by its
    id."""
    sealed = {**RS, "id": sealed_id("rs_1", "hg1")}
    found = known(USER, sealed, SAID) if is_known else ResponsesTranscript(body(USER, to(sealed), to(SAID)))
    assert goes_up(found, "hg1") == [USER, to(RS), to(SAID)]
    nameless = {name: value for name, value in SAID.items() if name != "id"}
    assert goes_up(found, "hg2") == [USER, nameless if is_known else to(SAID)]


def test_no_client_writes_the_gates_own_form() -> None:
    """Not as an item, not inside one; as the text of a string it is but a text."""
    for forged in (b'{"input":[{"callgate_item":{}}]}', b'{"input":[{"role":"user","content":[{"callgate_item":1}]}]}'):
        with pytest.raises(envelope.EnvelopeError, match="the gate's own"):
            OPENAI_RESPONSES.request(forged)
    refuse_own(json.dumps({"input": '{"callgate_item":{}}'}).encode())
    escaped = rb'{"input":[{"callgate\u005fitem":{"type":"message","role":"assistant","content":"x"},"role":"user"}]}'
    assert [turn.texts for turn in ResponsesTranscript(escaped).turns()] == [[]]
