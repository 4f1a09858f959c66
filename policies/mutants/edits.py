"""An edit of a document: one key, item or value that is another, or gone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from policies.nodes import MappingNode, ScalarNode, SequenceNode, joined

if TYPE_CHECKING:
    from policies.model import Origin
    from policies.nodes import Node

Steps: TypeAlias = "tuple[str | int, ...]"
"""The keys and indexes that lead to a place from the top of the document."""


@dataclass(frozen=True, slots=True)
class Edit:
    """At `steps` stands `node` instead (None: nothing), under the key `key` where that is another than before.

    `name` tells mutants of one policy apart, and is the same as long as the place and what stands there are.
    """

    name: str
    steps: Steps
    node: Node | None
    origin: Origin
    key: str | None = None


def edited(root: MappingNode, edit: Edit) -> MappingNode:
    """The document after the edit."""
    changed = _changed(root, edit.steps, edit)
    assert isinstance(changed, MappingNode)
    return changed


def scalar(like: Node, spelling: str, *, plain: bool = True) -> ScalarNode:
    """A value that stands where `like` does."""
    return ScalarNode(like.origin, like.path, spelling, plain)


def put(mapping: MappingNode, key: str, spelling: str) -> MappingNode:
    """The mapping with one value more."""
    node = ScalarNode(mapping.origin, joined(mapping.path, key), spelling, plain=True)
    return replace(mapping, entries={**mapping.entries, key: node})


def shown(node: Node, length: int = 60) -> str:
    """What stands there, on one line."""
    text = _text(node)
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _text(node: Node) -> str:
    match node:
        case ScalarNode():
            return " ".join(node.spelling.split())
        case SequenceNode():
            return f"[{', '.join(map(_text, node.items))}]"
        case MappingNode():
            return f"{{{', '.join(f'{key}: {_text(one)}' for key, one in node.entries.items())}}}"


def _changed(node: Node, steps: Steps, edit: Edit) -> Node:
    step, rest = steps[0], steps[1:]
    if isinstance(node, MappingNode):
        assert isinstance(step, str)
        entries = dict(node.entries)
        if rest:
            entries[step] = _changed(entries[step], rest, edit)
        elif edit.node is None:
            del entries[step]
        else:
            named = step if edit.key is None else edit.key
            entries = {named if key == step else key: edit.node if key == step else one for key, one in entries.items()}
        return replace(node, entries=entries)
    assert isinstance(node, SequenceNode)
    assert isinstance(step, int)
    items = list(node.items)
    if rest:
        items[step] = _changed(items[step], rest, edit)
    elif edit.node is None:
        del items[step]
    else:
        items[step] = edit.node
    return replace(node, items=tuple(items))
