"""The page of a case after and beside an approval: what it will do, who may give it, and answers that are not taken."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from interceptors.bindings import rules_digest
from interceptors.grants import Binding
from policies import load_policy_text
from policies.approvals import OnApproval
from proxy.approvals import Power, Shown
from proxy.console.answering import effect, may
from proxy.store import Escalation, EscalationStatus, Vote
from tests.console.shop import propose, shop
from tests.console.visitor import visitor

if TYPE_CHECKING:
    from pathlib import Path

POLICY = load_policy_text("language: 1\npolicy: p\ntools: {pay: {effect: write}}\n")
RULES = rules_digest(POLICY, POLICY.tools["pay"])
CASE = Escalation(
    id="esc_1",
    tenant="t",
    subject="",
    tool="pay",
    argument_digest="d",
    summary={},
    reason="over",
    receipt="rc_1",
    created="2026-11-30T12:00:00Z",
    status=EscalationStatus.OPEN,
    asks=Binding((), {}, RULES),
)
SHOWN = Shown(CASE, (), frozenset({Power.SEE, Power.APPROVE}), 1)


@pytest.mark.parametrize("way", list(OnApproval))
def test_each_way_to_continue_says_what_approving_does(way: OnApproval) -> None:
    """In few words, and different for each."""
    said = {each: effect(replace(SHOWN, case=replace(CASE, on_approval=each)), POLICY) for each in OnApproval}

    assert len(set(said.values())) == len(OnApproval)
    assert "exactly this call" in said[way]
    assert len(said[way].split()) <= 40


def test_what_is_missing_and_what_no_approval_helps_is_said() -> None:
    """Two of three still needed; the time in its unit; a case that no approval lets run."""
    vote = Vote("ana", True, "fine", "2026-11-30T12:00:00Z")

    assert "2 approvals are still needed" in effect(replace(SHOWN, quorum=3, votes=(vote,)), POLICY)
    assert "within 24 hours" in effect(SHOWN, POLICY)
    assert "would not let this call run" in effect(replace(SHOWN, case=replace(CASE, asks=None)), POLICY)
    changed = load_policy_text("language: 1\npolicy: p\ntools: {pay: {effect: write, arguments: {}}}\n")
    assert "would not hold" in effect(SHOWN, changed)
    assert "would not hold" in effect(SHOWN, load_policy_text("language: 1\npolicy: p\n"))
    assert may(SHOWN) == {"approve": True, "reject": False, "close": False}


async def test_an_answer_that_is_not_taken_changes_nothing(tmp_path: Path) -> None:
    """Without a reason, with another word, a second time, of a closed case: told, and one record stands."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ana") as ana, visitor(desk, "eva") as eva:
        await propose(desk, "A1001 847.00 damaged")
        (case,) = await desk.store.read(lambda reader: reader.escalations())
        path = f"/console/cases/{case.id}"
        for form in ({"answer": "approve", "reason": " "}, {"answer": "maybe", "reason": "x"}, {"reason": "x"}):
            assert (await ana.send(path, path, form)).status == 400
        first = await ana.send(path, path, {"answer": "approve", "reason": "fine"})
        second = await eva.send(path, path, {"answer": "reject", "reason": "not fine"})
        answers = [one for one in await desk.records() if one["kind"] == "answered"]

    assert (first.status, second.status) == (303, 409)
    assert "Not taken: the case is closed: approved by ana." in second.text
    assert [(one["by"], one["approves"], one["reason"]) for one in answers] == [("ana", True, "fine")]


async def test_a_viewer_sees_the_case_and_no_form(tmp_path: Path) -> None:
    """What approving does is said to everyone; the form is for who may answer."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ben") as ben:
        await propose(desk, "A1001 847.00 damaged")
        (case,) = await desk.store.read(lambda reader: reader.escalations())
        page = await ben.get(f"/console/cases/{case.id}")

    assert "exactly this call" in page.text
    assert 'action="/console/cases/' not in page.html


async def test_a_case_keeps_the_rule_that_decided_it(tmp_path: Path) -> None:
    """After an edit of the policy the page shows the condition and figure of then, and that approving is no use."""
    async with shop(tmp_path / "gate") as desk, visitor(desk, "ana") as ana:
        await propose(desk, "A1001 847.00 damaged")
        (case,) = await desk.store.read(lambda reader: reader.escalations())
        text = await asyncio.to_thread(desk.policy.read_text)
        await asyncio.to_thread(desk.policy.write_text, text.replace("500.00 USD", "600.00 USD") + "\n")
        page = await ana.get(f"/console/cases/{case.id}")

    assert "when args.amount > constants.self_service" in page.text
    assert "500.00 USD" in page.text
    assert "an approval would not hold" in page.text
