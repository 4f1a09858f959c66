"""Turns by their meaning: what clients change on the way keeps it, what changes the conversation does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.transcript import CHAIN_START, Side, SideTurn, Turns, call_seen, chained, result_seen

CALL = call_seen("c1", "refund", '{"a":1,"b":2}')


def turn(
    *texts: str, side: Side = Side.ASSISTANT, call: bool = False, result: str | None = None, other: tuple[str, ...] = ()
) -> SideTurn:
    calls = [CALL] if call else []
    results = [result_seen("c1", result, is_error=False)] if result is not None else []
    return SideTurn(side, 0, 0, list(texts), calls, results, list(other))


@given(st.lists(st.text(" \n\tabc", max_size=6), max_size=4))
def test_blocks_and_white_space_mean_nothing(texts: list[str]) -> None:
    """Text in one block or several, spaced or not, is one meaning."""
    assert turn(*texts).meaning() == turn("".join("".join(texts).split())).meaning()


def test_places_and_marks_mean_nothing() -> None:
    """A turn means the same wherever it stands, and with or without its thinking."""
    moved = SideTurn(Side.ASSISTANT, 4, 7, ["a"], marks=["x"])
    assert moved.meaning() == turn("a").meaning()


def test_what_is_said_is_the_meaning() -> None:
    """Another side, text, call, result or image is another meaning, also where the words are the same."""
    turns = [
        turn("a"),
        turn("b"),
        turn("a", side=Side.USER),
        turn("a", side=Side.SYSTEM),
        turn("a", call=True),
        turn("a", result="x"),
        turn("a", other=("d1",)),
        turn("a", other=("d1", "d1")),
        SideTurn(Side.ASSISTANT, 0, 0, ["a"], [call_seen("c2", "refund", '{"a":1,"b":2}')]),
        SideTurn(Side.ASSISTANT, 0, 0, ["a"], [call_seen("c1", "refunds", '{"a":1,"b":2}')]),
        SideTurn(Side.ASSISTANT, 0, 0, ["a"], [call_seen("c1", "refund", '{"a":1,"b":3}')]),
        SideTurn(Side.ASSISTANT, 0, 0, ["a"], [CALL, CALL]),
        SideTurn(Side.ASSISTANT, 0, 0, ["a"], results=[result_seen("c2", "x", is_error=False)]),
    ]
    assert len({one.meaning() for one in turns}) == len(turns)


def test_a_place_is_named_by_all_before_it() -> None:
    """The same turn behind another beginning is another place, and the order of turns counts."""
    one, other = turn("a"), turn("b", side=Side.USER)
    there = chained(chained(CHAIN_START, one.meaning()), other.meaning())
    assert there == chained(chained(CHAIN_START, turn(" a ").meaning()), other.meaning())
    assert there != chained(chained(CHAIN_START, other.meaning()), one.meaning())
    assert there != chained(CHAIN_START, other.meaning())
    assert len(there) == len(CHAIN_START) == 32


def test_adjacent_messages_of_one_side_are_a_turn() -> None:
    """A turn goes from its first message to its last; a side that comes back begins another."""
    turns = Turns()
    sides = [Side.USER, Side.USER, Side.ASSISTANT, Side.USER]
    found = [turns.at(side, place) for place, side in enumerate(sides, 3)]
    assert [(one.side, one.first, one.last) for one in turns.found] == [
        (Side.USER, 3, 4),
        (Side.ASSISTANT, 5, 5),
        (Side.USER, 6, 6),
    ]
    assert found[0] is found[1] is turns.found[0]


@pytest.mark.parametrize("text", ['{"b":2,"a":1}', ' {"a" : 1.0, "b":2}', '{"\\u0061":1,"b":2e0}'])
def test_arguments_count_by_their_value(text: str) -> None:
    """JSON written anew is the same call."""
    assert call_seen("c1", "refund", text) == CALL


def test_no_arguments_are_none_at_all() -> None:
    """Some clients write nothing where there are no arguments."""
    assert call_seen("c", "n", "") == call_seen("c", "n", "{}")
    assert call_seen("c", "n", "").arguments == {}


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', "[1]", "null", '{"a":', "\ud800", '{"a":1e999999999}'])
def test_arguments_that_are_not_one_object_are_none(text: str) -> None:
    """What two readers could read in two ways has no arguments, and still a digest: that of its text."""
    seen = call_seen("c", "n", text)
    assert seen.arguments is None
    assert seen == call_seen("c", "n", text)
    assert seen.digest not in {call_seen("c", "n", other).digest for other in ("", f"{text}x", "{}")}


@pytest.mark.parametrize(
    ("content", "value"),
    [('{"a":1}', {"a": 1}), ("[]", []), ("12", 12), ("done", "done"), ("", ""), ('{"a":1,"a":1}', '{"a":1,"a":1}')],
)
def test_a_result_is_json_where_it_is_strictly_that(content: str, value: object) -> None:
    """Else it is its text; an error is noted beside it and is no part of the digest."""
    seen = result_seen("c", content, is_error=True)
    assert (seen.value, seen.is_error) == (value, True)
    assert seen.digest == result_seen("c", content, is_error=False).digest


def test_a_result_counts_by_its_text_without_white_space() -> None:
    """Clients put results together anew; other words are another result."""
    digests = [result_seen("c", text, is_error=False).digest for text in ("a b", " ab\n", "abc", "\ud800")]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3
