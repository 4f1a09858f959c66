"""Anthropic Messages: `POST /v1/messages`, streamed and not (WIRE.md 1, 8.1).

The dialect is the family of files named after it: its types, its reader and writer, its history and its turns.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from interceptors.context import DeclaredTool
from proxy.wire import envelope
from proxy.wire.anthropic_texts import AnthropicBodyTexts, AnthropicStreamTexts
from proxy.wire.anthropic_turn import ANTHROPIC_CONTINUATION
from proxy.wire.dialect import DeclaredTools, Fault, OutputFormat, Reader, RequestView, Writer, declared_tools
from proxy.wire.framing import EVENTS
from proxy.wire.paths import NOWHERE, Address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.texts import TextFinder
    from proxy.wire.turn import Continuation


from proxy.wire.anthropic_reader import AnthropicBodyReader, AnthropicStreamReader
from proxy.wire.anthropic_writer import AnthropicBodyWriter, AnthropicStreamWriter

CLIENT_TOOLS = frozenset(
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


_ERROR_TYPES: Mapping[Fault, str] = {
    Fault.INVALID_REQUEST: "invalid_request_error",
    Fault.UNAUTHENTICATED: "authentication_error",
    Fault.FORBIDDEN: "permission_error",
    Fault.NOT_FOUND: "not_found_error",
    Fault.TOO_LARGE: "request_too_large",
    Fault.UPGRADE_REFUSED: "invalid_request_error",
    Fault.INTERNAL: "api_error",
    Fault.UPSTREAM_FAILED: "api_error",
    Fault.OVERLOADED: "overloaded_error",
    Fault.UPSTREAM_TIMEOUT: "timeout_error",
}


class AnthropicMessages:
    name = "anthropic-messages"
    provider = "anthropic"
    paths = ("/v1/messages", "/messages")
    passive = (
        ("POST", "/v1/messages/count_tokens"),
        ("POST", "/messages/count_tokens"),
        ("GET", "/v1/models"),
        ("GET", "/models"),
        ("GET", "/v1/models/{id}"),
        ("GET", "/models/{id}"),
    )
    client_header = "anthropic-version"
    framing = EVENTS

    def request(self, body: bytes, at: Address = NOWHERE) -> RequestView:  # noqa: ARG002 - the body says it all
        raw = envelope.members(body)
        model = envelope.value_of(raw["model"]) if "model" in raw else ""
        streamed = envelope.value_of(raw["stream"]) is True if "stream" in raw else False
        tools = _request_tools(*(raw.get(member, b"null") for member in _TOOL_MEMBERS))
        metadata, cache_key = raw.get("metadata", b""), raw.get("prompt_cache_key", b"")
        return RequestView(str(model), streamed, tools, metadata, cache_key, _output(raw), raw.get("messages", b""))

    def reader(self, streamed: bool, pass_types: frozenset[str]) -> Reader:
        return AnthropicStreamReader(pass_types) if streamed else AnthropicBodyReader(pass_types)

    def writer(self, streamed: bool) -> Writer:
        return AnthropicStreamWriter() if streamed else AnthropicBodyWriter()

    def texts(self, streamed: bool) -> TextFinder:
        return AnthropicStreamTexts() if streamed else AnthropicBodyTexts()

    @property
    def continuation(self) -> Continuation:
        return ANTHROPIC_CONTINUATION

    def error(self, fault: Fault, message: str) -> bytes:
        error = {"type": _ERROR_TYPES[fault], "message": message}
        return envelope.encode({"type": "error", "error": error})


def _output(raw: Mapping[str, bytes]) -> OutputFormat | None:
    """`output_config.format`, or `output_format` as earlier versions spell it. Its schema is named by its `title`."""
    stated = raw.get("output_format", b"null")
    config = raw.get("output_config", b"null")
    if config.startswith(b"{"):
        stated = envelope.members(config).get("format", stated)
    if not stated.startswith(b"{"):
        return None
    schema = envelope.members(stated).get("schema", b"null")
    if not schema.startswith(b"{"):
        return None
    members = envelope.members(schema)
    title = envelope.value_of(members["title"]) if "title" in members else ""
    return OutputFormat(title if isinstance(title, str) else "", schema)


_TOOL_MEMBERS = ("tools", "mcp_servers", "container")


@lru_cache(maxsize=128)
def _request_tools(tools: bytes, mcp_servers: bytes, container: bytes) -> DeclaredTools:
    """By the bytes of the members: an agent declares the same tools with every request."""
    declared: list[DeclaredTool] = []
    provider: list[str] = []
    for element in envelope.list_or_none(tools):
        tool = envelope.members(element)
        kind = envelope.value_of(tool["type"]) if "type" in tool else "custom"
        name = envelope.value_of(tool["name"]) if "name" in tool else None
        if not isinstance(kind, str) or kind not in CLIENT_TOOLS:
            provider.append(name if isinstance(name, str) else str(kind))
        elif isinstance(name, str):
            declared.append(DeclaredTool(name, tool.get("input_schema")))
    provider += [f"mcp/{_server_name(element)}" for element in envelope.list_or_none(mcp_servers)]
    if container != b"null":
        provider.append("container")
    return declared_tools(declared, provider)


def _server_name(element: bytes) -> str:
    server = envelope.value_of(element)
    return str(server.get("name")) if isinstance(server, dict) else ""


ANTHROPIC_MESSAGES = AnthropicMessages()
