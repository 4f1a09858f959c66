"""Bedrock's Converse: `/model/{model}/converse` and `/converse-stream` (WIRE.md 5, 8.5).

The model and whether the answer is streamed stand in the path. The dialect is the family of files named after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from proxy.wire import bedrock_told, envelope
from proxy.wire.bedrock_body_reader import ConverseBodyReader
from proxy.wire.bedrock_body_writer import ConverseBodyWriter
from proxy.wire.bedrock_frames import MESSAGES
from proxy.wire.bedrock_reader import ConverseStreamReader
from proxy.wire.bedrock_request import (
    MODEL_FIELDS,
    TOOL_CONFIG,
    model_of,
    output,
    refuse_query,
    request_tools,
    without_arn,
)
from proxy.wire.bedrock_texts import ConverseBodyTexts, ConverseStreamTexts
from proxy.wire.bedrock_turn import CONVERSE_CONTINUATION
from proxy.wire.bedrock_writer import ConverseStreamWriter
from proxy.wire.dialect import Fault, Reader, RequestView, Writer
from proxy.wire.paths import NOWHERE, Address
from proxy.wire.stripping import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.texts import TextFinder
    from proxy.wire.told import Told
    from proxy.wire.turn import Continuation

CLIENT_HEADER: Final = "amz-sdk-invocation-id"
ERROR_HEADER: Final = "x-amzn-errortype"
_STREAM: Final = "/converse-stream"
_ERRORS: Final[Mapping[Fault, str]] = {
    Fault.INVALID_REQUEST: "ValidationException",
    Fault.UNAUTHENTICATED: "UnrecognizedClientException",
    Fault.FORBIDDEN: "AccessDeniedException",
    Fault.NOT_FOUND: "ResourceNotFoundException",
    Fault.TOO_LARGE: "ValidationException",
    Fault.UPGRADE_REFUSED: "ValidationException",
    Fault.INTERNAL: "InternalServerException",
    Fault.UPSTREAM_FAILED: "ServiceUnavailableException",
    Fault.OVERLOADED: "ServiceUnavailableException",
    Fault.UPSTREAM_TIMEOUT: "ModelTimeoutException",
}


class BedrockConverse:
    name = "bedrock-converse"
    provider = "bedrock"
    paths = ("/model/{model}/converse", "/model/{model}" + _STREAM)
    passive = (("POST", "/model/{model}/count-tokens"),)
    client_header = CLIENT_HEADER
    framing = MESSAGES
    message_words: tuple[bytes, ...] | None = None
    tool_members: ClassVar[Mapping[str, Shape]] = {
        TOOL_CONFIG: Shape.INSIDE,
        MODEL_FIELDS: Shape.INSIDE,
        "promptVariables": Shape.WHOLE,
    }

    def request(self, body: bytes, at: Address = NOWHERE) -> RequestView:
        refuse_query(at.query)
        raw = envelope.members(body)
        streamed = at.pattern.endswith(_STREAM)
        model = model_of(at)
        tools = request_tools(raw, body, model)
        messages = raw.get("messages", b"")
        return RequestView(
            model, streamed, tools, raw.get("requestMetadata", b""), output=output(raw), messages=messages
        )

    def reader(self, streamed: bool, pass_types: frozenset[str]) -> Reader:
        return ConverseStreamReader(pass_types) if streamed else ConverseBodyReader(pass_types)

    def writer(self, streamed: bool) -> Writer:
        return ConverseStreamWriter() if streamed else ConverseBodyWriter()

    def texts(self, streamed: bool) -> TextFinder:
        return ConverseStreamTexts() if streamed else ConverseBodyTexts()

    def told(self, told: Told, streamed: bool) -> bytes:
        return bedrock_told.messages(told) if streamed else bedrock_told.body(told)

    @property
    def continuation(self) -> Continuation:
        return CONVERSE_CONTINUATION

    def without_name(self, path: str) -> str | None:
        """A model may be named by an ARN, which holds a slash."""
        return without_arn(path)

    def error(self, fault: Fault, message: str) -> bytes:  # noqa: ARG002 - its name stands in a header
        return envelope.encode({"message": message})

    def error_headers(self, fault: Fault) -> Mapping[str, str]:
        """Clients take the kind of an error from here."""
        return {ERROR_HEADER: _ERRORS[fault]}


BEDROCK_CONVERSE: Final = BedrockConverse()
