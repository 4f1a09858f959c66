"""`POST /decide` of a running gate: operators, pages of the application and back ends go the way of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from proxy.admin.access import TOKEN_FILE
from proxy.admin.decide import Rates
from proxy.tokens import token_digests
from tests.e2e.harness import DESK, OTHER_CUSTOMER, desk

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.harness import Desk

TOKEN, PAGE, JOB = "d" * 24, "p" * 24, "j" * 24
OPERATORS = f"""
operators:
  owner: {{token: {TOKEN}, tools: [process_refund, lookup_order]}}
  page: {{token: {PAGE}, kind: customer}}
  job: {{token: {JOB}, kind: back_end, tools: [lookup_order]}}
"""
POLICY = DESK.replace("    escalation: {rec", "    confirm: user\n    escalation: {rec") + OPERATORS
REFUND = {"order_id": "A1001", "amount": 60.00}


async def propose(
    gate: Desk,
    arguments: dict[str, Any] = REFUND,
    token: str = TOKEN,
    *,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> tuple[int, dict[str, Any]]:
    body = {"tool": "process_refund", "arguments": arguments, **more}
    sent = {"authorization": f"Bearer {token}", **(gate.signed() if headers is None else headers)}
    async with gate.session.post(f"{gate.admin}/decide", json=body, headers=sent) as response:
        return response.status, await response.json()


async def test_an_operator_goes_the_way_of_the_model(tmp_path: Path) -> None:
    """Allowed with a receipt that names the proposer, forbidden and escalated by the same rules, in the same words."""
    async with desk(tmp_path, [], POLICY) as gate:
        allowed = (await propose(gate))[1]
        over = (await propose(gate, {"order_id": "A1001", "amount": 847}))[1]
        late = (await propose(gate, {"order_id": "A1002", "amount": 60}))[1]
        others = (await propose(gate, {"order_id": "B2001", "amount": 60}))[1]
        unsigned = (await propose(gate, headers={}))[1]
        foreign = (await propose(gate, headers=gate.signed(OTHER_CUSTOMER)))[1]
        records = await gate.settled(0)

    assert (allowed["ruling"], allowed["arguments"]) == ("allow", {"order_id": "A1001", "amount": 60.0})
    assert [over["reason"], late["reason"], others["reason"]] == ["over_limit", "outside_window", "not_yours"]
    assert over["escalation"].startswith("esc_")
    assert (unsigned["reason"], foreign["reason"]) == ("facts_incomplete", "not_yours")
    decided = [each for each in records if each["kind"] == "decided"]
    assert {each["proposer"] for each in decided} == {"operator"}
    assert {each["tenant"] for each in decided} == {"owner"}
    assert [each["receipt"] for each in records if each["kind"] == "released"] == [allowed["receipt"]]


async def test_who_proposes_does_not_approve(tmp_path: Path) -> None:
    """Four eyes: the case of an operator is approved by somebody else; of a person's own name it is not."""
    async with desk(tmp_path, [], POLICY) as gate:
        over = (await propose(gate, {"order_id": "A1001", "amount": 847}))[1]
        token = (gate.state / TOKEN_FILE).read_text().strip()
        headers = {"authorization": f"Bearer {token}"}
        url = f"{gate.admin}/escalations/{over['escalation']}/approve"
        async with gate.session.post(url, json={"reason": "it is mine"}, headers=headers) as response:
            assert (response.status, (await response.json())["error"]["code"]) == (403, "own_proposal")


@pytest.mark.parametrize(
    ("token", "reason"), [(TOKEN, None), (PAGE, None), (JOB, "not_permitted")], ids=["operator", "customer", "back_end"]
)
async def test_what_a_kind_may(tmp_path: Path, token: str, reason: str | None) -> None:
    """A person's own proposal is the yes that `confirm` asks for; a tool that is not on the list is not permitted."""
    async with desk(tmp_path, [], POLICY) as gate:
        assert (await propose(gate, token=token))[1].get("reason") == reason


async def test_a_back_end_is_nobodys_yes(tmp_path: Path) -> None:
    """What the customer must confirm, a job cannot do for the customer."""
    async with desk(tmp_path, [], POLICY.replace(", tools: [lookup_order]}", "}")) as gate:
        assert (await propose(gate, token=JOB))[1]["reason"] == "confirm"


