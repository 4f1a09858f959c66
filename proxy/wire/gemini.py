"""Gemini: `:generateContent` and `:streamGenerateContent?alt=sse`, of the Gemini API and of Vertex (WIRE.md 4, 8.4).

The model and whether the answer is streamed stand in the path. The dialect is the family of files named after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from proxy.wire import envelope, gemini_told
from proxy.wire.dialect import Fault, Reader, RequestView, Writer
from proxy.wire.framing import EVENTS
from proxy.wire.gemini_reader import GeminiReader
from proxy.wire.gemini_request import camel, output, refuse_query, request_tools
from proxy.wire.gemini_texts import GeminiTexts
from proxy.wire.gemini_turn import GEMINI_CONTINUATION
from proxy.wire.gemini_writer import GeminiWriter
from proxy.wire.paths import NOWHERE, Address
from proxy.wire.sse import event_frame
from proxy.wire.stripping import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.texts import TextFinder
    from proxy.wire.told import Told
    from proxy.wire.turn import Continuation

_STREAM: Final = ":streamGenerateContent"
_CREATE: Final = (":generateContent", _STREAM)
_STATUS: Final[Mapping[Fault, str]] = {
    Fault.INVALID_REQUEST: "INVALID_ARGUMENT",
    Fault.UNAUTHENTICATED: "UNAUTHENTICATED",
    Fault.FORBIDDEN: "PERMISSION_DENIED",
    Fault.NOT_FOUND: "NOT_FOUND",
    Fault.TOO_LARGE: "INVALID_ARGUMENT",
    Fault.UPGRADE_REFUSED: "FAILED_PRECONDITION",
    Fault.INTERNAL: "INTERNAL",
    Fault.UPSTREAM_FAILED: "UNAVAILABLE",
    Fault.OVERLOADED: "UNAVAILABLE",
    Fault.UPSTREAM_TIMEOUT: "DEADLINE_EXCEEDED",
}
_MODELS: Final = ("/v1beta/models", "/v1/models", "/models")
_TUNED: Final = ("/v1beta/tunedModels", "/v1/tunedModels")
_PROJECT: Final = "projects/{project}/locations/{location}"
_ON_VERTEX: Final = tuple(
    f"/{version}/{place}/{{model}}"
    for version in ("v1", "v1beta1")
    for place in (f"{_PROJECT}/publishers/google/models", f"{_PROJECT}/endpoints", "publishers/google/models")
)
_PASSIVE: Final = (":countTokens", ":computeTokens", ":embedContent", ":batchEmbedContents")


@dataclass(frozen=True, slots=True)
class GeminiGenerate:
    """One for each host that speaks it."""

    name: str
    provider: str
    paths: tuple[str, ...]
    passive: tuple[tuple[str, str], ...]
    client_header: str = ""
    framing = EVENTS
    message_words: tuple[bytes, ...] | None = None
    tool_members: ClassVar[Mapping[str, Shape]] = {
        "tools": Shape.KEYED,
        "cachedContent": Shape.WHOLE,
        "cached_content": Shape.WHOLE,
    }

    def request(self, body: bytes, at: Address = NOWHERE) -> RequestView:
        streamed = at.pattern.endswith(_STREAM)
        refuse_query(at.query, streamed=streamed)
        raw = camel(envelope.members(body))
        is_cached = raw.get("cachedContent", b"null") != b"null"
        tools = request_tools(raw.get("tools", b"null"), is_cached)
        return RequestView(at.variables.get("model", ""), streamed, tools, output=output(raw))

    def reader(self, streamed: bool, pass_types: frozenset[str]) -> Reader:
        return GeminiReader(streamed, pass_types)

    def writer(self, streamed: bool) -> Writer:
        return GeminiWriter(streamed)

    def texts(self, streamed: bool) -> TextFinder:  # noqa: ARG002 - a chunk and a body have one shape
        return GeminiTexts()

    def told(self, told: Told, streamed: bool) -> bytes:
        said = gemini_told.body(told)
        return event_frame(None, said) if streamed else said

    @property
    def continuation(self) -> Continuation:
        return GEMINI_CONTINUATION

    def error(self, fault: Fault, message: str) -> bytes:
        return envelope.encode({"error": {"code": fault.value, "message": message, "status": _STATUS[fault]}})


GEMINI: Final = GeminiGenerate(
    name="gemini-generate",
    provider="gemini",
    paths=tuple(f"{models}/{{model}}{method}" for models in (*_MODELS, *_TUNED) for method in _CREATE),
    passive=(
        *(("GET", models) for models in _MODELS),
        *(("GET", f"{models}/{{id}}") for models in _MODELS),
        *(("POST", f"{models}/{{model}}{method}") for models in _MODELS for method in _PASSIVE),
    ),
    client_header="x-goog-api-key",
)
GEMINI_ON_VERTEX: Final = GeminiGenerate(
    name="gemini-vertex",
    provider="vertex",
    paths=tuple(f"{models}{method}" for models in _ON_VERTEX for method in _CREATE),
    passive=tuple(("POST", f"{models}{method}") for models in _ON_VERTEX for method in _PASSIVE[:2]),
)
