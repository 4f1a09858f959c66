"""What is put back into a request: the same for the same, only what is its own, and never thinking that would break."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from proxy.ledger.hidden import Asker, Hidden, Restored, restore
from proxy.wire.anthropic_turn import ANTHROPIC_CONTINUATION
from proxy.wire.chat_turn import CHAT_CONTINUATION
from proxy.wire.seal import sealed
from proxy.wire.transcript import CHAIN_START, HiddenResult, Side, chained

if TYPE_CHECKING:
    from proxy.ledger.hidden import Finder

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str, *marks: str) -> Message:
    """An assistant turn with a thinking block for each mark."""
    blocks = [
        {"type": "thinking", "thinking": "t", "signature": sealed(mark, "c2ln") if mark else "c2ln"} for mark in marks
    ]
    return {"role": "assistant", "content": [*blocks, {"type": "text", "text": text}]}


def talk(*messages: Message) -> bytes:
    return orjson.dumps({"model": "m", "messages": messages})


def entry(name: str, body: bytes, place: int, depends: str = "", asked: Asker | None = None) -> Hidden:
    """The hidden turn that stands in the place of the turn at `place` of this request."""
    before = CHAIN_START
    turns = ANTHROPIC_CONTINUATION.transcript(body).turns()
    for turn in turns[:place]:
        before = before if turn.side is Side.SYSTEM else chained(before, turn.meaning())
    message = orjson.dumps({"role": "assistant", "content": [{"type": "text", "text": f"hidden {name}"}]})
    made = Hidden(name, b"", before, turns[place].meaning(), (message,), depends=depends)
    return made if asked is None else dataclasses.replace(made, asked=asked)


def finder(*entries: Hidden) -> Finder:
    return lambda places: {place: [one for one in entries if (one.before, one.visible) == place] for place in places}


def restored(body: bytes, *entries: Hidden, asker: Asker | None = None) -> Restored:
    transcript = ANTHROPIC_CONTINUATION.transcript(body)
    return restore(transcript, finder(*entries), asker or Asker())


def names(result: Restored) -> list[str]:
    return [one.id for one in result.entries]


def thinking(result: Restored) -> list[str]:
    found = [
        block for message in result.messages for block in orjson.loads(message)["content"] if isinstance(block, dict)
    ]
    return [block["signature"] for block in found if block["type"] == "thinking"]


BODY = talk(user("a"), said("1"), user("b"), said("2"), user("c"))


def test_nothing_known_changes_nothing() -> None:
    """The bytes of every message stay."""
    result = restored(BODY)
    assert result.messages == list(ANTHROPIC_CONTINUATION.transcript(BODY).messages)
    assert not result.is_changed


def test_a_known_turn_is_put_back_and_nothing_else() -> None:
    """Between messages that keep their bytes."""
    result = restored(BODY, entry("h", BODY, 3))
    raw = ANTHROPIC_CONTINUATION.transcript(BODY).messages
    assert [*result.messages[:3], result.messages[4]] == [*raw[:3], raw[4]]
    assert b"hidden h" in result.messages[3]
    assert result.mark == "h"


def test_a_turn_whose_hidden_predecessor_is_lost_is_lost_too() -> None:
    """Its own thinking was made behind what is no longer there."""
    first, second = entry("h1", BODY, 1), entry("h2", BODY, 3, depends="h1")
    assert names(restored(BODY, first, second)) == ["h1", "h2"]
    assert names(restored(BODY, second)) == []
    assert names(restored(BODY, first)) == ["h1"]


def test_thinking_made_without_it_keeps_a_turn_out() -> None:
    """An equal turn of another branch, or one kept after a loss, would stand before thinking that never saw it."""
    body = talk(user("a"), said("1"), user("b"), said("2", ""), user("c"))
    assert names(restored(body, entry("h", body, 1))) == []
    assert thinking(restored(body, entry("h", body, 1))) == ["c2ln"]


def test_thinking_says_which_of_two_it_depends_on() -> None:
    """Whichever was kept first, and whoever asks."""
    body = talk(user("a"), said("1"), user("b"), said("2", "h2"), user("c"))
    first, second = entry("h1", body, 1), entry("h2", body, 1)
    assert names(restored(body, first, second)) == ["h2"]
    assert names(restored(body, second, first)) == ["h2"]


def test_thinking_that_lost_what_it_depends_on_is_taken_out() -> None:
    """And what was thought after the loss stays."""
    body = talk(user("a"), said("1", "h"), user("b"), said("2", "h"), user("c"), said("3", ""), user("d"))
    result = restored(body)
    assert (result.taken_out, thinking(result)) == (2, ["c2ln"])
    assert names(restored(body, entry("h", body, 1))) == []


def test_a_client_that_dropped_the_thinking_of_a_turn_does_not_get_it_back() -> None:
    """Before thinking that it still holds, it would stand in the middle of what was taken out."""
    body = talk(user("a"), said("1"), user("b"), said("2", "h"), user("c"))
    message = orjson.dumps(
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "x", "signature": "eA=="}, {"type": "text", "text": "y"}],
        }
    )
    one = dataclasses.replace(entry("h", body, 1), messages=(message,))
    assert thinking(restored(body, one)) == ["c2ln"]
    held = talk(user("a"), said("1", "h"), user("b"), said("2", "h"), user("c"))
    assert thinking(restored(held, dataclasses.replace(entry("h", held, 1), messages=(message,)))) == ["eA==", "c2ln"]


def test_only_what_is_surely_its_own_is_put_back() -> None:
    """By subject and name; without a name only where there is nothing to choose."""
    ada, bob = Asker("ada", "s1"), Asker("bob", "s1")
    other, nameless = Asker("ada", "s2"), Asker("ada")
    one = entry("h1", BODY, 1, asked=ada)
    two = entry("h2", BODY, 1, asked=other)
    assert names(restored(BODY, one, asker=ada)) == ["h1"]
    for asker in (bob, other, Asker()):
        assert names(restored(BODY, one, asker=asker)) == []
    assert names(restored(BODY, one, two, asker=other)) == ["h2"]
    assert names(restored(BODY, one, asker=nameless)) == ["h1"]
    different = dataclasses.replace(two, messages=(b'{"role":"assistant","content":"another"}',))
    ambiguous = restored(BODY, one, different, asker=nameless)
    assert (names(ambiguous), ambiguous.ambiguous) == ([], 1)


def test_of_its_own_the_first_that_was_kept() -> None:
    """A request that was sent twice left two; later requests take the same one for ever."""
    ada = Asker("ada", "s1")
    first, second = entry("h1", BODY, 1, asked=ada), entry("h2", BODY, 1, asked=ada)
    assert names(restored(BODY, first, second, asker=ada)) == ["h1"]


def test_results_follow_the_turn() -> None:
    """Beside the client's own, in the order of the calls; with none of its own, in a message of their own."""
    body = orjson.dumps(
        {
            "messages": [
                user("a"),
                {"role": "assistant", "content": None, "tool_calls": [_call("c2")]},
                {"role": "tool", "tool_call_id": "c2", "content": "ok"},
                user("b"),
            ]
        }
    )
    transcript = CHAT_CONTINUATION.transcript(body)
    turns = transcript.turns()
    whole = orjson.dumps({"role": "assistant", "content": None, "tool_calls": [_call("c1"), _call("c2")]})
    one = Hidden(
        "h",
        b"",
        chained(CHAIN_START, turns[0].meaning()),
        turns[1].meaning(),
        (whole,),
        (HiddenResult("c1", "f", "function", "{}"),),
        ("c1", "c2"),
    )
    result = restore(transcript, finder(one))
    assert [orjson.loads(message).get("tool_call_id") for message in result.messages] == [None, None, "c1", "c2", None]


