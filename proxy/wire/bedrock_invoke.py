"""Claude on Bedrock by InvokeModel: `/model/{model}/invoke` and `/invoke-with-response-stream` (WIRE.md 5).

The body is Anthropic's, with `anthropic_version` in place of a header; a stream bears its events in the bytes of
chunks. What other vendors' models say here has other shapes, and is refused on the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from proxy.wire import envelope
from proxy.wire.anthropic import AnthropicMessages
from proxy.wire.anthropic_tools import TOOL_MEMBERS
from proxy.wire.anthropic_writer import AnthropicBodyWriter
from proxy.wire.bedrock import BEDROCK_CONVERSE, CLIENT_HEADER
from proxy.wire.bedrock_chunks import CHUNKS, ChunkWriter
from proxy.wire.bedrock_request import is_arn, model_of, refuse_query
from proxy.wire.paths import NOWHERE, Address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.dialect import Fault, RequestView, Writer
    from proxy.wire.told import Told

_STREAM: Final = "/invoke-with-response-stream"
_VENDOR: Final = "anthropic."


class AnthropicOnBedrock(AnthropicMessages):
    name = "bedrock-invoke"
    provider = "bedrock"
    paths = ("/model/{model}/invoke", "/model/{model}" + _STREAM)
    passive = ()
    client_header = CLIENT_HEADER
    message_words = None  # whose body it is, is looked for in all of it
    framing = CHUNKS

    def request(self, body: bytes, at: Address = NOWHERE) -> RequestView:
        refuse_query(at.query)
        model = model_of(at)
        view = super().request(body, at)
        if is_arn(model) and _VENDOR not in model:
            raise envelope.EnvelopeError(
                "the model is named by an ARN that does not say whose it is, and so not in what form it answers: use "
                "Converse, or an ARN or an id with the vendor's name in it"
            )
        if at.pattern and (_VENDOR not in model or _is_foreign(body)):
            raise envelope.EnvelopeError(
                "InvokeModel is mediated for Anthropic's models, with an 'anthropic_version' in the body: for any "
                "other model use Converse"
            )
        if view.streamed:
            raise envelope.EnvelopeError("the body has a member 'stream': the path says whether the answer is one")
        return replace(view, model=model, streamed=at.pattern.endswith(_STREAM))

    def writer(self, streamed: bool) -> Writer:
        return ChunkWriter() if streamed else AnthropicBodyWriter()

    def told(self, told: Told, streamed: bool) -> bytes:
        return ChunkWriter.chunks(super().told(told, streamed=True)) if streamed else super().told(told, streamed)

    def error(self, fault: Fault, message: str) -> bytes:
        return BEDROCK_CONVERSE.error(fault, message)

    def error_headers(self, fault: Fault) -> Mapping[str, str]:
        return BEDROCK_CONVERSE.error_headers(fault)


def _is_foreign(body: bytes) -> bool:
    """Whether a body says more than which tools there are, and not that it is Anthropic's."""
    return b"anthropic_version" not in body and not TOOL_MEMBERS.keys() >= envelope.members(body).keys()


BEDROCK_INVOKE: Final = AnthropicOnBedrock()
