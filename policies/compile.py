"""From the tree of a document to a `Policy`: reads each section, puts them into relation, collects all problems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from policies.approvals import PassedOn
from policies.documents import keys
from policies.documents.asking import read_reply_language
from policies.documents.cases import Governed, read_cases
from policies.documents.claims import read_claims
from policies.documents.escalate_with import read_escalate_with
from policies.documents.facts import read_facts
from policies.documents.foreign import read_provider_tools
from policies.documents.guards import GuardScope, read_not_user
from policies.documents.handoff import read_handoff
from policies.documents.history import read_history
from policies.documents.people import read_people
from policies.documents.replies import check_missing, present, read_replies
from policies.documents.scalars import label, time_zone
from policies.documents.sections import read_constants, read_identities, read_reasons, read_session
from policies.documents.texts import read_structured, spellings
from policies.documents.tools import Defaults, Placed, Surroundings, read_defaults, read_tools
from policies.foreign import UnknownResults
from policies.matrix import Matrix
from policies.model import Mode, Policy, Tool, ToolEffect, UnknownTools
from policies.problems import DocumentError, Problems
from policies.texts import TextCalls
from policies.values import ANY, Type, record_of, type_of_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from policies.approvals import People
    from policies.asking import ReplyLanguage
    from policies.escalate_with import EscalateWith
    from policies.foreign import ProviderTool
    from policies.lists import Lists
    from policies.model import Fact, Identity, Origin, Reason, SessionField
    from policies.nodes import MappingNode, Node
    from policies.patterns import Pattern
    from policies.texts import Structured
    from policies.upkeep import HistoryRules
    from policies.values import Value

LANGUAGE = 1
STALE_SECONDS = Decimal(60)
STALE_SECONDS_MAX = Decimal(86_400)

T = TypeVar("T")


class PolicyError(DocumentError):
    """A policy that cannot be put in force. `str()` gives one `file:line: path: message` a line."""


def compile_policy(
    root: MappingNode, folder: Path, files: tuple[Path, ...], revision: str, lists: Lists | None = None
) -> Policy:
    """The policy that `root` states, or `PolicyError` with all problems. Relative paths start at `folder`."""
    problems = Problems()
    head = _head(root, problems)
    settings = _settings(head)
    parts = _parts(head, folder, settings.unknown_tools, lists)
    spoken = _spoken(head, parts, closed=settings.unknown_tools is not UnknownTools.ALLOW)
    if problems:
        raise PolicyError(problems.found)
    return Policy(
        **settings._asdict(),
        identities=parts.identities,
        session=present(parts.session),
        reasons=parts.replies,
        constants=present(parts.constants),
        facts=present(parts.facts),
        tools={key: placed.tool for key, placed in present(parts.tools).items()},
        unknown_tool=_unknown_tool(parts),
        cases=None if parts.governed is None else parts.governed.cases,
        files=files,
        revision=revision,
        constant_origins=_origins(root.get("constants")),
        **spoken._asdict(),
    )


def _head(root: MappingNode, problems: Problems) -> _Sections:
    with problems.collect():
        root.check_keys(keys.TOP, keys.LATER)
    head = _Sections(root, problems)
    head.read("language", _language, LANGUAGE, required=True)
    return head


class _Settings(NamedTuple):
    """The keys that hold one value each."""

    name: str
    owner: str
    mode: Mode
    time_zone: ZoneInfo | None
    unknown_tools: UnknownTools
    unknown_results: UnknownResults
    pass_types: frozenset[str]
    text_calls: TextCalls
    policy_stale_seconds_max: Decimal


class _Parts(NamedTuple):
    """The sections of named entries. None is an entry that is among the problems."""

    session: dict[str, SessionField | None]
    constants: dict[str, Value | None]
    facts: dict[str, Fact | None]
    defaults: Defaults
    tools: dict[str, Placed | None]
    identities: dict[str, Identity]
    replies: dict[str, Reason]
    governed: Governed | None
    escalate_with: EscalateWith | None  # of a tool that is not named
    around: Surroundings


class _Spoken(NamedTuple):
    """The sections about what is said and done beside calls."""

    reply_language: ReplyLanguage | None
    not_user: tuple[Pattern, ...]
    structured: dict[str, Structured]
    claims: dict[str, tuple[Pattern, ...]]
    provider_tools: dict[str, ProviderTool]
    people: People
    history: HistoryRules


def _spoken(sections: _Sections, parts: _Parts, *, closed: bool) -> _Spoken:
    problems = sections.problems
    no_patterns: tuple[Pattern, ...] = ()
    session = {name: field.type for name, field in present(parts.session).items()}
    handoff = partial(read_handoff, around=parts.around, problems=problems)
    return _Spoken(
        sections.read("reply_language", lambda node: read_reply_language(node, session), None),
        sections.read("not_user", lambda node: read_not_user(node, problems), no_patterns),
        sections.entries("structured", lambda node: read_structured(node, parts.tools, problems)),
        sections.entries("claims", lambda node: read_claims(node, spellings(parts.tools), problems)),
        sections.entries("provider_tools", lambda node: read_provider_tools(node, problems)),
        read_people(sections, spellings(parts.tools), parts.identities, handoff, closed=closed),
        read_history(sections.root, problems),
    )


def _settings(sections: _Sections) -> _Settings:
    no_types: frozenset[str] = frozenset()
    return _Settings(
        name=sections.read("policy", lambda node: node.convert(label), "", required=True),
        owner=sections.read("owner", lambda node: node.text(), ""),
        mode=sections.read("mode", lambda node: node.choice(Mode, later=("shadow",)), Mode.ENFORCE),
        time_zone=sections.read("time_zone", lambda node: node.convert(time_zone), None),
        unknown_results=sections.read("unknown_results", lambda node: node.choice(UnknownResults), UnknownResults.PASS),
        unknown_tools=sections.read("unknown_tools", lambda node: node.choice(UnknownTools), UnknownTools.FORBID),
        pass_types=sections.read(
            "pass_types", lambda node: frozenset(item.text() for item in node.sequence()), no_types
        ),
        text_calls=sections.read("text_calls", lambda node: node.choice(TextCalls), TextCalls.PASS),
        policy_stale_seconds_max=sections.read("policy_stale_seconds_max", _stale_seconds, STALE_SECONDS),
    )


def _parts(sections: _Sections, folder: Path, unknown_tools: UnknownTools, lists: Lists | None) -> _Parts:
    """Each section is read where what it refers to is known."""
    problems = sections.problems
    session = sections.entries("session", lambda node: read_session(node, problems))
    constants = sections.entries("constants", lambda node: read_constants(node, problems))
    facts = sections.entries("facts", lambda node: read_facts(node, folder, problems))
    reasons = sections.entries("reasons", lambda node: read_reasons(node, problems))
    around = Surroundings(
        _session_type(session) if "session" in sections.root else None,
        _constants_type(constants) if "constants" in sections.root else None,
        facts,
        reasons,
        has_time_zone="time_zone" in sections.root,
        guards=GuardScope(reasons, constants, lists=lists),
    )
    sections.read("facts", lambda node: check_missing(node.mapping(), facts, around, problems), None)
    defaults = sections.read("defaults", lambda node: read_defaults(node, around, problems), Defaults())
    tools = sections.entries("tools", lambda node: read_tools(node, around, defaults, problems))
    closed = unknown_tools is not UnknownTools.ALLOW
    identities = sections.entries(
        "identities", lambda node: read_identities(node, spellings(tools), problems, closed=closed)
    )
    governed = sections.read("cases", lambda node: read_cases(node, around, tools, len(defaults.rules), problems), None)
    tools = tools if governed is None else governed.tools
    tools, hands = read_escalate_with(sections.root, tools, problems)
    replies = read_replies(present(reasons), present(tools).values(), around, defaults, problems)
    return _Parts(session, constants, facts, defaults, tools, identities, replies, governed, hands, around)


@dataclass(frozen=True, slots=True)
class _Sections:
    """The top of the document; what a section does wrong is collected, and a default stands in its place."""

    root: MappingNode
    problems: Problems

    def read(self, key: str, read: Callable[[Node], T], default: T, *, required: bool = False) -> T:
        with self.problems.collect():
            node = self.root.require(key) if required else self.root.get(key)
            if node is not None:
                return read(node)
        return default

    def entries(self, key: str, read: Callable[[Node], dict[str, T]]) -> dict[str, T]:
        nothing: dict[str, T] = {}
        return self.read(key, read, nothing)


def _language(node: Node) -> int:
    if node.number() != LANGUAGE:
        node.fail(f"this version reads language {LANGUAGE}, got {node.described}")
    return LANGUAGE


def _stale_seconds(node: Node) -> Decimal:
    seconds = node.number()
    if not 0 <= seconds <= STALE_SECONDS_MAX:
        node.fail(f"must be from 0 to {STALE_SECONDS_MAX}, got {node.described}")
    return seconds


def _session_type(session: Mapping[str, SessionField | None]) -> Type:
    return record_of({name: ANY if field is None else field.type for name, field in session.items()})


def _constants_type(constants: Mapping[str, Value | None]) -> Type:
    return record_of({name: ANY if value is None else type_of_value(value) for name, value in constants.items()})


def _origins(section: Node | None) -> dict[str, Origin]:
    return {} if section is None else {name: section.mapping().origin_of(name) for name in section.mapping().entries}


def _unknown_tool(parts: _Parts) -> Tool:
    defaults, cases = parts.defaults, None if parts.governed is None else parts.governed.cases
    tool = Tool("", defaults.effect, defaults.on_refusal, {}, None, defaults.rules, defaults.escalation, None)
    tool = replace(tool, batch=defaults.batch, passed_on=PassedOn(escalate_with=parts.escalate_with))
    tool = replace(tool, limits=defaults.limits, settle_within=defaults.settle_within, egress=defaults.egress)
    return tool if cases is None or tool.effect is ToolEffect.READ else replace(tool, matrix=Matrix(cases))
