"""Anthropic Messages on Vertex: `:rawPredict` and `:streamRawPredict` (WIRE.md 4).

The path names the model and says whether the answer is a stream; the body states `anthropic_version` in place of a
header. All else is Anthropic's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from proxy.wire import envelope
from proxy.wire.anthropic import AnthropicMessages
from proxy.wire.paths import NOWHERE, Address

if TYPE_CHECKING:
    from proxy.wire.dialect import RequestView

_STREAM: Final = ":streamRawPredict"
_MODEL: Final = "/projects/{project}/locations/{location}/publishers/anthropic/models/{model}"


class AnthropicOnVertex(AnthropicMessages):
    name = "anthropic-vertex"
    provider = "vertex"
    paths = tuple(f"{version}{_MODEL}{method}" for version in ("/v1", "") for method in (":rawPredict", _STREAM))
    passive = ()
    client_header = ""

    def request(self, body: bytes, at: Address = NOWHERE) -> RequestView:
        view = super().request(body, at)
        streamed = at.pattern.endswith(_STREAM)
        if view.streamed and not streamed:
            raise envelope.EnvelopeError("the body asks for a stream, and the path does not")
        return replace(view, model=at.variables.get("model", ""), streamed=streamed)


ANTHROPIC_ON_VERTEX: Final = AnthropicOnVertex()
