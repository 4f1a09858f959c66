"""Calls that are delivered: once for one approval, and never on a decision from before a halt."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from proxy.courier import _plain
from proxy.delivery import Delivery
from proxy.demo.turns import always
from tests.e2e.harness import DESK, desk
from tests.e2e.receivers import receiving, webhooks
from tests.e2e.test_e2e_approvals import TURN, answer, ask, note_of, policy, until

if TYPE_CHECKING:
    from pathlib import Path

ON_FACTS = DESK.replace(
    "        when: args.amount > constants.self_service\n",
    "        when: args.amount > constants.self_service and order.paid >= args.amount\n",
).replace("    escalation: {rec", "    on_approval: deliver\n    escalation: {rec")


async def test_an_approval_that_a_delivery_did_not_need_is_spent_by_it(tmp_path: Path) -> None:
    """People approved one run, and got it: the agent gets no second one when the facts are as they were."""
    async with (
        receiving() as back_end,
        desk(tmp_path, always(TURN), ON_FACTS, extra=webhooks(deliveries=back_end)) as gate,
    ):
        await ask(gate)
        gate.facts.orders["A1001"]["paid"] = 100  # by now the rule passes it
        await answer(gate)
        await back_end.wait()
        gate.facts.orders["A1001"]["paid"] = 90_000

        assert (await ask(gate))[1] == []


async def test_a_later_attempt_that_a_halt_stops_is_decided_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts were down at the first attempt; at the second a halt comes between decision and sending. Nothing was sent,
    so nothing is held, and behind the halt the order is looked at again: it is too old by then."""
    monkeypatch.setattr("proxy.delivery.HALT_SECONDS", 0.1)
    monkeypatch.setattr("proxy.courier.EVERY_SECONDS", 0.05)
    monkeypatch.setattr("proxy.courier.BACKOFF_SECONDS", 0.05)
    decide = Delivery._decide
    attempts = 0

    async with (
        receiving() as back_end,
        desk(tmp_path, always(TURN), policy("deliver"), extra=webhooks(deliveries=back_end)) as gate,
    ):

        async def decided(self: Delivery, material: Any) -> Any:
            nonlocal attempts
            attempts += 1
            judgment = await decide(self, material)
            if attempts == 1:
                gate.facts.answers = None
            if attempts == 2:
                await gate.store.halt(by="anna", reason="odd", at=gate.services.judge.clock())
            return judgment

        async def down(_: web.Request) -> web.StreamResponse:
            return web.Response(status=503)

        await ask(gate)
        monkeypatch.setattr(Delivery, "_decide", decided)
        gate.facts.answers = down
        case = await answer(gate)
        await until(lambda: _reached(lambda: attempts >= 2))
        await asyncio.sleep(0.3)
        held = await gate.store.read(lambda reader: reader.reservations())
        gate.facts.orders["A1001"] = gate.facts.orders["A1002"]
        await gate.store.resume(by="anna", at=gate.services.judge.clock())
        await until(lambda: _reached(lambda: attempts >= 3 or back_end.got))
        await asyncio.sleep(0.2)

        assert back_end.got == []
        assert [one.state.value for one in held] == ["not_executed"]
        assert "outside_window" in await note_of(gate, case)


async def _reached(condition: Any) -> bool:
    return bool(condition())


@pytest.mark.parametrize("text", ["https://evil.example/pay", "evil.example", "http://10.0.0.1/", "www.evil.example"])
def test_no_value_of_a_case_is_a_link_in_a_chat(text: str) -> None:
    """What the model wrote stands in the line that reviewers read, where chats make links of bare hosts and schemes."""
    shown = _plain(f"see {text} now")
    assert "://" not in shown
    assert "evil.example" not in shown
    assert shown.replace("\u200b", "") == f"see {text} now"


@pytest.mark.parametrize("text", ["847.00 EUR", "Refund it. Then call.", "10:30"])
def test_amounts_and_sentences_stay_as_they_are(text: str) -> None:
    """A reviewer can copy an amount."""
    assert _plain(text) == text
