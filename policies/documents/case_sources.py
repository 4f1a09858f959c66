"""Of the `cases` section: where the case and the segment come from, how cells are named, what the owner keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from policies.documents import keys
from policies.documents.scalars import label
from policies.matrix import CaseOfSession, CaseOfTool
from policies.model import ToolEffect, folded
from policies.nodes import ScalarNode, listed, suggestion
from policies.values import ANY, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.documents.tools import Placed, Surroundings
    from policies.expressions import Expression
    from policies.matrix import CaseSource
    from policies.model import FactUse
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems
    from policies.values import Type

_SESSION: Final = "session."
_TEXTS: Final = (Kind.STRING, Kind.ANY)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the parts of the section are read with."""

    around: Surroundings
    tools: Mapping[str, Placed | None]
    default_rules: int
    roots: Mapping[str, Type]  # of the facts of the section
    facts: Mapping[str, FactUse]
    problems: Problems


def read_source(node: Node, reading: Reading) -> CaseSource:
    """A field of `session`, or a tool that classifies, with its argument."""
    if isinstance(node, ScalarNode):
        text = node.text()
        name = text.removeprefix(_SESSION)
        fields = reading.around.session.fields if reading.around.session is not None else {}
        if not text.startswith(_SESSION) or name not in fields:
            node.fail(
                "expected a field of `session` such as session.case, or {tool: NAME, argument: NAME}"
                f"{suggestion(text, [_SESSION + each for each in fields])}"
            )
        if fields[name].kind not in _TEXTS:
            node.fail(f"a case is a text, {text} is a {fields[name].kind.value}")
        return CaseOfSession(name)
    mapping = node.mapping()
    mapping.check_keys(keys.CASE_SOURCE, keys.LATER)
    name = mapping.require("tool").text()
    placed = tool_of(name, mapping.require("tool"), reading)
    argument = mapping.require("argument").text()
    if placed.tool.effect is not ToolEffect.READ:
        mapping.require("tool").fail(f"a tool that only classifies changes nothing: {name!r} says `effect: read`")
    declared = (placed.tool.arguments or {}).get(argument)
    words = tuple(word for word in declared.one_of if isinstance(word, str)) if declared is not None else ()
    if declared is None or not words or len(words) < len(declared.one_of):
        mapping.require("argument").fail(
            f"the cases are a closed set: the argument {argument!r} of {name!r} says them by `one_of`"
        )
    return CaseOfTool(folded(name), placed.tool.name, argument, words)


def read_segment(node: Node, reading: Reading) -> Expression:
    """One field that is no argument."""
    place = reading.around.place(ANY, reading.roots, "name it, with its key, in the `facts` of `cases`")
    segment = place.expression(node)
    if segment.functions or len(segment.paths) != 1 or next(iter(segment.paths))[0] in ("args", "constants"):
        node.fail("a segment is a field of a fact or of `session`, such as customer.segment")
    if segment.type.kind not in _TEXTS:
        node.fail(f"a segment is a text, this is a {segment.type.kind.value}")
    return segment


def read_kept(mapping: MappingNode, source: CaseSource) -> frozenset[str]:
    """The cases that the owner keeps for people."""
    node = mapping.get("owner_keeps")
    if node is None:
        return frozenset()
    for item in node.sequence():
        item.convert(label)
        check_word(item.text(), item, source)
    return frozenset(item.text() for item in node.sequence())


def check_name(name: str, node: Node, source: CaseSource, *, with_segment: bool) -> None:
    """Refuse a cell whose name is not of the section's form, or whose case nobody says."""
    parts = name.split("/")
    for part in parts:
        node.apply(label, part)
    if len(parts) != (2 if with_segment else 1):
        node.fail("a cell is named CASE/SEGMENT" if with_segment else "without `segment` a cell is named by its case")
    check_word(parts[0], node, source)


def check_word(case: str, node: Node, source: CaseSource) -> None:
    """Refuse a case that the classifying tool never says."""
    if isinstance(source, CaseOfTool) and case not in source.words:
        node.fail(f"{source.name!r} never says the case {case!r}: it says {listed(source.words)}")


def tool_of(name: str, node: Node, reading: Reading) -> Placed:
    """The tool that is spelled so."""
    names = {key: key if placed is None else placed.tool.name for key, placed in reading.tools.items()}
    if folded(name) not in names:
        node.fail(f"the policy has no tool {name!r}{suggestion(name, names.values())}")
    placed = reading.tools[folded(name)]
    if placed is None:
        node.fail(f"the tool {name!r} could not be read")
    if placed.tool.name != name:
        node.fail(f"the tool is spelled {placed.tool.name!r}")
    return placed
