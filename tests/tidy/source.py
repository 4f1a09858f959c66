"""The checkout as the house rules see it: text and syntax tree of each file, read once."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("policies", "interceptors", "proxy")
CODE = (*PRODUCT, "tests", "benchmarks")
TEXT_SUFFIXES = {".cfg", ".json", ".lock", ".md", ".py", ".sql", ".toml", ".yaml", ".yml", ""}


@dataclass(frozen=True)
class Source:
    """One file. `path` is relative to the checkout, `text` its content; `tree` only for Python."""

    path: PurePosixPath
    text: str

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def module(self) -> str:
        """The dotted name under which it is imported: `proxy.wire.sse`."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    def is_in(self, *places: str) -> bool:
        """Whether it is one of the files, or in one of the folders, `places`."""
        return any(self.name == place or place in map(str, self.path.parents) for place in places)


@dataclass(frozen=True)
class Finding:
    """Where a house rule is broken, and how."""

    path: str
    line: int
    problem: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.problem}"


def _read(path: Path) -> Source:
    return Source(PurePosixPath(path.relative_to(ROOT).as_posix()), path.read_text(encoding="utf-8"))


@cache
def python_files() -> tuple[Source, ...]:
    """Every Python file of the product, its tests and its benchmarks."""
    return tuple(_read(path) for folder in CODE for path in sorted((ROOT / folder).rglob("*.py")))


@cache
def text_files() -> tuple[Source, ...]:
    """Every file that people write, but data: fixtures, locks and what tools leave behind are none."""
    folders = (*CODE, "docs", "deploy", ".ci")
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))]
    found += sorted(ROOT.iterdir())
    return tuple(_read(path) for path in found if path.is_file() and _is_written_by_people(path))


def _is_written_by_people(path: Path) -> bool:
    inside = path.relative_to(ROOT)
    left = {"__pycache__", "results", ".git", "node_modules"}
    return path.suffix in TEXT_SUFFIXES - {".lock"} and not left & set(inside.parts)


@cache
def planted(path: str, text: str) -> Source:
    """A file that does not exist, for rules that must be seen to find something."""
    return Source(PurePosixPath(path), text)
