"""A policy after loading: frozen, compiled, and complete. What a decision reads; it knows no YAML and no file but where
it stands.

Every mapping keeps the order of the file. Names of tools are as the policy spells them; `Policy.tool` finds them
folded.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from policies.expressions import Expression
    from policies.patterns import Pattern
    from policies.secrets import Expandable
    from policies.templates import Template
    from policies.values import Type, Unit, Value


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
    CODE = "code"


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

    `type` is what the value becomes in expressions. `one_of` holds the allowed spellings. `money_unit` is None but for
    money, whose wire value is a number in that unit and never carries a currency of its own.
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
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class FactField:
    """A value that may be read from a fact. `path` are the keys from the top of its JSON document."""

    name: str
    path: tuple[str, ...]
    type: Type
    money_unit: Unit | None = None
    money_currency: str | None = None
    timestamp: bool = False  # an ISO 8601 text with an offset


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
    """How a tool reads a fact: `key` is a path into args, session or another fact of the same tool.

    `many` where the path holds `[*]`: the fact is then a list, one record a key.
    """

    fact: str
    key: Expression
    many: bool


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    effect: ToolEffect
    on_refusal: OnRefusal
    facts: Mapping[str, FactUse]  # in the order in which they can be read
    arguments: Mapping[str, Argument] | None  # None: the request's own schema speaks alone
    rules: tuple[Rule, ...]
    escalation: Mapping[str, Template]
    origin: Origin | None  # None for a tool that only `defaults` describe


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    token: Expandable
    tools: frozenset[str] | None  # folded names; None: every tool
    origin: Origin


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
    constant_origins: Mapping[str, Origin] = field(default_factory=dict)

    def tool(self, name: str) -> Tool | None:
        return self.tools.get(folded(name))


def folded(name: str) -> str:
    """Names that differ only in case, width or separators are one tool (DESIGN 4, stage 1)."""
    kept = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in kept if character not in "._-" and not character.isspace())
