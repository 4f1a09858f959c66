"""Conversations that are alike to the last letter of what their clients hold keep what is hidden in them apart."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Dialect, Reply, Text, Thinking, Turn
from tests.e2e.client import PATHS, request_headers
from tests.e2e.harness import Desk, desk, session_header
from tests.e2e.talkers import Habits, Talk, read_turn
from tests.e2e.told import POLICY, call

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.demo.turns import Asked

AT_ONCE = 40
_QUESTION = "May I?"


class Secretive:
    """Says the same to everybody, and in each hidden call something that it says only once."""

    def __init__(self, *, thinks: bool) -> None:
        self.numbers = itertools.count()
        self.thinks = thinks

    def __call__(self, asked: Asked) -> Reply:
        messages = asked.body["messages"]
        own = [message for message in messages if message["role"] == "assistant"]
        if len(own) in (0, 2):  # the client's turns are answered by a call first
            parts: tuple[Any, ...] = (call("read_refused", 1_000_000 + next(self.numbers)),)
        else:
            parts = (Text("I may not read that."),)
        thinking = (Thinking("hm"),) if self.thinks else ()
        return Reply(Turn((*thinking, *parts), usage=None))


def secrets(body: bytes) -> set[int]:
    """The numbers of hidden calls in a request."""
    found = orjson.loads(body)["messages"]
    numbers = set()
    for message in found:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                numbers.add(block["input"]["n"])
        for one in message.get("tool_calls") or ():
            numbers.add(orjson.loads(one["function"]["arguments"])["n"])
    return numbers


async def converse(running: Desk, talk: Talk, headers: dict[str, str], turns: int) -> None:
    for _ in range(turns):
        talk.say(_QUESTION)
        async with running.session.post(
            running.url + PATHS[talk.dialect], data=talk.body(), headers=headers
        ) as response:
            data = await response.read()
            assert response.status == 200, data
        message = read_turn(talk.dialect, data, streamed=response.content_type == "text/event-stream")
        assert message is not None
        talk.take(message)


@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.CHAT])
@pytest.mark.parametrize("tenants", [1, 2])
@pytest.mark.parametrize("named", [True, False], ids=["named", "nameless"])
async def test_no_byte_of_one_conversation_in_another(
    tmp_path: Path, dialect: Dialect, tenants: int, named: bool
) -> None:
    """125 conversations in each of eight kinds, a thousand in all: the same system prompt, words and answers, at once.

    Each hidden call goes up in its own conversation only. With a name, or with thinking, it goes up there every time;
    without either nobody can tell whose it is, and it goes up in none but the continuation of its own turn.
    """
    count, turns = 125, 2
    script = Secretive(thinks=False)
    async with desk(tmp_path, script, POLICY) as running:
        slots = asyncio.Semaphore(AT_ONCE)
        owners: dict[str, set[int]] = {}

        async def one(number: int) -> None:
            async with slots:
                talk = Talk(dialect, number % 2 == 0, Habits(), 1, extra={_marker(dialect): _mark(dialect, number)})
                headers = request_headers(dialect, session_header() | _credential(dialect, number % tenants))
                if named:
                    headers |= {"x-session-id": f"session-{number}"}
                await converse(running, talk, headers, turns)

        await asyncio.gather(*(one(number) for number in range(count)))
        last: dict[str, bytes] = {}
        for received in running.provider.received:
            assert not received.refused
            found = orjson.loads(received.body)[_marker(dialect)]
            who = found["user_id"] if isinstance(found, dict) else found
            owners.setdefault(who, set()).update(secrets(received.body))
            last[who] = received.body
    assert len(owners) == count
    every = [number for numbers in owners.values() for number in numbers]
    assert len(every) == len(set(every)), "a hidden call went up in two conversations"
    if named:
        assert all(len(secrets(body)) == turns for body in last.values())


def _marker(dialect: Dialect) -> str:
    return "metadata" if dialect is Dialect.ANTHROPIC else "user"


def _mark(dialect: Dialect, number: int) -> Any:
    return {"user_id": f"{number}.0"} if dialect is Dialect.ANTHROPIC else f"{number}.0"


def _credential(dialect: Dialect, tenant: int) -> dict[str, str]:
    if dialect is Dialect.ANTHROPIC:
        return {"x-api-key": f"sk-tenant-{tenant}"}
    return {"authorization": f"Bearer sk-tenant-{tenant}"}


@pytest.mark.parametrize("streamed", [True, False])
async def test_thinking_tells_conversations_apart(tmp_path: Path, streamed: bool) -> None:
    """Without a name, what a client holds of the thinking says which hidden turn is its own."""
    async with desk(tmp_path, Secretive(thinks=True), POLICY) as running:
        talks = [
            Talk(Dialect.ANTHROPIC, streamed, Habits(), 1, extra={"metadata": {"user_id": f"{number}.0"}})
            for number in range(20)
        ]
        headers = request_headers(Dialect.ANTHROPIC, session_header())
        for _ in range(2):
            for talk in talks:
                await converse(running, talk, headers, 1)
        bodies = [one.body for one in running.provider.received]
        assert not any(one.refused for one in running.provider.received)
    sets = [secrets(body) for body in bodies[-40:][1::2]]
    assert all(len(found) == 2 for found in sets)
    assert len(set().union(*sets)) == 40


async def test_a_twin_that_hides_nothing_gets_nothing(tmp_path: Path) -> None:
    """Two conversations with names, alike in all that their clients hold: one had a hidden call, the other had none."""
    replies = iter(
        [
            Turn((call("read_refused", 7),), usage=None),
            Turn((Text("I may not."),), usage=None),
            Turn((Text("I may not."),), usage=None),
            Turn((Text("Well."),), usage=None),
            Turn((Text("Well."),), usage=None),
        ]
    )
    async with desk(tmp_path, lambda _: Reply(next(replies)), POLICY) as running:
        for_each = [(Talk(Dialect.CHAT, True, Habits(), 1), {"x-session-id": name}) for name in ("first", "second")]
        for _ in range(2):
            for talk, name in for_each:
                await converse(running, talk, request_headers(Dialect.CHAT, session_header() | name), 1)
        bodies = [one.body for one in running.provider.received]
    assert [secrets(body) for body in bodies] == [set(), {7}, set(), {7}, set()]
