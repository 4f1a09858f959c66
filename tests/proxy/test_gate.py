"""The gate: frames leave in order, nothing of a call before its answer is written down, and an end is an end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from proxy.gate import Break, Decide, EndAtLimit, Finish, Gate, Limit, Note, Record, Write
from proxy.wire.events import RELEASED, Breach, CallsConfirmed, Replaced, Returned
from tests.playbook import BreakOff, Close, Decided, End, Happening, Playbook, Reach, Recorded, perform
from tests.proxy.toy import ToyReader, ToyWriter, call, cut, frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from proxy.gate_commands import Command
    from proxy.wire.events import Answer, WireEvent
    from proxy.wire.sse import Frame

NO = Replaced("no")
BACK = Returned("{}", "no")


def new_gate(held_bytes_max: int = 1000) -> Gate:
    return Gate(ToyReader(), ToyWriter(), held_bytes_max)


@pytest.fixture
def play() -> Iterator[Playbook]:
    """A script on a new gate; one that was not asserted is no test."""
    book = Playbook(new_gate())
    yield book
    assert book.asserted, "the playbook was never asserted"


def yes(*keys: str) -> dict[Any, Any]:
    return dict.fromkeys(keys, RELEASED)


def no(*keys: str) -> dict[Any, Any]:
    return dict.fromkeys(keys, NO)


def test_a_playbook_that_is_not_asserted_is_seen() -> None:
    """The fixture's own claim: a script that runs and is not asserted can be told from one that is."""
    book = Playbook(new_gate())
    book >> frame("t") << Write(b"anything else")
    assert not book.asserted
    with pytest.raises(AssertionError, match="anything else"):
        assert book


def test_text_leaves_at_once(play: Playbook) -> None:
    """G2: nothing is held, so nothing waits."""
    assert play >> frame("t") << Write(b"<t>") >> frame("p") << [Note("search"), Write(b"<p>")]


def test_a_call_leaves_after_its_record_and_not_before(play: Playbook) -> None:
    """Judged, certain, written down: only then its frames, and what stood behind them, in one write."""
    assert (
        play
        >> frame("o1")
        << []
        >> frame("t")
        << []
        >> frame("c1")
        << Decide({"1": call("1")})
        >> Decided(yes("1"))
        << []
        >> frame("k1")
        << Record(("1",))
        >> Recorded(yes("1"))
        << Write(b"<o1><t><c1><k1>", ("1",))
        >> frame("t")
        << Write(b"<t>")
        >> frame(".")
        << Write(b"<.>")
        >> End()
        << []
        >> Close()
        << Finish()
    )


def test_a_refusal_stands_in_place_and_an_unended_turn_is_ended(play: Playbook) -> None:
    """What upstream left open is closed by the gate, since the turn is the gate's once something was taken out."""
    assert (
        play
        >> frame("o1,c1,k1")
        << Decide({"1": call("1")})
        >> Decided(no("1"))
        << Record(("1",))
        >> Recorded(no("1"))
        << Write(b"[no 1]", ("1",))
        >> End()
        << []
        >> Close()
        << [Write(b"[end]"), Finish()]
    )


def test_the_record_has_the_last_word(play: Playbook) -> None:
    """A halt, or a store that fails, turns an allow into a refusal at the last moment (G8)."""
    assert (
        play
        >> frame("o1,c1,k1")
        << Decide({"1": call("1")})
        >> Decided(yes("1"))
        << Record(("1",))
        >> Recorded(no("1"))
        << Write(b"[no 1]", ("1",))
    )


def test_a_later_call_waits_for_an_earlier_one(play: Playbook) -> None:
    """Order on the wire is the order of frames, not of verdicts."""
    assert (
        play
        >> frame("o1")
        << []
        >> frame("o2,c2,k2")
        << Decide({"2": call("2")})
        >> Decided(yes("2"))
        << Record(("2",))
        >> Recorded(yes("2"))
        << []
        >> frame("c1,k1")
        << Decide({"1": call("1")})
        >> Decided(no("1"))
        << Record(("1",))
        >> Recorded(no("1"))
        << Write(b"[no 1]<o2,c2,k2>", ("1", "2"))
    )


