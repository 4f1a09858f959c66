"""Freshness where the provider keeps the conversation: refused, or told with the newest input; never passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai
import orjson
import pytest

from interceptors.freshness import HELD_LOOP_NOTICE, HELD_NOTICE
from proxy.demo.turns import Text
from proxy.wire.anthropic_turn import ANTHROPIC_CONTINUATION
from tests.e2e.responding import agent, call, turn
from tests.e2e.told import POLICY

if TYPE_CHECKING:
    from pathlib import Path

held = pytest.mark.parametrize("history", ["by_id", "conversation"])
FRESH, NOTICE = "resume_after: 30m\n", "server_held: notice\n"
TURNS = (turn(call("read_allowed")), turn(Text("One.")), turn(call("read_allowed", 2)), turn(Text("Two.")))


def policy(*top: str, writes: bool = False) -> str:
    text = POLICY.replace("write_allowed: {effect: write}", "write_allowed: {effect: write, writes: {thing: args.n}}")
    return (text if writes else POLICY).replace("reasons:", "".join(top) + "reasons:", 1)


def notices(request: dict[str, Any]) -> list[str]:
    """What of the notices stands in the input of a request, in order."""
    said = orjson.dumps(request["input"]).decode()
    return [text for text in (HELD_NOTICE, HELD_LOOP_NOTICE) if text in said]


@held
async def test_by_default_it_is_refused(tmp_path: Path, history: str) -> None:
    """A request that goes on with what the provider keeps is a 400 that says what to do, and nothing of it goes up."""
    async with agent(tmp_path, False, history, *TURNS, policy=policy(FRESH)) as one:
        with pytest.raises(openai.BadRequestError, match="send the whole history with each request"):
            await one.say("Hello")
        assert len(one.provider.received) == (1 if history == "by_id" else 0)
        refused = [each["reason"] for each in await one.desk.records() if each["kind"] == "refused"]
        assert refused == ["server_held"]


@held
@pytest.mark.parametrize("streamed", [True, False])
async def test_a_notice_goes_up_with_what_the_user_says(tmp_path: Path, history: str, streamed: bool) -> None:
    """Once with each text of the user's, never with the results of its loop, which were read just now; receipted."""
    async with agent(tmp_path, streamed, history, *TURNS, policy=policy(FRESH, NOTICE)) as one:
        assert await one.say("Hello") == "One."
        assert await one.say("And now?") == "Two."
        first = [] if history == "by_id" else [HELD_NOTICE]
        assert [notices(each) for each in one.provider.received] == [first, [], [HELD_NOTICE], []]
        assert one.provider.received[2]["input"][0] == {"role": "user", "content": "And now?"}
        edits = [(each["edit"], each["count"]) for each in await one.desk.records() if each["kind"] == "edited"]
        assert edits == [("notice", 1)] * (1 + len(first))


@held
async def test_a_loop_with_writes_is_told_what_they_outdate(tmp_path: Path, history: str) -> None:
    """Which call a result answers is not known there, so that every result says it under a policy that has writes."""
    async with agent(tmp_path, False, history, *TURNS[:2], policy=policy(NOTICE, writes=True)) as one:
        assert await one.say("Hello") == "One."
        (said,) = one.provider.received[1]["input"]
        assert said["output"] == f'{HELD_LOOP_NOTICE}\n{{"done": true}}'


@pytest.mark.parametrize("history", ["by_id", "replay"])
async def test_other_conversations_go_up_as_they_are(tmp_path: Path, history: str) -> None:
    """Without a key about freshness, or where the client holds the history, neither is done."""
    text = policy() if history == "by_id" else policy(FRESH, NOTICE)
    async with agent(tmp_path, False, history, *TURNS, policy=text) as one:
        await one.say("Hello")
        await one.say("And now?")
        assert [notices(each) for each in one.provider.received] == [[]] * 4


def test_a_thread_of_anthropics_is_kept_by_the_provider() -> None:
    """From its second request on; a form that is not known counts as one."""
    forms = [None, {"create": {}}, {"type": "create"}, {"continue": {"id": "t"}, "previous_message_id": "m"}, "x"]
    bodies = [orjson.dumps({"messages": [], **({} if form is None else {"thread": form})}) for form in forms]
    found = [ANTHROPIC_CONTINUATION.transcript(body).is_continued for body in bodies]
    assert found == [False, False, False, True, True]
