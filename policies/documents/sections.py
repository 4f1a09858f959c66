"""The small sections of a policy: `constants`, `session`, `identities` and `reasons`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.documents import keys
from policies.documents.asking import LANGUAGE_TAG
from policies.documents.scalars import code, dotted_path, expandable, identifier, label, simple_type
from policies.model import Category, Identity, Origin, SessionField, SessionSource, folded
from policies.nodes import ScalarNode, SequenceNode, suggestion
from policies.system_reasons import SYSTEM_REASONS
from policies.values import STRING, Value, parse_literal, type_of_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.nodes import Node
    from policies.problems import Problems

PLAIN_REPLY = "und"
"""The language tag of a reply that names none: ISO 639's code for an undetermined language."""


def read_constants(section: Node, problems: Problems) -> dict[str, Value | None]:
    """Every constant by its name; None for one that is among the problems."""
    found: dict[str, Value | None] = {}
    for name, node in section.mapping().entries.items():
        found[name] = None
        with problems.collect():
            node.apply(identifier, name)
            found[name] = _constant(node)
    return found


def _constant(node: Node) -> Value:
    if isinstance(node, SequenceNode):
        items = tuple(_literal(item) for item in node.items)
        if not items:
            node.fail("an empty list has no type")
        if len({(type_of_value(item).kind, type_of_value(item).currency) for item in items}) > 1:
            node.fail("the items of a list are of one type")
        return items
    return _literal(node)


def _literal(node: Node) -> Value:
    """Only a plain text can be money, a duration or a date: what is quoted is a string."""
    if isinstance(node, ScalarNode) and not node.plain:
        return node.text()
    value = node.value()
    if not isinstance(value, str):
        return value
    literal = node.apply(parse_literal, value)
    return value if literal is None else literal


def read_session(section: Node, problems: Problems) -> dict[str, SessionField | None]:
    """Every field of the signed subject by its name; None for one that is among the problems."""
    found: dict[str, SessionField | None] = {}
    first: SessionSource | None = None
    for name, node in section.mapping().entries.items():
        found[name] = None
        with problems.collect():
            node.apply(identifier, name)
            mapping = node.mapping()
            mapping.check_keys(keys.SESSION_FIELD, keys.LATER)
            sources = [source for source in SessionSource if source.value in mapping]
            if len(sources) != 1:
                mapping.fail("a session field has one source: either `jwt` or `hmac`")
            if first is not None and first is not sources[0]:
                mapping.fail(
                    f"one policy reads one header: `jwt` and `hmac` cannot both be used ({first.value} is above)"
                )
            first = sources[0]
            declared = mapping.get("type")
            at = mapping.require(sources[0].value).convert(dotted_path)
            found[name] = SessionField(name, sources[0], at, STRING if declared is None else simple_type(declared))
    return found


def read_identities(
    section: Node, tools: Mapping[str, str], problems: Problems, *, closed: bool
) -> dict[str, Identity]:
    """`tools` are the policy's: the spelling of each by its folded name. `closed`: an identity may name no others."""
    found: dict[str, Identity] = {}
    tokens: dict[str, str] = {}
    for name, node in section.mapping().entries.items():
        with problems.collect():
            node.apply(label, name)
            mapping = node.mapping()
            with problems.collect():
                mapping.check_keys(keys.IDENTITY, keys.LATER)
            token = expandable(mapping.require("token"))
            if token.source in tokens:
                mapping.require("token").fail(
                    f"has the same token as {tokens[token.source]!r}: they cannot be told apart"
                )
            tokens[token.source] = name
            listed = mapping.get("tools")
            allowed = None if listed is None else identity_tools(listed, tools, problems, closed=closed)
            autonomous = mapping.get("autonomous")
            is_autonomous = autonomous is not None and autonomous.boolean()
            hold_text = mapping.get("hold_text")
            holds_text = hold_text is not None and hold_text.boolean()
            found[name] = Identity(name, token, allowed, mapping.origin, is_autonomous, holds_text)
    return found


def identity_tools(node: Node, tools: Mapping[str, str], problems: Problems, *, closed: bool) -> frozenset[str]:
    """The folded names of the tools that somebody may use."""
    allowed: set[str] = set()
    for item in node.sequence():
        with problems.collect():
            name = item.text()
            if closed and folded(name) not in tools:
                item.fail(f"the policy has no tool {name!r}{suggestion(name, tools.values())}")
            if folded(name) in allowed:
                item.fail(f"the tool {name!r} stands here twice")
            allowed.add(folded(name))
    return frozenset(allowed)


@dataclass(frozen=True, slots=True)
class ReasonText:
    """A reason before its replies are compiled. `replies` are the nodes of the texts by language tag."""

    code: str
    category: Category
    replies: Mapping[str, Node]
    origin: Origin


def read_reasons(section: Node, problems: Problems) -> dict[str, ReasonText | None]:
    """The reasons that the policy names, the system's among them; None for one that is among the problems."""
    found: dict[str, ReasonText | None] = {}
    for name, node in section.mapping().entries.items():
        found[name] = None
        with problems.collect():
            node.apply(code, name)
            mapping = node.mapping()
            system = SYSTEM_REASONS.get(name)
            if system is not None and "category" in mapping:
                mapping.fail(f"{name!r} is a reason of the system: a policy may give it a `reply` and nothing else")
            mapping.check_keys(keys.REASON if system is None else keys.SYSTEM_REASON, keys.LATER)
            category = mapping.require("category").choice(Category) if system is None else system.category
            reply = mapping.get("reply")
            found[name] = ReasonText(name, category, {} if reply is None else _replies(reply), mapping.origin)
    return found


def _replies(node: Node) -> dict[str, Node]:
    if isinstance(node, ScalarNode):
        node.text()
        return {PLAIN_REPLY: node}
    replies = node.mapping().entries
    if not replies:
        node.fail("expected a text, or a text a language")
    for tag, reply in replies.items():
        if not LANGUAGE_TAG.fullmatch(tag):
            reply.fail(f"{tag!r} is no language tag such as en or pt-BR")
        reply.text()
    return dict(replies)
