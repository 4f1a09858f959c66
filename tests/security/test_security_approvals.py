"""An approval stretched to something else than people saw."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from interceptors.calls import ToolCall
from interceptors.pipeline import Pipeline
from interceptors.strict_json import parse
from policies import load_policy_text
from proxy.judge import Judgment, Scene
from proxy.policy_source import InForce, Revision
from proxy.store import open_store
from tests.proxy.approval_desk import Desk, Source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

WALKS = Path(__file__).parents[2] / "fixtures" / "fees" / "harbour-walks"
POLICY = """\
language: 1
policy: walks
time_zone: Europe/Berlin
session: {customer_id: {jwt: sub}}
reasons:
  wrong_amount: {category: validation}
  large: {category: escalated}
facts:
  booking:
    key: {pattern: 'B[0-9]+'}
    file: bookings.json
    fields:
      paid: {money: EUR, unit: minor}
      price: {money: EUR, unit: minor}
      departs_on: date
      note: string
tools:
  refund:
    facts: {booking: args.booking_id}
    arguments:
      booking_id: {pattern: 'B[0-9]+'}
      amount: {money: EUR, unit: major, optional: true}
    fee_schedule:
      source: source.txt
      candidate: candidate.json
      amount: args.amount
      paid: booking.paid
      price: booking.price
      departure: booking.departs_on
      cancelled_at: now()
      forbid: wrong_amount
      inject: true
    rules:
      - {escalate: large, when: args.amount > 50.00 EUR}
"""


def revision() -> Revision:
    policy = load_policy_text(POLICY, folder=WALKS)
    return Revision(policy, Pipeline(policy), {}, {})


@pytest.fixture
async def walks(tmp_path: Path) -> AsyncIterator[Desk]:
    async with await asyncio.to_thread(open_store, tmp_path / "state") as store:
        desk = Desk(store, Source(InForce(await asyncio.to_thread(revision))))
        booking = {"paid": 39_900, "price": 39_900, "departs_on": "2026-12-11", "note": ""}
        desk.orders = {"B1": cast("dict[str, Any]", booking)}
        yield desk


async def refund(desk: Desk) -> Judgment:
    """A refund whose amount the model leaves to the schedule."""
    text = '{"booking_id":"B1"}'
    call = ToolCall("refund", cast("Any", parse(text)), text, "call_1", 0)
    scene = Scene("ex_1", "anthropic", "m", "t", None, desk.store.subject_digest("c1"), {"sub": "c1"})
    return (await desk.judge.record(await desk.judge.decide({0: call}, scene), scene))[0]


async def test_an_approval_of_an_injected_amount_is_of_that_amount(walks: Desk) -> None:
    """People approved 79.80; when the schedule gives ten times as much by now, it is for them again (G9)."""
    asked = await refund(walks)
    assert (asked.decision.reason, asked.decision.summary["amount"]) == ("large", "79.80 EUR")
    assert asked.escalation is not None
    await walks.approve(asked.escalation)
    walks.orders["B1"] |= {"paid": 399_000, "price": 399_000}

    used = await refund(walks)

    assert not used.is_allowed
    assert used.decision.reason == "approval_void"


async def test_an_approval_of_an_injected_amount_holds_while_that_is_the_same(walks: Desk) -> None:
    """What the amount does not rest on may change."""
    asked = await refund(walks)
    assert asked.escalation is not None
    await walks.approve(asked.escalation)
    walks.orders["B1"] |= {"note": "called twice"}

    used = await refund(walks)

    assert used.is_allowed
    assert used.as_released is not None
    assert isinstance(used.as_released, ToolCall)
    assert str(used.as_released.arguments["amount"]) == "79.80"
