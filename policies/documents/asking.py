"""The keys by which a tool asks (`confidence`, `confirm`), and `reply_language`, in which the customer is answered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import re2

from policies.asking import CLARIFY_BELOW, ESCALATE_BELOW, Confidence, Confirm, ReplyLanguage, Whose
from policies.documents import keys
from policies.nodes import ScalarNode
from policies.values import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from policies.documents.rules import Place
    from policies.expressions import Expression
    from policies.model import Argument, Tool
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems
    from policies.values import Type

LANGUAGE_TAG: Final = re2.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")

_SESSION: Final = "session."


def with_asking(tool: Tool, mapping: MappingNode, place: Place, problems: Problems) -> Tool:
    """The tool with what it asks."""
    with problems.collect():
        if (node := mapping.get("confidence")) is not None:
            tool = replace(tool, confidence=read_confidence(node, place))
    with problems.collect():
        if (node := mapping.get("confirm")) is not None:
            tool = replace(tool, confirm=read_confirm(node, tool.arguments, place))
    return tool


def read_confidence(node: Node, place: Place) -> Confidence:
    """`args.confidence`, or a mapping with its bounds."""
    if isinstance(node, ScalarNode):
        return Confidence(_value(node, place))
    mapping = node.mapping()
    mapping.check_keys(keys.CONFIDENCE, keys.LATER)
    value = _value(mapping.require("value"), place)
    clarify = _bound(mapping, "clarify_below", CLARIFY_BELOW)
    escalate = _bound(mapping, "escalate_below", ESCALATE_BELOW)
    if escalate > clarify:
        mapping.fail(f"'escalate_below' ({escalate}) is above 'clarify_below' ({clarify}): nothing would be asked")
    return Confidence(value, clarify, escalate)


def _value(node: Node, place: Place) -> Expression:
    value = place.expression(node)
    if value.type.kind not in (Kind.NUMBER, Kind.ANY):
        node.fail(f"a confidence is a number from 0 to 1, this is a {value.type.kind.value}")
    if not any(path[0] == "args" for path in value.paths):
        node.fail("a confidence is what the model declares: an argument such as args.confidence")
    return value


def _bound(mapping: MappingNode, key: str, default: Decimal) -> Decimal:
    node = mapping.get(key)
    if node is None:
        return default
    bound = node.number()
    if not 0 <= bound <= 1:
        node.fail(f"must be from 0 to 1, got {node.described}")
    return bound


def read_confirm(node: Node, arguments: Mapping[str, Argument] | None, place: Place) -> Confirm:
    """`user`, or a mapping that says when. What is asked states the arguments, so that they must be declared."""
    if isinstance(node, ScalarNode):
        confirm = Confirm(node.choice(Whose))
    else:
        mapping = node.mapping()
        mapping.check_keys(keys.CONFIRM, keys.LATER)
        when = mapping.require("when")
        confirm = Confirm(when=place.condition(when))
    if arguments is None:
        node.fail("the question states the arguments: declare them in `arguments`")
    return confirm


def read_reply_language(node: Node, session: Mapping[str, Type]) -> ReplyLanguage:
    """`session.language`, or a language tag."""
    text = node.text()
    if not text.startswith(_SESSION):
        if not LANGUAGE_TAG.fullmatch(text):
            node.fail(f"{text!r} is neither a field of `session` nor a language tag such as en or pt-BR")
        return ReplyLanguage(tag=text)
    name = text.removeprefix(_SESSION)
    if name not in session:
        node.fail(f"{text!r} is not declared")
    if session[name].kind not in (Kind.STRING, Kind.ANY):
        node.fail(f"a language is a text, {text} is a {session[name].kind.value}")
    return ReplyLanguage(field=name)
