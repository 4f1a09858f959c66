"""A policy after loading: frozen, compiled, complete. What a decision reads; it knows no YAML, and only its own files.

Mappings keep the order of the file. Tools are named as the policy spells them; `Policy.tool` finds them folded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

from policies.approvals import PassedOn, People
from policies.folding import folded as folded  # noqa: PLC0414 - who has a policy folds names by it
from policies.foreign import UnknownResults
from policies.guards import ResultFormat, has_sources
from policies.limits import Measure
from policies.matrix import CaseOfTool
from policies.texts import TextCalls
from policies.upkeep import NO_RULES, NO_UPKEEP, HistoryRules, Upkeep

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from policies.allowed import Allowlist
    from policies.asking import Confidence, Confirm, ReplyLanguage
    from policies.expressions import Expression
    from policies.fact_fields import FactField
    from policies.fee_schedules import FeeSchedule
    from policies.foreign import ProviderTool
    from policies.guards import Egress, ValueSource
    from policies.limits import Limit, OncePer
    from policies.matrix import Cases, Matrix
    from policies.patterns import Pattern
    from policies.secrets import Expandable
    from policies.templates import Template
    from policies.texts import Structured
    from policies.values import Type, Unit, Value

SETTLE_WITHIN: Final = timedelta(minutes=15)
"""How long the result of a call may take before its money counts as unknown, where the tool does not say."""


class Ruling(Enum):
    """What may be answered to a proposed call (DESIGN 4), from narrow to wide."""

    FORBID = "forbid"
    ESCALATE = "escalate"
    CLARIFY = "clarify"
    ALLOW = "allow"


class Category(Enum):
    """What kind of refusal a reason stands for; it fixes whether a retry can help."""

    POLICY = "policy"
    VALIDATION = "validation"
    PERMISSION = "permission"
    TRANSIENT = "transient"
    ESCALATED = "escalated"
    INTERNAL = "internal"

    @property
    def is_retryable(self) -> bool:
        return self in (Category.VALIDATION, Category.TRANSIENT)


class Mode(Enum):
    ENFORCE = "enforce"
    HALT = "halt"  # every write is refused


class UnknownTools(Enum):
    FORBID = "forbid"
    ESCALATE = "escalate"
    ALLOW = "allow"


class ToolEffect(Enum):
    READ = "read"
    WRITE = "write"


class OnRefusal(Enum):
    """Who answers in the place of a refused call (DESIGN 5)."""

    CODE = "code"  # the policy's reply; the turn ends
    MODEL = "model"  # the model gets the refusal as the call's result


class Batch(Enum):
    """What the refusal of one call of a turn does to the calls beside it."""

    INDEPENDENT = "independent"
    ALL_OR_NOTHING = "all_or_nothing"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something stands in the policy, for messages: `policy.yaml:12`."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Reason:
    """One code of the closed set, with what the customer reads. `replies` maps a language tag to its template."""

    code: str
    category: Category
    replies: Mapping[str, Template]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Rule:
    """Fires where `when` holds and `unless` does not; with neither, always. `id` is `process_refund.rules[0]`."""

    id: str
    ruling: Ruling  # never ALLOW
    reason: str
    when: Expression | None
    unless: Expression | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class Argument:
    """One declared argument (or a field of an object, or the element of a list).

    `type` is what the value becomes in expressions, `one_of` its allowed spellings. Money is on the wire a number in
    `money_unit`, without a currency. With `sources` the value comes from one of them; `is_exempt`: from `egress`.
    """

    name: str
    type: Type
    optional: bool = False
    pattern: Pattern | None = None
    one_of: tuple[Value, ...] = ()
    money_unit: Unit | None = None
    money_currency: str | None = None
    minimum: Value | None = None
    maximum: Value | None = None
    element: Argument | None = None  # of a list
    fields: Mapping[str, Argument] = field(default_factory=dict)  # of an object
    sources: tuple[ValueSource, ...] = ()
    allow: Allowlist | None = None
    is_exempt: bool = False
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class HttpSource:
    """GET `url`, where `{key}` is put percent-encoded as one path segment or query value."""

    url: Expandable
    headers: Mapping[str, Expandable]


@dataclass(frozen=True, slots=True)
class FileSource:
    """A JSON file. With `{key}` in its path a record a file, else one object from keys to records."""

    path: Path


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    key: Pattern
    source: HttpSource | FileSource
    timeout_seconds: float
    missing: tuple[Ruling, str]  # the ruling and reason where the source has no such record
    fields: Mapping[str, FactField]
    origin: Origin


@dataclass(frozen=True, slots=True)
class FactUse:
    """How a tool reads a fact: `key` is a path into args, session or another fact of the same tool; `many` where it
    holds `[*]`, and the fact is then a list, one record a key.
    """

    fact: str
    key: Expression
    many: bool


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    effect: ToolEffect
    on_refusal: OnRefusal | None  # None: by its effect, and by who asks (`answers`)
    facts: Mapping[str, FactUse]  # in the order in which they can be read
    arguments: Mapping[str, Argument] | None  # None: the request's own schema speaks alone
    rules: tuple[Rule, ...]
    escalation: Mapping[str, Template]
    origin: Origin | None  # None for a tool that only `defaults` describe
    egress: Egress | None = None
    limits: tuple[Limit, ...] = ()
    once_per: OncePer | None = None
    inject: str | None = None  # the argument that the key of the intent is put into
    result: Mapping[str, FactField] = field(default_factory=dict)  # what may be read of its results
    result_format: ResultFormat = ResultFormat.JSON
    not_executed_when: Expression | None = None  # None: no result frees what was reserved
    settle_within: timedelta = SETTLE_WITHIN
    fee_schedule: FeeSchedule | None = None
    confidence: Confidence | None = None
    confirm: Confirm | None = None
    matrix: Matrix | None = None  # None: its own rules govern it
    batch: Batch = Batch.INDEPENDENT
    passed_on: PassedOn = field(default_factory=PassedOn)
    upkeep: Upkeep = NO_UPKEEP

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """Its own rules, and those of its actions in the cells."""
        return self.rules if self.matrix is None else (*self.rules, *self.matrix.rules)

    @property
    def injects(self) -> bool:
        """Whether a call of it may leave with other arguments than the model's own."""
        return self.inject is not None or (self.fee_schedule is not None and self.fee_schedule.injects)

    @property
    def reserves(self) -> bool:
        """Whether its calls hold something until their results are known."""
        return self.once_per is not None or any(limit.measure is not Measure.VALUE for limit in self.limits)

    def answers(self, *, autonomous: bool) -> OnRefusal:
        """Who answers a refusal: by default code for writes, and the model for reads and for autonomous identities."""
        if self.on_refusal is not None:
            return self.on_refusal
        return OnRefusal.MODEL if autonomous or self.effect is ToolEffect.READ else OnRefusal.CODE


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    token: Expandable
    tools: frozenset[str] | None  # folded names; None: every tool
    origin: Origin
    autonomous: bool = False  # no person reads along: its refusals go to the model
    hold_text: bool = False  # its text waits until it is known that it claims nothing that was not done


