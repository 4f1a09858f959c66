"""Faults between a payment and its result, through a running gate: a back end that pays and fails, a lost answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from proxy.demo.turns import Call, Dialect
from tests.e2e.client import WAY_IDS, WAYS
from tests.e2e.told import POLICY, Told, told, turn

if TYPE_CHECKING:
    from pathlib import Path

Way = tuple[Dialect, bool]
ways = pytest.mark.parametrize("way", WAYS, ids=WAY_IDS)
PAYS = (
    POLICY.replace(
        "reasons:",
        "time_zone: UTC\nreasons:\n  twice: {category: policy}\n  over_paid: {category: policy}",
    )
    + """  pay:
    effect: write
    arguments: {order_id: {pattern: '[A-Z][0-9]+'}, amount: {money: USD, unit: major}}
    limits:
      - {forbid: over_paid, sum: args.amount, per: args.order_id, max: 100.00 USD}
      - {forbid: twice, once_per: [args.order_id, args.amount], within: 24h}
    result: {fields: {status: string}}
    not_executed_when: result.status == "rejected"
    settle_within: 15m
"""
)
KEYED = PAYS + "    inject: idempotency_key\n"


def pay(amount: int) -> Call:
    return Call("pay", f'{{"order_id": "A1", "amount": {amount}}}')


def answer(one: Told, text: str, *, is_error: bool) -> None:
    """The result of the newest turn's one call; `is_error` where the dialect can say so."""
    (identifier,) = one.talk.calls()
    if one.talk.dialect is Dialect.CHAT:
        one.talk.messages.append({"role": "tool", "tool_call_id": identifier, "content": text})
        return
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": identifier, "content": text}
    one.talk.messages.append({"role": "user", "content": [block | ({"is_error": True} if is_error else {})]})


async def of_kind(one: Told, kind: str) -> list[dict[str, Any]]:
    return [each for each in await one.desk.records() if each["kind"] == kind]


@ways
@pytest.mark.parametrize(
    "text", ['{"error": "504 Gateway Time-out"}', "<html><h1>504 Gateway Time-out</h1></html>", "504", ""]
)
async def test_a_back_end_that_pays_and_answers_504_is_not_asked_twice(tmp_path: Path, way: Way, text: str) -> None:
    """In whatever form the 504 is told: unknown, it counts against the cap, the same call again ends the turn by code,
    and what still fits under the cap is paid.
    """
    replies = [turn(pay(60)), turn(pay(60)), turn(pay(50)), turn(pay(40))]
    async with told(tmp_path, way, *replies, policy=PAYS) as one:
        assert len((await one.ask()).calls) == 1
        answer(one, text, is_error=True)
        for reason in ("pending_reconciliation", "over_paid"):
            asked = len(one.sent)
            found = await one.ask()
            assert (found.calls, bool(found.text)) == ([], True)
            assert len(one.sent) == asked + 1, "no further leg: the model is not asked to try again"
            assert (await of_kind(one, "decided"))[-1]["reason"] == reason
            one.talk.say("And now?")
        assert [each["state"] for each in await of_kind(one, "settled")] == ["unknown"]
        assert len((await one.ask()).calls) == 1
        assert len(await of_kind(one, "reserved")) == 2
        one.check()


@ways
async def test_a_request_again_after_a_lost_answer_is_the_same_payment(tmp_path: Path, way: Way) -> None:
    """An SDK sends the request again since the stream broke: the same key reaches the agent, and it counts once."""
    async with told(tmp_path, way, turn(pay(60)), turn(pay(60)), turn(pay(50)), turn(pay(40)), policy=KEYED) as one:
        (first,) = (await one.ask(take=False)).calls
        (again,) = (await one.ask(take=False)).calls
        assert one.sent[0] == one.sent[1]
        assert "idempotency_key" in first.arguments
        assert again.arguments == first.arguments
        assert (await one.ask(take=False)).calls == []
        (rest,) = (await one.ask(take=False)).calls
        assert rest.arguments != first.arguments

        decided = await of_kind(one, "decided")
        assert [each["reason"] for each in decided] == ["", "", "over_paid", ""]
        reserved = await of_kind(one, "reserved")
        assert len({each["reservation"] for each in reserved}) == 2
        assert [each["reservation"] == reserved[0]["reservation"] for each in reserved] == [True, True, False]
