"""Clients that leave the oldest messages out, or sum them up: what they keep of results is no news.

Every request of theirs begins anew, so that no place in it is known; its results are.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Call, Dialect, Text
from tests.e2e.client import WAYS as EVERY_WAY
from tests.e2e.harness import CUSTOMER
from tests.e2e.talkers import Habits, Talk
from tests.e2e.test_history_freshness import NOTICE, SAID, policy
from tests.e2e.test_history_memory import answer, say
from tests.e2e.told import POLICY, Steps, told, turn
from tests.e2e.upkeep import Clock, document, results, seen
from tests.e2e.worlds import world

if TYPE_CHECKING:
    from pathlib import Path

WAYS = (EVERY_WAY[0], EVERY_WAY[3])  # streamed and not, one of each dialect
ways = pytest.mark.parametrize("way", WAYS, ids=["anthropic-stream", "chat-body"])
READ = turn(Call("read_allowed", '{"order_id": "A1"}'))
OTHER = turn(Call("read_allowed", '{"order_id": "B2"}'))
DONE = turn(Text("It is so."))
WHOLE, PRUNED = document(status="PENDING", note="x"), document(status="PENDING")


@ways
async def test_what_was_pruned_stays_pruned(tmp_path: Path, way: Any) -> None:
    """Also behind a policy edit, as any result that went up."""
    async with told(tmp_path, way, DONE, READ, DONE, DONE, policy=policy(", result: {keep: [status]}")) as one:
        await one.ask()
        one.talk.say("And?")
        await one.ask()
        results(one, WHOLE)
        await one.ask()
        del one.talk.messages[:2]
        one.talk.say("Well?")
        await one.ask(take=False)
        assert seen(one) == [PRUNED]
        one.desk.policy.write_text(POLICY)
        await one.ask()
        assert seen(one) == [PRUNED]
        assert [each.refused for each in one.desk.provider.received if each.refused] == []


@ways
@pytest.mark.parametrize("text", [policy(top="resume_after: 30m\n"), policy(", result: {fresh_for: 5m}")])
async def test_a_loop_is_not_told_that_its_own_reads_are_old(tmp_path: Path, way: Any, text: str) -> None:
    """What was read a moment ago is not old because the beginning is gone: the model would ask for ever. Once it is
    old it is said, and replaced."""
    async with told(tmp_path, way, DONE, READ, OTHER, DONE, DONE, policy=text) as one:
        clock = Clock()
        clock.rules(one)
        await one.ask()
        one.talk.say("And?")
        await one.ask()
        results(one, WHOLE)
        await one.ask()
        del one.talk.messages[:2]
        results(one, PRUNED)
        clock.passes(seconds=20)
        await one.ask()
        assert seen(one) == [WHOLE, PRUNED]
        one.talk.messages[0]["content"] = "Summary."
        clock.passes(minutes=31)
        one.talk.say("Still?")
        await one.ask()
        assert orjson.loads(seen(one)[0]) == NOTICE
        assert [each.refused for each in one.desk.provider.received if each.refused] == []


async def test_every_worker_knows_the_results_until_they_are_erased(tmp_path: Path) -> None:
    """They lie in the ledger; with the customer they go."""
    talk = Talk(Dialect.ANTHROPIC, True, Habits(), 1)
    talk.say("Hello")
    async with world(tmp_path, Steps((DONE, READ, SAID, DONE, DONE)), policy(", result: {keep: [status]}")) as made:
        await say(made, talk, 0)
        talk.say("And?")
        await say(made, talk, 0)
        answer(talk, WHOLE)
        assert await say(made, talk, 0) == [PRUNED]
        talk.messages[:2] = []
        talk.messages[1]["content"] = [each for each in talk.messages[1]["content"] if each["type"] == "tool_use"]
        talk.say("Well?")
        assert await say(made, talk, 1) == [PRUNED]
        await made.erase(CUSTOMER, random.Random(1))
        talk.messages[0]["content"] = "Summary."
        talk.say("So?")
        assert await say(made, talk, 1) == [WHOLE]
        assert [each.refused for each in made.log if each.refused] == []