def test_a_call_that_turns_out_cut_is_judged_again_as_malformed(play: Playbook) -> None:
    """An allow for the call as it seemed whole does not release it; nor does one that arrives late."""
    assert (
        play
        >> frame("o1,c1")
        << Decide({"1": call("1")})
        >> frame("x1")
        << Decide({"1": cut("1")})
        >> Decided(yes("1"))
        << []
        >> Decided(no("1"))
        << Record(("1",))
        >> Recorded(no("1"))
        << Write(b"[no 1]<x1>", ("1",))
    )


def test_the_end_of_the_stream_cuts_what_is_open(play: Playbook) -> None:
    """G5: no terminal mark, no call."""
    assert (
        play
        >> frame("o1")
        << []
        >> End()
        << Decide({"1": cut("1")})
        >> Decided(no("1"))
        << Record(("1",))
        >> Recorded(no("1"))
        << Write(b"[no 1]", ("1",))
        >> Close()
        << [Write(b"[end]"), Finish()]
    )


def test_a_repeated_call_has_one_verdict(play: Playbook) -> None:
    """One call, one verdict, one spend: the repetition is neither decided nor recorded, and shares the answer."""
    assert (
        play
        >> frame("o1,c1,k1,r2=1")
        << Decide({"1": call("1")})
        >> Decided(yes("1"))
        << Record(("1",))
        >> Recorded(yes("1"))
        << Write(b"<o1,c1,k1,r2=1>", ("1", "2"))
    )


def test_a_broken_stream_ends_in_an_error_and_nothing_else(play: Playbook) -> None:
    """G4: what was held is dropped and named; late answers bring nothing back."""
    assert (
        play
        >> frame("o1,c1,k1")
        << Decide({"1": call("1")})
        >> frame("t,!")
        << Break(Breach.NOT_JSON, b"[error]", ("1",))
        >> Decided(yes("1"))
        << []
        >> Recorded(yes("1"))
        << []
        >> frame("t")
        << []
        >> End()
        << []
        >> Close()
        << []
        >> BreakOff()
        << []
    )


def test_an_edited_turn_that_ended_takes_no_more(play: Playbook) -> None:
    """A turn that code ended has ended: what a server sends behind its end is not passed on."""
    assert (
        play
        >> frame("o1,c1,k1,.")
        << Decide({"1": call("1")})
        >> Decided(no("1"))
        << Record(("1",))
        >> Recorded(no("1"))
        << Write(b"[no 1]", ("1",))
        >> frame("t")
        << []
        >> End()
        << []
        >> Close()
        << Finish()
    )


@pytest.mark.parametrize("limit", Limit)
def test_a_limit_refuses_what_is_held_and_ends_the_turn(limit: Limit) -> None:
    """G12: open, judged and uncertain calls are refused for the limit; nothing of the stream follows."""
    book = Playbook(new_gate())
    assert (
        book
        >> frame("o1,c1")
        << Decide({"1": call("1")})
        >> Decided(yes("1"))
        << []
        >> frame("o2")
        << []
        >> Reach(limit)
        << EndAtLimit(limit, ("1", "2"))
        >> frame("t")
        << []
        >> Decided(no("1", "2"))
        << Record(("1", "2"))
        >> Recorded(no("1", "2"))
        << [Write(b"[no 1][no 2]", ("1", "2")), Write(b"[end]"), Finish()]
        >> Reach(limit)
        << []
    )


def test_held_bytes_are_a_limit() -> None:
    """G12: the bytes of the held frames, not of those that left, count against `held_bytes_max`."""
    gate = new_gate(held_bytes_max=20)
    for _ in range(50):
        assert perform(gate, frame("t" * 15)) == [Write(b"<" + b"t" * 15 + b">")]
    assert perform(gate, frame("o1")) == []
    assert gate.held_bytes == 4
    assert perform(gate, frame("t" * 10)) == []
    assert perform(gate, frame("t" * 10)) == [EndAtLimit(Limit.HELD_BYTES, ("1",))]


