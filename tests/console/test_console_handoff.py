"""A case without a call, wherever people meet it: queue, page, receipt, commands, webhook, metrics."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import orjson
from click.testing import CliRunner

from proxy.cli import cli
from proxy.courier import case_body
from proxy.demo.turns import Dialect
from tests.console.shop import TOKENS, pack_policy, shop
from tests.console.visitor import visitor
from tests.e2e.client import ask

if TYPE_CHECKING:
    from pathlib import Path

POLICY = pack_policy() + "\nhandoff: {escalation: {root_cause: 'A parcel <b>lost</b>.'}}\n"


async def run(*arguments: str, token: str = TOKENS["ana"]) -> Any:
    return await asyncio.to_thread(lambda: CliRunner().invoke(cli, list(arguments), env={"CALLGATE_TOKEN": token}))


async def test_people_meet_a_customer_and_no_call(tmp_path: Path) -> None:
    """The queue and the page name no tool and offer no approval; closing takes a word of what was done; it is told to
    chats without markup; receipts list, show and export it, and the chain verifies."""
    async with (
        shop(tmp_path / "gate", policy=POLICY) as desk,
        visitor(desk, "ana") as ana,
        visitor(desk, "ben") as ben,
    ):
        heard = await ask(desk, Dialect.ANTHROPIC, "I want to talk to a human")
        assert heard.text.startswith("I have passed you on")
        (case,) = await desk.store.read(lambda reader: reader.escalations())
        path = f"/console/cases/{case.id}"
        queue, page, seen = await ana.get("/console/"), await ana.get(path), await ben.get(path)
        wrong = await ana.send(path, path, {"answer": "approve", "reason": "x"})
        receipt = await ana.get(f"/console/receipts/{case.receipt}")
        receipts = await ana.get("/console/receipts?kind=handed_off")
        at = ("--state", str(desk.state), "--admin", desk.admin.removeprefix("http://"))
        state = ("--state", str(desk.state))
        shown = await run("escalations", "show", case.id, *at)
        listed = await run("escalations", "list", *at)
        refused = await run("escalations", "reject", case.id, "--reason", "x", *at)
        closed = await run("escalations", "close", case.id, "--reason", "called back", *at)
        after, late = (
            await run("escalations", "show", case.id, *state),
            await ana.send(path, path, {"answer": "close", "reason": "x"}),
        )
        records = [
            await run("receipts", *words, *state)
            for words in (("list",), ("show", case.receipt), ("export",), ("verify",))
        ]
        metrics = desk.services.metrics.exposition().decode()

    assert "A customer asks for a person" in queue.text
    assert "What was done" in page.text
    for text in (page.html, seen.html):
        assert "A customer asks for a person" in text
        assert "A parcel &lt;b&gt;lost" in text
        assert 'value="approve"' not in text
        assert 'value="reject"' not in text
        assert 'name="propose"' not in text
        assert "erased" not in text
    assert ('value="close"' in page.html, 'value="close"' in seen.html) == (True, False)
    assert (wrong.status, "close the case" in wrong.text) == (409, True)
    assert ("handed off" in receipts.text, case.id in receipt.html, "handed_off" in receipt.html) == (True, True, True)
    assert "a customer asked for a person: close the case" in shown.stdout
    assert "tool" not in shown.stdout
    assert "Get back to the customer." in listed.stdout
    assert "close the case" in refused.stderr
    assert f"{case.id} is closed (receipt {case.receipt})" in closed.stdout
    assert "ana: closed: called back" in after.stdout
    assert "closed by ana" in after.stdout
    assert late.status == 409
    assert [one.exit_code for one in records] == [0, 0, 0, 0], [one.output for one in records]
    assert all("handed_off" in one.stdout for one in records[:3])
    assert 'callgate_handoffs_total{language="en",outcome="opened"} 1.0' in metrics
    body = orjson.loads(case_body(case))
    assert body["text"].startswith("a customer asks for a person | ")
    assert "<b>" not in body["text"]
    assert (body["data"]["kind"], body["data"]["canBeApproved"]) == ("handoff", False)
