"""A turn as the bytes of any dialect of the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire.bedrock_turn import CONVERSE_CONTINUATION
from proxy.wire.gemini_turn import GEMINI_CONTINUATION
from proxy.wire.ollama_turn import OLLAMA_CONTINUATION
from tests import strategies as model
from tests.proxy.wire import bedrock_turns, gemini_turns, ollama_turns, responses_model

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect


def is_gemini(dialect: Dialect) -> bool:
    return dialect.continuation is GEMINI_CONTINUATION


def is_ollama(dialect: Dialect) -> bool:
    return dialect.continuation is OLLAMA_CONTINUATION


def stream_of(dialect: Dialect, turn: model.Turn) -> bytes:
    if is_ollama(dialect):
        return ollama_turns.stream(turn)
    if is_bedrock(dialect):
        return bedrock_turns.stream(turn) if is_converse(dialect) else bedrock_turns.invoke_stream(turn)
    if dialect.name == "openai-responses":
        return responses_model.responses_stream(turn)
    if is_gemini(dialect):
        return gemini_turns.stream([turn], b"\n", partial=True)
    is_anthropic = dialect.name.startswith("anthropic")
    return model.anthropic_stream(turn) if is_anthropic else model.chat_stream([turn])


def is_converse(dialect: Dialect) -> bool:
    return dialect.continuation is CONVERSE_CONTINUATION


def is_bedrock(dialect: Dialect) -> bool:
    """By Converse, or by chunks."""
    return dialect.provider == "bedrock"


def whole_bytes(dialect: Dialect, data: bytes) -> int:
    """How many bytes of a stream of ours, from its begin on, are whole frames."""
    if is_bedrock(dialect):
        size = 0
        while len(data) - size >= 4 and (end := size + int.from_bytes(data[size : size + 4], "big")) <= len(data):
            size = end
        return size
    end_of_frame = b"\n" if is_ollama(dialect) else b"\n\n"
    found = data.rfind(end_of_frame)
    return found + len(end_of_frame) if found >= 0 else 0


def body_of(dialect: Dialect, turn: model.Turn) -> bytes:
    if is_ollama(dialect):
        return ollama_turns.body(turn)
    if is_converse(dialect):
        return bedrock_turns.body(turn)
    if is_bedrock(dialect):
        return model.anthropic_body(turn)
    if dialect.name == "openai-responses":
        return responses_model.responses_body(turn)
    if is_gemini(dialect):
        return gemini_turns.body([turn])
    return model.anthropic_body(turn) if dialect.name.startswith("anthropic") else model.chat_body([turn])
