"""OpenAI Chat Completions: `POST /v1/chat/completions`, streamed and not (WIRE.md 2, 8.2).

The calls of a choice are complete together, at its finish reason, else at `[DONE]`. `chat_calls` finds out which
fragment belongs to which call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from interceptors import strict_json
from proxy.wire import assembly, chat_told, envelope
from proxy.wire.chat_calls import ChatCalls, WrongShapeError
from proxy.wire.chat_texts import ChatTexts
from proxy.wire.chat_tools import TOOL_MEMBERS, request_tools
from proxy.wire.chat_turn import CHAT_CONTINUATION
from proxy.wire.dialect import Fault, OutputFormat, Reader, RequestView, Writer
from proxy.wire.events import (
    Breach,
    FrameRead,
    TurnEnded,
    WireBroken,
    WireEvent,
)
from proxy.wire.framing import EVENTS
from proxy.wire.paths import NOWHERE, Address
from proxy.wire.stem import opens_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.sse import Frame
    from proxy.wire.texts import TextFinder
    from proxy.wire.told import Told
    from proxy.wire.turn import Continuation

from proxy.wire.chat_writer import DONE, ChatBodyWriter, ChatStreamWriter

_ERROR_TYPES: Mapping[Fault, tuple[str, str]] = {
    Fault.INVALID_REQUEST: ("invalid_request_error", "invalid_request"),
    Fault.UNAUTHENTICATED: ("invalid_request_error", "invalid_api_key"),
    Fault.FORBIDDEN: ("invalid_request_error", "forbidden"),
    Fault.NOT_FOUND: ("invalid_request_error", "not_found"),
    Fault.TOO_LARGE: ("invalid_request_error", "request_too_large"),
    Fault.UPGRADE_REFUSED: ("invalid_request_error", "upgrade_refused"),
    Fault.INTERNAL: ("server_error", "internal_error"),
    Fault.UPSTREAM_FAILED: ("server_error", "upstream_failed"),
    Fault.OVERLOADED: ("server_error", "overloaded"),
    Fault.UPSTREAM_TIMEOUT: ("server_error", "upstream_timeout"),
}


class OpenAIChat:
    name = "openai-chat"
    provider = "openai"
    paths = (
        "/v1/chat/completions",
        "/chat/completions",
        "/openai/v1/chat/completions",
        "/openai/deployments/{deployment}/chat/completions",
    )
    tool_members = TOOL_MEMBERS
    message_words: tuple[bytes, ...] | None = ()
    passive = (("GET", "/v1/models"), ("GET", "/models"), ("GET", "/v1/models/{id}"), ("GET", "/models/{id}"))
    client_header = ""
    framing = EVENTS

    def request(self, body: bytes, at: Address = NOWHERE) -> RequestView:  # noqa: ARG002 - the body says it all
        raw = envelope.members(body)
        model = envelope.value_of(raw["model"]) if "model" in raw else ""
        streamed = envelope.value_of(raw["stream"]) is True if "stream" in raw else False
        tools = request_tools(raw)
        metadata, cache_key = raw.get("metadata", b""), raw.get("prompt_cache_key", b"")
        return RequestView(
            str(model),
            streamed,
            tools,
            metadata,
            cache_key,
            _output(raw.get("response_format", b"null")),
            raw.get("messages", b""),
            opens=opens_at(raw, body),
        )

    def reader(self, streamed: bool, pass_types: frozenset[str]) -> Reader:
        return _StreamReader(pass_types) if streamed else _BodyReader(pass_types)

    def writer(self, streamed: bool) -> Writer:
        return ChatStreamWriter() if streamed else ChatBodyWriter()

    def texts(self, streamed: bool) -> TextFinder:
        return ChatTexts(streamed)

    def told(self, told: Told, streamed: bool) -> bytes:
        return chat_told.events(told) if streamed else chat_told.body(told)

    @property
    def continuation(self) -> Continuation:
        return CHAT_CONTINUATION

    def error(self, fault: Fault, message: str) -> bytes:
        kind, code = _ERROR_TYPES[fault]
        return envelope.encode({"error": {"message": message, "type": kind, "param": None, "code": code}})


def _output(stated: bytes) -> OutputFormat | None:
    """`response_format`, where it asks for a schema."""
    if not stated.startswith(b"{"):
        return None
    schema = envelope.members(stated).get("json_schema", b"null")
    if not schema.startswith(b"{"):
        return None
    members = envelope.members(schema)
    name = envelope.value_of(members["name"]) if "name" in members else ""
    return OutputFormat(name if isinstance(name, str) else "", members.get("schema"))


class _StreamReader:
    binds = False

    def __init__(self, pass_types: frozenset[str]) -> None:
        self._calls = ChatCalls(pass_types)
        self._broken = False

    def receive(self, frame: Frame) -> list[WireEvent]:
        if self._broken:
            return []
        if frame.data is None:
            return [FrameRead(frame)]
        if frame.data == DONE:
            return [FrameRead(frame), *self._calls.finish_all(), TurnEnded()]
        try:
            value = strict_json.parse_envelope(frame.data)
            if not isinstance(value, dict):
                return self._break(Breach.NOT_AN_OBJECT)
            keys, events = self._calls.chunk(frame.data, value, "delta")
        except strict_json.StrictJsonError:
            return self._break(Breach.NOT_JSON)
        except assembly.StepError:
            return self._break(Breach.FROZEN_CALL)
        except assembly.TooMuchError:
            return self._break(Breach.TOO_MUCH)
        except WrongShapeError:
            return self._break(Breach.WRONG_SHAPE)
        return [FrameRead(frame, value, keys), *events]

    def next_leg(self) -> None:
        self._calls.next_leg()

    def end(self) -> list[WireEvent]:
        return self._calls.cut_all()

    def _break(self, breach: Breach) -> list[WireEvent]:
        self._broken = True
        return [WireBroken(breach)]


class _BodyReader:
    binds = False

    def __init__(self, pass_types: frozenset[str]) -> None:
        self._calls = ChatCalls(pass_types)

    def receive(self, frame: Frame) -> list[WireEvent]:
        data = frame.data or b""
        try:
            value = strict_json.parse_envelope(data)
            if not isinstance(value, dict):
                return [WireBroken(Breach.NOT_AN_OBJECT)]
            keys, events = self._calls.chunk(data, value, "message")
        except strict_json.StrictJsonError:
            return [WireBroken(Breach.NOT_JSON)]
        except assembly.TooMuchError:
            return [WireBroken(Breach.TOO_MUCH)]
        except (assembly.StepError, WrongShapeError):
            return [WireBroken(Breach.WRONG_SHAPE)]
        return [FrameRead(frame, value, keys), *events, *self._calls.finish_all(), TurnEnded()]

    def next_leg(self) -> None:
        """Another body is another reader's."""

    def end(self) -> list[WireEvent]:
        return []


OPENAI_CHAT = OpenAIChat()