async def test_a_dry_run_leaves_nothing(tmp_path: Path) -> None:
    """It is decided, and nothing is recorded, held or passed on."""
    limit = "    limits: [{forbid: not_yours, once_per: args.order_id}]\n"
    policy = POLICY.replace("    confirm: user\n", limit)
    async with desk(tmp_path, [], policy) as gate:
        for _ in range(2):
            assert (await propose(gate, dry_run=True))[1]["ruling"] == "allow"
        assert (await propose(gate, {"order_id": "A1001", "amount": 847}, dry_run=True))[1]["reason"] == "over_limit"
        assert await gate.records() == []
        assert await gate.store.read(lambda reader: reader.escalations()) == ()
        assert (await propose(gate, id="mine"))[1]["ruling"] == "allow"
        assert (await propose(gate))[1]["reason"] == "pending_reconciliation"


async def test_a_result_settles_what_the_call_holds(tmp_path: Path) -> None:
    """By the id of the call, for the operator that proposed it, and nobody else."""
    limit = "    limits: [{forbid: not_yours, once_per: args.order_id}]\n"
    async with desk(tmp_path, [], POLICY.replace("    confirm: user\n", limit)) as gate:
        await propose(gate, id="mine")
        answers = []
        for token in (PAGE, TOKEN):
            sent = {"authorization": f"Bearer {token}"}
            url = f"{gate.admin}/decide/mine/result"
            async with gate.session.post(url, json={"result": {"status": "ok"}}, headers=sent) as response:
                answers.append((response.status, (await response.json()).get("state")))
        [held] = await gate.store.read(lambda reader: reader.reservations())

    assert answers == [(404, None), (200, "executed")]
    assert held.state.value == "executed"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"tool": "", "arguments": {}}, 400),
        ({"tool": "t", "arguments": []}, 400),
        ({"tool": "t", "arguments": {}, "id": ""}, 400),
        ({"tool": "t", "arguments": {}, "dry_run": 1}, 400),
        ({"tool": "t", "arguments": {}, "subject": "cus_ada"}, 400),
        ({"tool": "t"}, 400),
        ({"tool": "t", "arguments": {}}, 200),
    ],
)
async def test_the_body_holds_what_a_call_is_and_no_claim(tmp_path: Path, body: object, status: int) -> None:
    """Whose data it is comes from the signed header alone."""
    async with desk(tmp_path, [], POLICY) as gate:
        sent = {"authorization": f"Bearer {TOKEN}"}
        async with gate.session.post(f"{gate.admin}/decide", json=body, headers=sent) as response:
            assert response.status == status


async def test_who_may_not_propose(tmp_path: Path) -> None:
    """A person's token is no operator's, a stranger's is nobody's, and a forged header proves nobody."""
    async with desk(tmp_path, [], POLICY) as gate:
        person = (gate.state / TOKEN_FILE).read_text().strip()
        assert [(await propose(gate, token=token))[0] for token in (person, "x" * 24, "")] == [401, 401, 401]
        assert (await propose(gate, headers={"x-callgate-session": "forged"}))[0] == 401


async def test_too_many_proposals_are_refused(tmp_path: Path) -> None:
    """429 beyond the rate of this operator; another one is not held up by it."""
    async with desk(tmp_path, [], POLICY, limits={"decide_per_minute_max": 2}) as gate:
        assert [(await propose(gate))[0] for _ in range(3)] == [200, 200, 429]
        assert (await propose(gate, token=PAGE))[0] == 200


def test_the_rate_fills_evenly() -> None:
    """Sixty a minute are one a second, and never more than sixty at once."""
    rates = Rates(60)
    assert [rates.takes("a", 0.0) for _ in range(61)] == [True] * 60 + [False]
    assert [rates.takes("a", 1.0), rates.takes("a", 1.0), rates.takes("a", 1.5)] == [True, False, False]
    assert [rates.takes("a", 10_000.0) for _ in range(61)] == [True] * 60 + [False]
    assert callable(token_digests)
