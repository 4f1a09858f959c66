"""The random model: the same for the same seed, every kind often enough, every turn taken back by its provider."""

from __future__ import annotations

from collections import Counter

import orjson
import pytest

from proxy.demo import chat_wire
from proxy.demo.asked import anthropic_asked
from proxy.demo.chat_history import chat_refusal
from proxy.demo.identifiers import Identifiers
from proxy.demo.random_model import Fate, Habits, fate_of, random_script, turn_at
from proxy.demo.saying import said_chat
from proxy.demo.servers import CLAUDE, DEEPSEEK, GEMINI, MISTRAL, OPENAI, AnthropicServer, ChatServer
from proxy.demo.turns import Call, Delivery, Dialect, Stop, Text, Thinking, Turn
from proxy.demo.watcher import extends
from tests.proxy.demo.strict import Desk, text, user

SAYABLE = Habits(fates={fate: 1 for fate in Fate if fate is not Fate.BROKEN})


def test_the_same_seed_says_the_same() -> None:
    """A turn depends on seed and number alone, and on both."""
    turns = [turn_at(seed, number) for seed in range(20) for number in range(5)]

    assert turns == [turn_at(seed, number) for seed in range(20) for number in range(5)]
    assert len({str(turn) for turn in turns}) > 95


def test_every_kind_occurs() -> None:
    """No fate, no kind of thinking, no number of calls is rare in a thousand turns; none is empty."""
    turns = [turn_at(seed, number) for seed in range(100) for number in range(10)]
    parts = [part for turn in turns for part in turn.parts]
    fates = Counter(fate_of(part.name) for part in parts if isinstance(part, Call))
    thinking = Counter((bool(part.text), part.redacted) for part in parts if isinstance(part, Thinking))
    calls = Counter(sum(isinstance(part, Call) for part in turn.parts) for turn in turns)

    assert set(fates) == set(Fate)
    assert min(fates.values()) > 40
    assert min(thinking[kind] for kind in ((True, False), (False, False), (False, True))) > 50
    assert min(calls[number] for number in range(5)) > 100
    assert all(any(isinstance(part, Text | Call) for part in turn.parts) for turn in turns)
    assert sum(turn.stop is Stop.LENGTH for turn in turns) > 5


def test_calls_come_again() -> None:
    """A conversation repeats a refused call word for word: twice in most, three times in many."""
    most = []
    for seed in range(100):
        parts = [part for number in range(10) for part in turn_at(seed, number).parts]
        refused = Counter(
            str(orjson.loads(part.arguments))
            for part in parts
            if isinstance(part, Call) and part.name == "read_refused"
        )
        most.append(max(refused.values(), default=0))

    assert sum(count >= 2 for count in most) > 60
    assert sum(count >= 3 for count in most) > 30


def test_a_script_counts_the_turns_that_it_sees() -> None:
    """The next turn follows from the request: asked again it says the same, one turn later another."""
    delivery = Delivery(pings=True)
    script = random_script(lambda asked: len(asked.user_text), delivery=lambda asked: delivery)
    desk = Desk()
    first = script(anthropic_asked(desk.body))

    assert first.answer == turn_at(len("hello"), 0)
    assert first == script(anthropic_asked(desk.body))
    assert first.delivery is delivery
    desk.body["messages"] += [{"role": "assistant", "content": "x"}, user(text("hello"))]
    assert script(anthropic_asked(desk.body)).answer == turn_at(len("hello"), 1)
    assert random_script(7)(anthropic_asked(desk.body)).answer == turn_at(7, 1)


@pytest.mark.parametrize("server", [CLAUDE, AnthropicServer(own_turn_bound=True)], ids=["as documented", "own turn"])
def test_an_honest_client_of_anthropic_is_never_refused(server: AnthropicServer) -> None:
    """A client that brings back what it was given, in any order of keys, extends every request and is always taken."""
    for seed in range(60):
        desk = Desk(server)
        for number in range(8):
            before = orjson.dumps(desk.body)
            turn = desk.ask(turn_at(seed, number, SAYABLE))
            desk.messages[-1] = orjson.loads(orjson.dumps(turn, option=orjson.OPT_SORT_KEYS))
            desk.answer(*([text("go on")] if not any(one["type"] == "tool_use" for one in turn["content"]) else []))
            assert extends(before, turn, orjson.dumps(desk.body), dialect=Dialect.ANTHROPIC) == []
        assert desk.refusal() == ""


@pytest.mark.parametrize("server", [OPENAI, DEEPSEEK, GEMINI, MISTRAL], ids=["openai", "deepseek", "gemini", "mistral"])
def test_an_honest_client_of_chat_is_never_refused(server: ChatServer) -> None:
    """The same in the other dialect, for each server and its demands."""
    identifiers = Identifiers()
    for seed in range(60):
        messages = [{"role": "user", "content": "hello"}]
        for number in range(8):
            before = orjson.dumps({"messages": messages})
            turn = said_chat(turn_at(seed, number), len(before), identifiers, server).message
            calls = turn.get("tool_calls", [])
            messages.append(turn)
            messages += [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in calls]
            messages += [] if calls else [{"role": "user", "content": "go on"}]
            assert chat_refusal({"messages": messages}, server) is None
            assert extends(before, turn, orjson.dumps({"messages": messages}), dialect=Dialect.CHAT) == []


def test_tokens_are_counted() -> None:
    """Usage that a turn leaves open grows with the request and with what is said; a stated one stands."""
    small, large = (said_chat(turn_at(1, 1), size, Identifiers(), OPENAI).turn.counted for size in (400, 4000))
    assert (small.input_tokens, large.input_tokens) == (101, 1001)
    assert small.output_tokens == large.output_tokens > 0
    longer = Turn((Text("x" * 400),), usage=None)
    assert said_chat(longer, 4, Identifiers(), OPENAI).turn.counted.output_tokens == 109
    assert chat_wire.message(longer)["content"] == "x" * 400
