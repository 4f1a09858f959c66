"""The way on of an exchange: one mark, legs that are closed, a memory only where something may be hidden."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from interceptors.calls import Proposal, Proposer, ToolCall
from interceptors.decisions import Decision
from interceptors.pipeline import Pipeline
from policies import load_policy_text
from policies.model import Ruling
from proxy.gate_commands import Continue
from proxy.judge import Judgment, Scene
from proxy.ledger.hidden import Refusal
from proxy.ledger.keeper import Prepared
from proxy.limits import Limits
from proxy.onward import Onward
from proxy.policy_source import Revision
from proxy.turn_memory import Remembered
from proxy.wire.openai_chat import OPENAI_CHAT

BODY = b'{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}'
SCENE = Scene("ex_1", "openai-chat", "m", "tenant", "bot", "", {})
MESSAGE = b'{"role":"assistant","content":"x"}'
CODE = "tools: {t: {on_refusal: code}}\ndefaults: {on_refusal: code}\n"


class Leg:
    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


class Upstream:
    """Answers with these legs, in order, and keeps what it was asked."""

    def __init__(self, *legs: Leg | None) -> None:
        self.legs = list(legs)
        self.asked: list[Any] = []

    async def __call__(self, body: bytes) -> Any:
        self.asked.append(json.loads(body))
        return self.legs.pop(0)


class Keeper:
    """A ledger that only listens."""

    def __init__(self) -> None:
        self.kept: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    async def keep(self, *given: Any, **named: Any) -> bool:
        self.kept.append((given, named))
        return False


def onward(*legs: Leg | None, mark: str = "") -> tuple[Onward, Upstream, Keeper]:
    upstream, keeper = Upstream(*legs), Keeper()
    return Onward(OPENAI_CHAT, Prepared(BODY, BODY, mark), cast("Any", keeper), upstream), upstream, keeper


def revision(text: str) -> Revision:
    policy = load_policy_text(f"language: 1\npolicy: p\n{text}")
    return Revision(policy, Pipeline(policy), {}, {})


def test_an_exchange_has_one_mark() -> None:
    """It is made once, is no other exchange's, and is not that of the turn before."""
    first, second = onward(mark="h0")[0], onward()[0]
    assert first.mark == first.mark != second.mark
    assert (first.last_mark, second.last_mark) == ("h0", "")
    assert first.mark != "h0"


async def test_the_next_leg_asks_with_what_was_said() -> None:
    """The messages stand behind those that went up, the output has what is left, and the leg is kept to be closed."""
    leg = Leg()
    way, upstream, _ = onward(leg)
    assert cast("Any", await way.next_leg(Continue((MESSAGE,), 4))) is leg
    (asked,) = upstream.asked
    assert asked["messages"] == [*json.loads(BODY)["messages"], json.loads(MESSAGE)]
    assert asked["max_tokens"] == 6
    way.close()
    assert leg.closed == 1


async def test_a_bound_that_is_used_up_asks_nobody() -> None:
    """Where no output is left there is no next leg, and the provider hears nothing."""
    way, upstream, _ = onward(Leg())
    assert await way.next_leg(Continue((MESSAGE,), 10)) is None
    assert (upstream.asked, way.legs) == ([], [])


async def test_a_leg_that_could_not_be_had_is_none() -> None:
    """Nothing is kept of it, and the next one is asked for all the same; all that came are closed."""
    leg = Leg()
    way, upstream, _ = onward(None, leg)
    assert await way.next_leg(Continue((MESSAGE,), 1)) is None
    assert await way.next_leg(Continue((MESSAGE,), 1)) is not None
    assert len(upstream.asked) == 2
    way.close()
    assert (len(way.legs), leg.closed) == (1, 1)


def judgment(ruling: Ruling, tool: str) -> Judgment:
    decision = Decision(ruling, tool, True, reason="over", digest="d" * 64)
    nobody = cast("Any", SimpleNamespace())
    return Judgment(Proposal(ToolCall(tool, {}, "{}", "c", 0), Proposer.MODEL), decision, nobody, 0)


async def test_the_refusals_are_kept_and_nothing_else() -> None:
    """Under the mark of this exchange, for its tenant; an allowed call is no refusal, and a lost turn no error."""
    way, _, keeper = onward()
    turn = Remembered(b"v", (MESSAGE,))
    judged = [judgment(ruling, f"t_{ruling.value}") for ruling in Ruling]
    await way.remember(turn, judged, SCENE)
    ((given, named),) = keeper.kept
    refused = [ruling for ruling in Ruling if ruling is not Ruling.ALLOW]
    assert given[2] is turn
    assert given[3] == [Refusal(f"t_{ruling.value}", "d" * 64, "over") for ruling in refused]
    assert (named["tenant"], named["mark"]) == ("tenant", way.mark)


def test_there_is_a_memory_only_where_something_may_be_hidden() -> None:
    """A policy whose refusals all go to the customer, and that injects nothing, costs no memory."""
    way = onward()[0]
    silent = revision(CODE)
    heard = revision(CODE.replace("t: {on_refusal: code}", "t: {on_refusal: model}"))
    limits = Limits()
    assert way.memory(silent, SCENE, limits, streamed=True, asks_again=False) is None
    assert way.memory(heard, SCENE, limits, streamed=True, asks_again=False) is not None
    assert way.memory(silent, SCENE, limits, streamed=True, asks_again=True) is not None


@pytest.mark.parametrize("rounds", [0, 1])
def test_the_memory_has_the_limits_of_the_process(rounds: int) -> None:
    """Its bytes are `held_bytes_max`, its rounds `rounds_max`."""
    limits = Limits(rounds_max=rounds, held_bytes_max=64 * 1024)
    memory = onward()[0].memory(revision(CODE), SCENE, limits, streamed=True, asks_again=True)
    assert memory is not None
    assert (memory._rounds_left, memory._bytes_left) == (rounds, 64 * 1024)
