"""The tools that an Anthropic request declares, wherever it does (WIRE.md 1.1, 1.2).

Beside `tools` a request gives the model hands by `mcp_servers`, `container` and `thread`, by `allowed_callers` of a
tool, and by definitions inside its messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import re2

from interceptors.context import DeclaredTool
from proxy.wire import envelope
from proxy.wire.dialect import DeclaredTools, declared_tools
from proxy.wire.kept import kept
from proxy.wire.members import may_mention
from proxy.wire.stripping import CALLERS, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CLIENT_TOOLS: Final = frozenset(
    {
        "custom",
        "bash_20241022",
        "bash_20250124",
        "text_editor_20241022",
        "text_editor_20250124",
        "text_editor_20250429",
        "text_editor_20250728",
        "computer_20241022",
        "computer_20250124",
        "computer_20251124",
        "memory_20250818",
        "browser_toolset_20260801",
        "computer_toolset_20260801",
    }
)
"""Tool types that the client executes. Every other type is the provider's, known or not."""
PROVIDER_TOOLS: Final = frozenset(
    {
        "advisor_20260301",
        "code_execution_20250522",
        "code_execution_20250825",
        "code_execution_20260120",
        "code_execution_20260521",
        "mcp_toolset",
        "tool_search_tool_bm25",
        "tool_search_tool_bm25_20251119",
        "tool_search_tool_regex",
        "tool_search_tool_regex_20251119",
        "web_fetch_20250910",
        "web_fetch_20260209",
        "web_fetch_20260309",
        "web_fetch_20260318",
        "web_search_20250305",
        "web_search_20260209",
        "web_search_20260318",
    }
)
"""Those of the provider that are known; the list decides nothing, it only shows what a newer SDK brings."""
TOOL_MEMBERS: Final[Mapping[str, Shape]] = {
    "tools": Shape.LIST,
    "mcp_servers": Shape.LIST,
    "container": Shape.WHOLE,
    "thread": Shape.WHOLE,
}
_DATE = re2.compile(r"_20[0-9]{6}")
INLINE: Final = b"tool_addition"
"""The type of a block in which a message declares a tool."""


def tools_of(body: bytes, raw: Mapping[str, bytes]) -> DeclaredTools:
    """All tools of a request. `raw` are the members of `body`."""
    inline: tuple[bytes, ...] = ()
    if "messages" in raw and may_mention(body, INLINE):
        inline = tuple(_inline(raw["messages"]))
    return _declared(*[raw.get(member, b"null") for member in TOOL_MEMBERS], inline)


@kept
def _declared(
    tools: bytes, mcp_servers: bytes, container: bytes, thread: bytes, inline: tuple[bytes, ...]
) -> DeclaredTools:
    """By the bytes of the members: an agent declares the same tools with every request."""
    declared: list[DeclaredTool] = []
    provider: list[str] = []
    for element in (*envelope.list_or_none(tools), *inline):
        tool = envelope.members(element)
        kind = envelope.value_of(tool["type"]) if "type" in tool else "custom"
        name = envelope.value_of(tool["name"]) if "name" in tool else None
        if not isinstance(kind, str) or kind not in CLIENT_TOOLS:
            provider.append(_provider_name(str(kind), tool))
        elif isinstance(name, str):
            declared.append(DeclaredTool(name, tool.get("input_schema")))
        provider += _callers(tool)
    provider += [f"mcp/{_text(element, 'name')}" for element in envelope.list_or_none(mcp_servers)]
    provider += [name for name, value in (("container", container), ("thread", thread)) if value != b"null"]
    return declared_tools(declared, tuple(dict.fromkeys(provider)))


def _provider_name(kind: str, tool: Mapping[str, bytes]) -> str:
    """By its type, which says what runs; a name beside it is the request's own and could be any."""
    if kind == "mcp_toolset":
        return f"mcp/{_text(envelope.join(tool), 'mcp_server_name')}"
    found = _DATE.search(kind)
    return kind[: found.start()] if found is not None and found.end() == len(kind) else kind


def _callers(tool: Mapping[str, bytes]) -> list[str]:
    """Code at the provider that may call a tool of the client needs its code execution, declared here or not."""
    callers = envelope.value_of(tool[CALLERS]) if CALLERS in tool else None
    named = callers if isinstance(callers, list) else []
    return [_provider_name(caller, {}) for caller in named if isinstance(caller, str) and caller != "direct"]


def _text(element: bytes, member: str) -> str:
    value = envelope.value_of(element)
    return str(value.get(member)) if isinstance(value, dict) else ""


def _inline(messages: bytes) -> Iterator[bytes]:
    """The definitions inside messages; what only refers to a declared tool adds nothing."""
    for message in envelope.list_or_none(messages):
        content = envelope.members(message).get("content", b"null")
        if not content.lstrip().startswith(b"["):
            continue
        for block in envelope.elements(content):
            members = envelope.members(block) if block.lstrip().startswith(b"{") else {}
            if "type" in members and envelope.value_of(members["type"]) == INLINE.decode():
                yield from _definition(members.get("tool", b"null"))


def _definition(tool: bytes) -> Iterator[bytes]:
    if tool.lstrip().startswith(b"{"):
        definition = envelope.members(tool).get("definition", b"null")
        if definition.lstrip().startswith(b"{"):
            yield definition
