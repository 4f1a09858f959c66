"""What a Responses request says that a decision needs: its tools, wherever they stand, and its form (WIRE.md 3)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from interceptors.context import DeclaredTool
from proxy.wire import envelope
from proxy.wire.dialect import DeclaredTools, OutputFormat, declared_tools
from proxy.wire.kept import kept
from proxy.wire.members import may_mention
from proxy.wire.model_hands import model_hands
from proxy.wire.responses_types import COMPUTER, LOCAL_SHELL, PATCH, SEARCH, SHELL
from proxy.wire.stripping import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BUILT_IN = {
    "apply_patch": PATCH,
    "computer": COMPUTER,
    "computer_use_preview": COMPUTER,
    "local_shell": LOCAL_SHELL,
}
TOOL_MEMBERS: Final[Mapping[str, Shape]] = MappingProxyType(
    {
        "tools": Shape.LIST,
        "input": Shape.LIST,  # items that bring tools
        "prompt": Shape.WHOLE,  # a stored template, which may bring any
        "plugins": Shape.LIST,  # OpenRouter
        "search_parameters": Shape.WHOLE,  # xAI
    }
)
_WHOLE = {"prompt": "prompt", "search_parameters": "live_search"}
_DATE_PARTS = 3
_DEFINING = (b"additional_tools", b"tool_search_output")
_UPDATE = b"configuration_update"
_NO_UPDATE = "an item 'configuration_update' with a 'text' is not supported: state it in the request's own 'text'"


def request_tools(raw: Mapping[str, bytes]) -> DeclaredTools:
    """All that the model may call: `tools`, those that items of the input bring, and what a stored prompt may bring."""
    found = _tools(raw.get("tools", b"null"), *_brought(raw.get("input", b"null")))
    hidden = [f"plugins/{_value(envelope.members(one), 'id')}" for one in _list(raw, "plugins")]
    hidden += [name for member, name in _WHOLE.items() if raw.get(member, b"null") != b"null"]
    by_model = [hand for hand in model_hands(raw) if hand not in (*found.provider, *hidden)]
    if not hidden and not by_model:
        return found
    return DeclaredTools(found.by_name, found.ambiguous, (*found.provider, *hidden, *by_model), frozenset(by_model))


def _list(raw: Mapping[str, bytes], member: str) -> list[bytes]:
    return envelope.list_or_none(raw.get(member, b"null"))


def _brought(items: bytes) -> list[bytes]:
    """The lists of tools that stand in the input."""
    found = _items(items, _DEFINING)
    return [members["tools"] for members in found if members.get("tools", b"null") != b"null"]


def refuse_updates(items: bytes) -> None:
    """Raise `envelope.EnvelopeError` for an item that changes the form of later answers: what is stored with the
    provider would go on to hold, and a text in that form would not be known for one (`structured`)."""
    if any(members.get("text", b"null") != b"null" for members in _items(items, (_UPDATE,))):
        raise envelope.EnvelopeError(_NO_UPDATE)


def _items(items: bytes, kinds: tuple[bytes, ...]) -> list[dict[str, bytes]]:
    """The items of these types."""
    if not may_mention(items, *kinds) or not items.lstrip().startswith(b"["):
        return []
    found = map(envelope.members, envelope.elements(items))
    return [members for members in found if str(_value(members, "type")).encode() in kinds]


@kept
def _tools(*lists: bytes) -> DeclaredTools:
    """By the bytes of the members: an agent declares the same tools with every request."""
    declared: dict[tuple[str, bytes | None], DeclaredTool] = {}
    provider: list[str] = []
    for tools in lists:
        for element in envelope.list_or_none(tools):
            for tool in _declared(element, provider):
                declared[tool.name, tool.schema] = tool  # an item may bring a tool that stands in `tools`
    return declared_tools(list(declared.values()), list(dict.fromkeys(provider)))


def _declared(element: bytes, provider: list[str], namespace: str = "") -> Iterator[DeclaredTool]:
    members = envelope.members(element)
    kind, name = _value(members, "type"), _value(members, "name")
    if kind in ("function", "custom"):
        if isinstance(name, str):
            yield DeclaredTool(f"{namespace}{name}", members.get("parameters"))
    elif kind == "namespace" and isinstance(name, str):
        for tool in envelope.list_or_none(members.get("tools", b"null")):
            yield from _declared(tool, provider, f"{name}/")
    elif isinstance(kind, str) and kind in _BUILT_IN:
        yield DeclaredTool(_BUILT_IN[kind], None)
    elif kind == "shell" and _kind_of(_value(members, "environment")) in ("", "local"):
        yield DeclaredTool(SHELL, None)
    elif kind == "tool_search" and _value(members, "execution") == "client":
        yield DeclaredTool(SEARCH, None)
    elif kind == "mcp":
        provider.append(f"mcp/{_value(members, 'server_label')}")
    else:
        provider.append(_undated(str(kind)))


def _undated(kind: str) -> str:
    """A type without the date of its version: `web_search_2025_08_26` is `web_search`."""
    *name, year, month, day = kind.split("_") if kind.count("_") >= _DATE_PARTS else (kind, "", "", "")
    is_dated = [len(part) for part in (year, month, day) if part.isdecimal()] == [4, 2, 2]
    return "_".join(name) if is_dated and name else kind


def _kind_of(environment: Any) -> str:
    if environment is None:
        return ""
    return str(environment.get("type")) if isinstance(environment, dict) else "?"


def _value(members: Mapping[str, bytes], member: str) -> Any:
    return envelope.value_of(members.get(member, b"null"))


def output_format(text: bytes) -> OutputFormat | None:
    """`text.format`, where it asks for a schema."""
    if not text.startswith(b"{"):
        return None
    stated = envelope.members(text).get("format", b"null")
    if not stated.startswith(b"{"):
        return None
    members = envelope.members(stated)
    if _value(members, "type") != "json_schema":
        return None
    name = _value(members, "name")
    return OutputFormat(name if isinstance(name, str) else "", members.get("schema"))
