"""Random lives of money against a model of dictionaries: what counts is what the model says, and no cap is passed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from interceptors.kinds import MoneyState
from proxy.store import open_store
from tests.proxy.money_desk import Desk, open_desk

if TYPE_CHECKING:
    from datetime import datetime

    from proxy.judge import Judgment

CAP, HOURLY = 100, 60
LIMITS = (
    f"forbid: over_paid, sum: args.amount, per: args.order_id, max: {CAP}.00 USD",
    f"escalate: daily, sum: args.amount, within: 1h, max: {HOURLY}.00 USD",
    "forbid: twice, once_per: [args.order_id, args.amount], within: 2h",
)
STATES = [MoneyState.EXECUTED, MoneyState.NOT_EXECUTED, MoneyState.UNKNOWN]


@dataclass
class _Money:
    order: str
    amount: int
    time: datetime
    judgment: Judgment
    state: MoneyState = MoneyState.HELD
    executed: datetime | None = None

    @property
    def counts(self) -> bool:
        return self.state is not MoneyState.NOT_EXECUTED


@dataclass
class _Model:
    made: list[_Money] = field(default_factory=list)

    def answer(self, order: str, amount: int, now: datetime) -> str:
        same = [one for one in self.made if (one.order, one.amount) == (order, amount)]
        if any(one.state in (MoneyState.HELD, MoneyState.UNKNOWN) for one in same):
            return "pending_reconciliation"
        if any(one.executed and now < one.executed + timedelta(hours=2) for one in same):
            return "twice"
        if sum(one.amount for one in self.made if one.counts and one.order == order) + amount > CAP:
            return "over_paid"
        lately = [one for one in self.made if one.counts and one.time >= now - timedelta(hours=1)]
        return "daily" if sum(one.amount for one in lately) + amount > HOURLY else "allow"

    def check(self) -> None:
        for order in ("A1", "A2"):
            assert sum(one.amount for one in self.made if one.counts and one.order == order) <= CAP


ORDERS = st.sampled_from(["A1", "A2"])
STEPS = st.one_of(
    st.tuples(st.just("call"), ORDERS, st.sampled_from([10, 20, 30, 60])),
    st.tuples(st.just("call"), ORDERS, st.sampled_from([10, 20, 30, 60])),
    st.tuples(st.just("settle"), st.integers(0, 30), st.sampled_from(STATES)),
    st.tuples(st.just("resolve"), st.integers(0, 30), st.sampled_from(STATES[:2])),
    st.tuples(st.just("abort"), st.integers(0, 30), st.none()),
    st.tuples(st.just("wait"), st.integers(1, 90), st.none()),
    st.tuples(st.just("sweep"), st.none(), st.none()),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(STEPS, min_size=4, max_size=25))
def test_every_life_of_money_is_the_models(steps: list[tuple[str, Any, Any]]) -> None:
    """Calls, results, time, people and aborts in any order: each answer and each state as the model says."""
    asyncio.run(_live(steps))


async def _live(steps: list[tuple[str, Any, Any]]) -> None:
    with TemporaryDirectory() as folder:
        async with await asyncio.to_thread(open_store, Path(folder) / "state") as store:
            desk = await open_desk(store, LIMITS)
            desk.orders["A2"] = desk.orders["A1"]
            model = _Model()
            for step in steps:
                await _step(desk, model, *step)
                model.check()
            assert await desk.held() == 200 * sum(one.amount for one in model.made if one.counts)
            assert sorted(await desk.states()) == sorted(one.state.value for one in model.made)
            assert (await store.read(lambda reader: reader.verify())).findings == ()


async def _step(desk: Desk, model: _Model, what: str, one: Any, two: Any) -> None:
    if what == "call":
        [judgment] = await desk.turn(str(two), order=one)
        assert (judgment.decision.reason or "allow") == model.answer(one, two, desk.now)
        if judgment.is_allowed:
            model.made.append(_Money(one, two, desk.now, judgment))
    elif what == "wait":
        desk.later(minutes=one)
    elif what == "sweep":
        await desk.store.expire(at=desk.now)
        for money in model.made:
            if money.state is MoneyState.HELD and money.time + timedelta(minutes=15) <= desk.now:
                money.state = MoneyState.UNKNOWN
    elif model.made:
        await _become(desk, model.made[one % len(model.made)], what, two)


async def _become(desk: Desk, money: _Money, what: str, state: MoneyState | None) -> None:
    if what == "settle":
        assert state is not None
        await desk.settle(money.judgment, state)
    elif what == "resolve":
        assert state is not None
        receipt = money.judgment.receipt
        found = await desk.store.read(lambda reader: reader.reservations(limit=1000))
        [reservation] = [each.id for each in found if each.receipt == receipt]
        await desk.store.resolve(reservation, state, by="anna", reason="looked it up", at=desk.now)
    else:
        await desk.store.free([money.judgment.receipt], at=desk.now)
        state = MoneyState.NOT_EXECUTED if money.state is MoneyState.HELD else money.state
    if not money.state.is_final and state is not None:
        money.state = state
        money.executed = desk.now if state is MoneyState.EXECUTED else None
