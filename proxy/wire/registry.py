"""The dialects of this version. A new one is a file beside this one and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.anthropic_vertex import ANTHROPIC_ON_VERTEX
from proxy.wire.bedrock import BEDROCK_CONVERSE
from proxy.wire.bedrock_invoke import BEDROCK_INVOKE
from proxy.wire.gemini import GEMINI, GEMINI_ON_VERTEX
from proxy.wire.ollama import OLLAMA_CHAT
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.openai_responses import OPENAI_RESPONSES

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect

SIGNED: Final[tuple[Dialect, ...]] = (GEMINI, GEMINI_ON_VERTEX)
"""Those whose calls may bind each other (`events.Material.binds`)."""
DIALECTS: Final[tuple[Dialect, ...]] = (
    ANTHROPIC_MESSAGES,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    GEMINI,
    GEMINI_ON_VERTEX,
    ANTHROPIC_ON_VERTEX,
    OLLAMA_CHAT,
    BEDROCK_CONVERSE,
    BEDROCK_INVOKE,
)
