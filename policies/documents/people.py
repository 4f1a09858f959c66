"""The `approvals` and `operators` sections, and what a tool says of calls that are passed to people."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import re2

from policies.approvals import Approvals, OnApproval, Operator, OperatorKind, PassedOn, People
from policies.documents import keys
from policies.documents.limits import duration
from policies.documents.scalars import expandable, label
from policies.documents.sections import identity_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from policies.handoff import Handoff
    from policies.model import Identity, Tool
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems

T = TypeVar("T")

QUORUM_MAX: Final = 16
OPEN_MAX: Final = 100_000
WITHIN_MAX: Final = timedelta(days=90)
_PERSON: Final = re2.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")


def read_approvals(section: Node, problems: Problems) -> Approvals:
    """Who approves, how many, how long. What is wrong with one key leaves the others as they are."""
    mapping = section.mapping()
    with problems.collect():
        mapping.check_keys(keys.APPROVALS, keys.LATER)
    found = Approvals()
    with problems.collect():
        if (node := mapping.get("approvers")) is not None:
            found = replace(found, approvers=_approvers(node))
    with problems.collect():
        if (node := mapping.get("quorum")) is not None:
            found = replace(found, quorum=node.integer(1, QUORUM_MAX))
    with problems.collect():
        if (node := mapping.get("answer_within")) is not None:
            found = replace(found, answer_within=duration(node, WITHIN_MAX))
    with problems.collect():
        if (node := mapping.get("valid_for")) is not None:
            found = replace(found, valid_for=duration(node, WITHIN_MAX))
    with problems.collect():
        if (node := mapping.get("open_max")) is not None:
            found = replace(found, open_max=node.integer(1, OPEN_MAX))
    with problems.collect():
        if found.approvers is not None and found.quorum > len(found.approvers):
            mapping.fail(f"{found.quorum} approvals are asked for, and there are {len(found.approvers)} approvers")
    return found


class Sections(Protocol):
    """The top of a document, of which a section may be missing."""

    @property
    def problems(self) -> Problems: ...

    def read(self, key: str, read: Callable[[Node], T], default: T, *, required: bool = False) -> T: ...


def read_people(
    sections: Sections,
    tools: Mapping[str, str],
    identities: Mapping[str, Identity],
    read_handoff: Callable[[Node], Handoff],
    *,
    closed: bool,
) -> People:
    """All sections. `tools` are spellings by folded names; `closed`: an operator may name no others."""
    problems = sections.problems
    nobody: dict[str, Operator] = {}
    no_words: Handoff | None = None
    return People(
        sections.read("approvals", lambda node: read_approvals(node, problems), Approvals()),
        sections.read(
            "operators", lambda node: read_operators(node, tools, identities, problems, closed=closed), nobody
        ),
        sections.read("handoff", read_handoff, no_words),
    )


def _approvers(node: Node) -> tuple[str, ...]:
    names: list[str] = []
    for item in node.sequence():
        name = item.text()
        if not _PERSON.fullmatch(name):
            item.fail(f"{name!r} is no name of a person: lower case letters, digits, and - _ between them")
        if name in names:
            item.fail(f"{name!r} stands here twice")
        names.append(name)
    if not names:
        node.fail("names nobody: leave it out, and every reviewer approves")
    return tuple(names)


def read_operators(
    section: Node,
    tools: Mapping[str, str],
    identities: Mapping[str, Identity],
    problems: Problems,
    *,
    closed: bool,
) -> dict[str, Operator]:
    """Who proposes calls through the admin listener. `tools` are spellings by folded names, `closed` as for agents."""
    found: dict[str, Operator] = {}
    tokens = {one.token.source: name for name, one in identities.items()}
    for name, node in section.mapping().entries.items():
        with problems.collect():
            node.apply(label, name)
            mapping = node.mapping()
            with problems.collect():
                mapping.check_keys(keys.OPERATOR, keys.LATER)
            if name in identities:
                mapping.fail(f"{name!r} is an identity too: what is kept for the two could not be told apart")
            token = expandable(mapping.require("token"))
            if token.source in tokens:
                mapping.require("token").fail(
                    f"has the same token as {tokens[token.source]!r}: they cannot be told apart"
                )
            tokens[token.source] = name
            kind = mapping.get("kind")
            listed = mapping.get("tools")
            allowed = None if listed is None else identity_tools(listed, tools, problems, closed=closed)
            given = OperatorKind.OPERATOR if kind is None else kind.choice(OperatorKind)
            found[name] = Operator(name, given, token, allowed)
    return found


def with_passed_on(tool: Tool, mapping: MappingNode, problems: Problems) -> Tool:
    """The tool with what it says of calls that are passed to people."""
    on_approval = OnApproval.NEXT_TIME
    with problems.collect():
        if (node := mapping.get("on_approval")) is not None:
            on_approval = node.choice(OnApproval)
            if on_approval is OnApproval.DELIVER and tool.confirm is not None:
                node.fail("a delivered call needs nobody but the people who approve it: `confirm` asks the customer")
    return replace(tool, passed_on=PassedOn(on_approval))
