"""Results of calls that bear no id settle money and ground values: by the tool, the arguments and the customer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from proxy.demo.turns import Call, Dialect, Text, Turn, by_text
from tests.e2e.harness import CUSTOMER, OTHER_CUSTOMER, Desk, desk, session_header

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """
language: 1
policy: money
time_zone: UTC
session: {customer_id: {jwt: sub}}
reasons:
  daily: {category: policy, reply: {en: "Not more today."}}
tools:
  find:
    effect: read
    result: {fields: {order: string}}
  pay:
    effect: write
    arguments:
      order: {pattern: '[A-Z][0-9]{4}', from: [user, result of find.order]}
      amount: {money: USD, unit: major}
    limits: [{forbid: daily, sum: args.amount, per: session.customer_id, each: day, max: 100.00 USD}]
    result: {fields: {status: string}}
    not_executed_when: result.status in ["rejected"]
    settle_within: 15m
"""
PAY = Call("pay", '{"order": "A1001", "amount": 60}')
SCRIPT = by_text(
    {
        "pay A1001": (Turn((PAY,)), Turn((Text("Done."),))),
        "find and pay": (Turn((Call("find", "{}"),)), Turn((PAY,)), Turn((Text("Done."),))),
        "pay it": (Turn((PAY,)), Turn((Text("Done."),))),
    }
)


class Talk:
    """One customer's conversation, in either dialect, without any id."""

    def __init__(self, gate: Desk, dialect: Dialect, customer: str) -> None:
        self.gate, self.dialect, self.customer = gate, dialect, customer
        self.messages: list[dict[str, Any]] = []

    def say(self, text: str) -> None:
        said = {"parts": [{"text": text}]} if self.dialect is Dialect.GEMINI else {"content": text}
        self.messages.append({"role": "user", **said})

    async def turn(self) -> list[str]:
        """Ask; the names of the calls in the answer, which is added to the conversation."""
        if self.dialect is Dialect.GEMINI:
            path, body = "/v1beta/models/m:generateContent", {"contents": self.messages}
        else:
            path, body = "/api/chat", {"model": "m", "stream": False, "messages": self.messages}
        headers = {**session_header(self.customer), "x-goog-api-key": "k"}
        async with self.gate.session.post(self.gate.url + path, json=body, headers=headers) as got:
            assert got.status == 200, await got.text()
            answer = await got.json()
        if self.dialect is Dialect.GEMINI:
            self.messages.append(answer["candidates"][0]["content"])
            parts = self.messages[-1]["parts"]
            return [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        self.messages.append(answer["message"])
        return [call["function"]["name"] for call in answer["message"].get("tool_calls") or ()]

    def give(self, name: str, value: dict[str, Any]) -> None:
        """The result of a call, as the dialect's clients write it."""
        if self.dialect is Dialect.GEMINI:
            part = {"functionResponse": {"name": name, "response": {"output": value}}}
            self.messages.append({"role": "user", "parts": [part]})
        else:
            content = "{" + ", ".join(f'"{key}": "{text}"' for key, text in value.items()) + "}"
            self.messages.append({"role": "tool", "tool_name": name, "content": content})


def states(records: list[dict[str, Any]]) -> list[str]:
    return [record["state"] for record in records if record["kind"] == "settled" and record.get("reservation")]


@pytest.mark.parametrize("dialect", [Dialect.GEMINI, Dialect.OLLAMA])
async def test_a_result_settles_the_call_of_its_customer(tmp_path: Path, dialect: Dialect) -> None:
    """Two customers make the same call at once: what came back for one says nothing of the other's (G10)."""
    async with desk(tmp_path, SCRIPT, POLICY) as gate:
        one, other = (Talk(gate, dialect, customer) for customer in (CUSTOMER, OTHER_CUSTOMER))
        for talk in (one, other):
            talk.say("pay A1001")
            assert await talk.turn() == ["pay"]
        one.give("pay", {"status": "rejected"})
        assert await one.turn() == []
        assert states(await gate.records()) == ["not_executed"]
        other.give("pay", {"status": "paid"})
        assert await other.turn() == []
        assert states(await gate.records()) == ["not_executed", "executed"]
        one.say("pay A1001")
        assert await one.turn() == ["pay"], "what was rejected is free again"
        other.say("pay A1001")
        assert await other.turn() == [], "60 of 100 were spent"


@pytest.mark.parametrize("dialect", [Dialect.GEMINI, Dialect.OLLAMA])
async def test_a_result_grounds_what_the_next_call_says(tmp_path: Path, dialect: Dialect) -> None:
    """An order that a released lookup named may be paid; one that nobody named may not (G9)."""
    async with desk(tmp_path, SCRIPT, POLICY) as gate:
        talk = Talk(gate, dialect, CUSTOMER)
        talk.say("find and pay")
        assert await talk.turn() == ["find"]
        talk.give("find", {"order": "A1001"})
        assert await talk.turn() == ["pay"]
        alone = Talk(gate, dialect, CUSTOMER)
        alone.say("pay it")
        assert await alone.turn() == []
        invented = Talk(gate, dialect, OTHER_CUSTOMER)
        invented.messages = [dict(message) for message in talk.messages[:3]]
        assert await invented.turn() == [], "a lookup that was released for another customer grounds nothing"
