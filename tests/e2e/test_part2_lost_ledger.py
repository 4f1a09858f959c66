"""A ledger lost inside a loop of tools, and a turn that fits two conversations: nothing is refused, all is told."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from proxy.demo.servers import CLAUDE, OLDER_CLAUDE
from proxy.demo.turns import Dialect, Text, Thinking
from tests.e2e.client import WAYS
from tests.e2e.told import Told, call, told, turn

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.demo.servers import AnthropicServer

Way = tuple[Dialect, bool]
anthropic = pytest.mark.parametrize("way", [way for way in WAYS if way[0] is Dialect.ANTHROPIC], ids=("stream", "body"))
REFUSED = turn(Thinking("let me see"), call("read_refused"))
DONE = turn(Thinking("not allowed"), Text("I cannot."))
LOOPS = turn(Thinking("another way"), call("read_allowed", 2)), turn(Thinking("once more"), call("read_allowed", 3))
ENABLED = {"thinking": {"type": "enabled", "budget_tokens": 2000}}
DROPS = {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}}
BETA = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}


async def lose(one: Told) -> None:
    """Everything that is hidden is gone; the gate goes on."""

    def delete() -> None:
        connection = sqlite3.connect(one.desk.state / "ledger.db", isolation_level=None)
        connection.execute("DELETE FROM hidden")
        connection.close()

    await asyncio.to_thread(delete)


async def into_the_loop(one: Told) -> None:
    """A turn that hides something, then one whose thinking depends on it and that calls a tool; then the loss."""
    await one.ask()
    one.talk.say("Try another way")
    await one.ask()
    await lose(one)
    one.talk.answer("result")


async def edits(one: Told) -> list[tuple[str, int]]:
    return [(each["edit"], each["count"]) for each in await one.desk.records() if each["kind"] == "edited"]


def thinking(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    return [] if isinstance(content, str) else [block["type"] for block in content if "thinking" in block["type"]]


@anthropic
@pytest.mark.parametrize("server", [CLAUDE, OLDER_CLAUDE], ids=("bound", "older"))
async def test_a_loss_inside_a_loop_is_survived(tmp_path: Path, way: Way, server: AnthropicServer) -> None:
    """Thinking that its provider would refuse is taken out, and says so in the record. Where the loop's turn would then
    begin without any, which other models refuse while thinking is `enabled`, no thinking is asked for until its end."""
    async with told(tmp_path, way, REFUSED, DONE, *LOOPS, turn(Text("Found.")), **ENABLED) as one:
        one.desk.provider.anthropic = server
        await into_the_loop(one)
        await one.ask()
        one.talk.answer("result")
        assert (await one.ask()).text == "Found."
        one.talk.say("Thanks")
        await one.ask()
        assert [each.refused for each in one.desk.provider.received if each.refused] == []
        asked = [received.body for received in one.desk.provider.received]
        assert [b'"disabled"' in body for body in asked] == [False, False, False, True, False, False]
        kept = 1 if way[1] else 0  # in a stream the first block was out before anything was hidden
        assert [len(thinking(message)) for message in one.messages(3) if message["role"] == "assistant"] == [kept, 0]
        assert set(await edits(one)) == {("thinking_taken_out", 3 - kept)}


@anthropic
async def test_a_provider_that_drops_thinking_itself_is_left_to_it(tmp_path: Path, way: Way) -> None:
    """Inside a loop nothing is taken out of a request that asks its provider to drop what does not fit."""
    async with told(tmp_path, way, REFUSED, DONE, LOOPS[0], turn(Text("Found.")), **DROPS) as one:
        one.desk.session.headers.update(BETA)
        await into_the_loop(one)
        assert (await one.ask()).text == "Found."
        assert [each.refused for each in one.desk.provider.received if each.refused] == []
        assert [len(thinking(message)) for message in one.messages() if message["role"] == "assistant"] == [2, 1]
        assert b"cg1." not in one.sent[-1]
        assert await edits(one) == []
        one.talk.say("Thanks")
        await one.ask()
        assert await edits(one) == [("thinking_taken_out", 2 if way[1] else 3)]


@pytest.mark.parametrize("way", WAYS)
async def test_a_turn_that_fits_two_conversations_is_told(tmp_path: Path, way: Way) -> None:
    """Two nameless conversations with the same words and different hidden turns: none is put back, and it is said."""
    hidden = [turn(call("read_refused", 1)), turn(Text("No.")), turn(call("read_refused", 2)), turn(Text("No."))]
    async with told(tmp_path, way, *hidden, turn(Text("Yes."))) as one:
        one.talk.extra |= {"metadata": {}, "user": "me"}
        await one.ask(take=False)
        await one.ask()
        one.talk.say("Go on")
        await one.ask()
        assert [message["role"] for message in one.messages()][-3:] == ["user", "assistant", "user"]
        assert await edits(one) == [("not_put_back", 1)]
        assert one.desk.lines()[-1]["ambiguous"] == 1
