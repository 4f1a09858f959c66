"""What was decided about a history is remembered: over restarts, by every worker, until it is lost or erased."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import orjson

from proxy import preparation
from proxy.demo.turns import Call, Dialect, Thinking
from proxy.ledger.edits import EditVault
from proxy.ledger.vault import LedgerError
from tests.e2e.client import PATHS, request_headers
from tests.e2e.harness import CUSTOMER, session_header
from tests.e2e.talkers import Habits, Talk, read_turn
from tests.e2e.test_history_freshness import NOTICE, PENDING, READ, SAID, policy
from tests.e2e.told import Steps, told, turn
from tests.e2e.upkeep import Clock, document, results, seen
from tests.e2e.worlds import World, world

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

ANTHROPIC = (Dialect.ANTHROPIC, True)
PRUNES = policy(", result: {keep: [status], fresh_for: 0}")


async def say(made: World, talk: Talk, gate: int) -> list[str]:
    """One request through one of the gates; the results that went up with it."""
    async with made.session.post(
        made.gates[gate].url + PATHS[talk.dialect],
        data=talk.body(),
        headers=request_headers(talk.dialect, session_header()),
    ) as response:
        data = await response.read()
        assert response.status == 200, data
        message = read_turn(talk.dialect, data, streamed=talk.streamed)
    assert message is not None
    talk.take(message)
    sent = orjson.loads(made.log[-1].body)["messages"]
    blocks = [block for each in sent if isinstance(each["content"], list) for block in each["content"]]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


def answer(talk: Talk, text: str) -> None:
    (identifier,) = talk.calls()
    block = {"type": "tool_result", "tool_use_id": identifier, "content": text}
    talk.messages.append({"role": "user", "content": [block]})


async def test_every_worker_and_every_life_sends_the_same(tmp_path: Path) -> None:
    """Two gates on one folder, then two others; after the loss of the file thinking that rested on it goes."""
    steps = Steps((READ, SAID, SAID, SAID, SAID))
    talk = Talk(Dialect.ANTHROPIC, True, Habits(), 1)
    talk.say("Hello")
    async with world(tmp_path, steps, PRUNES) as made:
        await say(made, talk, 0)
        answer(talk, document(status="PENDING", note="x"))
        assert await say(made, talk, 1) == [document(status="PENDING")]
        talk.say("And?")
        assert [orjson.loads(each) for each in await say(made, talk, 0)] == [NOTICE]
        for gate in list(made.gates):
            await made.stop(gate)
        await made.start()
        talk.say("Well?")
        assert [orjson.loads(each) for each in await say(made, talk, 0)] == [NOTICE]
        await made.lose()
        talk.say("So?")
        assert [orjson.loads(each) for each in await say(made, talk, 0)] == [NOTICE]
        assert [each.refused for each in made.log if each.refused] == []


async def test_what_is_erased_with_a_customer_is_not_used_again(tmp_path: Path) -> None:
    """The next request goes up as the client holds it, and no provider refuses it."""
    steps = Steps((READ, SAID, SAID))
    talk = Talk(Dialect.ANTHROPIC, True, Habits(), 1)
    talk.say("Hello")
    async with world(tmp_path, steps, policy(", result: {keep: [status]}")) as made:
        await say(made, talk, 0)
        answer(talk, document(status="PENDING", note="x"))
        assert await say(made, talk, 0) == [document(status="PENDING")]
        await made.erase(CUSTOMER, random.Random(1))
        talk.say("And?")
        assert await say(made, talk, 0) == [document(status="PENDING", note="x")]
        assert [each.refused for each in made.log if each.refused] == []


async def test_a_memory_that_cannot_be_read_lets_the_request_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What went up once must go up again, so that nothing goes up on a guess; the client may try again."""
    async with told(tmp_path, ANTHROPIC, READ, SAID, policy=PRUNES) as one:
        await one.ask()
        results(one, PENDING)
        with monkeypatch.context() as broken:

            def fails(*_: object) -> None:
                raise LedgerError("no such disk")

            broken.setattr(EditVault, "find", fails)
            assert issubclass(preparation.LedgerError, LedgerError)
            heard = await one.ask()
        assert heard.status == 503
        assert len(one.sent) == 1
        await one.ask()
        assert seen(one) == [PENDING]
        refused = [each["reason"] for each in await one.desk.records() if each["kind"] == "refused"]
        assert refused == ["history_unavailable"]


async def test_thinking_beside_a_hidden_turn_rests_on_both(tmp_path: Path) -> None:
    """A refusal that the model heard and a result that was pruned: both are put back, and the thinking holds."""
    steps = (READ, turn(Thinking("So."), Call("read_refused", '{"n": 1}')), SAID, SAID, SAID)
    async with told(tmp_path, ANTHROPIC, *steps, policy=policy(", result: {keep: [status]}")) as one:
        Clock().rules(one)
        await one.ask()
        results(one, document(status="PENDING", note="x"))
        await one.ask()
        one.talk.say("And?")
        await one.ask()
        one.talk.say("Well?")
        await one.ask()
        one.check()
        assert sum(message["role"] == "assistant" for message in one.messages()) == 5 - 1
        assert one.sent[-1].count(b'"signature"') == 4
        assert b"cg1." not in one.sent[-1]
