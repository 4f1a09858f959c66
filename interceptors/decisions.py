"""Answers: one interceptor's `Verdict`, the combined `Decision`, and what must be read before either (`Needs`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from interceptors.calls import Json
    from interceptors.context import FactKey
    from interceptors.grants import Asks
    from interceptors.obligations import Obligation
    from interceptors.usage import UsageKey
    from policies.model import Category, Ruling


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one interceptor, or one rule of it, says. `detail` is for operators and holds no argument value.

    `reason` is empty for ALLOW. An ALLOW with a `rule` is a rule that was looked at and did not fire; one that could
    not be looked at says so in `detail` (receipts show each).
    """

    interceptor: str
    ruling: Ruling
    reason: str = ""
    rule: str = ""
    detail: str = ""

    @property
    def row(self) -> str:
        """Which answer of which rule this is; an approval names the rows that it discharges."""
        return f"{self.interceptor}/{self.rule}/{self.reason}"


class EvidenceKind(Enum):
    """Where a value was found."""

    USER = "user"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where the value of one argument comes from; never the value. `argument` is `payments[2].iban`.

    USER: characters `start` to `end` of the text of the message `turn`, its blocks joined by line breaks. RESULT: the
    field `path` of the result in the message `turn`, of the call that was released under `receipt`; of a text that only
    holds the value, the characters too.
    """

    argument: str
    kind: EvidenceKind
    turn: int
    start: int = 0
    end: int = 0
    path: str = ""
    receipt: str = ""


@dataclass(frozen=True, slots=True)
class Grounded(Verdict):
    """An ALLOW that rests on what stands in the conversation."""

    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class FeeEvidence:
    """How a refund came about: the amounts, the days, and the words of the schedule's text that give the fee.

    `source` is the SHA-256 hex of that text; `start` to `end` are code points of it.
    """

    refund: str  # `79.80 EUR`
    fee: str
    paid: str
    schedule: str
    interval: int
    days: int  # before the reference date
    cancelled_on: str
    reference_date: str
    quotation: str
    document: str
    line: int
    start: int
    end: int
    source: str


@dataclass(frozen=True, slots=True)
class Scheduled(Verdict):
    """A row that rests on a computed refund. `injected` is the digest of the arguments that leave with it, where it
    takes the place of what the model wrote, else empty.
    """

    computed: FeeEvidence | None = None
    injected: str = ""


@dataclass(frozen=True, slots=True)
class FactRead:
    """A fact that the decision rested on: `fields` are the typed values that were read, as text."""

    fact: str
    key: str
    as_of: datetime
    fields: Mapping[str, str]


class Decision(msgspec.Struct, frozen=True):
    """The combined answer to one proposed call. It is complete: the edge adds ids and times, nothing else.

    `reply` is what the customer reads in place of a refused call; `message` and `next` are for the agent and logs.
    """

    ruling: Ruling
    tool: str  # as the policy spells it, else as the call does
    is_write: bool
    reason: str = ""
    category: Category | None = None
    reply: str = ""
    message: str = ""
    next: str = ""
    verdicts: tuple[Verdict, ...] = ()
    facts: tuple[FactRead, ...] = ()
    # Of an escalation: root_cause, recommended_action, ...
    summary: Mapping[str, str] = msgspec.field(default_factory=dict)
    arguments: Json = None  # as they may be stored: free text redacted
    digest: str = ""  # of the canonical arguments, hex
    policy: str = ""
    revision: str = ""
    obligations: tuple[Obligation, ...] = ()  # of an ALLOW, and of a question that waits for a yes
    asks: Asks | None = None  # of an escalation that people can answer so that the call runs

    @property
    def is_retryable(self) -> bool:
        return self.category is not None and self.category.is_retryable


class Needs(msgspec.Struct, frozen=True):
    """What to read, all at once, before `Pipeline.decide` is called (again): facts, what was used, the history."""

    facts: tuple[FactKey, ...]
    usages: tuple[UsageKey, ...] = ()
    history: bool = False  # the conversation, which was not read for this policy
