"""Fragments to calls: every cell of states and steps, and what a complete call is read as."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.calls import Cause, MalformedToolCall, ToolCall
from proxy.wire.assembly import TRANSITIONS, Assembler, State, Step, StepError

if TYPE_CHECKING:
    from collections.abc import Callable

REACH: dict[State, tuple[Step, ...]] = {
    State.ABSENT: (),
    State.OPEN: (Step.START,),
    State.COMPLETE: (Step.START, Step.END),
    State.CONFIRMED: (Step.START, Step.END, Step.CONFIRM),
    State.CUT: (Step.START, Step.CUT),
}
TAKE: dict[Step, list[Callable[[Assembler], object]]] = {
    Step.START: [lambda calls: calls.start("k", "function", "id", "tool")],
    Step.FRAGMENT: [
        lambda calls: calls.fragment("k", "{}"),
        lambda calls: calls.whole("k", "{}"),
        lambda calls: calls.mention("k", "id", "tool"),
    ],
    Step.END: [lambda calls: calls.complete("k")],
    Step.CONFIRM: [lambda calls: calls.confirm("k")],
    Step.CUT: [lambda calls: calls.cut("k")],
}
ALLOWED = {
    (State.ABSENT, Step.START): State.OPEN,
    (State.OPEN, Step.FRAGMENT): State.OPEN,
    (State.OPEN, Step.END): State.COMPLETE,
    (State.OPEN, Step.CUT): State.CUT,
    (State.COMPLETE, Step.CONFIRM): State.CONFIRMED,
    (State.COMPLETE, Step.CUT): State.CUT,
}


@pytest.mark.parametrize(("state", "step"), list(itertools.product(State, Step)))
def test_each_cell_of_the_table(state: State, step: Step) -> None:
    """What may happen to a call in each state; a cell that is missing is a breach and changes nothing."""
    for take in TAKE[step]:
        calls = Assembler()
        for before in REACH[state]:
            TAKE[before][0](calls)
        assert calls.state("k") is state
        if (state, step) in ALLOWED:
            take(calls)
            assert calls.state("k") is ALLOWED[state, step]
        else:
            with pytest.raises(StepError):
                take(calls)
            assert calls.state("k") is state


def test_the_table_is_the_one_that_is_walked() -> None:
    """The table of states and the code that walks it cannot differ: each state has its row."""
    assert TRANSITIONS == ALLOWED


def read(*fragments: str, kind: str = "function", name: str = "tool", whole: str = "") -> ToolCall | MalformedToolCall:
    calls = Assembler()
    calls.start("k", kind, "id", name)
    for fragment in fragments:
        calls.fragment("k", fragment)
    if whole:
        calls.whole("k", whole)
    return calls.complete("k")[0]


@given(st.dictionaries(st.text(), st.integers(-(10**9), 10**9) | st.text() | st.booleans(), max_size=4), st.data())
def test_arguments_are_read_once_and_whole(value: dict[str, object], data: st.DataObject) -> None:
    """Any division into fragments gives the call of the whole text."""
    text = json.dumps(value)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    fragments = [text[start:end] for start, end in itertools.pairwise([0, *cuts, len(text)])]
    call = read(*fragments)
    assert call == ToolCall("tool", value, text, "id", 0)  # type: ignore[arg-type] # JSON values


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"a": 1', Cause.NOT_JSON),
        ('{"a": 1} x', Cause.NOT_JSON),
        ('{"a": 1}{"a": 2}', Cause.NOT_JSON),
        ('{"a": 1, "a": 2}', Cause.DUPLICATE_KEY),
        ('{"a": {"b": 1, "b": 2}}', Cause.DUPLICATE_KEY),
        ('{"a": 1, "\\u0061": 2}', Cause.DUPLICATE_KEY),
        ('{"a": NaN}', Cause.NOT_JSON),
        ('{"a": Infinity}', Cause.NOT_JSON),
        ('{"a": "\\ud800"}', Cause.NOT_JSON),
        ("[1]", Cause.NOT_AN_OBJECT),
        ("null", Cause.NOT_AN_OBJECT),
        ('"{}"', Cause.NOT_AN_OBJECT),
        ("{'a': 1}", Cause.NOT_JSON),
        ('{"a": 1,}', Cause.NOT_JSON),
        (" ", Cause.NOT_JSON),
        ('{"a":' * 80 + "1" + "}" * 80, Cause.TOO_DEEP),
    ],
)
def test_what_parsers_read_differently_is_malformed(text: str, cause: Cause) -> None:
    """G5, each with its cause; the cut of the text into fragments does not matter."""
    for fragments in ((text,), tuple(text)):
        call = read(*fragments)
        assert isinstance(call, MalformedToolCall)
        assert call.cause is cause


def test_no_arguments_are_an_empty_object() -> None:
    """A call without arguments is read as one with an empty object."""
    assert read() == ToolCall("tool", {}, "", "id", 0)
    assert read("", "") == ToolCall("tool", {}, "", "id", 0)


def test_free_text_is_not_parsed() -> None:
    """Free text of a custom tool is kept as text, whatever it looks like."""
    call = read('{"a": ', "1, 1", kind="custom")
    assert call == ToolCall("tool", {"input": '{"a": 1, 1'}, '{"a": 1, 1', "id", 0, freeform=True)


@pytest.mark.parametrize(
    ("fragment", "whole", "agrees"),
    [
        ('{"a": 1}', '{"a":1}', True),
        ('{"a": 1, "b": 2}', '{"b":2,"a":1.0}', True),
        ('{"a": 1}', '{"a":2}', False),
        ('{"a": true}', '{"a":1}', False),
        ('{"a": "1"}', '{"a":1}', False),
    ],
)
def test_arguments_stated_twice_must_agree(fragment: str, whole: str, agrees: bool) -> None:
    """A client may execute either."""
    call = read(fragment, whole=whole)
    assert isinstance(call, ToolCall) == agrees
    assert agrees or call.cause is Cause.CONFLICT  # type: ignore[union-attr]  # a malformed one then


def test_ids_and_names_are_set_once() -> None:
    """Repeated ones are no more than that, another one is a conflict, and the call may not leave as it came."""
    for call_id, name, is_conflict in (("id", "tool", False), ("", "", False), ("id", "x", True), ("x", "tool", True)):
        calls = Assembler()
        calls.start("k", "function", "id", "tool")
        calls.mention("k", call_id, name)
        call, material = calls.complete("k")
        assert isinstance(call, MalformedToolCall) == is_conflict
        assert material.is_plain == (not call_id and not name)
        assert (call.id, call.name) == (call_id or "id", name or "tool")


def test_a_disputed_call_is_malformed_and_a_nameless_one_too() -> None:
    """Two values for one fact of a call, or no name, make the call malformed, never a guess."""
    calls = Assembler()
    calls.start("k", "function", "id", "tool")
    calls.dispute("k")
    call, _ = calls.complete("k")
    assert isinstance(call, MalformedToolCall)
    assert call.cause is Cause.CONFLICT
    assert read("{}", name="").cause is Cause.NO_NAME  # type: ignore[union-attr]  # it is malformed


def test_positions_count_the_calls_of_the_turn() -> None:
    """Each call has its place among the calls of its turn, in the order they began."""
    calls = Assembler()
    for key in "abc":
        calls.start(key, "function", key, "tool")
    assert [calls.complete(key)[0].position for key in "cba"] == [2, 1, 0]
    assert calls.keys_in(State.COMPLETE) == ("a", "b", "c")
