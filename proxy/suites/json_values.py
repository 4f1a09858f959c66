"""JSON written as YAML: what a source or a model would send, each number in its own spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from interceptors.strict_json import StrictJsonError, parse
from policies.nodes import MappingNode, ScalarNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.calls import Json
    from policies.nodes import Node


def json_text(node: Node) -> str:
    """The JSON that the node says: `120.00` keeps its digits, `~` is null, what is in quotes is a text."""
    if isinstance(node, MappingNode):
        inner = ", ".join(f"{_quoted(key)}: {json_text(value)}" for key, value in node.entries.items())
        return f"{{{inner}}}"
    if not isinstance(node, ScalarNode):
        return f"[{', '.join(map(json_text, node.items))}]"
    if node.is_null:
        return "null"
    return _quoted(node.spelling) if isinstance(node.value(), str) or not node.plain else node.spelling


def json_value(node: Node) -> Json:
    """The value as the gate would read it. `DocumentError` for what is no strict JSON."""
    try:
        return parse(json_text(node))
    except StrictJsonError as error:
        node.fail(str(error))


def json_object(node: Node) -> dict[str, Json]:
    value = json_value(node.mapping())
    assert isinstance(value, dict)
    return value


def merged(first: Json, second: Json) -> Json:
    """`second`, with what only `first` has; objects are merged key by key."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return second
    return {**first, **{key: merged(first[key], value) if key in first else value for key, value in second.items()}}


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def lacking(record: Mapping[str, Json], steps: list[str], item: Node) -> dict[str, Json]:
    """The record without what the steps lead to."""
    name, *rest = steps
    if name not in record:
        item.fail(f"there is no {name!r} to leave out")
    inner = record[name]
    if not rest:
        return {key: value for key, value in record.items() if key != name}
    if not isinstance(inner, dict):
        item.fail(f"{name!r} is no object")
    return {**record, name: lacking(inner, rest, item)}


def schema_text(node: Node) -> bytes | None:
    """A JSON Schema, as text; None for none."""
    if isinstance(node, ScalarNode) and node.is_null:
        return None
    return json_text(node.mapping()).encode()
