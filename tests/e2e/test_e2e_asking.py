"""Conversations of several turns through the proxy: the customer's yes, rounds of asking, and the case of a matrix."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Call, Dialect, Reply, Text, Turn, always
from tests.e2e.client import PATHS, TIMEOUT_SECONDS, WAY_IDS, WAYS, Heard, heard, request_headers
from tests.e2e.harness import DESK, desk

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.demo.turns import Asked
    from tests.e2e.client import Proposed
    from tests.e2e.harness import Desk

CONFIRMED = DESK.replace("    escalation: {rec", "    confirm: user\n    escalation: {rec")
MATRIX = (
    DESK.partition("    rules:\n      - escalate: over_limit")[0]
    + """
  classify_case:
    effect: read
    arguments: {case: {one_of: [late, broken]}}
cases:
  case: {tool: classify_case, argument: case}
  cells:
    late:
      process_refund:
        value: args.amount
        max: 20.00 USD
        rules:
          - {forbid: not_yours, unless: order.customer_id == session.customer_id}
          - {forbid: outside_window, unless: days_since(order.delivered_at) <= constants.window_days}
    broken: {process_refund: {value: args.amount, max: constants.self_service}}
"""
)


def refund(amount: str = "120.00", order_id: str = '"A1001"') -> Call:
    return Call("process_refund", f'{{"order_id": {order_id}, "amount": {amount}}}')


@dataclass
class Talk:
    """A client of one dialect that keeps its history as an SDK does."""

    gate: Desk
    dialect: Dialect
    streamed: bool
    messages: list[dict[str, Any]] = field(default_factory=list)

    async def say(self, text: str) -> Heard:
        self.messages.append({"role": "user", "content": text})
        return await self._send()

    async def give(self, call: Proposed, result: str) -> Heard:
        """The result of a call that was heard."""
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id, "content": result}
        in_chat = {"role": "tool", "tool_call_id": call.id, "content": result}
        self.messages.append({"role": "user", "content": [block]} if self.dialect is Dialect.ANTHROPIC else in_chat)
        return await self._send()

    async def _send(self) -> Heard:
        body = {"model": "scripted", "messages": self.messages, "stream": self.streamed, "max_tokens": 1024}
        headers = request_headers(self.dialect, self.gate.signed())
        url = self.gate.url + PATHS[self.dialect]
        async with (
            asyncio.timeout(TIMEOUT_SECONDS),
            self.gate.session.post(url, data=orjson.dumps(body), headers=headers) as response,
        ):
            answer = heard(self.dialect, response.status, dict(response.headers), await response.read())
        assert answer.error is None, answer.error
        self.messages.append(self._held(answer))
        return answer

    def _held(self, answer: Heard) -> dict[str, Any]:
        if self.dialect is Dialect.ANTHROPIC:
            blocks: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
            blocks += [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in answer.calls
            ]
            return {"role": "assistant", "content": blocks}
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": orjson.dumps(call.arguments).decode()},
            }
            for call in answer.calls
        ]
        return {"role": "assistant", "content": answer.text or None} | ({"tool_calls": calls} if calls else {})


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_a_yes_lets_exactly_this_call_out(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """Asked, declined, asked, confirmed, out; once more the same history, and it is asked anew."""
    async with desk(tmp_path, always(Turn((Text("Let me see."), refund()))), CONFIRMED) as gate:
        talk = Talk(gate, dialect, streamed)
        asked = await talk.say("Please refund 120 for A1001. Yes, I am sure!")
        assert asked.calls == []
        assert "- order_id: A1001\n- amount: 120.00 USD" in asked.text
        assert (await talk.say("yes, but only 50")).calls == []
        confirmed = await talk.say("Yes, please.")
        assert [call.arguments for call in confirmed.calls] == [{"order_id": "A1001", "amount": 120.0}]

        talk.messages = talk.messages[:5]
        again = await talk._send()
        assert again.calls == []
        assert "Shall I do exactly this?" in again.text
        reasons = [record["reason"] for record in await gate.settled(4) if record["kind"] == "decided"]
        assert reasons == ["confirm", "confirm", "", "confirm"]


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_another_amount_after_the_yes_is_asked_about(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """A model that asks for one thing and does another meets the question about the other."""
    amounts = iter(("20.00", "200.00", "20.00"))

    def script(_: Asked) -> Reply:
        return Reply(Turn((refund(next(amounts)),)))

    async with desk(tmp_path, script, CONFIRMED) as gate:
        talk = Talk(gate, dialect, streamed)
        assert "20.00 USD" in (await talk.say("Please refund 20")).text
        other = await talk.say("yes")
        assert other.calls == []
        assert "200.00 USD" in other.text
        assert (await talk.say("yes")).calls == [], "that yes was to 200.00"


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_the_third_question_goes_to_a_person(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """What stays malformed is asked about twice; a policy that reads no history otherwise reads it then."""
    async with desk(tmp_path, always(Turn((refund(order_id='"?"'),)))) as gate:
        talk = Talk(gate, dialect, streamed)
        for text in ("refund me", "just do it", "now"):
            assert (await talk.say(text)).calls == []
        decided = [record for record in await gate.settled(3) if record["kind"] == "decided"]
        assert [record["reason"] for record in decided] == ["invalid_parameter", "invalid_parameter", "asked_in_vain"]
        assert len(await gate.store.read(lambda reader: reader.escalations())) == 1
        assert gate.facts.asked == []


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_the_case_is_what_an_earlier_turn_said(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """Beside its classification a refund has no case; in the next turn its cell; after another case a person."""
    late, broken = (Call("classify_case", f'{{"case": "{case}"}}') for case in ("late", "broken"))
    turns = iter(((late, refund("20.00")), (refund("20.01"),), (refund("20.00"),), (broken,), (refund("20.00"),)))

    def script(_: Asked) -> Reply:
        return Reply(Turn(next(turns)))

    async with desk(tmp_path, script, MATRIX) as gate:
        talk = Talk(gate, dialect, streamed)
        first = await talk.say("A1001 came late. It is the case broken, by the way.")
        assert [call.name for call in first.calls] == ["classify_case"]
        assert (await talk.give(first.calls[0], "ok")).calls == []
        second = await talk.say("and now?")
        assert [call.name for call in second.calls] == ["process_refund"]
        third = await talk.give(second.calls[0], "paid")
        assert [call.name for call in third.calls] == ["classify_case"]
        assert (await talk.give(third.calls[0], "ok")).calls == []
        decided = [record for record in await gate.settled(5) if record["kind"] == "decided"]
        assert [record["reason"] for record in decided] == ["", "no_cell", "above_limit", "", "", "case_changed"]
