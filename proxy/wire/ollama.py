"""Ollama's own chat: `POST /api/chat`, one JSON object a line, or one body where `stream` is false (WIRE.md 6, 8.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from interceptors.context import DeclaredTool
from proxy.wire import envelope, ollama_told
from proxy.wire.dialect import DeclaredTools, Fault, OutputFormat, Reader, RequestView, Writer, declared_tools
from proxy.wire.kept import kept
from proxy.wire.ndjson import LINES
from proxy.wire.ollama_reader import OllamaReader, OllamaTexts
from proxy.wire.ollama_turn import OLLAMA_CONTINUATION
from proxy.wire.ollama_types import FUNCTION
from proxy.wire.ollama_writer import OllamaWriter
from proxy.wire.paths import NOWHERE, Address
from proxy.wire.stripping import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.texts import TextFinder
    from proxy.wire.told import Told
    from proxy.wire.turn import Continuation


class OllamaChat:
    name = "ollama-chat"
    provider = "ollama"
    paths = ("/api/chat",)
    passive = (
        ("GET", "/api/tags"),
        ("GET", "/api/ps"),
        ("GET", "/api/version"),
        ("POST", "/api/show"),
        ("POST", "/api/embed"),
        ("POST", "/api/embeddings"),
    )
    client_header = ""
    framing = LINES
    message_words: tuple[bytes, ...] | None = None
    tool_members: ClassVar[Mapping[str, Shape]] = {"tools": Shape.LIST}

    def request(self, body: bytes, at: Address = NOWHERE) -> RequestView:  # noqa: ARG002 - the body says it all
        raw = envelope.members(body)
        model = envelope.value_of(raw["model"]) if "model" in raw else ""
        streamed = envelope.value_of(raw["stream"]) is not False if "stream" in raw else True
        tools = _request_tools(raw.get("tools", b"null"))
        return RequestView(str(model), streamed, tools, output=_output(raw.get("format", b"null")))

    def reader(self, streamed: bool, pass_types: frozenset[str]) -> Reader:
        return OllamaReader(streamed, pass_types)

    def writer(self, streamed: bool) -> Writer:
        return OllamaWriter(streamed)

    def texts(self, streamed: bool) -> TextFinder:  # noqa: ARG002 - a line and a body have one shape
        return OllamaTexts()

    def told(self, told: Told, streamed: bool) -> bytes:
        return ollama_told.lines(told) if streamed else ollama_told.body(told)

    @property
    def continuation(self) -> Continuation:
        return OLLAMA_CONTINUATION

    def error(self, fault: Fault, message: str) -> bytes:  # noqa: ARG002 - its errors have a text alone
        return envelope.encode({"error": message})


@kept
def _request_tools(tools: bytes) -> DeclaredTools:
    """By the bytes of the member: an agent declares the same tools with every request."""
    declared: list[DeclaredTool] = []
    provider: list[str] = []
    for element in envelope.list_or_none(tools):
        tool = envelope.members(element)
        kind = envelope.value_of(tool["type"]) if "type" in tool else FUNCTION
        if kind != FUNCTION:
            provider.append(str(kind))
            continue
        function = envelope.members(tool.get(FUNCTION, b"{}"))
        name = envelope.value_of(function["name"]) if "name" in function else None
        if isinstance(name, str):
            declared.append(DeclaredTool(name, function.get("parameters")))
    return declared_tools(declared, provider)


def _output(stated: bytes) -> OutputFormat | None:
    """`format`, where it is a schema; it is named by its `title`."""
    if not stated.startswith(b"{"):
        return None
    members = envelope.members(stated)
    title = envelope.value_of(members["title"]) if "title" in members else ""
    return OutputFormat(title if isinstance(title, str) else "", stated)


OLLAMA_CHAT: Final = OllamaChat()
