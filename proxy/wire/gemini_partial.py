"""Arguments that Vertex streams by path (`partialArgs`), put together to the text of one JSON object (WIRE.md 4).

One rule: a value is set where its path says, lists grow at their end, and a string goes on only while it said that it
would. What would need another rule is in dispute, since clients differ in what they make of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from proxy.wire import envelope

if TYPE_CHECKING:
    from collections.abc import Mapping

STEPS_MAX: Final = 64
_VALUES: Final = ("stringValue", "numberValue", "boolValue", "nullValue")


class DisputedError(ValueError):
    """A fragment that clients read in different ways."""


@dataclass(slots=True)
class _Leaf:
    """A value as JSON text, or the parts of a string."""

    text: str = ""
    parts: list[str] | None = None

    def json(self) -> bytes:
        return self.text.encode() if self.parts is None else envelope.encode("".join(self.parts))


_Node: TypeAlias = "dict[str, Any] | list[Any] | _Leaf"


@dataclass(slots=True)
class PartialArguments:
    """The arguments of one call so far."""

    root: dict[str, Any] = field(default_factory=dict)
    _open: str = ""  # the path of the string that goes on

    def take(self, raw: bytes) -> None:
        """One element of `partialArgs`, as it came. Raises `DisputedError` and `envelope.EnvelopeError`."""
        members = envelope.members(raw)
        value = {member: envelope.value_of(content) for member, content in members.items()}
        stated = [member for member in _VALUES if member in members]
        path = value.get("jsonPath")
        if not isinstance(path, str) or len(stated) > 1:
            raise DisputedError
        goes_on = value.get("willContinue") is True
        (member,) = stated or ("stringValue",)
        if self._open and path != self._open:
            raise DisputedError
        if self._open:
            self._go_on(path, member, value)
        else:
            self._place(_steps(path), _leaf(member, value, members))
        if goes_on and member != "stringValue":
            raise DisputedError
        self._open = path if goes_on else ""

    def text(self) -> str:
        """The whole object. Raises `DisputedError` where a string was to go on."""
        if self._open:
            raise DisputedError
        return _json(self.root).decode()

    def _go_on(self, path: str, member: str, value: Mapping[str, Any]) -> None:
        node: Any = self.root
        for step in _steps(path):
            node = node[step]
        more = value.get(member, "")
        if member != "stringValue" or not isinstance(more, str) or not isinstance(node, _Leaf) or node.parts is None:
            raise DisputedError
        node.parts.append(more)

    def _place(self, steps: list[str | int], leaf: _Leaf) -> None:
        node: _Node = self.root
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            child: _Node = leaf if following is None else {} if isinstance(following, str) else []
            node = _child(node, step, child, is_last=following is None)


def _child(node: _Node, step: str | int, fresh: _Node, *, is_last: bool) -> _Node:
    """The child of a node at a step; `fresh` where there is none yet. A last step finds none."""
    if isinstance(node, dict) and isinstance(step, str):
        if step not in node:
            node[step] = fresh
        elif is_last:
            raise DisputedError
        found = node[step]
    elif isinstance(node, list) and isinstance(step, int):
        if step == len(node):
            node.append(fresh)
        elif is_last or step != len(node) - 1:
            raise DisputedError
        found = node[step]
    else:
        raise DisputedError
    if type(found) is not type(fresh):
        raise DisputedError
    return found


def _leaf(member: str, value: Mapping[str, Any], members: Mapping[str, bytes]) -> _Leaf:
    content = value.get(member, "")
    match member:
        case "stringValue" if isinstance(content, str):
            return _Leaf(parts=[content])
        case "boolValue" if isinstance(content, bool):
            return _Leaf("true" if content else "false")
        case "numberValue" if not isinstance(content, (str, bool, dict, list)) and content is not None:
            return _Leaf(members[member].decode())
        case "nullValue":
            return _Leaf("null")
    raise DisputedError


def _steps(path: str) -> list[str | int]:
    """`$.a.b[0]['c']` as its steps; the root itself, escapes and anything else are in dispute."""
    if not path.startswith("$") or len(path) == 1:
        raise DisputedError
    steps: list[str | int] = []
    place = 1
    while place < len(path):
        if path[place] == ".":
            end = min((found for mark in ".[" if (found := path.find(mark, place + 1)) >= 0), default=len(path))
            steps.append(_name(path[place + 1 : end]))
        elif path[place] == "[":
            end = path.find("]", place) + 1
            steps.append(_inside(path[place + 1 : end - 1]))
            if not end:
                raise DisputedError
        else:
            raise DisputedError
        place = end
    if len(steps) > STEPS_MAX:
        raise DisputedError
    return steps


def _inside(text: str) -> str | int:
    if text.isascii() and text.isdigit() and len(text) <= 6 and str(int(text)) == text:
        return int(text)
    if len(text) > 2 and text[0] == text[-1] and text[0] in "'\"":
        return _name(text[1:-1])
    raise DisputedError


def _name(text: str) -> str:
    if not text or any(mark in text for mark in ".[]'\"\\*") or text != text.strip():
        raise DisputedError
    return text


def _json(node: _Node) -> bytes:
    if isinstance(node, _Leaf):
        return node.json()
    if isinstance(node, dict):
        return envelope.join({key: _json(child) for key, child in node.items()})
    return envelope.join_list([_json(child) for child in node])
