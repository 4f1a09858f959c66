"""What a syntax tree names: imports, and the dotted names of calls and attributes with aliases undone."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.tidy.source import Source


@dataclass(frozen=True)
class Import:
    """`from a.b import c` names `a.b.c`; `for_types` where only a type checker sees it."""

    name: str
    line: int
    for_types: bool

    def is_of(self, *modules: str) -> bool:
        return any(self.name == module or self.name.startswith(f"{module}.") for module in modules)


def imports(source: Source) -> Iterator[Import]:
    """Every import of a file, wherever it stands, relative ones made absolute."""
    for_types = {id(node) for block in source.nodes if _is_type_checking(block) for node in ast.walk(block)}
    package = source.module if source.path.name == "__init__.py" else source.module.rpartition(".")[0]
    for node in source.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, id(node) in for_types)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            for alias in node.names:
                yield Import(f"{base}.{alias.name}", node.lineno, id(node) in for_types)


def _is_type_checking(node: ast.AST) -> bool:
    if not isinstance(node, ast.If):
        return False
    test = node.test
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def dotted(node: ast.AST, aliases: dict[str, str]) -> str:
    """`t.time` after `import time as t` is `time.time`; an attribute of anything else begins with a dot."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value, aliases)}.{node.attr}"
    return ""


def aliases(source: Source) -> dict[str, str]:
    """Local names and what they stand for."""
    known: dict[str, str] = {}
    for node in source.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                known[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return known


def uses(source: Source) -> Iterator[tuple[str, ast.expr]]:
    """Every name and attribute that a file reads, with the dotted name it stands for."""
    known = aliases(source)
    for node in source.nodes:
        if isinstance(node, ast.Name | ast.Attribute):
            yield dotted(node, known), node


def calls(source: Source) -> Iterator[tuple[str, ast.Call]]:
    """Every call of a file, with the dotted name of what is called."""
    known = aliases(source)
    for node in source.nodes:
        if isinstance(node, ast.Call):
            yield dotted(node.func, known), node