class LongReader(ToyReader):
    """Says the same, and of each frame that no call became certain with it: the gate looks at all of them again."""

    def receive(self, frame: Frame) -> list[WireEvent]:
        return [*super().receive(frame), CallsConfirmed(())]


def said_of(gate: Gate, scripts: Sequence[str], told: Mapping[str, tuple[Answer, Answer]]) -> list[list[Command]]:
    """What the gate says with each frame and at the end; each call is answered as it is `told`, twice."""
    said = []
    for happening in [*map(frame, scripts), End(), Close()]:
        commands = perform(gate, happening)
        for command in commands:  # and what comes of it
            if isinstance(command, Decide):
                commands += perform(gate, Decided({key: told[str(key)][0] for key in command.calls}))
            elif isinstance(command, EndAtLimit):
                commands += perform(gate, Decided(dict.fromkeys(command.keys, NO)))
            elif isinstance(command, Record):
                commands += perform(gate, Recorded({key: told[str(key)][1] for key in command.keys}))
        said.append(commands)
    return said


STEPS = ["t", "p", ".", "!", *(f"{kind}{key}" for kind in "ofckx" for key in "012"), "c0,k0,c1,k1", "c1,k1,c2,k2"]
TOLD = [(RELEASED, RELEASED), (RELEASED, NO), (NO, NO), (BACK, BACK), (BACK, NO)]


@settings(max_examples=300)
@example(["o0", "o1", "c0,k0,c1,k1", "t"], ((BACK, NO), (RELEASED, RELEASED), (NO, NO)), 200)
@given(
    st.lists(st.sampled_from(STEPS), max_size=30),
    st.tuples(*[st.sampled_from(TOLD)] * 3),
    st.integers(8, 200),
)
def test_a_frame_that_changes_nothing_is_held_as_if_all_calls_were_looked_at(
    steps: list[str], told: tuple[tuple[Answer, Answer], ...], held_bytes_max: int
) -> None:
    """The shorter way of `receive` says with each frame what the longer one does."""
    before = {"o": " ", "f": "of", "c": "of", "k": "c", "x": "ofc"}
    state = dict.fromkeys("012", " ")
    scripts = []
    for step in steps:  # what no dialect's reader says is left out: a call opens, goes on, is whole, is certain
        came = dict(state)
        for part in step.split(","):
            if key := part[1:]:
                came[key] = part[0] if came[key] in before[part[0]] else ""
        if all(came.values()):
            scripts.append(step)
            state = came
    gates = [Gate(reader, ToyWriter(), held_bytes_max) for reader in (ToyReader(), LongReader())]
    short, long = (said_of(gate, scripts, dict(zip("012", told, strict=True))) for gate in gates)
    assert short == long


