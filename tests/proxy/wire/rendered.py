"""A turn as the bytes of any dialect of the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire.gemini_turn import GEMINI_CONTINUATION
from proxy.wire.ollama_turn import OLLAMA_CONTINUATION
from tests import strategies as model
from tests.proxy.wire import gemini_turns, ollama_turns, responses_model

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect


def is_gemini(dialect: Dialect) -> bool:
    return dialect.continuation is GEMINI_CONTINUATION


def is_ollama(dialect: Dialect) -> bool:
    return dialect.continuation is OLLAMA_CONTINUATION


def stream_of(dialect: Dialect, turn: model.Turn) -> bytes:
    if is_ollama(dialect):
        return ollama_turns.stream(turn)
    if dialect.name == "openai-responses":
        return responses_model.responses_stream(turn)
    if is_gemini(dialect):
        return gemini_turns.stream([turn], b"\n", partial=True)
    is_anthropic = dialect.name.startswith("anthropic")
    return model.anthropic_stream(turn) if is_anthropic else model.chat_stream([turn])


def end_of_frame(dialect: Dialect) -> bytes:
    """How each frame of a stream of ours ends."""
    return b"\n" if is_ollama(dialect) else b"\n\n"


def body_of(dialect: Dialect, turn: model.Turn) -> bytes:
    if is_ollama(dialect):
        return ollama_turns.body(turn)
    if dialect.name == "openai-responses":
        return responses_model.responses_body(turn)
    if is_gemini(dialect):
        return gemini_turns.body([turn])
    return model.anthropic_body(turn) if dialect.name.startswith("anthropic") else model.chat_body([turn])
