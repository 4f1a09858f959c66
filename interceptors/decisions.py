"""Answers: one interceptor's `Verdict`, the combined `Decision`, and what must be read before either (`Needs`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from interceptors.calls import Json
from interceptors.context import FactKey
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


@dataclass(frozen=True, slots=True)
class FactRead:
    """A fact that the decision rested on: `fields` are the typed values that were read, as text."""

    fact: str
    key: str
    as_of: datetime
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Decision:
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
    summary: Mapping[str, str] = field(default_factory=dict)  # of an escalation: root_cause, recommended_action, ...
    arguments: Json = None  # as they may be stored: free text redacted
    digest: str = ""  # of the canonical arguments, hex
    policy: str = ""
    revision: str = ""

    @property
    def is_retryable(self) -> bool:
        return self.category is not None and self.category.is_retryable


@dataclass(frozen=True, slots=True)
class Needs:
    """Facts to read, all at once, before `Pipeline.decide` is called (again)."""

    facts: tuple[FactKey, ...]
