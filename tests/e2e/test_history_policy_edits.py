"""A policy edit prunes nothing anew, whatever comes again: what went up before it keeps its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Dialect
from tests.e2e.client import WAYS as EVERY_WAY
from tests.e2e.talkers import Habits, Talk
from tests.e2e.test_history_freshness import NOTICE, READ, SAID, policy
from tests.e2e.test_history_memory import answer, say
from tests.e2e.told import POLICY, Steps, Told, told
from tests.e2e.upkeep import Clock, document, results, seen
from tests.e2e.worlds import world

if TYPE_CHECKING:
    from pathlib import Path

WAYS = (EVERY_WAY[0], EVERY_WAY[3])  # streamed and not, one of each dialect
ways = pytest.mark.parametrize("way", WAYS, ids=["anthropic-stream", "chat-body"])
KEEPS = policy(", result: {keep: [status], fresh_for: 0}")
WHOLE, PRUNED = document(status="PENDING", note="x"), document(status="PENDING")


async def tried_again(one: Told, text: str) -> None:
    """The newest request once more, under another policy."""
    one.desk.policy.write_text(text)
    await one.ask(take=False)
    assert one.sent[-1] == one.sent[-2]


@ways
@pytest.mark.parametrize("words", ["", "And?"])
async def test_a_request_that_comes_again_behind_the_edit_is_the_same_bytes(
    tmp_path: Path, way: Any, words: str
) -> None:
    """A client that tries once more, with a result or with words as the newest; and so it stays in longer histories,
    while what comes new is pruned."""
    steps = (READ, *[SAID] * (4 if words else 3), READ, SAID)
    async with told(tmp_path, way, *steps, policy=POLICY) as one:
        await one.ask()
        results(one, WHOLE)
        if words:
            await one.ask()
            one.talk.say(words)
        await one.ask(take=False)
        await tried_again(one, policy(", result: {keep: [status]}"))
        await one.ask()
        one.talk.say("And now?")
        await one.ask()
        results(one, WHOLE)
        await one.ask()
        assert seen(one) == [WHOLE, PRUNED]
        one.check()


@ways
async def test_a_policy_that_pauses_leaves_what_went_up_meanwhile(tmp_path: Path, way: Any) -> None:
    """Pruning is switched off and on again: a conversation that knows edits keeps each place as it went up."""
    async with told(tmp_path, way, READ, READ, SAID, policy=policy(", result: {keep: [status]}")) as one:
        await one.ask()
        results(one, WHOLE)
        await one.ask()
        one.desk.policy.write_text(POLICY)
        results(one, WHOLE)
        await one.ask(take=False)
        await tried_again(one, policy(", result: {keep: [status]}"))
        assert seen(one) == [PRUNED, WHOLE]
        one.check()


async def test_a_shorter_history_that_comes_again_leaves_the_longer_one_as_it_was(tmp_path: Path) -> None:
    """By another process, too: the longer one shows that the model has read its results whole."""
    talk = Talk(Dialect.ANTHROPIC, True, Habits(), 1)
    talk.say("Hello")
    async with world(tmp_path, Steps((READ, SAID, SAID, SAID, SAID)), POLICY) as made:
        await say(made, talk, 0)
        answer(talk, WHOLE)
        assert await say(made, talk, 0) == [WHOLE]
        (tmp_path / "policy.yaml").write_text(policy(", result: {keep: [status]}"))
        talk.say("And?")
        longer, shorter = talk.fork(), talk.fork()
        assert await say(made, talk, 0) == [WHOLE]
        del shorter.messages[3:]
        for gate in list(made.gates):
            await made.stop(gate)
        await made.start()
        assert await say(made, shorter, 0) == [WHOLE]
        assert await say(made, longer, 0) == [WHOLE]
        assert made.log[-1].body == made.log[-3].body
        assert [each.refused for each in made.log if each.refused] == []


async def test_a_lost_memory_changes_a_longer_history_once(tmp_path: Path) -> None:
    """What comes first behind the loss is decided; a shorter history that comes behind it changes nothing more."""
    talk = Talk(Dialect.ANTHROPIC, True, Habits(), 1)
    talk.say("Hello")
    async with world(tmp_path, Steps((READ, SAID, SAID)), policy(", result: {keep: [status]}")) as made:
        await say(made, talk, 0)
        answer(talk, WHOLE)
        assert await say(made, talk, 0) == [PRUNED]
        await made.lose()
        talk.say("And?")
        longer, shorter = talk.fork(), talk.fork()
        del shorter.messages[3:]
        assert await say(made, talk, 0) == [WHOLE]
        assert await say(made, shorter, 1) == [WHOLE]
        assert await say(made, longer, 0) == [WHOLE]
        assert made.log[-1].body == made.log[-3].body
        assert [each.refused for each in made.log if each.refused] == []


@pytest.mark.parametrize("text", [policy(", result: {keep: [status]}"), KEEPS], ids=["prunes", "ages"])
async def test_a_result_before_a_systems_message_is_seen_for_the_first_time(tmp_path: Path, text: str) -> None:
    """Frameworks put a reminder between the result and what the user says: the model has read neither. It is pruned,
    and out of date only once it was read."""
    async with told(tmp_path, WAYS[1], READ, SAID, SAID, policy=text) as one:
        Clock().rules(one)
        await one.ask()
        results(one, WHOLE)
        one.talk.messages.append({"role": "system", "content": "Be brief."})
        one.talk.say("And be quick.")
        await one.ask()
        assert seen(one) == [PRUNED]
        one.talk.say("Well?")
        await one.ask()
        (last,) = seen(one)
        assert orjson.loads(last) == (NOTICE if text == KEEPS else orjson.loads(PRUNED))
        assert [each.refused for each in one.desk.provider.received if each.refused] == []


@ways
async def test_what_was_read_before_the_edit_is_not_called_old_when_it_comes_again(tmp_path: Path, way: Any) -> None:
    """The same request, whose newest message is the user's: it keeps what it said. The next one says what is old."""
    async with told(tmp_path, way, READ, SAID, SAID, SAID, SAID, policy=POLICY) as one:
        await one.ask()
        results(one, WHOLE)
        await one.ask()
        one.talk.say("And?")
        await one.ask(take=False)
        await tried_again(one, KEEPS)
        await one.ask()
        one.talk.say("And now?")
        await one.ask()
        assert [orjson.loads(each) for each in seen(one)] == [NOTICE]
        assert [each.refused for each in one.desk.provider.received if each.refused] == []
