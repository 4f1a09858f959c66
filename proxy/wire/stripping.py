"""Tools of the provider taken out of a request (WIRE.md 1.2, 3.1).

A part of the request goes where the dialect's own reading of that part alone finds a tool that must go: what decides
is what is read, so a tool cannot be named by one rule and taken out by another.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Final

from policies.model import folded
from proxy.wire import envelope

if TYPE_CHECKING:
    from collections.abc import Callable

    from interceptors.calls import Json
    from proxy.wire.dialect import Dialect
    from proxy.wire.paths import Address


class Shape(Enum):
    """How a member of a request names tools."""

    LIST = "list"  # each element is one tool
    KEYED = "keyed"  # each element is an object, and each of its members is a tool or a list of them (Gemini)
    WHOLE = "whole"  # the member itself is one tool
    INSIDE = "inside"  # the member is an object, each element of whose `tools` is one tool (Bedrock)


CALLERS: Final = "allowed_callers"
"""Of a tool of the client: who may call it beside the model. Without it, only the model may."""
NESTED: Final = "tools"
"""Of an element that brings tools (an item of Responses, a namespace): their list."""
_WITH_TOOLS: Final = ("tool_choice", "toolChoice", "parallel_tool_calls", "toolConfig", "tool_config", "function_call")
"""Members that providers refuse where no tools are declared."""


def stripped(dialect: Dialect, body: bytes, at: Address, names: frozenset[str]) -> bytes:
    """The body without the tools of these folded names; the rest keeps its bytes.

    Raises `EnvelopeError` for a body with more than one reading.
    """
    raw = envelope.members(body)

    def shows(member: str, value: bytes) -> bool:
        view = dialect.request(envelope.join({member: value}), at)
        return any(folded(name) in names for name in view.tools.provider)

    had_tools = "tools" in raw
    for member, shape in dialect.tool_members.items():
        if member not in raw or not shows(member, raw[member]):
            continue
        if shape is Shape.INSIDE:
            kept = _inside(raw[member], partial(shows, member), names)
        else:
            kept = b"" if shape is Shape.WHOLE else _kept(raw[member], shape, partial(shows, member))
        if kept:
            raw[member] = kept
        else:
            del raw[member]
    _mind_choice(raw, names, is_bare=had_tools and "tools" not in raw)
    return envelope.join(raw)


def _inside(member: bytes, shows: Callable[[bytes], bool], names: frozenset[str]) -> bytes:
    """The object without what must go of its tools; empty where it was there for them alone."""
    raw = envelope.members(member)
    had_tools = "tools" in raw
    if had_tools:
        kept = _kept(raw["tools"], Shape.LIST, lambda tools: shows(envelope.join({"tools": tools})))
        raw = {**raw, "tools": kept} if kept else {name: value for name, value in raw.items() if name != "tools"}
    _mind_choice(raw, names, is_bare=had_tools and "tools" not in raw)
    return envelope.join(raw) if raw else b""


def _kept(array: bytes, shape: Shape, shows: Callable[[bytes], bool]) -> bytes:
    """The list without what must go; empty for one of which nothing is left."""
    left = []
    for element in envelope.elements(array):
        part = element if not shows(envelope.join_list([element])) else _part(element, shape, shows)
        if part:
            left.append(part)
    return envelope.join_list(left) if left else b""


def _part(element: bytes, shape: Shape, shows: Callable[[bytes], bool]) -> bytes:
    """What may stay of an element that shows a tool; empty for nothing."""
    if not element.lstrip().startswith(b"{"):
        return b""
    raw = envelope.members(element)
    if shape is Shape.KEYED:
        kept = {key: left for key, value in raw.items() if (left := _member(key, value, shows))}
        return envelope.join(kept) if kept else b""
    if CALLERS in raw:
        del raw[CALLERS]
        if not shows(_alone(raw)):
            return envelope.join(raw)
    return _outer(raw, shows) if raw.get(NESTED, b"").startswith(b"[") else b""


def _member(key: str, value: bytes, shows: Callable[[bytes], bool]) -> bytes:
    """What may stay of a member that is a tool or a list of them; empty for nothing."""
    if not shows(_alone({key: value})):
        return value
    if not value.startswith(b"["):
        return b""
    left = [one for one in envelope.elements(value) if not shows(_alone({key: envelope.join_list([one])}))]
    return envelope.join_list(left) if left else b""


def _outer(raw: dict[str, bytes], shows: Callable[[bytes], bool]) -> bytes:
    """An element that holds a list of tools, without those that must go. One that answers a call stays without any."""
    kept = _kept(raw[NESTED], Shape.LIST, lambda tools: shows(_alone({**raw, NESTED: tools})))
    left = {**raw, NESTED: kept or b"[]"}
    return envelope.join(left) if (kept or "call_id" in raw) and not shows(_alone(left)) else b""


def _alone(members: dict[str, bytes]) -> bytes:
    return envelope.join_list([envelope.join(members)])


def _mind_choice(raw: dict[str, bytes], names: frozenset[str], *, is_bare: bool) -> None:
    """A choice of a tool that is gone, and every choice where no tool is left, would be refused by the provider."""
    for member in _WITH_TOOLS:
        if member in raw and (is_bare or _names_one(envelope.value_of(raw[member]), names)):
            del raw[member]


def _names_one(value: Json, names: frozenset[str]) -> bool:
    if isinstance(value, dict):
        return any(_names_one(item, names) for item in value.values())
    if isinstance(value, list):
        return any(_names_one(item, names) for item in value)
    return isinstance(value, str) and folded(value) in names
