"""What is handed to the store, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from interceptors.chain import Head
    from interceptors.receipts import Record


class EscalationStatus(Enum):
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationDraft:
    """A case for a person. Of (tenant, subject, tool, argument digest) one case is open: a second draft joins it."""

    id: str
    tenant: str
    subject: str  # a keyed digest, or empty
    tool: str
    argument_digest: str
    summary: Mapping[str, str]
    reason: str
    receipt: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """A case as stored. `created` is UTC text; `receipt` is that of the first refusal."""

    id: str
    tenant: str
    subject: str
    tool: str
    argument_digest: str
    summary: Mapping[str, str]
    reason: str
    receipt: str
    created: str
    status: EscalationStatus


@dataclass(frozen=True, slots=True)
class Entry:
    """One record to write. While the operator's halt is in force `when_halted`, if given, is written in its place.

    A function gives it where making it each time would cost: the writing thread calls it, if the halt is in force.
    `escalation` opens a case, or finds it, in the same transaction; not when `when_halted` was written.
    """

    record: Record
    when_halted: Record | Callable[[], Record] | None = None
    escalation: EscalationDraft | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """On the disk. `halted`: `when_halted` was written, so the decision it stands for is the one that holds."""

    head: Head
    halted: bool = False
    escalation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Halt:
    """The operator's halt. `at` is UTC text."""

    by: str
    reason: str
    at: str
    receipt: str


@dataclass(frozen=True, slots=True)
class Erasure:
    """`scrubbed`: no copy is left in the write-ahead log. If not (a reader was at work), one stays a while longer."""

    receipt: str | None  # None where there was nothing to erase
    records: int
    escalations: int
    scrubbed: bool = True


@dataclass(frozen=True, slots=True)
class Retained:
    """What the end of a retention removed."""

    payloads: int
    escalations: int
    records: int
