"""PENDING became PROCESSED while the customer was away: in every dialect the model must look the order up again.

The model of these talks answers from what it reads: where an old result still stood, it would say what that says.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import aiohttp
import orjson
import pytest
from aiohttp import web

from interceptors.freshness import HELD_NOTICE
from proxy.demo.agent import OrderTools
from proxy.demo.backend import BackEnd, Order
from proxy.demo.provider import Provider
from proxy.demo.serving import serving
from proxy.demo.turns import Call, Reply, Text, Thinking, Turn
from tests.e2e import mouths
from tests.e2e.harness import desk, session_header
from tests.e2e.mouths import MOUTHS, Chat, Double, Responses
from tests.e2e.test_verdict_matrix import HEADERS
from tests.e2e.upkeep import Clock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from proxy.demo.turns import Asked, Script
    from tests.e2e.harness import Desk
    from tests.e2e.mouths import Answer, Entry, Mouth

ORDER = Order("A1001", "cus_ada", "Ada", "Kettle", 12_000, 5, status="PENDING")
POLICY = """
language: 1
policy: resumed
session: {customer_id: {jwt: sub}}
tools:
  lookup_order: {effect: read}
"""
RESUMES = POLICY.replace("tools:", "resume_after: 30m\nserver_held: notice\ntools:")
LOOK_UP = Turn((Thinking("Let me see."), Call("lookup_order", '{"order_id": "A1001"}')))


class AzureChat(Chat):
    _path = "/openai/deployments/d-1/chat/completions"

    def path(self, streamed: bool) -> str:
        return f"/openai{self._path}?api-version=2026-01-01"

    def double(self, script: Script) -> AbstractAsyncContextManager[Double]:
        return self._served(script)

    @asynccontextmanager
    async def _served(self, script: Script) -> AsyncIterator[Double]:
        provider, app = Provider(script), web.Application()
        app.router.add_post(self._path, provider._chat)
        yield mouths._double(app, provider.received)


class AzureResponses(Responses):
    def path(self, streamed: bool) -> str:
        return "/openai/openai/v1/responses"


class StatelessResponses(Responses):
    def body(self, history: Sequence[Entry], streamed: bool) -> Entry:
        return super().body(history, streamed) | {"store": False, "include": ["reasoning.encrypted_content"]}


ROWS: dict[str, Mouth] = MOUTHS | {
    "azure-chat": AzureChat(),
    "azure-responses": AzureResponses(),
    "responses-stateless": StatelessResponses(),
    "responses-by-id": Responses(),
}
ways = pytest.mark.parametrize("name", ROWS)


def model(asked: Asked) -> Reply:
    """What it read last of the order is what it says; what it read that is out of date is nothing."""
    status = None
    for found in read(asked.body):
        if "stale" in found or found == HELD_NOTICE:
            status = None
        elif isinstance(found, dict):
            status = found["status"]
    return Reply(LOOK_UP if status is None else Turn((Thinking("So."), Text(f"Your order is {status}."))))


def read(value: Any) -> Iterator[Any]:
    """What a request says of orders, in its order, however its dialect wraps it."""
    if isinstance(value, str) and value.startswith("{"):
        value = orjson.loads(value)
    if isinstance(value, str) and HELD_NOTICE in value:
        yield HELD_NOTICE
    elif isinstance(value, dict) and ("stale" in value or "refund_eligible" in value):
        yield value
    else:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for each in inner:
            yield from read(each)


@dataclass(slots=True)
class Customer:
    """A customer, whose agent runs each call at the back end. Where the provider keeps the history, only what is new
    is sent."""

    gate: Desk
    mouth: Mouth
    tools: OrderTools
    streamed: bool
    is_held: bool
    history: list[Entry] = field(default_factory=list)
    answer: Answer | None = None
    sent: int = 0

    async def say(self, text: str) -> str:
        self.history.append(self.mouth.words(text))
        for _ in range(4):
            await self.ask()
            assert self.answer is not None
            self.history += self.answer.entries
            self.sent = len(self.history)
            if not self.answer.calls:
                return self.answer.text
            for call in self.answer.calls:
                result = await self.tools.run(call.name, call.arguments)
                self.history += self.mouth.results([call], result)
        raise AssertionError("the agent never came to an end")

    async def ask(self) -> None:
        body = self.mouth.body(self.history[self.sent :] if self.is_held else self.history, self.streamed)
        if self.is_held and self.answer is not None:
            body["previous_response_id"] = self.answer.id
        url = self.gate.url + self.mouth.path(self.streamed)
        async with self.gate.session.post(url, data=orjson.dumps(body), headers=HEADERS | session_header()) as got:
            data = await got.read()
            assert got.status == 200, data
        self.answer = self.mouth.read(data, self.streamed)


@dataclass(slots=True)
class Shop:
    customer: Customer
    clock: Clock
    orders: dict[str, Order]
    back_end: BackEnd
    double: Double

    def is_processed(self) -> None:
        self.orders["A1001"] = replace(ORDER, status="PROCESSED")

    @property
    def looked_up(self) -> int:
        return len(self.back_end.seen)


@asynccontextmanager
async def shop(folder: Path, name: str, policy: str) -> AsyncIterator[Shop]:
    mouth, clock, orders = ROWS[name], Clock(), {"A1001": ORDER}
    back_end = BackEnd(orders, {"agent": "t0ken"}, frozenset())
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serving(back_end.app(), shutdown_seconds=0.1))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        double = await stack.enter_async_context(mouth.double(model))
        gate = await stack.enter_async_context(desk(folder, model, policy, upstream=double.app))
        gate.services.histories._clock = clock
        tools = OrderTools(session, url, "t0ken")
        customer = Customer(gate, mouth, tools, list(ROWS).index(name) % 2 == 0, name == "responses-by-id")
        yield Shop(customer, clock, orders, back_end, double)


@pytest.fixture(autouse=True)
def _declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mouths, "TOOLS", ("lookup_order",))


@ways
async def test_after_the_pause_the_model_asks_again(tmp_path: Path, name: str) -> None:
    """The order is looked up once more, and the customer reads the new status; before the pause, and behind it, what
    was read is believed. Every look-up keeps its result, and the strict provider refuses nothing."""
    async with shop(tmp_path, name, RESUMES) as one:
        assert await one.customer.say("Where is my order A1001?") == "Your order is PENDING."
        one.is_processed()
        if not one.customer.is_held:
            assert await one.customer.say("Still?") == "Your order is PENDING."
        one.clock.passes(minutes=31)
        assert await one.customer.say("And now?") == "Your order is PROCESSED."
        assert one.looked_up == 2
        assert await one.customer.say("Thank you.") == "Your order is PROCESSED."
        assert one.double.refused() == []
        results = [list(read(body)) for body in one.double.bodies()]
        if one.customer.is_held:  # it says so with each text of the customer's
            assert [HELD_NOTICE in each for each in results] == [False, False, True, False, True, False]
            return
        assert one.looked_up == 2
        old, new = {"stale": True, "next": 'Out of date: call lookup_order({"order_id":"A1001"}) again.'}, "PROCESSED"
        told = [[each if each == old else each["status"] for each in one_body] for one_body in results]
        assert told == [[], ["PENDING"], ["PENDING"], [old], [old, new], [old, new]]


async def test_without_the_rule_it_says_what_was(tmp_path: Path) -> None:
    """What the claim above rests on."""
    async with shop(tmp_path, "openai-chat", POLICY) as one:
        assert await one.customer.say("Where is my order A1001?") == "Your order is PENDING."
        one.is_processed()
        one.clock.passes(days=31)
        assert await one.customer.say("And now?") == "Your order is PENDING."
        assert one.looked_up == 1
