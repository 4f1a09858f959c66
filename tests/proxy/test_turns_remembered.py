"""What is remembered of a turn is what the provider said and what the client holds of it, whatever was said.

The gate, its memory and both dialects, without a wire: random turns in, and in place of the client a reader of bytes
that shares no code with the product.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from interceptors.calls import ToolCall
from proxy.demo import anthropic_wire, chat_wire
from proxy.demo.identifiers import Identifiers
from proxy.demo.random_model import turn_at
from proxy.demo.turns import Call, Dialect, Stop, Text, Thinking, Turn
from proxy.gate import Gate
from proxy.gate_commands import Command, Continue, Decide, Record, RefuseTogether, Remember, Write
from proxy.turn_memory import Remembered, TurnMemory
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.events import RELEASED, Answer, Replaced, Returned
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.sse import Frame, Framer
from tests.e2e.talkers import read_turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interceptors.calls import Call as Proposed

DIALECTS = {Dialect.ANTHROPIC: ANTHROPIC_MESSAGES, Dialect.CHAT: OPENAI_CHAT}
WAYS = [(dialect, streamed) for dialect in DIALECTS for streamed in (True, False)]
ways = pytest.mark.parametrize(("dialect", "streamed"), WAYS)
ROUNDS = 2
MARK = "hg1"


@dataclass
class Play:
    """One turn of as many legs as the gate asks for: `*_allowed` runs, the model hears of `read_refused`, code answers
    the rest."""

    dialect: Dialect
    streamed: bool
    turns: Sequence[Turn]
    fails: bool = False
    bytes_max: int = 1 << 20
    out: bytes = b""
    legs: int = 0
    remembered: Remembered | None = None
    sent: tuple[bytes, ...] = ()
    identifiers: Identifiers = field(default_factory=Identifiers)
    answers: dict[Any, Answer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wire = DIALECTS[self.dialect]
        memory = TurnMemory(wire.continuation, streamed=self.streamed, rounds_max=ROUNDS, bytes_max=self.bytes_max)
        self.gate = Gate(wire.reader(self.streamed, frozenset()), wire.writer(self.streamed), 1 << 20, memory=memory)
        leg = -1
        while leg != self.legs:
            leg = self.legs
            for frame in self._frames(self.turns[leg]):
                self._do(self.gate.receive(leg, frame))
            self._do(self.gate.end(leg))
        self._do(self.gate.close())

    def held(self) -> bytes:
        """The meaning of the turn as a client reads it."""
        message = read_turn(self.dialect, self.out, streamed=self.streamed)
        assert message is not None, self.out
        (turn,) = DIALECTS[self.dialect].continuation.transcript(orjson.dumps({"messages": [message]})).turns()
        return turn.meaning()

    def _frames(self, turn: Turn) -> list[Frame]:
        parts = [self._named(part) if isinstance(part, Call) else part for part in turn.parts]
        turn = replace(turn, parts=tuple(parts))
        if not self.streamed:
            write = anthropic_wire.body if self.dialect is Dialect.ANTHROPIC else chat_wire.body
            body = write(turn, "m", self.identifiers)
            return [Frame(body, None, body)]
        if self.dialect is Dialect.ANTHROPIC:
            raw = anthropic_wire.events(turn, "m", self.identifiers, 9)
        else:
            raw = chat_wire.events(turn, "m", self.identifiers, 9, include_usage=True)
        return list(Framer(1 << 20).feed(b"".join(raw)))

    def _named(self, call: Call) -> Call:
        """A body cannot hold arguments that are no JSON."""
        call = replace(call, id=self.identifiers.next("toolu_", 8))
        return replace(call, arguments="[]") if call.name == "read_broken" else call

    def _do(self, commands: Sequence[Command]) -> None:
        queue = list(commands)
        while queue:
            queue[:0] = self._one(queue.pop(0))

    def _one(self, command: Command) -> list[Command]:
        match command:
            case Write(data=data):
                self.out += data
            case Decide(calls=calls):
                self.answers |= {key: _answer(one) for key, one in calls.items()}
                return self.gate.decided({key: self.answers[key] for key in calls})
            case Record(keys=keys):
                return self.gate.recorded({key: self.answers[key] for key in keys})
            case RefuseTogether(keys=keys):
                self.answers |= dict.fromkeys(keys, Replaced("(together)"))
                return self.gate.decided({key: self.answers[key] for key in keys})
            case Continue(messages=messages):
                self.sent = messages
                return self.gate.leg_failed() if self.fails else self._go_on()
            case Remember(turn=turn):
                self.remembered = turn
        return []

    def _go_on(self) -> list[Command]:
        self.legs += 1
        self.gate.seal(MARK)
        if self.streamed:
            self.gate.next_leg()
            return []
        wire = DIALECTS[self.dialect]
        writer = wire.writer(streamed=False)
        writer.seal(MARK)
        self.out, self.answers = b"", {}
        self.gate.next_leg(wire.reader(False, frozenset()), writer)
        return []


def _answer(call: Proposed) -> Answer:
    if not isinstance(call, ToolCall):
        return Replaced("(malformed)")
    if call.name.endswith("_allowed"):
        return RELEASED
    return Returned('{"isError":true}', "(told)") if call.name == "read_refused" else Replaced("(no)")


def turns_of(seed: int) -> list[Turn]:
    return [turn_at(seed, number) for number in range(ROUNDS + 1)]


@ways
def test_what_is_remembered_as_visible_is_what_a_client_holds(dialect: Dialect, streamed: bool) -> None:
    """400 random turns of up to three legs: the ledger finds a turn by what the client will send back of it."""
    hidden = went_on = 0
    for seed in range(400):
        play = Play(dialect, streamed, turns_of(seed))
        if play.remembered is not None:
            hidden += 1
            went_on += play.legs > 0
            assert play.held() == play.remembered.visible, seed
    assert hidden > 60
    assert went_on > 20


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_streamed_or_not_the_same_is_remembered(dialect: Dialect) -> None:
    """The same legs, messages and results: roles, blocks and calls, each in its place."""
    for seed in range(150):
        one, other = (Play(dialect, streamed, turns_of(seed)) for streamed in (True, False))
        assert one.legs == other.legs
        assert _shape(one.remembered) == _shape(other.remembered), seed


def _shape(turn: Remembered | None) -> list[Any]:
    found: list[Any] = []
    for raw in turn.messages if turn is not None else ():
        message = orjson.loads(raw)
        content = message["content"] if isinstance(message["content"], list) else [message["content"]]
        kinds = [block["type"] if isinstance(block, dict) else bool(block) for block in content]
        found.append((message["role"], kinds, len(message.get("tool_calls") or ())))
    return [*found, *((len(turn.results), len(turn.order), len(turn.answered)) if turn is not None else ())]


@ways
def test_a_way_on_that_fails_is_remembered_with_its_text(dialect: Dialect, streamed: bool) -> None:
    """The provider's turn, its results, and our words behind them; the client holds the text and our words."""
    turns = [Turn((Thinking("hm"), Text("I look."), Call("read_refused", "{}")))]
    play = Play(dialect, streamed, turns, fails=True)
    assert play.remembered is not None
    assert play.held() == play.remembered.visible
    roles = [orjson.loads(raw)["role"] for raw in play.remembered.messages]
    assert roles == ["assistant", "user" if dialect is Dialect.ANTHROPIC else "tool", "assistant"]
    assert b"(told)" in play.remembered.messages[-1]
    assert b"(told)" in play.out


