"""OpenAI Responses: `POST /v1/responses`, streamed and not, and its compaction (WIRE.md 3, 8.3).

The dialect is the family of files named after it (`responses_*`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire import envelope, responses_told
from proxy.wire.dialect import Fault, Reader, RequestView, Writer
from proxy.wire.framing import EVENTS
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.paths import NOWHERE, Address
from proxy.wire.responses_body_reader import ResponsesBodyReader
from proxy.wire.responses_body_writer import ResponsesBodyWriter
from proxy.wire.responses_reader import ResponsesStreamReader
from proxy.wire.responses_references import refuse_own
from proxy.wire.responses_request import TOOL_MEMBERS, output_format, refuse_updates, request_tools
from proxy.wire.responses_texts import ResponsesBodyTexts, ResponsesStreamTexts
from proxy.wire.responses_turn import RESPONSES_CONTINUATION
from proxy.wire.responses_writer import ResponsesStreamWriter

if TYPE_CHECKING:
    from proxy.wire.texts import TextFinder
    from proxy.wire.told import KeptAnswer, Told
    from proxy.wire.turn import Continuation

_ROOTS = ("/v1/responses", "/responses", "/openai/v1/responses", "/openai/responses")
"""OpenAI's, and Azure's."""
_COMPACT = "/compact"
_BACKGROUND = (
    "background responses are not supported: their answer is fetched later, past the gate; send the request without "
    "'background'"
)


class OpenAIResponses:
    name = "openai-responses"
    provider = "openai"
    paths = (*_ROOTS, *(root + _COMPACT for root in _ROOTS))
    passive = tuple(("POST", f"{root}/input_tokens") for root in _ROOTS)
    tool_members = TOOL_MEMBERS
    message_words: tuple[bytes, ...] | None = None
    client_header = ""
    framing = EVENTS

    def request(self, body: bytes, at: Address = NOWHERE) -> RequestView:
        refuse_own(body)
        raw = envelope.members(body)
        if "background" in raw and envelope.value_of(raw["background"]) not in (None, False):
            raise envelope.EnvelopeError(_BACKGROUND)
        refuse_updates(raw.get("input", b"null"))
        model = envelope.value_of(raw["model"]) if "model" in raw else ""
        streamed = envelope.value_of(raw["stream"]) is True if "stream" in raw else False
        metadata, cache_key = raw.get("metadata", b""), raw.get("prompt_cache_key", b"")
        form = output_format(raw.get("text", b"null"))
        is_turn = not at.pattern.endswith(_COMPACT)
        return RequestView(str(model), streamed, request_tools(raw), metadata, cache_key, form, is_turn=is_turn)

    def reader(self, streamed: bool, pass_types: frozenset[str]) -> Reader:
        return ResponsesStreamReader(pass_types) if streamed else ResponsesBodyReader(pass_types)

    def writer(self, streamed: bool) -> Writer:
        return ResponsesStreamWriter() if streamed else ResponsesBodyWriter()

    def texts(self, streamed: bool) -> TextFinder:
        return ResponsesStreamTexts() if streamed else ResponsesBodyTexts()

    def told(self, told: Told, streamed: bool) -> bytes:
        return responses_told.events(told) if streamed else responses_told.body(told)

    def kept(self, told: Told) -> KeptAnswer | None:
        return responses_told.kept(told)

    @property
    def continuation(self) -> Continuation:
        return RESPONSES_CONTINUATION

    def error(self, fault: Fault, message: str) -> bytes:
        return OPENAI_CHAT.error(fault, message)


OPENAI_RESPONSES = OpenAIResponses()
