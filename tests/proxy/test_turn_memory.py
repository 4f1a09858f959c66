"""The memory of a turn: whole within its bound, as many rounds as it may, and what it keeps is what a client cannot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from proxy.turn_memory import TurnMemory
from proxy.wire.chat_calls import Slot
from proxy.wire.chat_transcript import turns_of
from proxy.wire.chat_turn import CHAT_CONTINUATION
from proxy.wire.events import TEXT_KIND, FrameRead, Key, Material, Released, Replaced, TextKey
from proxy.wire.sse import Frame
from proxy.wire.transcript import HiddenResult

if TYPE_CHECKING:
    from collections.abc import Sequence


def frame(**delta: Any) -> Frame:
    finish = delta.pop("finish", None)
    value = {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    data = json.dumps(value | ({"usage": {"completion_tokens": 7}} if finish else {})).encode()
    return Frame(b"data: " + data + b"\n\n", None, data)


def memory(rounds: int = 2, size: int = 100_000) -> TurnMemory:
    return TurnMemory(CHAT_CONTINUATION, streamed=True, rounds_max=rounds, bytes_max=size)


def add(turn: TurnMemory, one: Frame, *keys: Key) -> FrameRead:
    value = json.loads(one.data or b"")
    entry = FrameRead(one, value, keys)
    turn.add(entry, one, value)
    return entry


def call(name: str) -> tuple[Slot, Material]:
    place = int(name[1:])
    return Slot(0, place), Material(name, "refund", f'{{"n":{place}}}', "function")


def said(turn: TurnMemory, text: str, *names: str) -> FrameRead:
    """A leg that says a text and makes these calls; its end."""
    add(turn, frame(role="assistant", content=text))
    for name in names:
        key, material = call(name)
        add(turn, frame(tool_calls=[{"index": key.place, "id": name}]), key)
        turn.complete(key, material)
    return add(turn, frame(finish="tool_calls" if names else "stop"))


def meaning(*messages: dict[str, Any]) -> bytes:
    (turn,) = turns_of([json.dumps({"role": "assistant", **message}).encode() for message in messages])
    return turn.meaning()


def made(*names: str) -> list[dict[str, Any]]:
    found = [call(name)[1] for name in names]
    return [
        {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}} for one in found
    ]


def read(messages: Sequence[bytes]) -> list[Any]:
    return [json.loads(message) for message in messages]


def result(name: str, kind: str = "function") -> HiddenResult:
    return HiddenResult(name, "refund", kind, "{}")


@pytest.mark.parametrize(("more", "is_whole"), [(0, True), (-1, False)])
def test_it_is_whole_within_its_bytes(more: int, is_whole: bool) -> None:
    """At `bytes_max` it still remembers; a byte more, and nothing can be hidden, continued or kept any longer."""
    frames = [frame(role="assistant", content="hm"), frame(finish="stop")]
    turn = memory(size=sum(len(one.raw) for one in frames) + more)
    for one in frames:
        add(turn, one)
    key, _ = call("c0")
    assert (turn.is_whole, turn.may_hide({}), turn.may_go_on()) == (is_whole, is_whole, is_whole)
    assert (turn.ended({}, {key}, [result("c0")]) is not None) is is_whole


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_it_goes_on_as_often_as_it_may(rounds: int) -> None:
    """`rounds_max` legs may follow the first one; a turn may be hidden in all of them."""
    turn = memory(rounds)
    for leg in range(rounds):
        end = said(turn, "hm", "c0")
        assert (turn.may_go_on(), turn.leg) == (True, leg)
        turn.go_on({call("c0")[0]}, [result("c0")], [end])
    said(turn, "hm", "c0")
    assert (turn.may_go_on(), turn.may_hide({}), turn.leg) == (False, True, rounds)


def test_a_turn_that_cannot_be_put_together_hides_nothing() -> None:
    """Of two choices there is no one message, so that the provider could never be told what it said."""
    turn = memory()
    two = json.dumps({"choices": [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]})
    add(turn, Frame(two.encode(), None, two.encode()))
    assert (turn.is_whole, turn.may_hide({}), turn.may_go_on()) == (True, False, False)


def test_what_goes_up_is_all_that_was_said_and_answered() -> None:
    """Each leg as the provider said it, with its results behind it; the tokens of all legs are counted."""
    turn = memory()
    first = said(turn, "one", "c0", "c1")
    messages, tokens = turn.go_on({Slot(0, 0), Slot(0, 1)}, [result("c0"), result("c1")], [first])
    assert [one.get("tool_call_id", one["role"]) for one in read(messages)] == ["assistant", "c0", "c1"]
    assert [one["id"] for one in read(messages)[0]["tool_calls"]] == ["c0", "c1"]
    second = said(turn, "two", "c0")
    more, total = turn.go_on({Slot(0, 0)}, [result("c0")], [second])
    assert more[: len(messages)] == messages
    assert (tokens, total, len(more)) == (7, 14, len(messages) + 2)


def test_a_turn_without_a_hidden_part_leaves_nothing() -> None:
    """A turn of one leg, in which the client reads everything, needs no memory, replaced calls among it."""
    turn = memory()
    said(turn, "one", "c0")
    assert turn.ended({}, (), []) is None
    assert turn.ended({Slot(0, 0): Replaced("No.")}, (), []) is None


def test_a_hidden_call_is_remembered_beside_what_the_client_holds() -> None:
    """The key is the meaning of what is seen; the message has both calls, and the results their order."""
    turn = memory()
    said(turn, "one", "c0", "c1")
    kept = turn.ended({}, {Slot(0, 0)}, [result("c0")])
    assert kept is not None
    assert kept.visible == meaning({"content": "one", "tool_calls": made("c1")})
    assert [one["id"] for one in read(kept.messages)[0]["tool_calls"]] == ["c0", "c1"]
    assert (kept.results, kept.order, kept.answered) == ((result("c0"),), ("c0", "c1"), ("c0",))


def test_an_injected_argument_is_what_the_client_holds() -> None:
    """The call left with other arguments: the client's turn has them, and the provider's has the model's own."""
    turn = memory()
    said(turn, "one", "c0")
    kept = turn.ended({Slot(0, 0): Released(arguments='{"n":9}')}, (), [])
    assert kept is not None
    (changed,) = made("c0")
    changed["function"]["arguments"] = '{"n":9}'
    assert kept.visible == meaning({"content": "one", "tool_calls": [changed]})
    assert read(kept.messages)[0]["tool_calls"] == made("c0")
    assert (kept.results, kept.order, kept.answered) == ((), (), ())


