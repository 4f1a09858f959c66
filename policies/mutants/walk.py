"""Every mutant of a document: by the keys of the policy language, which are what a wrong edit would touch.

What a suite cannot see has no mutant, and stands in `tables.UNSEEN` with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from policies.documents import keys
from policies.mutants.edits import Edit, put, scalar, shown
from policies.mutants.reasons import categories
from policies.mutants.siblings import siblings
from policies.mutants.spellings import ANYTHING, amounts, expressions, patterns, texts
from policies.mutants.tables import (
    AMOUNTS,
    CHOICES,
    DROPPED,
    ENTRIES,
    EXPRESSIONS,
    LISTS,
    NAMED,
    OF_ARGUMENTS,
    OTHERS,
    UNSEEN,
)
from policies.nodes import MappingNode, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from policies.mutants.edits import Steps
    from policies.nodes import Node


def edits(root: MappingNode) -> Iterator[Edit]:
    """Every edit that may make a mutant, each name once; many of them make no policy that loads."""
    seen: set[str] = set()
    for edit in (*_below(root, ()), *categories(root), *siblings(root)):
        if edit.name not in seen:
            seen.add(edit.name)
            yield edit


def _below(node: Node, steps: Steps) -> Iterator[Edit]:
    if isinstance(node, MappingNode):
        yield from _of_mapping(node, steps)
        for key, inner in node.entries.items():
            if not _is_silent(key, steps):
                place = _Place(inner, (*steps, key), key)
                yield from _of_value(place)
                yield from _below(inner, (*steps, key))
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            yield from _below(item, (*steps, index))


def _is_silent(key: str, steps: Steps) -> bool:
    # A tool, an argument or a constant may be named like a key.
    named = bool(steps) and steps[-1] in NAMED
    if key == "list":
        return "arguments" not in steps and not named
    return key in UNSEEN and not named


@dataclass(frozen=True, slots=True)
class _Place:
    node: Node
    steps: Steps
    key: str

    def other(self, spelling: str) -> Edit:
        node = scalar(self.node, spelling, plain=not isinstance(self.node, ScalarNode) or self.node.plain)
        return Edit(f"{self.node.path}: {shown(self.node)} -> {shown(node)}", self.steps, node, self.node.origin)

    def dropped(self) -> Edit:
        return Edit(f"{self.node.path}: without {shown(self.node)}", self.steps, None, self.node.origin)


def _of_value(place: _Place) -> Iterator[Edit]:
    """What may be wrong with the value of one key."""
    node, key, parent = place.node, place.key, place.steps[-2] if len(place.steps) > 1 else ""
    is_own = key == "forbid" and parent in ("allow", "egress")  # without it the gate's own reason speaks
    if (key in DROPPED and not _is_name(place.steps)) or parent in ENTRIES or is_own:
        yield place.dropped()
    if isinstance(node, ScalarNode):
        yield from map(place.other, dict.fromkeys(_wrong(place, node, str(parent))))
    if isinstance(node, SequenceNode) and (key in LISTS or parent in ("constants", "phrases")):
        for index, item in enumerate(node.items):
            inner = _Place(item, (*place.steps, index), key)
            yield inner.dropped()
            if key in EXPRESSIONS and isinstance(item, ScalarNode):
                yield from map(inner.other, expressions(item.spelling))


def _is_name(steps: Steps) -> bool:
    """Whether the last step is a name that the policy's author chose."""
    return len(steps) > 1 and steps[-2] in NAMED


def _wrong(place: _Place, node: ScalarNode, parent: str) -> Iterator[str]:
    key, text = place.key, node.spelling
    if _is_name(place.steps):
        yield from _of_named(node, parent, place.steps)
    elif key in CHOICES:
        yield from (other for other in CHOICES[key] if other != text)
    elif key in EXPRESSIONS or (key == "max" and "arguments" not in place.steps):
        yield from expressions(text)
    elif key in ("jwt", "hmac", "at"):
        yield f"{text}_x"
    elif key == "pattern":
        # What a fact's key must look like is asked again of what an argument already is.
        yield from patterns(text) if parent != "key" else (ANYTHING,)
    elif key in OTHERS:
        yield from _other_kind(place.steps, OTHERS[key], text)
    elif key == "reply" or parent == "reply":
        yield from texts(text)
    elif key in AMOUNTS or parent == "ceiling":
        yield from amounts(text)


