"""Anthropic Messages on Vertex: `:rawPredict` and `:streamRawPredict` (WIRE.md 4).

The path names the model and says whether the answer is a stream; the body states `anthropic_version` in place of a
header. All else is Anthropic's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from proxy.wire import envelope
from proxy.wire.anthropic import AnthropicMessages
from proxy.wire.paths import NOWHERE, Address

if TYPE_CHECKING:
    from proxy.wire.dialect import RequestView

_STREAM: Final = ":streamRawPredict"
_VERSIONS: Final = ("/v1", "")
_MODELS: Final = "/projects/{project}/locations/{location}/publishers/anthropic/models"
_MODEL: Final = f"{_MODELS}/{{model}}"
_COUNT: Final = f"{_MODELS}/count-tokens:rawPredict"
"""In the place of a model: it counts tokens, and says nothing."""


class AnthropicOnVertex(AnthropicMessages):
    name = "anthropic-vertex"
    provider = "vertex"
    paths = tuple(f"{version}{_MODEL}{method}" for version in _VERSIONS for method in (":rawPredict", _STREAM))
    passive = tuple(("POST", f"{version}{_COUNT}") for version in _VERSIONS)
    client_header = ""

    def request(self, body: bytes, at: Address = NOWHERE) -> RequestView:
        view = super().request(body, at)
        streamed = at.pattern.endswith(_STREAM)
        if view.streamed and not streamed:
            raise envelope.EnvelopeError("the body asks for a stream, and the path does not")
        return replace(view, model=at.variables.get("model", ""), streamed=streamed)


ANTHROPIC_ON_VERTEX: Final = AnthropicOnVertex()