def test_a_turn_of_several_legs_is_one_turn_to_the_client() -> None:
    """What it holds is the text of all legs; in its place stand the legs, and the calls that the gate answered."""
    turn = memory()
    end = said(turn, "one", "c0")
    turn.go_on({Slot(0, 0)}, [result("c0")], [end])
    said(turn, "two")
    kept = turn.ended({}, (), [])
    assert kept is not None
    assert kept.visible == meaning({"content": "one"}, {"content": "two"})
    assert [one["role"] for one in read(kept.messages)] == ["assistant", "tool", "assistant"]
    assert (kept.results, kept.order, kept.answered) == ((), (), ("c0",))


def test_a_remark_on_a_text_is_no_answer_to_a_call() -> None:
    """A text that the model is told of has no call id that a result could be taken for."""
    turn = memory()
    first = add(turn, frame(role="assistant", content="one"), TextKey(0, 0))
    end = said(turn, "", "c0")
    messages, _ = turn.go_on({TextKey(0, 0), Slot(0, 0)}, [result("c0"), result("", TEXT_KIND)], [end])
    assert [one["role"] for one in read(messages)] == ["assistant", "tool", "user"]
    assert first.keys == (TextKey(0, 0),)
    said(turn, "two")
    kept = turn.ended({}, (), [])
    assert kept is not None
    assert (kept.answered, kept.visible) == (("c0",), meaning({"content": "two"}))


def test_a_leg_that_could_not_be_had() -> None:
    """The client read a text of the gate's own in its place, which both sides of the memory hold."""
    turn = memory()
    end = said(turn, "one", "c0")
    turn.go_on({Slot(0, 0)}, [result("c0")], [end])
    kept = turn.failed("Later.")
    assert kept.visible == meaning({"content": "one"}, {"content": "Later."})
    assert read(kept.messages)[-1] == {"role": "assistant", "content": "Later."}
    assert kept.answered == ("c0",)


def test_frames_of_the_first_leg_stand_as_they_came() -> None:
    """Only those of later legs are joined: there the turn has one start and one identity."""
    turn = memory()
    later = Frame(b"", None, b'{"id":"y","choices":[{"index":0,"delta":{"role":"assistant","content":"two"}}]}')
    assert turn.join(later) is later
    end = said(turn, "one", "c0")
    turn.go_on({Slot(0, 0)}, [result("c0")], [end])
    joined = turn.join(later)
    assert joined is not None
    value = json.loads(joined.data or b"")
    assert (value["id"], value["choices"][0]["delta"]) == ("x", {"content": "\n\ntwo"})


def test_the_end_of_a_leg_is_kept_back() -> None:
    """A finish is; a chunk that says something is not, unless what it says stays unseen."""
    turn = memory()
    assert turn.is_end(add(turn, frame(finish="stop")), ())
    assert not turn.is_end(add(turn, frame(content="x")), ())
    both = add(turn, frame(content="x", finish="stop"), TextKey(0, 0))
    assert not turn.is_end(both, ())
    assert turn.is_end(both, {TextKey(0, 0)})