class GateMachine(RuleBasedStateMachine):
    """The gate against a model that knows only which frames came and which calls were answered, and how."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = new_gate(held_bytes_max=200)
        self.frames: list[tuple[bytes, tuple[str, ...]]] = []
        self.state: dict[str, str] = {}
        self.answers: dict[str, bool] = {}
        self.to_decide: set[str] = set()
        self.to_record: set[str] = set()
        self.out = b""
        self.over = False
        self.limited = False
        self.cut: set[str] = set()
        self.next = 0

    def perform(self, happening: Happening) -> None:
        was_over = self.over
        for command in perform(self.gate, happening):
            assert not was_over, f"{command} after the end"
            match command:
                case Write(data=data, calls=calls):
                    assert set(calls) <= set(self.answers), "a call leaves without an answer"
                    self.out += data
                case Decide(calls=calls):
                    self.to_decide |= set(map(str, calls))
                case EndAtLimit(keys=keys):
                    self.to_decide |= set(map(str, keys))
                    self.limited = True
                    self.cut |= set(map(str, keys))
                case Record(keys=keys):
                    assert not set(keys) & set(self.answers), "recorded twice"
                    certain = {key for key, state in self.state.items() if state == "confirmed"} | self.cut
                    assert set(keys) <= certain, "recorded before it was certain"
                    self.to_record |= set(map(str, keys))
                case Break(data=data):
                    self.out += data
                    self.over = True
                case Finish():
                    self.over = True

    def send(self, script: str, *keys: str) -> None:
        one = frame(script)
        if not self.over and not self.limited:
            self.frames.append((one.raw, keys))
        self.perform(one)

    def pick(self, data: st.DataObject, *states: str) -> str | None:
        keys = sorted(key for key, state in self.state.items() if state in states)
        return data.draw(st.sampled_from(keys)) if keys else None

    @initialize()
    def start(self) -> None:
        self.send("t")

    @rule()
    def text(self) -> None:
        self.send("t")

    @precondition(lambda self: self.next < 8)
    @rule()
    def open(self) -> None:
        key = str(self.next)
        self.next += 1
        self.state[key] = "open"
        self.send(f"o{key}", key)

    @rule(data=st.data())
    def fragment(self, data: st.DataObject) -> None:
        if key := self.pick(data, "open"):
            self.send(f"f{key}", key)

    @rule(data=st.data())
    def complete(self, data: st.DataObject) -> None:
        if key := self.pick(data, "open"):
            self.state[key] = "complete"
            self.send(f"c{key}", key)

    @rule(data=st.data())
    def confirm(self, data: st.DataObject) -> None:
        if key := self.pick(data, "complete"):
            self.state[key] = "confirmed"
            self.send(f"k{key}")

    @rule(data=st.data())
    def cut_off(self, data: st.DataObject) -> None:
        if key := self.pick(data, "open", "complete"):
            self.state[key] = "cut"
            self.cut.add(key)
            self.send(f"x{key}")

    @rule(data=st.data(), is_allowed=st.booleans())
    def decide(self, data: st.DataObject, is_allowed: bool) -> None:
        """The caller's contract: a malformed call, or one at a limit, is refused."""
        if self.to_decide:
            key = data.draw(st.sampled_from(sorted(self.to_decide)))
            self.to_decide.discard(key)
            self.perform(Decided(yes(key) if is_allowed and key not in self.cut else no(key)))

    @rule(data=st.data(), is_allowed=st.booleans())
    def record(self, data: st.DataObject, is_allowed: bool) -> None:
        if self.to_record:
            key = data.draw(st.sampled_from(sorted(self.to_record)))
            self.to_record.discard(key)
            self.answers[key] = is_allowed and key not in self.cut
            self.perform(Recorded(yes(key) if self.answers[key] else no(key)))

    @rule()
    @precondition(lambda self: self.next > 3)
    def limit(self) -> None:
        self.perform(Reach(Limit.EXCHANGE))

    @rule()
    @precondition(lambda self: self.next > 5)
    def broken(self) -> None:
        self.perform(BreakOff())

    @invariant()
    def what_left_is_what_was_answered(self) -> None:
        """Every byte out is a frame, or a refusal in its place, in order, up to the first that has no answer."""
        allowed, said = b"", set()
        for raw, keys in self.frames:
            if not set(keys) <= set(self.answers):
                break
            refused = [key for key in keys if not self.answers[key]]
            if not refused:
                allowed += raw
            allowed += b"".join(f"[no {key}]".encode() for key in refused if key not in said)
            said |= set(refused)
        left = self.out.removesuffix(b"[error]").removesuffix(b"[end]")
        assert allowed.startswith(left), (left, allowed)
        if not self.over:
            assert left == allowed, "something that was answered did not leave"

    @invariant()
    def held_bytes_are_counted(self) -> None:
        assert 0 <= self.gate.held_bytes <= 200 + 4
        assert self.gate.holding or self.gate.held_bytes == 0


GateMachine.TestCase.settings = settings(max_examples=80, stateful_step_count=40)
TestGateMachine = GateMachine.TestCase
