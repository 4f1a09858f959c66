"""A result that a tool's framework wrote as YAML, read as the value it was made of.

Only what serializers write is read: block sequences and mappings, plain and quoted scalars over any number of lines,
`[]` and `{}`. Anchors, tags, literal blocks, comments, flow collections with content, a key that stands twice, tabs as
indentation, and whatever is doubtful make the whole text unreadable, so that it grounds nothing. What a scalar holds
cannot end it: a serializer quotes it, and a text that breaks out of its quotes was not written by one.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

import re2

from interceptors.block_scalars import BlockTextError, quoted

if TYPE_CHECKING:
    from interceptors.calls import Json

TEXT_LENGTH_MAX: Final = 500_000
"""Characters; a longer text is not read."""
DEPTH_MAX: Final = 32

_PLAIN_KEY: Final = re2.compile(r"([^\s'\"\[\]{}&*!|>%@`#,?:-][^:#]*?|-?[0-9]+):(?: +(.*))?")
_INTEGER: Final = re2.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL: Final = re2.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,18}")
_NOT_PLAIN: Final = frozenset("'\"[]{}&*!|>%@`#,")
_WORDS: Final[dict[str, Json]] = {"true": True, "false": False, "null": None, "~": None, "": None}


def parse_block_text(text: str) -> list[Json] | dict[str, Json]:
    """The list or mapping that the text spells. Raises `BlockTextError`; linear in the text."""
    if len(text) > TEXT_LENGTH_MAX:
        raise BlockTextError("the text is too long")
    reader = _Reader(text.removesuffix("\n").split("\n"))
    value = reader.block(0, DEPTH_MAX)
    if not reader.is_done or not isinstance(value, list | dict):
        raise BlockTextError("the text is no list and no mapping")
    return value


class _Reader:
    """The lines from the place that is read next. An item's first line is put back without its dash."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    @property
    def is_done(self) -> bool:
        return self._at >= len(self._lines)

    def block(self, indent: int, depth: int) -> Json:
        """What begins on this line, at this indentation."""
        if not depth:
            raise BlockTextError("the text is nested too deeply")
        line = self._lines[self._at]
        if line[indent : indent + 2] in ("- ", "-"):
            return self._sequence(indent, depth)
        if _key(line[indent:]) is not None:
            return self._mapping(indent, depth)
        self._at += 1
        return self._scalar(line[indent:], indent - 1)

    def _sequence(self, indent: int, depth: int) -> list[Json]:
        found: list[Json] = []
        while not self.is_done and self._indent() == indent:
            line = self._lines[self._at]
            if line[indent : indent + 2] != "- ":
                break
            self._lines[self._at] = " " * (indent + 2) + line[indent + 2 :]
            found.append(self.block(indent + 2, depth - 1))
        if not found:
            raise BlockTextError("an item is empty")
        return found

    def _mapping(self, indent: int, depth: int) -> dict[str, Json]:
        found: dict[str, Json] = {}
        while not self.is_done and self._indent() == indent:
            entry = _key(self._lines[self._at][indent:])
            if entry is None or entry[0] in found:
                break
            self._at += 1
            name, rest = entry
            found[name] = self._scalar(rest, indent) if rest else self._below(indent, depth)
        return found

    def _below(self, indent: int, depth: int) -> Json:
        """The value of a key behind which nothing stands: a list may stand as far left as the key."""
        if self.is_done:
            return None
        inner = self._indent()
        if inner > indent or (inner == indent and self._lines[self._at][indent : indent + 2] == "- "):
            return self.block(inner, depth - 1)
        return None

    def _scalar(self, first: str, indent: int) -> Json:
        """A scalar that begins with `first`; it goes on over the lines that are indented further than `indent`."""
        if first in ("[]", "{}"):
            return [] if first == "[]" else {}
        if first[:1] in ("'", '"'):
            text, self._at = quoted(first, self._lines, self._at, indent)
            return text
        parts = [first]
        while not self.is_done and (self._indent() > indent or not self._lines[self._at].strip()):
            parts.append(self._lines[self._at].strip(" "))
            self._at += 1
        return _plain(parts)

    def _indent(self) -> int:
        line = self._lines[self._at]
        return len(line) - len(line.lstrip(" "))


def _key(line: str) -> tuple[str, str] | None:
    """The key that the line begins with, and what stands behind its colon."""
    if line[:1] in ("'", '"'):
        name = line[1:].partition(line[0])[0]
        end = len(name) + 2
        is_key = line[end : end + 1] == ":" and line[end + 1 : end + 2] in ("", " ") and "\\" not in name
        return (name, line[end + 1 :].strip(" ")) if is_key else None
    match = _PLAIN_KEY.fullmatch(line)
    return None if match is None else (match.group(1).rstrip(" "), (match.group(2) or "").strip(" "))


def _plain(parts: list[str]) -> Json:
    """A plain scalar. Doubtful spellings of numbers (`010`, `1e6`, `1_000`) and times are texts."""
    for part in parts:
        if ": " in part or " #" in part or part.endswith(":") or "\t" in part:
            raise BlockTextError("a plain scalar holds what must be quoted")
    first = parts[0]
    if first[:1] in _NOT_PLAIN or first[:2] in ("- ", "? "):
        raise BlockTextError("a scalar begins as none that is read")
    if len(parts) > 1:
        return folded_lines(parts)
    if first in _WORDS:
        return _WORDS[first]
    if _INTEGER.fullmatch(first):
        return int(first)
    return Decimal(first) if _DECIMAL.fullmatch(first) else first


def folded_lines(parts: list[str]) -> str:
    """Lines as one text: a break is a space, and each empty line is a break."""
    text, breaks = parts[0], 0
    for part in parts[1:]:
        if part:
            text += ("\n" * breaks if breaks else " ") + part
            breaks = 0
        else:
            breaks += 1
    return text + "\n" * breaks
