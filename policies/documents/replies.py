"""Replies of reasons, compiled for every tool that may give them, and the reasons that facts name."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

from policies.documents.guards import guard_reasons
from policies.documents.limits import reasons_of
from policies.documents.tools import Defaults, Placed, Surroundings, default_place
from policies.expressions import dotted
from policies.model import Reason
from policies.problems import DocumentError, Problem
from policies.system_reasons import SYSTEM_REASONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from policies.documents.rules import Place
    from policies.documents.sections import ReasonText
    from policies.model import Fact
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems
    from policies.templates import Template
    from policies.values import Type

T = TypeVar("T")


def present(entries: Mapping[str, T | None]) -> dict[str, T]:
    """The entries that could be read."""
    return {name: entry for name, entry in entries.items() if entry is not None}


def check_missing(
    section: MappingNode, facts: Mapping[str, Fact | None], around: Surroundings, problems: Problems
) -> None:
    """Refuse a fact whose `missing` names a reason that is not declared."""
    place = default_place(around)
    for name, fact in present(facts).items():
        missing = section.require(name).mapping().get("missing")
        with problems.collect():
            if missing is not None and fact.missing[0].value in missing.mapping():
                place.reason(missing.mapping().require(fact.missing[0].value))


def read_replies(
    reasons: Mapping[str, ReasonText],
    tools: Iterable[Placed],
    around: Surroundings,
    defaults: Defaults,
    problems: Problems,
) -> dict[str, Reason]:
    """Every reason with its replies. One that reads what a tool giving it does not have is a problem."""
    everywhere = default_place(around)
    tools = list(tools)
    users = _users(tools, everywhere, around, defaults)
    found: dict[str, Reason] = {}
    for code, text in reasons.items():
        # One that nothing uses must still be a reply that some tool could give.
        places = users[code] or [(placed.tool.name, placed.place) for placed in tools] or [("", everywhere)]
        replies: dict[str, Template] = {}
        for tag, node in text.replies.items():
            with problems.collect():
                replies[tag] = _reply(node, places, every=bool(users[code]))
        found[code] = Reason(code, text.category, replies, text.origin)
    return found


def _users(
    tools: Iterable[Placed], everywhere: Place, around: Surroundings, defaults: Defaults
) -> defaultdict[str, list[tuple[str, Place]]]:
    """Who may answer with a reason: tools by name, and "" for every tool at once."""
    users: defaultdict[str, list[tuple[str, Place]]] = defaultdict(list)
    for code in (*SYSTEM_REASONS, *_defaults_reasons(defaults)):
        users[code].append(("", everywhere))
    for placed in tools:
        own = [rule.reason for rule in placed.tool.rules if rule not in defaults.rules]
        limits = [limit for limit in placed.tool.limits if limit not in defaults.limits]
        own += reasons_of(limits, placed.tool.once_per)
        own += guard_reasons(placed.tool)
        own += [placed.tool.fee_schedule.reason] if placed.tool.fee_schedule is not None else []
        own += [rule.reason for rule in placed.tool.matrix.rules] if placed.tool.matrix is not None else []
        missing = [fact.missing[1] for name in placed.tool.facts if (fact := around.facts[name]) is not None]
        for code in dict.fromkeys([*own, *missing]):
            if code not in SYSTEM_REASONS:
                users[code].append((placed.tool.name, placed.place))
    return users


def _defaults_reasons(defaults: Defaults) -> list[str]:
    found = [rule.reason for rule in defaults.rules] + list(reasons_of(defaults.limits, None))
    return found if defaults.egress is None else [*found, defaults.egress.reason]


def _reply(node: Node, places: list[tuple[str, Place]], *, every: bool) -> Template:
    """The reply, compiled for every tool that may give it: what it reads must be there, and of one type, in each."""
    first: tuple[str, Template, dict[str, Type]] | None = None
    failures: list[DocumentError] = []
    for tool, place in places:
        try:
            template = place.template(node)
        except DocumentError as error:
            failures.append(_named(error, tool))
            continue
        types = {dotted(path): place.scope.type_of(path) for path in template.paths}
        if first is None:
            first = (tool, template, types)
        elif every and (path := next((path for path in types if types[path].kind is not first[2][path].kind), "")):
            node.fail(f"the reply reads {path}, which has one type in {first[0]!r} and another in {tool!r}")
    if first is None or (every and failures):
        raise failures[0]
    return first[1]


def _named(error: DocumentError, tool: str) -> DocumentError:
    user = f"for the tool {tool!r}" if tool else "for every tool"
    return DocumentError(
        tuple(Problem(one.origin, one.path, f"{one.message}, as a reply {user}") for one in error.problems)
    )
