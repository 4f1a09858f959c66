"""A text that is held: one more call to the gate, whole with its turn, and nothing of it leaves before its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from proxy.gate import Break, Decide, EndAtLimit, Finish, Gate, Limit, Record, Write
from proxy.wire.events import RELEASED, Breach, Key, Replaced, Returned, TextKey, WholeText
from proxy.wire.texts import MisplacedTextError, TextReader
from tests.playbook import Close, Decided, End, Playbook, Recorded
from tests.proxy.toy import ToyReader, ToyWriter, call, frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TEXT = TextKey(0, 0)
NO = Replaced("no")


class ToyTexts:
    """`t` says "t", `tl` is where the token limit ends the text, `tm` stands where no text may be held."""

    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:
        if holds and "tm" in value:
            raise MisplacedTextError
        texts = [step for step in value if step[0] == "t"]
        return {0: "".join(texts)} if texts else {}

    def ends(self, value: Any) -> Mapping[int, bool]:
        return {0: "tl" in value} if "tl" in value or "." in value else {}


def reader(*, holds: bool = True) -> TextReader:
    return TextReader(ToyReader(), ToyTexts(), holds=holds)


@pytest.fixture
def play() -> Iterator[Playbook]:
    book = Playbook(Gate(reader(), ToyWriter(), 100))
    yield book
    assert book.asserted, "the playbook was never asserted"


def yes(*keys: Key) -> dict[Key, Any]:
    return dict.fromkeys(keys, RELEASED)


def test_a_text_leaves_with_the_end_of_its_turn(play: Playbook) -> None:
    """Judged as a whole and recorded; then its frames as they came."""
    assert (
        play
        >> frame("t")
        << []
        >> frame("t")
        << []
        >> frame(".")
        << Decide({TEXT: WholeText("tt")})
        >> Decided(yes(TEXT))
        << Record((TEXT,))
        >> Recorded(yes(TEXT))
        << Write(b"<t><t><.>", (TEXT,))
        >> End()
        << []
        >> Close()
        << Finish()
    )


def test_a_refused_text_leaves_its_reply(play: Playbook) -> None:
    """Once, in its place; the end of the turn follows."""
    assert (
        play
        >> frame("t")
        << []
        >> frame("t,.")
        << Decide({TEXT: WholeText("tt")})
        >> Decided({TEXT: NO})
        << Record((TEXT,))
        >> Recorded({TEXT: NO})
        << Write(f"[no {TEXT}]".encode(), (TEXT,))
    )


def test_a_call_behind_a_text_is_judged_at_once_and_waits_for_it(play: Playbook) -> None:
    """Order on the wire is the order of frames: the call is decided before the text, and leaves behind it."""
    assert (
        play
        >> frame("t")
        << []
        >> frame("o1,c1,k1")
        << Decide({"1": call("1")})
        >> Decided(yes("1"))
        << Record(("1",))
        >> Recorded(yes("1"))
        << []
        >> frame(".")
        << Decide({TEXT: WholeText("t")})
        >> Decided(yes(TEXT))
        << Record((TEXT,))
        >> Recorded({TEXT: NO})
        << Write(f"[no {TEXT}]<o1,c1,k1><.>".encode(), (TEXT, "1"))
    )


@pytest.mark.parametrize("frames", [("t",), ("tl",), ("tl", ".")])
def test_a_text_that_was_cut_off_says_so(frames: tuple[str, ...]) -> None:
    """By the token limit, or by the end of the stream before the end of the turn."""
    gate = Gate(reader(), ToyWriter(), 100)
    commands = [command for each in frames for command in gate.receive(0, frame(each))] + gate.end(0)
    expected = WholeText(frames[0], is_cut="." not in frames)
    assert commands == [Decide({TEXT: expected})]


def test_the_limit_of_what_is_held_ends_the_turn() -> None:
    """A text without an end is refused, and nothing of it leaves."""
    book = Playbook(Gate(reader(), ToyWriter(), 9))
    assert (
        book
        >> frame("t")
        << []
        >> frame("t,t,t")
        << EndAtLimit(Limit.HELD_BYTES, (TEXT,))
        >> Decided({TEXT: NO})
        << Record((TEXT,))
        >> Recorded({TEXT: NO})
        << [Write(f"[no {TEXT}]".encode(), (TEXT,)), Write(b"[end]"), Finish()]
    )


def test_an_open_text_is_never_released_by_an_answer() -> None:
    """An answer that would let it go, before it was whole, counts for nothing."""
    gate = Gate(reader(), ToyWriter(), 9)
    gate.receive(0, frame("t"))
    assert gate.receive(0, frame("t,t,t")) == [EndAtLimit(Limit.HELD_BYTES, (TEXT,))]
    assert gate.decided({TEXT: RELEASED}) == []


def test_a_text_in_a_place_of_its_own_breaks_the_stream(play: Playbook) -> None:
    """What cannot be held does not pass."""
    assert play >> frame("tm") << Break(Breach.WRONG_PLACE, b"[error]", ())


def test_nobody_hears_of_a_refused_text_where_the_turn_cannot_go_on(play: Playbook) -> None:
    """Without a memory of the turn the customer reads the reply."""
    back = Returned("{}", "no")
    assert (
        play
        >> frame("t,.")
        << Decide({TEXT: WholeText("t")})
        >> Decided({TEXT: back})
        << Record((TEXT,))
        >> Recorded({TEXT: back})
        << Write(f"[no {TEXT}]".encode(), (TEXT,))
    )
    assert not play.gate.may_ask_again()


def test_a_text_that_nothing_holds_leaves_at_once_and_is_heard() -> None:
    """G2: listening delays nothing."""
    listening = reader(holds=False)
    book = Playbook(Gate(listening, ToyWriter(), 100))
    assert book >> frame("t") << Write(b"<t>") >> frame("tl") << Write(b"<tl>") >> frame(".") << Write(b"<.>")
    assert listening.said == ("ttl",)
