"""How many tokens a provider says that it read, in whatever frame or body of any dialect it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope

if TYPE_CHECKING:
    from collections.abc import Mapping

_HINTS: Final = (b'usage"', b'usageMetadata"', b'usage_metadata"', b'prompt_eval_count"')
_HOLDERS: Final = ("message", "response")  # Anthropic's first event; the last one of Responses
_USAGES: Final = ("usage", "usageMetadata", "usage_metadata")
_CACHED_APART: Final = (
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "cacheReadInputTokens",
    "cacheWriteInputTokens",
)
"""Of those that are not counted among the others."""
_WHOLE: Final = ("prompt_tokens", "promptTokenCount", "prompt_token_count", "input_tokens", "inputTokens")
_OLLAMA: Final = "prompt_eval_count"


def tokens_read(data: bytes | None) -> int:
    """0 where this frame or body does not say."""
    if data is None or not any(hint in data for hint in _HINTS):
        return 0
    try:
        value = envelope.value_of(data)
    except envelope.EnvelopeError:
        return 0
    if not isinstance(value, dict):
        return 0
    holders = (value, *(value[name] for name in _HOLDERS if isinstance(value.get(name), dict)))
    usages = (holder[name] for holder in holders for name in _USAGES if isinstance(holder.get(name), dict))
    return max((*map(_counted, usages), _number(value, _OLLAMA)))


def _counted(usage: Mapping[str, Any]) -> int:
    whole = max(_number(usage, name) for name in _WHOLE)
    return whole + sum(_number(usage, name) for name in _CACHED_APART)


def _number(holder: Mapping[str, Any], name: str) -> int:
    value = holder.get(name)
    return value if type(value) is int and value > 0 else 0
