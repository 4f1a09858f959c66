"""Decide and propose the rule: the diff waits for the policy's owner, and does what it says once it is applied."""

from __future__ import annotations

import asyncio
import subprocess
from typing import TYPE_CHECKING

import pytest

from proxy.clock import utc_now
from proxy.store.proposals import newest
from tests.console.shop import propose, shop
from tests.console.visitor import visitor

if TYPE_CHECKING:
    from pathlib import Path

    from tests.console.visitor import Page
    from tests.e2e.harness import Desk


async def _answer(desk: Desk, word: str) -> tuple[str, Page]:
    case = (await desk.store.read(lambda reader: reader.escalations()))[0].id
    async with visitor(desk, "ana") as ana:
        form = {"answer": word, "reason": "such are fine", "propose": "yes"}
        return case, await ana.send(f"/console/cases/{case}", f"/console/cases/{case}", form)


@pytest.mark.parametrize("word", ["approve", "reject"])
async def test_a_proposed_rule_waits_and_then_decides(tmp_path: Path, word: str) -> None:
    """Nothing changes by the proposal; applied by the owner, the next such call needs no person."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ben") as ben:
        await propose(desk, "A1001 847.00 damaged")
        case, sent = await _answer(desk, word)
        page = await ben.get(sent.headers["Location"])
        listed = await ben.get("/console/policy")
        diff = await ben.get(f"/console/proposals/{case}/diff")
        before = await propose(desk, "A1002 700.00 damaged", customer="cus_ada")
        await asyncio.to_thread(
            subprocess.run,
            ["patch", "-p1", "--quiet", "--no-backup-if-mismatch"],
            input=diff.html,
            text=True,
            check=True,
            cwd=desk.policy.parent,
        )
        after = await propose(desk, "A1003 846.00 damaged" if word == "approve" else "A1003 848.00 damaged")
        made = await desk.store.read(lambda reader: reader.ask(lambda each: newest(each, 5)))
        decided = [one for one in await desk.records() if one["kind"] == "decided"][-1]
        in_force = await ben.get("/console/policy")

    assert sent.headers["Location"] == f"/console/proposals/{case}"
    assert "Nothing is changed until the policy's owner applies it" in page.text
    assert diff.headers["Content-Disposition"] == f'attachment; filename="{case}.diff"'
    assert f"/console/proposals/{case}" in listed.html
    assert before.calls == []
    assert "An edit is not in force" not in in_force.text
    if word == "approve":
        assert "rises from 500.00 USD to 847.00 USD" in page.text
        assert after.calls == []
        assert (decided["ruling"], decided["reason"]) == ("clarify", "confirm"), "the customer is asked, and no person"
    else:
        assert (decided["ruling"], decided["reason"]) == ("forbid", "over_limit_refused")
    assert [(one.by, one.approved, one.reason) for one in made] == [("ana", word == "approve", "such are fine")]


async def test_an_answer_stands_where_no_rule_can_be_proposed(tmp_path: Path) -> None:
    """A case that a limit passed on: the answer is taken, the page says why there is no proposal."""
    async with shop(tmp_path / "gate") as desk:
        for number in range(1001, 1006):
            await propose(desk, f"A{number} 250.00 damaged")
        _, page = await _answer(desk, "reject")
        (case,) = await desk.store.read(lambda reader: reader.escalations())

    assert page.status == 200
    assert "Your answer stands. No rule is proposed: no rule of the policy in force" in page.text
    assert case.status.value == "rejected"


async def test_a_proposal_goes_with_its_case(tmp_path: Path) -> None:
    """Erasing the customer erases the case, and what was proposed with it."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ben") as ben:
        await propose(desk, "A1001 847.00 damaged")
        case, _ = await _answer(desk, "approve")
        assert (await ben.get(f"/console/proposals/{case}")).status == 200
        await desk.store.erase("cus_ada", by="kim", at=utc_now())

        assert (await ben.get(f"/console/proposals/{case}")).status == 404
