"""A refund desk with people behind it: calls go through judge and store, and persons answer what is passed to them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from interceptors.calls import ToolCall
from interceptors.context import FactDocument, FactKey, FactResult
from interceptors.pipeline import Pipeline
from interceptors.strict_json import parse
from policies import load_policy_text
from proxy.approvals import Approvals
from proxy.connected import PersonToken
from proxy.judge import Judge, Judgment, Scene
from proxy.logs import Logs
from proxy.outcomes import Outcomes
from proxy.policy_source import InForce, Revision
from proxy.settings import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interceptors.calls import Call
    from proxy.store import Answer, Escalation, EscalationStatus, Store

POLICY = """\
language: 1
policy: desk
time_zone: UTC
session: {customer_id: {jwt: sub}}
reasons:
  not_yours: {category: permission}
  over_limit: {category: escalated}
  old: {category: escalated}
  closed: {category: policy}
  daily: {category: escalated}
facts:
  order:
    key: {pattern: '[A-Z][0-9]+'}
    file: orders.json
    fields: {customer: string, paid: {money: USD, unit: minor}, days: integer, note: string, is_open: boolean}
tools:
  refund:
    facts: {order: args.order_id}
    arguments:
      order_id: {pattern: '[A-Z][0-9]+'}
      amount: {money: USD, unit: major}
    rules:
      - {forbid: not_yours, unless: order.customer == session.customer_id}
      - {forbid: closed, unless: order.is_open}
      - {escalate: over_limit, when: args.amount > 500.00 USD and order.paid >= args.amount}
      - {escalate: old, when: order.days > 30}
    limits:
      - {escalate: daily, sum: args.amount, per: session.customer_id, within: 24h, max: 2000.00 USD}
    escalation: {recommended_action: "Refund {args.amount}."}
"""
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ANNA = PersonToken("anna", Role.REVIEWER, "a" * 24)
BEN = PersonToken("ben", Role.OWNER, "b" * 24)
VERA = PersonToken("vera", Role.VIEWER, "v" * 24)


class NoSink:
    def write(self, _: bytes, /) -> None: ...

    def flush(self) -> None: ...


@dataclass
class Source:
    """The policy in force."""

    in_force: InForce

    def last(self) -> InForce:
        return self.in_force

    def unchanged(self) -> InForce:
        return self.in_force

    async def current(self) -> InForce:
        return self.in_force


@dataclass
class Desk:
    """`orders` is what the back end says; `now` is the clock."""

    store: Store
    source: Source
    orders: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {
            "A1": {"customer": "c1", "paid": 90_000, "days": 2, "note": "", "is_open": True},
            "A2": {"customer": "c1", "paid": 90_000, "days": 40, "note": "", "is_open": True},
        }
    )
    now: datetime = NOW
    judge: Judge = field(init=False)
    people: Approvals = field(init=False)

    def __post_init__(self) -> None:
        self.judge = Judge(
            policy=cast("Any", self.source),
            facts=cast("Any", self),
            store=self.store,
            outcomes=Outcomes(self.store, lambda: None),
            clock=lambda: self.now,
            hold_ms_max=60_000,
            injects=True,
        )
        logs = Logs(NoSink())
        self.people = Approvals(self.store, cast("Any", self.source), lambda: self.now, logs, lambda _: None)

    async def read(self, keys: Iterable[FactKey], _: object) -> dict[FactKey, FactResult]:
        return {key: FactDocument(self.orders[key.key], self.now) for key in keys}

    async def call(
        self, amount: str = "847", *, order: str = "A1", tenant: str = "t", customer: str = "c1", id_: str = "call_1"
    ) -> Judgment:
        """One proposed refund, decided and recorded."""
        calls: dict[Any, Call] = {0: refund(amount, order, id_)}
        scene = Scene("ex_1", "anthropic", "m", tenant, None, self.store.subject_digest(customer), {"sub": customer})
        return (await self.judge.record(await self.judge.decide(calls, scene), scene))[0]

    async def said(self, *args: str, **about: Any) -> str:
        """What a call is answered: `allow`, or the reason."""
        return (await self.call(*args, **about)).decision.reason or "allow"

    async def passed_on(self, *args: str, **about: Any) -> str:
        """The case that a call opens or joins."""
        judgment = await self.call(*args, **about)
        assert judgment.escalation is not None, judgment.decision.reason
        return judgment.escalation

    async def approve(self, case: str, person: PersonToken = ANNA) -> Answer:
        return await self.people.approve(case, person, "I have looked at it")

    async def reject(self, case: str, person: PersonToken = ANNA) -> Answer:
        return await self.people.reject(case, person, "not this one")

    async def case(self, case: str) -> Escalation:
        found = await self.store.read(lambda reader: reader.escalation(case))
        assert found is not None
        return found

    async def status(self, case: str) -> EscalationStatus:
        return (await self.case(case)).status

    async def change(self, old: str, new: str) -> None:
        """Edit the policy."""
        text = self.source.in_force.revision.policy
        assert text is not None
        self.source.in_force = InForce(await asyncio.to_thread(revision, POLICY.replace(old, new)))

    def later(self, **time: float) -> None:
        self.now += timedelta(**time)


def refund(amount: str, order: str = "A1", id_: str = "call_1") -> ToolCall:
    arguments = f'{{"order_id":"{order}","amount":{amount}}}'
    given: Mapping[str, Any] = cast("Any", parse(arguments))
    return ToolCall("refund", given, arguments, id_, 0)


def revision(text: str) -> Revision:
    policy = load_policy_text(text)
    return Revision(policy, Pipeline(policy), {}, {})


async def open_desk(store: Store, text: str = POLICY, **about: Any) -> Desk:
    """A desk under this policy."""
    desk = Desk(store, Source(InForce(await asyncio.to_thread(revision, text))))
    return replace(desk, **about) if about else desk
