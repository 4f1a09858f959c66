"""The closed table of Anthropic's event, block and delta types (WIRE.md 1.1, 1.3): what is not here is unknown."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from proxy.wire import envelope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.events import Released


class Kind(Enum):
    TEXT = "text"
    CALL = "call"
    OBSERVED = "observed"  # the provider executes it
    FRAME = "frame"


BLOCKS: Mapping[str, Kind] = {
    "text": Kind.TEXT,
    "thinking": Kind.TEXT,
    "redacted_thinking": Kind.TEXT,
    "compaction": Kind.TEXT,
    "fallback": Kind.FRAME,
    "tool_use": Kind.CALL,
    "server_tool_use": Kind.OBSERVED,
    "mcp_tool_use": Kind.OBSERVED,
    "mcp_tool_result": Kind.OBSERVED,
    "mcp_tool_listing": Kind.OBSERVED,
    "web_search_tool_result": Kind.OBSERVED,
    "web_fetch_tool_result": Kind.OBSERVED,
    "code_execution_tool_result": Kind.OBSERVED,
    "bash_code_execution_tool_result": Kind.OBSERVED,
    "text_editor_code_execution_tool_result": Kind.OBSERVED,
    "tool_search_tool_result": Kind.OBSERVED,
    "advisor_tool_result": Kind.OBSERVED,
    "container_upload": Kind.OBSERVED,
}
DELTAS: Mapping[str, Kind] = {
    "text_delta": Kind.TEXT,
    "thinking_delta": Kind.TEXT,
    "signature_delta": Kind.TEXT,
    "citations_delta": Kind.TEXT,
    "compaction_delta": Kind.TEXT,
    "input_json_delta": Kind.CALL,
}
EVENTS: Mapping[str, Kind] = {
    "message_start": Kind.FRAME,
    "content_block_start": Kind.CALL,
    "content_block_delta": Kind.CALL,
    "content_block_stop": Kind.CALL,
    "message_delta": Kind.FRAME,
    "message_stop": Kind.FRAME,
    "ping": Kind.FRAME,
    "error": Kind.FRAME,
}


PLACING = frozenset({"message_start", "content_block_start", "content_block_delta", "content_block_stop"})
"""Events that make or address blocks. Clients that skip events without a name would number blocks otherwise."""
CONTENT_MEMBERS = ("index", "content_block", "delta", "item", "part", "block")
"""Members by which an event that no table knows shows that it bears content."""
LIMIT_REASONS = ("max_tokens", "model_context_window_exceeded")
UNKNOWN = "unknown"
MEMBERS = frozenset(
    {
        "caller",
        "content",
        "content_block",
        "delta",
        "id",
        "index",
        "input",
        "message",
        "name",
        "partial_json",
        "role",
        "stop_reason",
        "text",
        "toolset_name",
        "type",
    }
)
"""Members by which clients find blocks and calls; another case of one of them breaks the stream."""


def as_left(block: bytes, answer: Released) -> bytes:
    """A call with the arguments, and the name, that were judged in place of its own."""
    name = {"name": answer.name} if answer.name else {}
    return envelope.edited(block, input=(answer.arguments or "{}").encode(), **name)
