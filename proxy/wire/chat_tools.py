"""The tools of a Chat request: those of the agent, and what gives the model hands elsewhere, by each server's member.

OpenAI's own members stand here beside those of the servers that speak the same dialect (WIRE.md 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.context import DeclaredTool
from proxy.wire import envelope
from proxy.wire.chat_calls import CALL_TYPES, FUNCTION
from proxy.wire.dialect import DeclaredTools, declared_tools
from proxy.wire.kept import kept
from proxy.wire.model_hands import model_hands
from proxy.wire.stripping import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SWITCHES: Final[Mapping[str, str]] = {
    "web_search_options": "web_search",
    "search_parameters": "live_search",  # xAI
    "enable_search": "web_search",  # Qwen
}
"""Members that are one tool of the provider each; absent, null and false they are none."""
SETTINGS: Final[Mapping[str, str]] = {
    "search_options": "web_search",  # Qwen
    "search_settings": "web_search",  # Groq
    "compound_custom": "compound",  # Groq
}
"""Members that say how a tool works that the model, or another member, brings. They bring none themselves."""
LISTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "plugins": ("plugins", ("id",)),  # OpenRouter
    "mcp_servers": ("mcp", ("name", "server_label", "url", "server_url")),
    "data_sources": ("data_sources", ("type",)),  # Azure
    "connectors": ("connectors", ("id",)),  # Cohere
}
"""Members that are lists of them: what their names begin with, and by which member of an element they go on."""
TOOL_MEMBERS: Final[Mapping[str, Shape]] = {
    "tools": Shape.LIST,
    **dict.fromkeys(LISTS, Shape.LIST),
    **dict.fromkeys((*SWITCHES, *SETTINGS), Shape.WHOLE),
}
_CACHED: Final = "extra_body"
"""Gemini's compatible endpoint: a context that Google keeps may declare any tool."""
_READ: Final = (*TOOL_MEMBERS, "functions", _CACHED)
_OFF: Final = (b"null", b"false")


def request_tools(raw: Mapping[str, bytes]) -> DeclaredTools:
    """`raw` are the members of the request."""
    return _request_tools(tuple([raw.get(member, b"null") for member in _READ]), model_hands(raw))


@kept
def _request_tools(values: tuple[bytes, ...], hands: tuple[str, ...]) -> DeclaredTools:
    """By the bytes of the members: an agent declares the same tools with every request."""
    raw = dict(zip(_READ, values, strict=True))
    declared: list[DeclaredTool] = []
    provider: list[str] = []
    for element in envelope.list_or_none(raw["tools"]):
        tool = envelope.members(element)
        kind = envelope.value_of(tool["type"]) if "type" in tool else FUNCTION
        if not isinstance(kind, str) or kind not in CALL_TYPES:
            provider.append(f"mcp/{_text(tool, 'server_label')}" if kind == "mcp" else str(kind))
            continue
        # Some servers take the members of a function beside its type.
        declared += _declared(envelope.members(tool[kind]) if kind in tool else tool)
    for element in envelope.list_or_none(raw["functions"]):
        declared += _declared(envelope.members(element))
    provider += [*_listed(raw), *_named(raw, SWITCHES)]
    if _is_cached(raw[_CACHED]):
        provider.append("cached_content")
    return declared_tools(declared, provider, (*hands, *_named(raw, SETTINGS)))


def _listed(raw: Mapping[str, bytes]) -> Iterator[str]:
    for member, (kind, names) in LISTS.items():
        for element in envelope.list_or_none(raw[member]):
            members = envelope.members(element) if element.lstrip().startswith(b"{") else {}
            yield f"{kind}/{next(filter(None, (_text(members, name) for name in names)), '')}"


def _named(raw: Mapping[str, bytes], names: Mapping[str, str]) -> list[str]:
    return [name for member, name in names.items() if raw[member].strip() not in _OFF]


def _is_cached(raw: bytes) -> bool:
    more = envelope.encode(envelope.value_of(raw))  # without escapes, in which a name could hide
    return b"cached_content" in more or b"cachedContent" in more


def _text(members: Mapping[str, bytes], member: str) -> str:
    value = envelope.value_of(members[member]) if member in members else ""
    return value if isinstance(value, str) else ""


def _declared(function: Mapping[str, bytes]) -> list[DeclaredTool]:
    name = envelope.value_of(function["name"]) if "name" in function else None
    return [DeclaredTool(name, function.get("parameters"))] if isinstance(name, str) else []
