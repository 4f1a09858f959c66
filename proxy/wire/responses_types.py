"""The closed tables of OpenAI Responses: items, events, and who executes what (WIRE.md 3.1, 3.2)."""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from proxy.wire.assembly import QUESTION

if TYPE_CHECKING:
    from collections.abc import Mapping


class Kind(Enum):
    TEXT = "text"
    CALL = "call"
    OBSERVED = "observed"  # the provider executes it, or it is what came of that


FUNCTION, CUSTOM, LOCAL_SHELL, SHELL = "function_call", "custom_tool_call", "local_shell_call", "shell_call"
PATCH, COMPUTER, SEARCH, APPROVAL = "apply_patch_call", "computer_call", "tool_search_call", QUESTION
MESSAGE, REASONING, REFERENCE = "message", "reasoning", "item_reference"

ITEMS: Mapping[str, Kind] = MappingProxyType(
    {
        MESSAGE: Kind.TEXT,
        REASONING: Kind.TEXT,
        "compaction": Kind.TEXT,
        "compaction_summary": Kind.TEXT,
        FUNCTION: Kind.CALL,
        CUSTOM: Kind.CALL,
        LOCAL_SHELL: Kind.CALL,
        SHELL: Kind.CALL,  # where its environment is the client's
        PATCH: Kind.CALL,
        COMPUTER: Kind.CALL,
        SEARCH: Kind.CALL,  # where its execution is the client's
        APPROVAL: Kind.CALL,
        "additional_tools": Kind.OBSERVED,
        "apply_patch_call_output": Kind.OBSERVED,
        "code_interpreter_call": Kind.OBSERVED,
        "computer_call_output": Kind.OBSERVED,
        "custom_tool_call_output": Kind.OBSERVED,
        "file_search_call": Kind.OBSERVED,
        "function_call_output": Kind.OBSERVED,
        "image_generation_call": Kind.OBSERVED,
        "local_shell_call_output": Kind.OBSERVED,
        "mcp_approval_response": Kind.OBSERVED,
        "mcp_call": Kind.OBSERVED,
        "mcp_list_tools": Kind.OBSERVED,
        "program": Kind.OBSERVED,
        "program_output": Kind.OBSERVED,
        "shell_call_output": Kind.OBSERVED,
        "tool_search_output": Kind.OBSERVED,
        "web_search_call": Kind.OBSERVED,
    }
)
EXECUTED: Final = frozenset(
    {
        "code_interpreter_call",
        "file_search_call",
        "image_generation_call",
        "mcp_call",
        "program",
        SEARCH,
        SHELL,
        "web_search_call",
    }
)
"""Of the observed items those that tell of an execution; the others are what came of one."""

ADDED, DONE_ITEM = "response.output_item.added", "response.output_item.done"
TEXT_DELTA = "response.output_text.delta"
STARTS = frozenset({"response.created", "response.queued", "response.in_progress"})
COMPLETED, INCOMPLETE = "response.completed", "response.incomplete"
WHOLE: Mapping[str, Any] = MappingProxyType({"status": "completed", "incomplete_details": None})
"""What a response says that was not cut."""
TERMINAL = frozenset({COMPLETED, INCOMPLETE, "response.failed", "response.cancelled"})
CALL_DELTAS: Mapping[str, str] = MappingProxyType(
    {
        "response.function_call_arguments.delta": FUNCTION,
        "response.custom_tool_call_input.delta": CUSTOM,
        "response.apply_patch_call_operation_diff.delta": PATCH,
        "response.shell_call_command.delta": SHELL,
    }
)
"""Events that add to the arguments of an item of a type."""
CALL_WHOLES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "response.function_call_arguments.done": (FUNCTION, "arguments"),
        "response.custom_tool_call_input.done": (CUSTOM, "input"),
        "response.apply_patch_call_operation_diff.done": (PATCH, "diff"),
        "response.shell_call_command.done": (SHELL, "command"),
    }
)
"""Events that state them whole, and the member that does."""
COMMAND_ADDED = "response.shell_call_command.added"
CONTENT = frozenset(
    {
        "response.code_interpreter_call.completed",
        "response.code_interpreter_call.in_progress",
        "response.code_interpreter_call.interpreting",
        "response.code_interpreter_call_code.delta",
        "response.code_interpreter_call_code.done",
        "response.compaction.compacting",
        "response.content_part.added",
        "response.content_part.done",
        "response.file_search_call.completed",
        "response.file_search_call.in_progress",
        "response.file_search_call.searching",
        "response.image_generation_call.completed",
        "response.image_generation_call.generating",
        "response.image_generation_call.in_progress",
        "response.image_generation_call.partial_image",
        "response.mcp_call.completed",
        "response.mcp_call.failed",
        "response.mcp_call.in_progress",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.mcp_list_tools.completed",
        "response.mcp_list_tools.failed",
        "response.mcp_list_tools.in_progress",
        "response.output_text.annotation.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.reasoning_summary.delta",
        "response.reasoning_summary.done",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_text.delta",
        "response.reasoning_text.done",
        "response.refusal.delta",
        "response.refusal.done",
        "response.shell_call_output_content.delta",
        "response.shell_call_output_content.done",
        "response.web_search_call.completed",
        "response.web_search_call.in_progress",
        "response.web_search_call.searching",
    }
)
"""Events of items that no client executes."""
FREE = frozenset(
    {
        "error",
        "keepalive",
        "ping",
        "response.audio.delta",
        "response.audio.done",
        "response.audio.transcript.delta",
        "response.audio.transcript.done",
        "response.steer.accepted",
        "response.steer.failed",
        "response.steer.pending",
    }
)
"""Events of no item."""
CONTENT_MEMBERS = ("output_index", "item", "item_id", "part", "delta", "response", "output", "choices")
"""Members by which an event that no table knows shows that it bears content."""
NAMES = frozenset(
    {
        "action",
        "actions",
        "arguments",
        "call_id",
        "caller",
        "choices",
        "command",
        "command_index",
        "delta",
        "environment",
        "execution",
        "id",
        "input",
        "item",
        "item_id",
        "name",
        "namespace",
        "operation",
        "output",
        "output_index",
        "response",
        "status",
        "type",
    }
)
"""Members by which clients find items and calls; another case of one of them breaks the stream."""
ITEMS_MAX = 1024
"""An item is addressed by its number, and clients keep a list of them."""


def kind_of(item: Mapping[str, Any]) -> Kind | None:
    """Who executes an item; None where no table knows its type."""
    kind = item.get("type")
    if kind == SHELL and _type_of(item.get("environment")) not in ("", "local"):
        return Kind.OBSERVED
    if kind == SEARCH and item.get("execution") == "server":
        return Kind.OBSERVED
    return ITEMS.get(kind) if isinstance(kind, str) else None


def _type_of(environment: Any) -> str:
    if environment is None:
        return ""
    kind = environment.get("type") if isinstance(environment, dict) else None
    return kind if isinstance(kind, str) else "?"
