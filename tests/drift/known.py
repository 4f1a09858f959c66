"""The closed tables of the dialects, by what the SDKs call the unions that they must know whole."""

from __future__ import annotations

from typing import Final

from proxy.wire import anthropic_tools, anthropic_types, bedrock_types, gemini_types, responses_types
from proxy.wire.chat_calls import CALL_TYPES

RESPONSES_TOOLS: Final = {
    "apply_patch": "",
    "code_interpreter": "code_interpreter",
    "computer": "",
    "computer_use_preview": "",
    "custom": "",
    "file_search": "file_search",
    "function": "",
    "image_generation": "image_generation",
    "local_shell": "",
    "mcp": "mcp/None",
    "namespace": "",
    "programmatic_tool_calling": "programmatic_tool_calling",
    "shell": "",  # in a container it is the provider's, `shell`
    "tool_search": "tool_search",  # with `execution: client` it is the client's
    "web_search": "web_search",
    "web_search_2025_08_26": "web_search",
    "web_search_preview": "web_search_preview",
    "web_search_preview_2025_03_11": "web_search_preview",
}
"""Each type of tool, and the name by which the policy decides on it; empty for one that the client executes."""
GEMINI_TOOLS: Final = {
    "codeExecution": "code_execution",
    "computerUse": "",
    "enterpriseWebSearch": "enterprise_web_search",
    "exaAiSearch": "exa_ai_search",
    "fileSearch": "file_search",
    "functionDeclarations": "",
    "googleMaps": "google_maps",
    "googleSearch": "google_search",
    "googleSearchRetrieval": "google_search_retrieval",
    "mcpServers": "mcp/",
    "parallelAiSearch": "parallel_ai_search",
    "retrieval": "retrieval",
    "urlContext": "url_context",
}
"""Each member of a tool, the same way."""
_ASKED_ONLY: Final = frozenset({"compaction_trigger", "configuration_update", "item_reference"})
"""Items of a request that bear no call of their own: see `responses_history` and `responses_request`."""
_EVENTS: Final = frozenset(
    {
        *(responses_types.ADDED, responses_types.DONE_ITEM, responses_types.COMMAND_ADDED),
        *(responses_types.STARTS | responses_types.TERMINAL | responses_types.CONTENT | responses_types.FREE),
        *responses_types.CALL_DELTAS,
        *responses_types.CALL_WHOLES,
    }
)
_REASONS_ENDING: Final = frozenset(
    {
        *("BLOCKLIST", "CONTINUATION", "ESCALATION", "FINISH_REASON_UNSPECIFIED", "IMAGE_OTHER", "IMAGE_RECITATION"),
        *("IMAGE_PROHIBITED_CONTENT", "IMAGE_SAFETY", "LANGUAGE", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE"),
        *("MISSING_THOUGHT_SIGNATURE", "MODEL_ARMOR", "NO_IMAGE", "OTHER", "PROHIBITED_CONTENT", "RECITATION"),
        *("PUP_LIMITED_DISABLED", "SAFETY", "SPII", "STOP", "TOO_MANY_TOOL_CALLS", "UNEXPECTED_TOOL_CALL"),
    }
)
"""Those of Gemini that end a turn and cut off nothing of a call that came whole: each was looked at."""

KNOWN: dict[str, frozenset[str]] = {
    "blocks anthropic": frozenset(anthropic_types.BLOCKS),
    "deltas anthropic": frozenset(anthropic_types.DELTAS),
    "events anthropic": frozenset(anthropic_types.EVENTS),
    "tools anthropic": anthropic_tools.CLIENT_TOOLS | anthropic_tools.PROVIDER_TOOLS,
    "calls openai-chat": frozenset(CALL_TYPES),
    "tools openai-chat": frozenset(CALL_TYPES),
    "output items openai-responses": frozenset(responses_types.ITEMS),
    "input items openai-responses": frozenset(responses_types.ITEMS) | _ASKED_ONLY,
    "events openai-responses": _EVENTS,
    "tools openai-responses": frozenset(RESPONSES_TOOLS),
    "parts gemini": gemini_types.KNOWN_PARTS | {"functionResponse"},  # a request's: in an answer it is unknown
    "tools gemini": frozenset(GEMINI_TOOLS),
    "finish reasons gemini": _REASONS_ENDING | {str(one) for one in gemini_types.LIMIT_REASONS},
    "blocks bedrock": frozenset(bedrock_types.BLOCKS),
    "deltas bedrock": frozenset(bedrock_types.DELTAS),
    "events bedrock": bedrock_types.EVENTS,
    "stop reasons bedrock": bedrock_types.STOP_REASONS,
}
"""By what the SDK calls a union: the closed tables that must know each of its members."""
