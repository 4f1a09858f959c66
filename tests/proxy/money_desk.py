"""A refund desk without a wire: calls go through the judge and the store of a gate, and their results come back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from interceptors.calls import ToolCall
from interceptors.context import FactDocument, FactKey, FactResult
from interceptors.pipeline import Pipeline
from interceptors.strict_json import parse
from policies import load_policy_text
from proxy.judge import Judge, Judgment, Scene
from proxy.outcomes import Outcomes
from proxy.policy_source import InForce, Revision
from proxy.store import Settlement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interceptors.calls import Call
    from interceptors.kinds import MoneyState
    from proxy.store import Store

POLICY = """\
language: 1
policy: desk
time_zone: UTC
session: {customer_id: {jwt: sub}}
reasons:
  over_paid: {category: policy}
  daily: {category: escalated}
  twice: {category: policy}
facts:
  order:
    key: {pattern: '[A-Z][0-9]+'}
    file: orders.json
    fields: {paid: {money: USD, unit: minor}, refunded: {money: USD, unit: minor}}
tools:
  refund:
    facts: {order: args.order_id}
    arguments:
      order_id: {pattern: '[A-Z][0-9]+'}
      amount: {money: USD, unit: major}
    limits:
%s
    result: {fields: {status: string}}
    not_executed_when: result.status == "rejected"
    settle_within: 15m
%s
"""
OVER_PAID = "forbid: over_paid, sum: args.amount, per: args.order_id, max: order.paid"
DAILY = "escalate: daily, sum: args.amount, per: session.customer_id, each: day, max: 1000.00 USD"
TWICE = "forbid: twice, once_per: [args.order_id, args.amount], within: 24h"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@dataclass
class Desk:
    """`orders` is what the back end says; `now` is the clock."""

    store: Store
    revision: Revision
    orders: dict[str, dict[str, int]] = field(default_factory=lambda: {"A1": {"paid": 10000, "refunded": 0}})
    now: datetime = NOW
    judge: Judge = field(init=False)

    def __post_init__(self) -> None:
        self.judge = Judge(
            policy=cast("Any", _Policy(InForce(self.revision))),
            facts=cast("Any", self),
            store=self.store,
            outcomes=Outcomes(self.store, lambda: None),
            clock=lambda: self.now,
            hold_ms_max=60_000,
            injects=True,
        )

    async def read(self, keys: Iterable[FactKey], _: object) -> dict[FactKey, FactResult]:
        return {key: FactDocument(self.orders[key.key], self.now) for key in keys}

    async def turn(
        self, *amounts: str, order: str = "A1", tenant: str = "t", customer: str = "c1", identity: str | None = None
    ) -> list[Judgment]:
        """One turn that proposes a refund of each amount: decided together, recorded together."""
        calls: dict[Any, Call] = {
            position: _call(f'{{"order_id":"{order}","amount":{amount}}}', position)
            for position, amount in enumerate(amounts)
        }
        scene = Scene("ex_1", "anthropic", "m", tenant, identity, "", {"sub": customer})
        judged = await self.judge.record(await self.judge.decide(calls, scene), scene)
        return [judged[position] for position in range(len(amounts))]

    async def said(self, *amounts: str, **about: Any) -> list[str]:
        """What each call of one turn was answered: `allow`, or the reason."""
        return [judgment.decision.reason or "allow" for judgment in await self.turn(*amounts, **about)]

    async def settle(self, judgment: Judgment, state: MoneyState) -> int:
        return await self.store.settle([Settlement(judgment.receipt, state)], at=self.now)

    def later(self, **time: float) -> None:
        self.now += timedelta(**time)

    async def states(self) -> list[str]:
        """The states of all reservations, oldest first."""
        found = await self.store.read(lambda reader: reader.reservations(limit=1000))
        return [one.state.value for one in reversed(found)]

    async def held(self) -> int:
        """The units that count against any cap."""

        def total(connection: Any) -> int:
            (units,) = connection.execute("SELECT coalesce(sum(units), 0) FROM charges").fetchone()
            return int(units)

        return await self.store.read(lambda reader: total(reader._connection))


async def open_desk(store: Store, limits: tuple[str, ...] = (OVER_PAID,), more: str = "") -> Desk:
    """A desk with these limits, and these further lines of its tool."""
    return Desk(store, await asyncio.to_thread(_revision, limits, more))


def _revision(limits: tuple[str, ...], more: str) -> Revision:
    policy = load_policy_text(POLICY % ("\n".join(f"      - {{{limit}}}" for limit in limits), more))
    return Revision(policy, Pipeline(policy), {}, {})


@dataclass
class _Policy:
    in_force: InForce

    def last(self) -> InForce:
        return self.in_force

    def unchanged(self) -> InForce:
        return self.in_force

    async def current(self) -> InForce:
        return self.in_force


def _call(arguments: str, position: int) -> ToolCall:
    given: Mapping[str, Any] = cast("Any", parse(arguments))
    return ToolCall("refund", given, arguments, f"call_{position}", position)