def _other_kind(steps: Steps, others: Mapping[str, str], text: str) -> Iterator[str]:
    if "arguments" in steps and others is OTHERS["type"]:
        others = OF_ARGUMENTS
    if text in others:
        yield others[text]


def _of_named(node: ScalarNode, parent: str, steps: Steps) -> Iterator[str]:
    if parent == "escalation":
        yield from texts(node.spelling)
    elif parent in ("arguments", "object", "fields"):
        yield from _other_kind(steps, OTHERS["type"], node.spelling)
    elif parent == "constants" and node.plain:
        if node.spelling in ("true", "false"):
            yield "false" if node.spelling == "true" else "true"
        yield from amounts(node.spelling)


def _of_mapping(mapping: MappingNode, steps: Steps) -> Iterator[Edit]:
    """What may be wrong with which keys stand in a mapping."""
    parent = steps[-1] if steps else ""
    if parent == "fields":
        yield from _paths(mapping, steps)
    if _is_outcome(steps):
        for key in keys.RULINGS:
            if key in mapping:
                yield from (_renamed(mapping, steps, key, other) for other in keys.RULINGS if other != key)
    if any(key in mapping for key in keys.RULINGS):
        yield from _swapped(mapping, steps)
    if "arguments" in steps:
        yield from _opened(mapping, steps)


def _is_outcome(steps: Steps) -> bool:
    return bool(steps) and (
        steps[-1] in ("missing", "fee_schedule") or (len(steps) > 1 and steps[-2] in ("rules", "limits"))
    )


def _renamed(mapping: MappingNode, steps: Steps, key: str, other: str) -> Edit:
    node = mapping.entries[key]
    name = f"{mapping.path}: {key} {shown(node)} -> {other} {shown(node)}"
    return Edit(name, (*steps, key), node, node.origin, other)


def _swapped(mapping: MappingNode, steps: Steps) -> Iterator[Edit]:
    """`when` for `unless`, and the other way round."""
    when, unless = mapping.get("when"), mapping.get("unless")
    if (when is None) == (unless is None) or not steps:
        return
    key, other = ("when", "unless") if when is not None else ("unless", "when")
    node = mapping.entries[key]
    yield Edit(f"{mapping.path}: {key} -> {other} {shown(node)}", (*steps, key), node, node.origin, other)


def _paths(mapping: MappingNode, steps: Steps) -> Iterator[Edit]:
    """Each field that is read where its name says, read elsewhere."""
    for name, node in mapping.entries.items():
        if isinstance(node, MappingNode):
            if (time := node.get("timestamp")) is not None:
                wrong = scalar(time, "date")
                yield Edit(
                    f"{time.path}: {shown(time)} -> type date", (*steps, name, "timestamp"), wrong, time.origin, "type"
                )
            if "at" not in node:
                yield Edit(f"{node.path}: at {name}_x", (*steps, name), put(node, "at", f"{name}_x"), node.origin)
        elif isinstance(node, ScalarNode):
            at = MappingNode(node.origin, node.path, {"type": replace(node, path=f"{node.path}.type")})
            yield Edit(f"{node.path}: at {name}_x", (*steps, name), put(at, "at", f"{name}_x"), node.origin)


def _opened(mapping: MappingNode, steps: Steps) -> Iterator[Edit]:
    """An argument that is any text, where it must be one of a closed set."""
    if "one_of" in mapping and "type" not in mapping:
        rest = {key: node for key, node in mapping.entries.items() if key != "one_of"}
        node = put(replace(mapping, entries=rest), "type", "string")
        yield Edit(f"{mapping.path}: any text", steps, node, mapping.origin)
