"""PEERS.md section 3, entries 47, 52 and 55 to 58: what went wrong with approvals elsewhere, tried on this gate."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from proxy.demo.turns import Call, Turn, always
from proxy.store import open_store
from tests.e2e.harness import DESK, desk
from tests.e2e.test_e2e_approvals import answer, ask
from tests.proxy.approval_desk import open_desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.proxy.approval_desk import Desk

BOTH = Turn((Call("note", "{}"), Call("process_refund", '{"order_id": "A1001", "amount": 847}')))


@pytest.fixture
async def people(tmp_path: Path) -> AsyncIterator[Desk]:
    async with await asyncio.to_thread(open_store, tmp_path / "state") as store:
        yield await open_desk(store)


async def test_47_freshness_is_checked_at_release_not_before_the_wait(people: Desk) -> None:
    """kimi-code#3165: the record changes while the approval is waited for. It is read again when the call is to run."""
    case = await people.passed_on()
    people.orders["A1"]["paid"] = 88_000
    await people.approve(case)

    assert await people.said() == "approval_void"


@pytest.mark.parametrize("on_approval", ["next_time", "inline"])
async def test_52_nothing_of_an_atomic_batch_is_released_while_one_waits(tmp_path: Path, on_approval: str) -> None:
    """claude-code#49667: the sibling of a call that waits does not run, nor does the approved one without it; approved,
    they run together."""
    bound = f"    batch: all_or_nothing\n    on_approval: {on_approval}\n"
    policy = DESK.replace("    escalation: {rec", f"{bound}    escalation: {{rec")
    async with desk(tmp_path, always(BOTH), policy) as gate:
        assert (await ask(gate))[1] == []
        await answer(gate)
        assert len((await ask(gate))[1]) == 2


async def test_55_what_is_approved_is_what_runs(people: Desk) -> None:
    """extra#139, pydantic-ai#6968: other arguments need another approval, another call id does not."""
    await people.approve(await people.passed_on("847", id_="toolu_1"))

    assert await people.said("847.01", id_="toolu_1") == "over_limit"
    assert await people.said("847", id_="toolu_2") == "allow"


async def test_56_one_approval_is_one_call(people: Desk, tmp_path: Path) -> None:
    """mcp-context-forge#5437: not every later call of the tool, and not once for each replica."""
    await people.approve(await people.passed_on())
    async with await asyncio.to_thread(open_store, tmp_path / "state") as store:
        replica = await open_desk(store)
        said = await asyncio.gather(people.said(), replica.said(), people.said(), replica.said())

    assert said.count("allow") == 1


async def test_57_terms_that_change_abort(people: Desk) -> None:
    """vercel/ai#17185: between the approval and the call the order is closed: refused, and the people read so."""
    case = await people.passed_on()
    await people.approve(case)
    people.orders["A1"]["is_open"] = False

    assert await people.said() == "closed"
    assert "refused: closed" in (await people.case(case)).note


async def test_58_nobody_is_told_that_it_will_complete_after_its_time(people: Desk) -> None:
    """breeze#3090, apex#638, acp-gateway#39: no answer is a no, said so; ids are unique over all processes; a case
    that nobody answers holds nothing up."""
    case = await people.passed_on()
    people.later(days=3)
    await people.store.expire_cases(at=people.now)

    assert (await people.case(case)).note == "nobody answered in time"
    second = await people.call()
    assert second.decision.reason == "over_limit"
    assert second.escalation not in (None, case)
    assert second.decision.next.startswith("A person decides this call. Once it is approved")
