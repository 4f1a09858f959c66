"""Approvals through judge and store: what they are bound to, that they are used once, and who gives them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from interceptors.bindings import rules_digest
from interceptors.people import escalating
from policies import load_policy_text
from policies.model import Ruling
from proxy.approvals import AnswerRefusedError, Power, Refusal
from proxy.store import EscalationStatus, open_store
from tests.proxy.approval_desk import ANNA, BEN, POLICY, VERA, Desk, open_desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from proxy.store import Store

EVERY_KEY = "fixtures/policies/every_key.yaml"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with await asyncio.to_thread(open_store, tmp_path / "state") as store:
        yield await open_desk(store)


async def test_an_approved_call_runs_once(desk: Desk) -> None:
    """Proposed again, unchanged and under another call id, it runs; a second time it is passed on (PEERS 55, 56)."""
    case = await desk.passed_on()
    assert await desk.said() == "over_limit"

    await desk.approve(case)
    used = await desk.call(id_="call_9")

    assert used.is_allowed
    assert [
        (row.interceptor, row.rule, row.detail) for row in used.decision.verdicts if row.interceptor == "people"
    ] == [("people", case, "approved by anna")]
    assert "process" not in desk.source.in_force.revision.policy.name
    again = await desk.call(id_="call_10")
    assert (again.decision.reason, again.escalation != case) == ("over_limit", True)


@pytest.mark.parametrize(
    "about",
    [{"amount": "848"}, {"order": "A2"}, {"tenant": "other"}, {"customer": "c2"}],
    ids=lambda about: next(iter(about)),
)
async def test_an_approval_is_of_one_call_of_one_customer_and_agent(desk: Desk, about: dict[str, str]) -> None:
    """Whatever else is asked is asked anew, and leaves the approval as it was (PEERS 55, 56)."""
    desk.orders["A1"]["customer"] = "c1"
    case = await desk.passed_on()
    await desk.approve(case)

    assert not (await desk.call(**about)).is_allowed  # type: ignore[arg-type] # arguments by name
    assert await desk.status(case) is EscalationStatus.APPROVED
    assert await desk.said() == "allow"


@pytest.mark.parametrize(
    ("change", "reason", "note"),
    [
        ({"paid": 88_000}, "approval_void", "order.paid changed"),
        ({"is_open": False}, "closed", "made again and refused: closed"),
        ({"customer": "c2"}, "not_yours", "made again and refused: not_yours"),
        ({"note": "the parcel was found"}, "allow", "used by"),
        ({"days": 3}, "allow", "used by"),
    ],
    ids=str,
)
async def test_facts_that_change_between_approval_and_use(
    desk: Desk, change: dict[str, object], reason: str, note: str
) -> None:
    """Facts are read again when the approval is used (PEERS 47, 57): one that the fired rule reads takes it back, one
    that makes another rule fire refuses the call, one that no fired rule reads changes nothing. The people read why.
    """
    case = await desk.passed_on()
    await desk.approve(case)
    desk.orders["A1"] |= change

    judgment = await desk.call()

    assert (judgment.decision.reason or "allow") == reason
    assert note in (await desk.case(case)).note


async def test_a_void_approval_is_told_to_both_sides(desk: Desk) -> None:
    """The agent reads that the approval holds no longer, and the record says what changed; a new case waits."""
    case = await desk.passed_on()
    await desk.approve(case)
    desk.orders["A1"]["paid"] = 88_000

    judgment = await desk.call()

    assert "holds no longer" in judgment.decision.message
    assert [row.detail for row in judgment.decision.verdicts if row.reason == "approval_void"] == ["order.paid changed"]
    assert await desk.status(case) is EscalationStatus.VOID
    assert judgment.escalation not in (None, case)
    desk.orders["A1"]["paid"] = 90_000
    assert await desk.said() == "over_limit", "what was taken back does not come back"
    assert judgment.escalation is not None
    await desk.approve(judgment.escalation)
    assert await desk.said() == "approval_void", "the new case was opened on other facts"


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (("rules:\n", "# a comment\n    rules:\n"), "allow"),
        (("  closed: {category: policy}", "  closed: {category: policy, reply: No}"), "allow"),
        (("Refund {args.amount}.", "Pay {args.amount} back."), "allow"),
        (("args.amount > 500.00 USD", "args.amount > 501.00 USD"), "approval_void"),
        (("max: 2000.00 USD", "max: 3000.00 USD"), "approval_void"),
        (("order.days > 30", "order.days > 31"), "approval_void"),
        (("unit: minor}, days: integer", "unit: minor}, days: number"), "approval_void"),
    ],
    ids=lambda edit: edit[1] if isinstance(edit, tuple) else edit,
)
async def test_edits_of_the_policy_between_approval_and_use(desk: Desk, edit: tuple[str, str], reason: str) -> None:
    """A comment, or words, leave an approval valid; what judges the tool does not."""
    case = await desk.passed_on()
    await desk.approve(case)

    await desk.change(*edit)

    assert await desk.said() == reason


async def test_an_approval_discharges_its_own_rows_only(desk: Desk) -> None:
    """Where another rule passes the call on by then, people are asked for both, and approve both at once."""
    case = await desk.passed_on()
    await desk.approve(case)
    desk.orders["A1"]["days"] = 40

    second = await desk.call()

    assert second.decision.reason == "old"
    assert second.decision.asks is not None
    assert [row.rpartition("/")[2] for row in second.decision.asks.binding.rows] == ["over_limit", "old"]
    assert second.escalation is not None
    await desk.approve(second.escalation)
    assert await desk.said() == "allow"


async def test_an_approval_above_a_cap_still_counts_against_it(desk: Desk) -> None:
    """People may let a call over a limit; what it holds is held all the same (G10)."""
    await desk.approve(await desk.passed_on("900"))
    await desk.approve(await desk.passed_on("899"))
    assert [await desk.said("900"), await desk.said("899")] == ["allow", "allow"]

    third = await desk.call("400")
    assert third.decision.reason == "daily"
    assert third.escalation is not None
    await desk.approve(third.escalation)

    assert await desk.said("400") == "allow"
    reserved = await desk.store.read(lambda reader: reader.reservations())
    assert sorted(one.held[0].amount for one in reserved) == ["400.00 USD", "899.00 USD", "900.00 USD"]


async def test_a_refusal_of_people_stands_while_nothing_changes(desk: Desk) -> None:
    """The same call is then forbidden, not passed on again, until its answer is too old or the facts are others."""
    case = await desk.passed_on()
    await desk.reject(case)

    assert [await desk.said(), await desk.said(), await desk.said("846")] == ["rejected", "rejected", "over_limit"]
    desk.orders["A1"]["paid"] = 95_000
    assert await desk.said() == "over_limit"
    desk.orders["A1"]["paid"] = 90_000
    assert await desk.said() == "rejected"
    desk.later(hours=24)
    assert await desk.said() == "over_limit"


async def test_an_expired_approval_says_so(desk: Desk) -> None:
    """It came to nothing, and people decide anew: nobody is told that the call will run (PEERS 58)."""
    case = await desk.passed_on()
    await desk.approve(case)
    desk.later(hours=24)

    judgment = await desk.call()

    assert judgment.decision.reason == "approval_expired"
    assert "was not used in time" in judgment.decision.message
    assert judgment.escalation not in (None, case)
    assert await desk.status(case) is EscalationStatus.VOID


async def test_a_case_that_waited_too_long_cannot_be_approved(desk: Desk) -> None:
    """No answer is a no: three days later nobody can approve it, and the next call opens a case of its own."""
    case = await desk.passed_on()
    desk.later(days=3)

    with pytest.raises(AnswerRefusedError, match="nobody answered in time"):
        await desk.approve(case)
    await desk.store.expire_cases(at=desk.now)
    assert await desk.status(case) is EscalationStatus.EXPIRED
    assert await desk.passed_on() != case


async def test_roles_and_powers(desk: Desk) -> None:
    """A viewer looks; a reviewer and an owner answer; nobody answers a closed case."""
    case = await desk.passed_on()

    with pytest.raises(AnswerRefusedError, match="role reviewer") as refused:
        await desk.approve(case, VERA)
    assert refused.value.refusal is Refusal.ROLE
    found = {person.name: await desk.people.powers(person, await desk.case(case)) for person in (ANNA, BEN, VERA)}
    answers = set(Power) - {Power.CLOSE}
    assert found == {"anna": answers, "ben": answers, "vera": {Power.SEE}}

    await desk.reject(case, BEN)
    assert await desk.people.powers(ANNA, await desk.case(case)) == {Power.SEE}
    with pytest.raises(AnswerRefusedError, match="closed: rejected by ben"):
        await desk.approve(case)
    shown = await desk.people.show(case, VERA)
    assert shown is not None
    assert [(one.person, one.approves) for one in shown.votes] == [("ben", False)]


async def test_a_halt_lets_no_approval_through(desk: Desk) -> None:
    """Approved and halted is refused; after the halt the approval is there still."""
    case = await desk.passed_on()
    await desk.approve(case)
    await desk.store.halt(by="ben", reason="odd", at=desk.now)

    assert await desk.said() == "halted"
    await desk.store.resume(by="ben", at=desk.now)
    assert await desk.said() == "allow"


async def test_a_restart_between_escalation_and_approval(tmp_path: Path) -> None:
    """Cases and approvals are the folder's, not the process's."""
    for step in ("open", "approve", "use"):
        async with await asyncio.to_thread(open_store, tmp_path / "state") as store:
            desk = await open_desk(store)
            match step:
                case "open":
                    case = await desk.passed_on()
                case "approve":
                    await desk.approve(case)
                case _:
                    assert await desk.said() == "allow"


async def keyed(store: Store, keys: str) -> Desk:
    """The desk, with these keys of `approvals`."""
    return await open_desk(store, f"{POLICY}approvals: {{{keys}}}\n")


async def test_the_policy_names_who_approves(desk: Desk) -> None:
    """`approvers`: a reviewer who is not named looks on."""
    desk = await keyed(desk.store, "approvers: [ben]")
    case = await desk.passed_on()
    with pytest.raises(AnswerRefusedError, match="names who approves") as refused:
        await desk.approve(case, ANNA)
    assert refused.value.refusal is Refusal.NOT_AN_APPROVER
    assert (await desk.approve(case, BEN)).missing == 0


async def test_the_policy_says_how_many_approve(desk: Desk) -> None:
    """`quorum`: one of two approvals lets nothing run, and a second one of the same person is none."""
    desk = await keyed(desk.store, "quorum: 2")
    case = await desk.passed_on()
    assert (await desk.approve(case, ANNA)).missing == 1
    assert await desk.said() == "over_limit"
    with pytest.raises(AnswerRefusedError, match="already"):
        await desk.approve(case, ANNA)
    assert (await desk.approve(case, BEN)).missing == 0
    assert await desk.said() == "allow"


async def test_the_policy_says_how_long_a_case_waits(desk: Desk) -> None:
    """`answer_within`: an hour, and not three days."""
    desk = await keyed(desk.store, "answer_within: 1h")
    case = await desk.passed_on()
    desk.later(hours=1)
    with pytest.raises(AnswerRefusedError, match="expired"):
        await desk.approve(case)


async def test_the_policy_says_how_long_an_approval_holds(desk: Desk) -> None:
    """`valid_for`: an hour, and not a day."""
    desk = await keyed(desk.store, "valid_for: 1h")
    await desk.approve(await desk.passed_on())
    desk.later(hours=1)
    assert await desk.said() == "approval_expired"


async def test_more_cases_than_people_can_look_at_are_refused(desk: Desk) -> None:
    """`open_max`: refused with a reason that a retry may help, never let through; an open case is still joined, and
    an answered one makes room."""
    desk = await keyed(desk.store, "open_max: 1")
    case = await desk.passed_on()
    full = await desk.call("846")
    assert (full.decision.reason, full.decision.is_retryable, full.escalation) == ("queue_full", True, None)
    assert await desk.passed_on() == case
    await desk.reject(case)
    assert await desk.said("846") == "over_limit"


async def test_two_judges_race_for_one_approval(desk: Desk, tmp_path: Path) -> None:
    """Two processes' judges on one folder, each with a call of its own: exactly one runs (PEERS 56)."""
    async with await asyncio.to_thread(open_store, tmp_path / "state") as store:
        other = await open_desk(store)
        for round_ in range(3):
            amount = str(501 + round_)
            await desk.approve(await desk.passed_on(amount))
            said = await asyncio.gather(desk.said(amount), other.said(amount))
            assert said.count("allow") == 1


def test_the_digest_of_rules_is_the_same_in_every_process(root: Path) -> None:
    """It is made of meanings: no address in memory, no line number, no order of keys."""
    text = (root / EVERY_KEY).read_text(encoding="utf-8")
    one, other = (load_policy_text(each) for each in (text, "# first\n\n" + text))

    digests = [{name: rules_digest(policy, tool) for name, tool in policy.tools.items()} for policy in (one, other)]
    assert digests[0] == digests[1]
    assert len(set(digests[0].values())) == len(one.tools)
    assert " at 0x" not in str([repr(tool.rules) for tool in one.tools.values()])


async def test_what_is_asked_of_people(desk: Desk) -> None:
    """The rows that passed the call on, and the fields that they read: nothing of the rules that did not fire."""
    judgment = await desk.call()

    assert judgment.decision.asks is not None
    binding = judgment.decision.asks.binding
    assert binding.rows == escalating(judgment.decision.verdicts) == ("rules/refund.rules[2]/over_limit",)
    assert set(binding.facts) == {"order.paid"}
    assert judgment.decision.ruling is Ruling.ESCALATE
    assert "847" not in str(binding)
    assert POLICY
