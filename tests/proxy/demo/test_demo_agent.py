"""The agent, the scripted model and the back end without a gate between: what the model wants happens."""

from __future__ import annotations

import pytest

from policies.loader import load_policy
from proxy.demo.agent import TOOLS
from proxy.demo.backend import BackEnd
from proxy.demo.cases import LANES, STRANGER, cases, orders, script
from proxy.demo.gate_process import PACK
from proxy.demo.lanes import AGENT, Access, play
from proxy.demo.provider import Provider
from proxy.demo.serving import serving


@pytest.mark.parametrize("lane", LANES, ids=lambda lane: lane.title)
async def test_without_a_gate_the_model_gets_its_way(lane) -> None:
    """The doubles hold nothing back: each proposed refund of an order that exists is paid, a stranger's included."""
    back_end = BackEnd(orders(), {AGENT: "t0ken"}, frozenset({AGENT}))
    provider = Provider(script())
    async with serving(provider.app()) as model, serving(back_end.app()) as shop:
        played = await play(lane, Access(model, shop, "t0ken", "k" * 32, "key", "m"), back_end)

    assert [one.failure for one in played] == [""] * len(played)
    assert [received.refused for received in provider.received] == [""] * len(provider.received)
    paid = {(refund.order_id, refund.amount) for refund in back_end.refunds}
    own = {(f"{lane.letter}{number}", cents) for number, cents in (("1001", 12000), ("1002", 84700), ("1003", 8900))}
    sly = {(f"{lane.letter}{number}", cents) for number, cents in (("1004", 15000), ("1005", 64000), ("1006", 32000))}
    assert paid == own | sly | {(STRANGER.id, 12000)}


def test_no_two_cases_are_one() -> None:
    """A script finds its case by what the customer says, so no text occurs twice; every title does in each lane."""
    texts = [case.says for lane in LANES for case in cases(lane)]

    assert len(set(texts)) == len(texts)
    assert len({tuple(case.title for case in cases(lane)) for lane in LANES}) == 1


def test_the_agent_declares_what_the_pack_names() -> None:
    """The tools of the agent and of the pack are the same, argument for argument, in the same spelling."""
    policy = load_policy(PACK)

    declared = {name: set(schema["properties"]) for name, (_, schema) in TOOLS.items()}
    assert declared == {tool.name: set(tool.arguments) for tool in policy.tools.values()}
