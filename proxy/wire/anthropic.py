"""Anthropic Messages: `POST /v1/messages`, streamed and not (WIRE.md 1, 8.1).

The dialect is the family of files named after it: its types, its reader and writer, its history and its turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire import anthropic_told, envelope
from proxy.wire.anthropic_texts import AnthropicBodyTexts, AnthropicStreamTexts
from proxy.wire.anthropic_tools import INLINE, TOOL_MEMBERS, tools_of
from proxy.wire.anthropic_turn import ANTHROPIC_CONTINUATION
from proxy.wire.dialect import Fault, OutputFormat, Reader, RequestView, Writer
from proxy.wire.framing import EVENTS
from proxy.wire.paths import NOWHERE, Address
from proxy.wire.stem import opens_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.texts import TextFinder
    from proxy.wire.told import Told
    from proxy.wire.turn import Continuation


from proxy.wire.anthropic_reader import AnthropicBodyReader, AnthropicStreamReader
from proxy.wire.anthropic_writer import AnthropicBodyWriter, AnthropicStreamWriter

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
    paths: tuple[str, ...] = ("/v1/messages", "/messages")
    tool_members = TOOL_MEMBERS
    message_words: tuple[bytes, ...] | None = (INLINE,)
    passive: tuple[tuple[str, str], ...] = (
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
        tools = tools_of(body, raw)
        metadata, cache_key = raw.get("metadata", b""), raw.get("prompt_cache_key", b"")
        return RequestView(
            str(model),
            streamed,
            tools,
            metadata,
            cache_key,
            _output(raw),
            raw.get("messages", b""),
            opens=opens_at(raw, body),
        )

    def reader(self, streamed: bool, pass_types: frozenset[str]) -> Reader:
        return AnthropicStreamReader(pass_types) if streamed else AnthropicBodyReader(pass_types)

    def writer(self, streamed: bool) -> Writer:
        return AnthropicStreamWriter() if streamed else AnthropicBodyWriter()

    def texts(self, streamed: bool) -> TextFinder:
        return AnthropicStreamTexts() if streamed else AnthropicBodyTexts()

    def told(self, told: Told, streamed: bool) -> bytes:
        return anthropic_told.events(told) if streamed else anthropic_told.body(told)

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


ANTHROPIC_MESSAGES = AnthropicMessages()
