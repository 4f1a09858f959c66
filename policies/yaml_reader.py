"""Strict YAML: bytes to a tree of nodes that know their lines. Reads policies and `callgate.yaml` alike.

    root = read_yaml(data, "callgate.yaml").mapping()
    root.check_keys({"listen", "state"}, later={"tls"})   # unknown keys, with a suggestion
    listen = root.require("listen").text()                # DocumentError with file:line: path
    mode = root.require("mode").choice(Mode)              # Enum by value
    wait = node.convert(parse_duration)                   # any function from text that raises ValueError
    problems = Problems()
    with problems.collect(): ...                          # go on after an error, tell them all at the end

YAML 1.2 core without what lets one text mean two things: only `true` and `false` are booleans, a number is a decimal
number, everything else plain is a text (`no`, `off`, `1:30`, `2024-01-01`). Anchors, aliases, tags, merge keys,
directives, several documents, duplicate keys, tabs, a byte order mark and text other than UTF-8 are errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

from policies.model import Origin
from policies.nodes import MappingNode, Node, ScalarNode, SequenceNode, joined
from policies.problems import DocumentError, Problem, Problems

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BYTES_MAX",
    "DEPTH_MAX",
    "DocumentError",
    "MappingNode",
    "Node",
    "Problem",
    "Problems",
    "ScalarNode",
    "SequenceNode",
    "read_yaml",
]

BYTES_MAX = 1 << 20
DEPTH_MAX = 32

# Other line breaks than LF would shift the lines of messages; direction marks let a rule read otherwise than it is.
_FORBIDDEN = {
    "\t": "a tab is not allowed: indent with spaces, and write \\t within double quotes",
    "\ufeff": "a byte order mark is not allowed",
    **dict.fromkeys("\r\x85\u2028\u2029", "an unusual line break is not allowed"),
    **dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", "a mark of direction is not allowed"),
}
_SPLIT = "a comma inside {} or [] ends a value: put the expression in quotes"


def read_yaml(data: bytes, file: str) -> Node:
    """The document of `data`; `file` is its name in messages. Raises `DocumentError` with every problem found."""
    text = _decoded(data, file)
    reader = _Reader(file, text)
    node = reader.read()
    if reader.problems:
        raise DocumentError(reader.problems.found)
    return node


def _decoded(data: bytes, file: str) -> str:
    if len(data) > BYTES_MAX:
        raise _error(file, 1, f"the file is larger than {BYTES_MAX} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _error(file, line, "the file is not UTF-8") from None
    problems = Problems()
    for number, line_text in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        for character, message in _FORBIDDEN.items():
            if character in line_text:
                problems.add(Origin(file, number), "", message)
                break
    if problems:
        raise DocumentError(problems.found)
    return text


def _error(file: str, line: int, message: str) -> DocumentError:
    return DocumentError((Problem(Origin(file, line), "", message),))


@dataclass(slots=True)
class _Reader:
    """Builds nodes from the parser's events; keeps what is wrong with the document and goes on."""

    file: str
    text: str
    problems: Problems = field(default_factory=Problems)

    def read(self) -> Node:
        events = yaml.parse(self.text, Loader=yaml.SafeLoader)
        try:
            return self._document(events)
        except yaml.MarkedYAMLError as error:
            raise DocumentError((*self.problems.found, self._syntax(error))) from None
        except yaml.reader.ReaderError as error:
            line = self.text.count("\n", 0, error.position) + 1
            raise _error(self.file, line, "a control character is not allowed") from None

    def _document(self, events: Iterator[yaml.Event]) -> Node:
        node: Node | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if event.version or event.tags:
                    self._add(event, "", "a % directive is not allowed")
                if node is not None:
                    self._add(event, "", "one file holds one document")
                    break
                node = self._node(next(events), events, "", 0, flow=False)
        if node is None:
            raise _error(self.file, 1, "the file is empty")
        if isinstance(node, ScalarNode) and node.is_null:
            raise _error(self.file, node.origin.line, "the file is empty")
        return node

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], path: str, depth: int, *, flow: bool) -> Node:
        origin = self._origin(event)
        if isinstance(event, yaml.AliasEvent):
            self._add(event, path, f"the alias *{event.anchor} is not allowed: write the value out")
            return ScalarNode(origin, path, "alias", plain=False)
        assert isinstance(event, yaml.NodeEvent)
        if event.anchor is not None:
            self._add(event, path, f"the anchor &{event.anchor} is not allowed")
        tag = getattr(event, "tag", None)
        if tag is not None:
            self._add(event, path, f"the tag {tag!r} is not allowed")
        if depth > DEPTH_MAX:
            raise DocumentError((Problem(origin, path, f"nested more than {DEPTH_MAX} deep"),))
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(event, events, path, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, events, path, depth)
        assert isinstance(event, yaml.ScalarEvent)
        return self._scalar(event, path, flow=flow)

    def _sequence(self, start: yaml.SequenceStartEvent, events: Iterator[yaml.Event], path: str, depth: int) -> Node:
        items: list[Node] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            item = self._node(event, events, f"{path}[{len(items)}]", depth + 1, flow=bool(start.flow_style))
            if isinstance(item, ScalarNode) and item.is_null:
                self._add(event, item.path, "has no value")
            items.append(item)
        return SequenceNode(self._origin(start), path, tuple(items))

    def _mapping(self, start: yaml.MappingStartEvent, events: Iterator[yaml.Event], path: str, depth: int) -> Node:
        flow = bool(start.flow_style)
        entries: dict[str, Node] = {}
        origins: dict[str, Origin] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event, events, path, depth, flow=flow)
            value = self._node(next(events), events, joined(path, key), depth + 1, flow=flow)
            if isinstance(value, ScalarNode) and value.is_null:
                self._add(event, value.path, f"has no value ({_SPLIT})" if flow else "has no value")
            if key in entries:
                first = origins[key].line
                self._add(event, joined(path, key), f"the key {key!r} stands here twice, first in line {first}")
                continue
            entries[key], origins[key] = value, self._origin(event)
        return MappingNode(self._origin(start), path, entries, origins)

    def _key(self, event: yaml.Event, events: Iterator[yaml.Event], path: str, depth: int, *, flow: bool) -> str:
        node = self._node(event, events, path, depth + 1, flow=flow)
        if not isinstance(node, ScalarNode):
            self._add(event, path, f"a key must be a text, got {node.described}")
            return "?"
        if node.plain and node.spelling == "<<":
            self._add(event, path, "a merge key is not allowed: write the keys out")
            return node.spelling
        with self.problems.collect():
            return node.text()
        return node.spelling

    def _scalar(self, event: yaml.ScalarEvent, path: str, *, flow: bool) -> ScalarNode:
        plain = event.style is None
        if any(map(_is_unprintable, event.value)):
            self._add(event, path, "the text holds a control character or half a character")
            return ScalarNode(self._origin(event), path, "?", plain)
        if plain and flow and _is_half(event.value):
            self._add(event, path, f"half an expression: {_SPLIT}")
        if plain and self._runs_into_comment(event):
            self._add(event, path, "a comment behind a value begins with '# ': quote the text if '#' belongs to it")
        return ScalarNode(self._origin(event), path, event.value, plain)

    def _runs_into_comment(self, event: yaml.ScalarEvent) -> bool:
        end = event.end_mark
        if end is None:
            return False
        rest = self.text[end.index : end.index + 200].lstrip(" ")
        return rest.startswith("#") and rest[1:2] not in ("", " ", "\n", "\r", "#")

    def _origin(self, event: yaml.Event) -> Origin:
        return Origin(self.file, event.start_mark.line + 1 if event.start_mark is not None else 1)

    def _add(self, event: yaml.Event, path: str, message: str) -> None:
        self.problems.add(self._origin(event), path, message)

    def _syntax(self, error: yaml.MarkedYAMLError) -> Problem:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        context = f" ({error.context})" if error.context else ""
        hint = ""
        if error.context and "flow" in error.context:
            hint = ": an expression inside {} or [] that holds a comma, a bracket or a colon must be in quotes"
        elif error.problem and "mapping values are not allowed" in error.problem:
            hint = ": a text that holds ': ' must be in quotes"
        return Problem(Origin(self.file, line), "", f"not YAML: {error.problem}{context}{hint}")


def _is_half(text: str) -> bool:
    """Whether a plain scalar of a flow collection closes what it does not open, or the other way round."""
    depth = 0
    for character in text:
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth < 0:
                return True
    return depth != 0 or text.count('"') % 2 == 1


def _is_unprintable(character: str) -> bool:
    return (character < " " and character not in "\n\t") or "\ud800" <= character < "\ue000"
