"""Wrong categories of reasons.

What an escalation or a question is categorised as follows from its outcome, so that only the category of a reason that
forbids is seen; `escalated` there is a finding of `callgate check` already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.model import Category
from policies.mutants.edits import Edit, scalar, shown
from policies.nodes import MappingNode, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.nodes import Node

_OTHER: Final = {
    Category.POLICY: Category.VALIDATION,
    Category.VALIDATION: Category.POLICY,
    Category.PERMISSION: Category.POLICY,
    Category.TRANSIENT: Category.POLICY,
    Category.INTERNAL: Category.POLICY,
}
"""The other answer to whether a retry helps, where there is one."""


def categories(root: MappingNode) -> Iterator[Edit]:
    """The category of each reason that some rule forbids with."""
    section = root.get("reasons")
    if not isinstance(section, MappingNode):
        return
    forbidding = set(_given(root))
    for code, reason in section.entries.items():
        node = reason.get("category") if isinstance(reason, MappingNode) else None
        if code in forbidding and isinstance(node, ScalarNode):
            for category, other in _OTHER.items():
                if node.spelling == category.value:
                    wrong = scalar(node, other.value)
                    name = f"{node.path}: {shown(node)} -> {shown(wrong)}"
                    yield Edit(name, ("reasons", code, "category"), wrong, node.origin)


def _given(node: Node) -> Iterator[str]:
    """The reasons behind every `forbid`."""
    if isinstance(node, MappingNode):
        for key, inner in node.entries.items():
            if key == "forbid" and isinstance(inner, ScalarNode):
                yield inner.spelling
            yield from _given(inner)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from _given(item)
