"""A suite as data: what a case brings along, and what it expects. It knows no YAML and decides nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interceptors.context import FactDocument, FactFailed, FactFailure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from interceptors.calls import Call, Json
    from interceptors.causes import RefusalCause
    from interceptors.context import DeclaredTool, FactKey, FactResult
    from interceptors.history import History
    from interceptors.kinds import MoneyState
    from policies.model import Category, OnRefusal, Origin, Ruling
    from proxy.suites.handoffs import AskingCase


@dataclass(frozen=True, slots=True)
class Answered:
    """The content of a result that comes back for the allowed call, and whether it is marked as an error."""

    value: Json
    is_error: bool


@dataclass(frozen=True, slots=True)
class Expected:
    """What a case says of its decision. None is not checked; only the ruling always is.

    `fired` are the rules that did not allow, and the names of the interceptors that did so without a rule. `reads` are
    the records that were asked for. `reserves` are the amounts by their limits, empty for a call that holds
    nothing; `injects` the arguments that the gate writes. `answered_by`: who answers in the place of a refused call.
    `settle_within`: how long the result of a call that holds something may take.
    """

    ruling: Ruling
    reason: str | None = None
    category: Category | None = None
    fired: frozenset[str] | None = None
    reply: str | None = None
    reads: frozenset[FactKey] | None = None
    reserves: Mapping[str, str] | None = None
    injects: frozenset[str] | None = None
    answered_by: OnRefusal | None = None
    settle_within: timedelta | None = None
    summary: Mapping[str, str] | None = None
    settles: MoneyState | None = None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What surrounds a call: who asks for whom, what the sources would answer, what was said."""

    session: Mapping[str, Json] = field(default_factory=dict)
    identity: str | None = None
    facts: Mapping[FactKey, Mapping[str, Json] | FactFailure] = field(default_factory=dict)
    declared: Mapping[str, DeclaredTool] = field(default_factory=dict)
    history: History | None = None
    halted: bool = False


def fact_result(given: Mapping[str, Json] | FactFailure, now: datetime) -> FactResult:
    """What a source answers in a case, as it is read at this time."""
    return FactFailed(given, now) if isinstance(given, FactFailure) else FactDocument(given, now)


@dataclass(frozen=True, slots=True)
class Earlier:
    """A call that was allowed `ago`, and what has become of what it holds."""

    call: Call
    ago: timedelta
    state: MoneyState
    around: Circumstances
    origin: Origin


@dataclass(frozen=True, slots=True)
class Case:
    """`asked`: how long ago the gate asked the customer about this call, None where it did not. `beside` are the calls
    of the same turn that stand before it. `refused`: the gate refuses it for what lies outside of it.
    """

    name: str
    now: datetime
    call: Call
    around: Circumstances
    earlier: tuple[Earlier, ...]
    answered: Answered | None
    expected: Expected
    origin: Origin
    asked: timedelta | None = None
    beside: tuple[Call, ...] = ()
    refused: RefusalCause | None = None


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A mutant that no case can kill, and why that is no fault of the suite."""

    mutant: str
    because: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Suite:
    policy: str  # the name of the policy that it is about
    cases: tuple[Case, ...]
    equivalents: tuple[Equivalent, ...]
    asking: tuple[AskingCase, ...] = ()
