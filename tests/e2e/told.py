"""A desk whose refusals the model hears, and one talk with it, turn by turn."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo.turns import Call, Dialect, HttpError, Reply, Turn
from proxy.demo.watcher import extends
from tests.e2e.client import PATHS, heard, request_headers
from tests.e2e.harness import Desk, desk, session_header
from tests.e2e.talkers import Habits, Talk, read_turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from proxy.demo.turns import Asked
    from tests.e2e.client import Heard

NO_READ, NO_WRITE = "I may not read that.", "I may not write that."
POLICY = f"""
language: 1
policy: told
session: {{customer_id: {{jwt: sub}}}}
reasons:
  no_read: {{category: policy, reply: {{en: "{NO_READ}"}}}}
  no_write: {{category: policy, reply: {{en: "{NO_WRITE}"}}}}
tools:
  read_allowed: {{effect: read}}
  write_allowed: {{effect: write}}
  read_refused: {{effect: read, rules: [{{forbid: no_read}}]}}
  write_refused: {{effect: write, rules: [{{forbid: no_write}}]}}
  write_told: {{effect: write, on_refusal: model, rules: [{{forbid: no_write}}]}}
"""


def call(name: str, n: int = 1) -> Call:
    return Call(name, f'{{"n": {n}}}')


def turn(*parts: Any, **more: Any) -> Turn:
    return Turn(tuple(parts), usage=None, **more)


@dataclass(slots=True)
class Steps:
    """Gives its replies one after the other; the last one again and again. It keeps what it was asked."""

    replies: Sequence[Turn | Reply | HttpError]
    asked: list[Asked] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        return reply if isinstance(reply, Reply) else Reply(reply)


@dataclass(slots=True)
class Told:
    """A running desk and the talk with it."""

    desk: Desk
    steps: Steps
    talk: Talk

    @property
    def sent(self) -> list[bytes]:
        """The bodies that went up."""
        return [one.body for one in self.desk.provider.received]

    def messages(self, number: int = -1) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = orjson.loads(self.sent[number])["messages"]
        return found

    async def ask(self, *, take: bool = True, credential: str = "sk-test") -> Heard:
        """Send what the talk holds, and keep the answer in it."""
        talk = self.talk
        key = (
            {"x-api-key": credential}
            if talk.dialect is Dialect.ANTHROPIC
            else {"authorization": f"Bearer {credential}"}
        )
        async with self.desk.session.post(
            self.desk.url + PATHS[talk.dialect],
            data=talk.body(),
            headers=request_headers(talk.dialect, session_header() | key),
        ) as response:
            data = await response.read()
            found = heard(talk.dialect, response.status, dict(response.headers), data)
            if take and response.status == 200:
                message = read_turn(talk.dialect, data, streamed=response.content_type == "text/event-stream")
                assert message is not None, data
                talk.take(message)
        return found

    def check(self) -> None:
        """No request was refused, and each extends one before it, byte for byte."""
        received = self.desk.provider.received
        assert [one.refused for one in received if one.refused] == []
        for place, one in enumerate(received[1:], 1):
            earlier = received[:place]
            wrong = [extends(was.body, was.turn, one.body, dialect=self.talk.dialect) for was in reversed(earlier)]
            assert [] in wrong, (place, wrong[0])


@asynccontextmanager
async def told(
    folder: Path,
    way: tuple[Dialect, bool],
    *replies: Turn | Reply | HttpError,
    policy: str = POLICY,
    limits: dict[str, int] | None = None,
    key: str | None = None,
    **extra: Any,
) -> AsyncIterator[Told]:
    steps = Steps(replies)
    talk = Talk(way[0], way[1], Habits(), 1, extra=extra)
    talk.say("Hello")
    async with desk(folder, steps, policy, limits=limits, key=key) as running:
        yield Told(running, steps, talk)
