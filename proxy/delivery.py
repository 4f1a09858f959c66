"""Delivers approved calls to the owner's back end (`on_approval: deliver`).

A call is decided anew when its turn comes, and reserves as every call does; then it is sent, again and again under one
id, until it is answered. What is answered settles the reservation. What is not answered is unknown, never free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import orjson

from interceptors.calls import ToolCall
from interceptors.history import PastResult
from interceptors.kinds import AbortCause, MoneyState
from interceptors.receipts import Aborted, Released
from interceptors.settlement import state_of
from interceptors.strict_json import StrictJsonError, canonical, digest, parse
from policies.model import Mode, Ruling
from proxy.store import EscalationStatus, Settlement, grants, outbox

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from interceptors.calls import Json
    from proxy.judge import Judge, Judgment
    from proxy.ledger.materials import Material, Materials
    from proxy.store import Escalation
    from proxy.store.outbox import Message
    from proxy.webhooks import Heard, Sender, WebhookTarget

HALT_SECONDS: Final = 5.0
"""How soon a delivery is tried again that a halt has stopped."""


@dataclass(frozen=True, slots=True)
class Later:
    """Try it again in so many seconds; None: as the attempts before say. `counts`: this attempt was one."""

    note: str
    seconds: float | None = None
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Ended:
    """It arrived, or it never will."""

    note: str
    is_sent: bool


Outcome = Later | Ended


class Delivery:
    """One for the process."""

    def __init__(self, judge: Judge, sender: Sender, target: WebhookTarget | None, materials: Materials) -> None:
        self._judge = judge
        self._sender = sender
        self._target = target
        self._materials = materials

    async def deliver(self, message: Message) -> Outcome:
        """One attempt. Raises `StoreError` where nothing is known of how it ended: it is tried again."""
        if self._target is None:
            return Later(
                "no receiver is configured for approved calls (webhooks.deliveries)", HALT_SECONDS, counts=False
            )
        case = await self._judge.store.read(lambda reader: reader.escalation(message.escalation))
        material = await self._materials.find(message.escalation)
        if case is None or material is None:
            return Ended("not delivered: the call is not kept any more", is_sent=False)
        if await self._is_halted():
            return await self._stopped(message)
        receipt = message.receipt
        if not receipt:
            if case.status is not EscalationStatus.APPROVED:
                return Ended(f"not delivered: {case.note or case.status.value}", is_sent=False)
            judgment = await self._decide(material)
            if not judgment.is_allowed:
                return _refused(judgment)
            receipt = judgment.receipt
            if (released := judgment.as_released) is not None:
                material = replace(material, call=released)
                await self._materials.keep(case.id, released, material.scene)
            await self._judge.store.message(partial(_decided, message=message, receipt=receipt, at=self._judge.clock()))
        return await self._send(message, case, material, receipt)

    async def give_up(self, message: Message) -> Ended:
        """It was tried often enough."""
        if message.receipt:
            unknown = Settlement(message.receipt, MoneyState.UNKNOWN)
            await self._judge.store.settle([unknown], at=self._judge.clock())
            return Ended(f"not answered after {message.attempts} attempts: the outcome is unknown", is_sent=False)
        return Ended(f"not delivered after {message.attempts} attempts", is_sent=False)

    async def _is_halted(self) -> bool:
        in_force = await self._judge.policy.current()
        return self._judge.store.is_halted() or not in_force.is_available or in_force.revision.policy.mode is Mode.HALT

    async def _stopped(self, message: Message) -> Later:
        """A halt is in force: what was never sent holds nothing meanwhile, and is decided anew behind the halt."""
        if message.receipt and message.attempts <= 1:
            halted = Aborted(receipt=message.receipt, time=self._judge.clock(), exchange="", cause=AbortCause.HALTED)
            self._judge.outcomes.add([halted])
            await self._judge.free([message.receipt])
            await self._judge.store.message(partial(outbox.decided, message=message.id, receipt=""))
        return Later("halted", HALT_SECONDS, counts=False)

    async def _decide(self, material: Material) -> Judgment:
        judged = await self._judge.decide({0: material.call}, material.scene)
        return (await self._judge.record(judged, material.scene))[0]

    async def _send(self, message: Message, case: Escalation, material: Material, receipt: str) -> Outcome:
        assert self._target is not None
        body = _body(message, case, material, receipt, self._judge)
        now, scene = self._judge.clock(), material.scene
        if self._judge.store.is_halted():  # looked at right before it leaves (DESIGN 8)
            fresh = message if message.receipt else replace(message, receipt=receipt, attempts=1)  # of it nothing left
            return await self._stopped(fresh)
        if not message.receipt:
            left = Released(receipt=receipt, time=now, exchange=scene.exchange, subject=scene.subject)
            self._judge.outcomes.add([left])
        heard = await self._sender.send(self._target, message.id, body, now, idempotency_key=message.id)
        if not heard.is_final:
            return Later(f"no answer (status {heard.status})" if heard.status else "no answer")
        state = await self._settle(material, receipt, heard)
        if not heard.is_taken:
            return Ended(f"the back end refused it (status {heard.status}): {state.value}", is_sent=False)
        await self._materials.drop(case.id)
        return Ended(f"delivered: {state.value} ({receipt})", is_sent=True)

    async def _settle(self, material: Material, receipt: str, heard: Heard) -> MoneyState:
        revision, now = self._judge.policy.last().revision, self._judge.clock()
        try:
            value: Json = parse(heard.body) if heard.body else None
        except StrictJsonError:
            value = heard.body.decode("utf-8", "replace")
        tool = revision.policy.tool(material.call.name) or revision.policy.unknown_tool
        past = PastResult(material.call.id, value, not heard.is_taken, 0, is_new=True)
        state = state_of(revision.policy, tool, past, now)
        await self._judge.store.settle([Settlement(receipt, state, digest(value))], at=now)
        return state


def _decided(connection: sqlite3.Connection, message: Message, receipt: str, at: datetime) -> None:
    outbox.decided(connection, message.id, receipt)
    grants.spend(connection, message.escalation, at)


def _refused(judgment: Judgment) -> Outcome:
    decision = judgment.decision
    note = f"not delivered: {decision.reason} ({judgment.receipt})"
    if decision.ruling is Ruling.FORBID and decision.is_retryable:
        return Later(note)
    return Later(note, HALT_SECONDS, counts=False) if decision.reason == "halted" else Ended(note, is_sent=False)


def _body(message: Message, case: Escalation, material: Material, receipt: str, judge: Judge) -> bytes:
    call = material.call
    assert isinstance(call, ToolCall)
    data = {
        "escalation": case.id,
        "receipt": receipt,
        "tool": case.tool,
        "arguments": orjson.Fragment(canonical(dict(call.arguments))),
        "claims": orjson.Fragment(canonical(dict(material.scene.claims))),
        "tenant": case.tenant,
        "idempotencyKey": message.id,
    }
    return orjson.dumps({"type": "call.approved", "timestamp": judge.clock().isoformat(), "data": data})
