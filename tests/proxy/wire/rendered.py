"""A turn as the bytes of any dialect of the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire.gemini_turn import GEMINI_CONTINUATION
from tests import strategies as model
from tests.proxy.wire import gemini_turns

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect


def is_gemini(dialect: Dialect) -> bool:
    return dialect.continuation is GEMINI_CONTINUATION


def stream_of(dialect: Dialect, turn: model.Turn) -> bytes:
    if is_gemini(dialect):
        return gemini_turns.stream([turn], b"\n", partial=True)
    return model.anthropic_stream(turn) if dialect.provider == "anthropic" else model.chat_stream([turn])


def body_of(dialect: Dialect, turn: model.Turn) -> bytes:
    if is_gemini(dialect):
        return gemini_turns.body([turn])
    return model.anthropic_body(turn) if dialect.provider == "anthropic" else model.chat_body([turn])
