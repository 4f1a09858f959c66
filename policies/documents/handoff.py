"""The `handoff` section: in which words customers ask for a person, and what people get with such a case."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import re2

from policies.documents import keys
from policies.documents.asking import LANGUAGE_TAG
from policies.documents.rules import read_escalation
from policies.documents.tools import read_uses
from policies.documents.upkeep import gather_of
from policies.handoff import Handoff, Spoken
from policies.handoff_words import LANGUAGES
from policies.model import Tool, ToolEffect
from policies.nodes import MappingNode, listed
from policies.upkeep import Upkeep
from policies.values import record_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from policies.documents.tools import Surroundings
    from policies.model import FactUse
    from policies.nodes import Node
    from policies.problems import Problems
    from policies.templates import Template
    from policies.values import Type

PHRASES_MAX: Final = 200
PHRASE_LENGTH_MAX: Final = 100
_LETTER: Final = re2.compile(r"[\p{L}\p{N}]")


def read_handoff(section: Node, around: Surroundings, problems: Problems) -> Handoff:
    """The section; what is wrong with one key leaves the others as they are."""
    mapping = section.mapping()
    with problems.collect():
        mapping.check_keys(keys.HANDOFF, keys.LATER)
    languages = tuple(LANGUAGES)
    named: frozenset[str] = frozenset()
    with problems.collect():
        if (node := mapping.get("languages")) is not None:
            languages = _languages(node)
            named = frozenset(languages)
    own: dict[str, Spoken] = {}
    with problems.collect():
        if (node := mapping.get("phrases")) is not None:
            own = _phrases(node.mapping(), languages, problems)
    spoken = {tag: own.get(tag, Spoken()) for tag in languages} | own
    return Handoff(spoken, named.union(own), _case(mapping, around, problems), mapping.origin)


def _languages(node: Node) -> tuple[str, ...]:
    found: list[str] = []
    for item in node.sequence():
        tag = item.text()
        if tag not in LANGUAGES:
            item.fail(f"there are no built-in words of {tag!r}, but of {listed(list(LANGUAGES))}: give `phrases` of it")
        if tag in found:
            item.fail(f"{tag!r} stands here twice")
        found.append(tag)
    return tuple(found)


def _phrases(mapping: MappingNode, built_in: Collection[str], problems: Problems) -> dict[str, Spoken]:
    """By language: a list stands beside the built-in words, where those count, `only:` in their place."""
    found: dict[str, Spoken] = {}
    for tag, node in mapping.entries.items():
        with problems.collect():
            if not LANGUAGE_TAG.fullmatch(tag):
                node.fail(f"{tag!r} is no language tag such as en or pt-BR")
            if isinstance(node, MappingNode):
                node.check_keys(keys.PHRASES, keys.LATER)
                found[tag] = Spoken(_listed(node.require("only")), built_in=False)
            else:
                found[tag] = Spoken(_listed(node), built_in=tag in built_in)
    return found


def _listed(node: Node) -> tuple[str, ...]:
    phrases: list[str] = []
    items = node.sequence()
    if not 0 < len(items) <= PHRASES_MAX:
        node.fail(f"expected 1 to {PHRASES_MAX} phrases")
    for item in items:
        phrase = item.text()
        if len(phrase) > PHRASE_LENGTH_MAX or "|" in phrase or not _LETTER.search(phrase):
            item.fail(f"a phrase is words, at most {PHRASE_LENGTH_MAX} characters, got {phrase!r}")
        if phrase in phrases:
            item.fail(f"{phrase!r} stands here twice")
        phrases.append(phrase)
    return tuple(phrases)


def _case(mapping: MappingNode, around: Surroundings, problems: Problems) -> Tool:
    """What is read for the case and what its summary says: there are no arguments, so facts hang on `session`."""
    uses: dict[str, FactUse] = {}
    roots: dict[str, Type] = {}
    summary: dict[str, Template] = {}
    arguments = record_of({})
    with problems.collect():
        if (node := mapping.get("facts")) is not None:
            uses, roots = read_uses(node.mapping(), arguments, around, problems)
    escalation = mapping.get("escalation")
    with problems.collect():
        if escalation is not None:
            place = around.place(arguments, roots, "`handoff` does not map this fact, add it to its `facts`")
            summary = read_escalation(escalation.mapping(), place, problems)
    case = Tool("", ToolEffect.READ, None, uses, None, (), summary, mapping.origin)
    return replace(case, upkeep=Upkeep(gather=gather_of(escalation)))