def _call(identifier: str) -> Message:
    return {"id": identifier, "type": "function", "function": {"name": "f", "arguments": "{}"}}


_marks = st.lists(st.sampled_from(["", "h1", "h2", "h3", "lost"]), max_size=2)
_depends = st.sampled_from(["", "h1", "h2"])


@given(st.lists(_marks, min_size=1, max_size=5), st.data())
def test_what_goes_up_is_consistent_whatever_was_kept(marks: list[list[str]], data: st.DataObject) -> None:
    """Any thinking, any entries: the same twice; each entry stands behind the one that it depends on, and each thinking
    block that goes up is of the hidden turn before it."""
    messages = [user("0")]
    for number, each in enumerate(marks):
        messages += [said(str(number), *each), user(f"u{number}")]
    body = talk(*messages)
    entries = [
        entry(name, body, 1 + 2 * data.draw(st.integers(0, len(marks) - 1)), data.draw(_depends))
        for name in data.draw(st.lists(st.sampled_from(["h1", "h2", "h3"]), unique=True))
    ]
    result = restored(body, *entries)
    again = restored(body, *entries)
    assert result.messages == again.messages
    before = ""
    for one in result.entries:
        assert one.depends == before
        before = one.id
    _check_thinking(body, result)


def _check_thinking(body: bytes, result: Restored) -> None:
    """Of turns that stay as they are, by their place."""
    at = {(one.before, one.visible): one.id for one in result.entries}
    place, mark, expected = CHAIN_START, "", 0
    for turn in ANTHROPIC_CONTINUATION.transcript(body).turns():
        if turn.side is Side.ASSISTANT:
            put = at.get((place, turn.meaning()))
            mark = put or mark
            expected += 0 if put else sum(own == mark for own in turn.marks)
        place = chained(place, turn.meaning())
    assert len(thinking(result)) == expected