@ways
def test_a_turn_too_large_to_remember_hides_nothing(dialect: Dialect, streamed: bool) -> None:
    """Past its bound the memory forgets, and code answers: nothing is hidden that could not be put back."""
    for calls in ((Call("read_refused", "{}"), Call("read_allowed", "{}")), (Call("read_refused", "{}"),)):
        play = Play(dialect, streamed, [Turn((Text("x" * 500), *calls))], bytes_max=300)
        assert (play.remembered, play.legs) == (None, 0)
        assert b"(told)" in play.out


@ways
def test_a_turn_that_was_cut_off_does_not_go_on(dialect: Dialect, streamed: bool) -> None:
    """The token limit made its last call malformed: code answers, and nothing goes up."""
    play = Play(dialect, streamed, [Turn((Text("I look."), Call("read_refused", "{}")), Stop.LENGTH)])
    assert (play.legs, play.remembered) == (0, None)
    assert b"(malformed)" in play.out


@ways
def test_what_stands_behind_the_request_grows(dialect: Dialect, streamed: bool) -> None:
    """Each leg is sent with all legs before it, in order, each with its results, byte for byte as the last time."""
    play = Play(dialect, streamed, [Turn((Call("read_refused", f'{{"n": {n}}}'),)) for n in range(ROUNDS + 1)])
    assert (play.legs, len(play.sent)) == (ROUNDS, 2 * ROUNDS)
    assert play.remembered is not None
    assert play.remembered.messages[: len(play.sent)] == play.sent
    assert len(play.remembered.answered) == ROUNDS


def test_old_function_calls_go_on_too() -> None:
    """The `function_call` of old clients has no id and no index: one in the second leg is another call."""
    legs = [
        Turn((Call("read_refused", "{}"),), Stop.LEGACY_CALL),
        Turn((Call("read_refused", '{"n":1}'),), Stop.LEGACY_CALL),
    ]
    for streamed in (True, False):
        play = Play(Dialect.CHAT, streamed, [*legs, Turn((Text("Done."),))])
        assert play.legs == ROUNDS
        assert b"Done." in play.out.replace(b"\n\n", b"")
        assert b"read_refused" not in play.out
