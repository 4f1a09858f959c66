"""The record of a customer who asked for a person, and was answered by the gate: no call, and no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from interceptors.kinds import Kind

if TYPE_CHECKING:
    from datetime import datetime

    from interceptors.decisions import FactRead


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOff:
    """Durable before the answer leaves. `result` is what the customer reads; `escalation` the case that was opened or
    found, empty where people could not take one.

    `language` and `phrase` say in which words it was asked: the policy's own phrase, else empty. `is_repeated`:
    the same words at the same place were answered before, and the customer reads the same.
    """

    kind: ClassVar[Kind] = Kind.HANDED_OFF

    receipt: str
    time: datetime
    exchange: str
    tenant: str
    identity: str | None
    subject: str
    dialect: str
    model: str
    policy: str
    revision: str
    language: str
    phrase: str
    reason: str
    result: str
    facts: tuple[FactRead, ...] = ()
    escalation: str = ""
    is_repeated: bool = False
