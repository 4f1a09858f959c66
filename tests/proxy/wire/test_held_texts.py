"""The text of a turn: heard within a bound as it goes by, or held as one more call of its leg until it is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from proxy.wire.events import (
    TEXT_KIND,
    Breach,
    CallsConfirmed,
    FrameRead,
    Key,
    Material,
    Observed,
    TextCompleted,
    TextKey,
    TurnEnded,
    WholeText,
    WireBroken,
    WireEvent,
)
from proxy.wire.sse import Frame
from proxy.wire.texts import LISTENED_MAX, MisplacedTextError, TextReader

if TYPE_CHECKING:
    from collections.abc import Mapping

MATERIAL = Material("", "", "", TEXT_KIND)


class Inner:
    """A frame's value is read from a table; `keys` are those of its calls, `then` what follows."""

    binds = True

    def __init__(self, values: list[tuple[Any, tuple[Key, ...], list[WireEvent]]]) -> None:
        self.values = values
        self.legs = 0

    def receive(self, frame: Frame) -> list[WireEvent]:
        value, keys, then = self.values.pop(0)
        return [FrameRead(frame, value, keys), *then]

    def next_leg(self) -> None:
        self.legs += 1

    def end(self) -> list[WireEvent]:
        return [Observed("the inner end")]


class Finder:
    """`{"text": {0: "a"}, "ends": {0: False}}`; a text `misplaced` cannot be held."""

    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:
        if holds and value.get("misplaced"):
            raise MisplacedTextError
        found: Mapping[int, str] = value.get("text", {})
        return found

    def ends(self, value: Any) -> Mapping[int, bool]:
        found: Mapping[int, bool] = value.get("ends", {})
        return found


FRAME = Frame(b"raw", None, b"data")


def read(
    *values: Any, holds: bool, keys: tuple[Key, ...] = (), then: dict[int, list[WireEvent]] | None = None
) -> tuple[TextReader, list[list[WireEvent]]]:
    """What the reader says of frames with these values; `then` is what the inner one says behind frame n."""
    then = {len(values) - 1: [TurnEnded()]} if then is None else then
    inner = Inner([(value, keys, then.get(place, [])) for place, value in enumerate(values)])
    reader = TextReader(inner, Finder(), holds=holds)
    return reader, [reader.receive(FRAME) for _ in values]


def text(said: str, choice: int = 0, **more: Any) -> dict[str, Any]:
    return {"text": {choice: said}, **more}


def completed(said: str, choice: int = 0, leg: int = 0, *, is_cut: bool = False) -> TextCompleted:
    return TextCompleted(TextKey(choice, leg), WholeText(said, is_cut), MATERIAL)


def test_what_goes_by_is_heard_and_not_changed() -> None:
    """Without holding, the events are the inner reader's own, and the text of each choice is put together."""
    values = [text("a"), text("x", 1), text("b"), None, {}]
    reader, events = read(*values, holds=False, keys=("call",))
    plain = [[FrameRead(FRAME, value, ("call",))] for value in values]
    assert events == [*plain[:-1], [*plain[-1], TurnEnded()]]
    assert reader.said == ("ab", "x")
    assert reader.end() == [Observed("the inner end")]


@pytest.mark.parametrize(("more", "heard"), [(0, 0), (1, 1), (2, 1)])
def test_listening_has_a_bound(more: int, heard: int) -> None:
    """Of all choices together `LISTENED_MAX` characters are kept, to the last one, and what follows goes by."""
    reader, _ = read(text("a" * (LISTENED_MAX - 1)), text("b" * more, 1), text("c", 2), holds=False)
    rest = "c" if more == 0 else "b" * heard
    assert "".join(reader.said) == "a" * (LISTENED_MAX - 1) + rest


def test_a_held_text_is_one_more_call() -> None:
    """Each frame that bears some has its key beside those of its calls; it is whole and certain before the end."""
    reader, events = read(text(""), text("Hel"), {}, text("lo", ends={0: False}), holds=True, keys=("call",))
    key = TextKey(0, 0)
    assert [event.keys for (event, *_) in events if isinstance(event, FrameRead)] == [
        ("call", key),
        ("call", key),
        ("call",),
        ("call", key),
    ]
    assert events[-1][1:] == [completed("Hello"), CallsConfirmed((key,)), TurnEnded()]
    assert reader.said == (), "what is held is not also listened to"


def test_choices_are_held_apart() -> None:
    """Each choice has a key and a text of its own, and says itself whether the token limit cut it."""
    _, events = read(text("a"), text("b", 1), {"ends": {1: True}}, {"ends": {0: False}}, holds=True)
    keys = (TextKey(0, 0), TextKey(1, 0))
    assert events[-1][1:] == [completed("a"), completed("b", 1, is_cut=True), CallsConfirmed(keys), TurnEnded()]


@pytest.mark.parametrize(("ends", "is_cut"), [({}, True), ({0: False}, False), ({0: True}, True)])
def test_a_stream_that_stops_cuts_its_text(ends: dict[int, bool], is_cut: bool) -> None:
    """At the end of the bytes a choice that did not say how it ends is cut off; one that did is what it said."""
    reader, _ = read(text("Hel"), {"ends": ends}, holds=True, then={})
    done = [completed("Hel", is_cut=is_cut), CallsConfirmed((TextKey(0, 0),))]
    assert reader.end() == [Observed("the inner end"), *done]
    assert reader.end() == [Observed("the inner end")], "it is completed once"


def test_a_turn_that_ends_without_a_word_of_how() -> None:
    """The dialect's own end of the turn completes a text whose choice said nothing."""
    _, events = read(text("a"), {}, holds=True)
    assert events[-1][1:] == [completed("a"), CallsConfirmed((TextKey(0, 0),)), TurnEnded()]


def test_legs_have_keys_of_their_own() -> None:
    """The text of a later leg is another call: its key is new, and nothing of the first leg is in it."""
    ends: dict[int, list[WireEvent]] = {0: [TurnEnded()], 1: [TurnEnded()]}
    _, events = read(text("a"), text("b"), holds=True, then=ends)
    assert [event for part in events for event in part if isinstance(event, TextCompleted)] == [
        completed("a"),
        completed("b", leg=1),
    ]


def test_a_text_where_none_can_be_held_breaks_the_turn() -> None:
    """Only where it holds: what cannot wait for its answer must not pass. Elsewhere it goes by."""
    _, events = read(text("a", misplaced=True), holds=True)
    assert events == [[WireBroken(Breach.WRONG_PLACE)]]
    reader, events = read(text("a", misplaced=True), holds=False)
    assert (reader.said, events[0][1:]) == (("a",), [TurnEnded()])


def test_what_is_no_frame_is_left_alone() -> None:
    """An inner reader that broke says so, and nothing is looked for in it."""

    class Broken(Inner):
        def receive(self, frame: Frame) -> list[WireEvent]:
            return [WireBroken(Breach.NOT_JSON)]

    reader = TextReader(Broken([]), Finder(), holds=True)
    assert reader.receive(FRAME) == [WireBroken(Breach.NOT_JSON)]


def test_the_inner_reader_keeps_its_say() -> None:
    """Whether the turn binds, and that another leg begins, are the inner reader's."""
    inner = Inner([])
    reader = TextReader(inner, Finder(), holds=True)
    reader.next_leg()
    assert (reader.binds, inner.legs) == (True, 1)