class SessionSource(Enum):
    JWT = "jwt"
    HMAC = "hmac"


@dataclass(frozen=True, slots=True)
class SessionField:
    """A field of the signed subject. `at` are the keys in the token's claims or the signed JSON."""

    name: str
    source: SessionSource
    at: tuple[str, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Policy:
    """One revision of one policy. `revision` is the SHA-256 hex of the text of its files."""

    name: str
    owner: str
    mode: Mode
    time_zone: ZoneInfo | None
    unknown_tools: UnknownTools
    pass_types: frozenset[str]
    policy_stale_seconds_max: Decimal
    identities: Mapping[str, Identity]
    session: Mapping[str, SessionField]
    reasons: Mapping[str, Reason]
    constants: Mapping[str, Value]
    facts: Mapping[str, Fact]
    tools: Mapping[str, Tool]  # by folded name
    unknown_tool: Tool  # what `defaults` say of a tool that is not named
    files: tuple[Path, ...]
    revision: str
    unknown_results: UnknownResults = UnknownResults.PASS
    constant_origins: Mapping[str, Origin] = field(default_factory=dict)
    cases: Cases | None = None
    reply_language: ReplyLanguage | None = None  # None: English
    not_user: tuple[Pattern, ...] = ()  # beside the built-in ones: what of a user's text is not the user's own
    structured: Mapping[str, Structured] = field(default_factory=dict)  # by the name of a schema
    text_calls: TextCalls = TextCalls.PASS
    claims: Mapping[str, tuple[Pattern, ...]] = field(default_factory=dict)  # by folded tool name
    provider_tools: Mapping[str, ProviderTool] = field(default_factory=dict)  # by folded name
    people: People = field(default_factory=People)
    history: HistoryRules = NO_RULES

    def tool(self, name: str) -> Tool | None:
        return self.tools.get(folded(name))

    @property
    def reads_history(self) -> bool:
        """Whether any decision, or what is looked for in a text, reads the conversation."""
        if self.claims:
            return True
        if self.cases is not None and isinstance(self.cases.source, CaseOfTool):
            return True
        if any(tool.confirm is not None for tool in self.tools.values()):
            return True
        arguments = [argument for tool in self.tools.values() for argument in (tool.arguments or {}).values()]
        return any(map(has_sources, arguments))
