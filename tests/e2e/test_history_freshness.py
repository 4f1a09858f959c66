"""Facts that may have changed meanwhile are asked for again: on resumption, by age, after a write; in every dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from proxy.demo.turns import Call, Dialect, Text, Thinking
from tests.e2e.client import WAYS as EVERY_WAY
from tests.e2e.told import POLICY, Told, told, turn
from tests.e2e.upkeep import Clock, document, results, seen

if TYPE_CHECKING:
    from pathlib import Path

Way = tuple[Dialect, bool]
WAYS = (EVERY_WAY[0], EVERY_WAY[3])  # streamed and not, one of each dialect
ways = pytest.mark.parametrize("way", WAYS, ids=["anthropic-stream", "chat-body"])


def policy(of_read: str = "", of_write: str = "", top: str = "") -> str:
    said = POLICY.replace("read_allowed: {effect: read}", f"read_allowed: {{effect: read{of_read}}}")
    said = said.replace("write_allowed: {effect: write}", f"write_allowed: {{effect: write{of_write}}}")
    return said.replace("reasons:", f"{top}reasons:", 1)


READ = turn(Thinking("Let me see."), Call("read_allowed", '{"order_id": "A1"}'))
WRITE = turn(Thinking("So be it."), Call("write_allowed", '{"order_id": "A1"}'))
SAID = turn(Thinking("Well."), Text("It is so."))
NOTICE = {"stale": True, "next": 'Out of date: call read_allowed({"order_id":"A1"}) again.'}
PENDING, PROCESSED = document(status="PENDING"), document(status="PROCESSED")
KEYS = (", reads: {order: args.order_id}", ", writes: {order: args.order_id}")


async def asked_once(one: Told, text: str = PENDING) -> None:
    """The first question, its look-up and its answer."""
    await one.ask()
    results(one, text)
    await one.ask()


@ways
@pytest.mark.parametrize("top", ["resume_after: 30m\n", ""])
async def test_after_a_pause_the_model_must_ask_again(tmp_path: Path, way: Way, top: str) -> None:
    """PENDING became PROCESSED: the old word is gone, the pair stands, and the new one is read."""
    text = policy("" if top else ", result: {fresh_for: 30m}", top=top)
    async with told(tmp_path, way, READ, SAID, READ, SAID, SAID, policy=text) as one:
        clock = Clock()
        clock.rules(one)
        await asked_once(one)
        clock.passes(minutes=29)
        one.talk.say("Still?")
        first = seen(one)
        assert first == [PENDING]
        clock.passes(minutes=5 if not top else 31)
        await one.ask()
        assert [orjson.loads(each) for each in seen(one)] == [NOTICE]
        results(one, PROCESSED)
        await one.ask()
        assert [orjson.loads(each) for each in seen(one)] == [NOTICE, orjson.loads(PROCESSED)]
        assert [each.refused for each in one.desk.provider.received if each.refused] == []
        one.talk.say("Thanks")
        await one.ask()
        assert [orjson.loads(each) for each in seen(one)] == [NOTICE, orjson.loads(PROCESSED)]
        assert one.desk.provider.received[-1].refused == ""


@ways
async def test_a_repeated_request_is_the_same_bytes(tmp_path: Path, way: Way) -> None:
    """Whether time went by or not, before an edit and behind it; a rewind brings the earlier history back."""
    async with told(tmp_path, way, READ, SAID, policy=policy(", result: {fresh_for: 10m}")) as one:
        clock = Clock()
        clock.rules(one)
        await asked_once(one)
        one.talk.say("And?")
        await one.ask(take=False)
        clock.passes(hours=1)
        await one.ask(take=False)
        assert one.sent[-1] == one.sent[-2]
        await one.ask()
        one.talk.say("And now?")
        await one.ask(take=False)
        assert [orjson.loads(each) for each in seen(one)] == [NOTICE]
        await one.ask(take=False)
        assert one.sent[-1] == one.sent[-2]
        del one.talk.messages[-2:]
        await one.ask(take=False)
        assert one.sent[-1] == one.sent[2]
        assert [each.refused for each in one.desk.provider.received if each.refused] == []


@ways
async def test_nothing_old_is_left_where_it_holds_for_no_time(tmp_path: Path, way: Way) -> None:
    """`fresh_for: 0` filters every old result, and none inside the loop that works with it."""
    async with told(tmp_path, way, READ, READ, SAID, SAID, policy=policy(", result: {fresh_for: 0}")) as one:
        await one.ask()
        results(one, PENDING)
        await one.ask()
        results(one, PROCESSED)
        await one.ask()
        assert seen(one) == [PENDING, PROCESSED]
        one.talk.say("And?")
        await one.ask()
        assert [orjson.loads(each) for each in seen(one)] == [NOTICE, NOTICE]
        assert [each.refused for each in one.desk.provider.received if each.refused] == []


@ways
async def test_a_write_puts_what_was_read_before_it_out_of_date(tmp_path: Path, way: Way) -> None:
    """In the loop its own result says so, once; with the next words of the user the old result is gone. What another
    order's read said stays."""
    other = turn(Call("read_allowed", '{"order_id": "B2"}'))
    async with told(tmp_path, way, READ, other, WRITE, SAID, SAID, policy=policy(*KEYS)) as one:
        await one.ask()
        results(one, PENDING)
        await one.ask()
        results(one, PENDING)
        await one.ask()
        results(one, document(done=True))
        await one.ask()
        assert seen(one)[:2] == [PENDING, PENDING]
        assert 'read_allowed({"order_id":"A1"})' in seen(one)[2]
        assert "B2" not in seen(one)[2]
        one.check()
        one.talk.say("And?")
        await one.ask()
        assert orjson.loads(seen(one)[0]) == NOTICE
        assert seen(one)[1] == PENDING
        assert [each.refused for each in one.desk.provider.received if each.refused] == []


@ways
async def test_a_read_beside_a_write_shows_what_was_before_it(tmp_path: Path, way: Way) -> None:
    """One batch, no order: its result is never shown."""
    both = turn(Call("read_allowed", '{"order_id": "A1"}'), Call("write_allowed", '{"order_id": "A1"}'))
    async with told(tmp_path, way, both, SAID, policy=policy(*KEYS)) as one:
        await one.ask()
        results(one, PENDING, document(done=True))
        await one.ask()
        assert orjson.loads(seen(one)[0]) == NOTICE
        assert seen(one)[1] == document(done=True)
        one.check()


@ways
async def test_the_result_of_a_write_never_goes_out_of_date(tmp_path: Path, way: Way) -> None:
    """A notice in its place would invite to pay again."""
    async with told(tmp_path, way, WRITE, SAID, SAID, policy=policy(*KEYS, top="resume_after: 1m\n")) as one:
        clock = Clock()
        clock.rules(one)
        await asked_once(one, document(done=True))
        clock.passes(days=3)
        one.talk.say("And?")
        await one.ask()
        assert seen(one) == [document(done=True)]
        one.check()


@ways
async def test_a_conversation_that_is_not_known_is_of_unknown_age(tmp_path: Path, way: Way) -> None:
    """Unknown is out of date."""
    async with told(tmp_path, way, READ, SAID, SAID, policy=POLICY) as one:
        await asked_once(one)
        one.desk.policy.write_text(policy(", result: {fresh_for: 30d}"))
        one.talk.say("And?")
        await one.ask()
        assert [orjson.loads(each) for each in seen(one)] == [NOTICE]
        assert one.desk.provider.received[-1].refused == ""
