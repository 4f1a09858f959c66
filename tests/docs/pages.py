"""The pages of the documentation as tests see them: fenced blocks, tables behind a mark, links and headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_MARKED_TABLE = re.compile(r"<!-- rows: ([^>]+?) -->\n((?:\|[^\n]*\n)+)")
_CELL = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block. `language` is the first word behind the fence, `title` the rest: a file's name."""

    page: str
    line: int
    language: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Page:
    """One Markdown file; `name` is its path from the checkout."""

    name: str
    text: str

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(map(self._block, _FENCE.finditer(self.text)))

    def of(self, language: str, title: str | None = None) -> list[Block]:
        """The blocks in a language; with `title`, those of that title only."""
        return [b for b in self.blocks if b.language == language and (title is None or b.title == title)]

    @cached_property
    def tables(self) -> dict[str, list[list[str]]]:
        """The rows of every table behind `<!-- rows: NAME -->`, without its head, by that name."""
        return {name: _rows(table) for name, table in _MARKED_TABLE.findall(self.text)}

    def names(self, table: str) -> list[str]:
        """The first cells of a table's rows, without their backticks."""
        return [code(row[0]) for row in self.tables[table]]

    @cached_property
    def prose(self) -> str:
        """The text without its fenced blocks."""
        return _FENCE.sub("", self.text)

    @property
    def links(self) -> list[str]:
        return _LINK.findall(self.prose)

    @property
    def anchors(self) -> set[str]:
        """What a `#fragment` may name: the headings, spelled as the forges spell them."""
        return {_slug(heading) for heading in _HEADING.findall(self.prose)}

    def _block(self, found: re.Match[str]) -> Block:
        indent, info, text = found.groups()
        language, _, title = info.strip().partition(" ")
        plain = "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))
        return Block(self.name, self.text.count("\n", 0, found.start()) + 1, language, title.strip(), plain)


@cache
def page(name: str) -> Page:
    return Page(name, (ROOT / name).read_text(encoding="utf-8"))


def page_names() -> list[str]:
    """Every page that this documentation consists of."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path.relative_to(ROOT).as_posix() for path in paths]


def code(cell: str) -> str:
    """What stands in the first code span of a cell, else the cell. An escaped bar is a bar."""
    spans = re.findall(r"``? ?(.+?) ?``?(?!`)", cell)
    return (spans[0] if spans else cell).replace("\\|", "|")


def _rows(table: str) -> list[list[str]]:
    lines = table.strip().splitlines()[2:]
    return [[cell.strip() for cell in _CELL.split(line)[1:-1]] for line in lines]


def _slug(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return kept.replace(" ", "-")
