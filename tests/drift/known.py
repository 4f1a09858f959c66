"""The closed tables of the dialects, by what the SDKs call the unions that they must know whole."""

from __future__ import annotations

from proxy.wire import anthropic_tools, anthropic_types
from proxy.wire.chat_calls import CALL_TYPES

KNOWN: dict[str, frozenset[str]] = {
    "blocks anthropic": frozenset(anthropic_types.BLOCKS),
    "deltas anthropic": frozenset(anthropic_types.DELTAS),
    "events anthropic": frozenset(anthropic_types.EVENTS),
    "tools anthropic": anthropic_tools.CLIENT_TOOLS | anthropic_tools.PROVIDER_TOOLS,
    "calls openai-chat": frozenset(CALL_TYPES),
    "tools openai-chat": frozenset(CALL_TYPES),
}
"""By what the SDK calls a union: the closed tables that must know each of its members."""
