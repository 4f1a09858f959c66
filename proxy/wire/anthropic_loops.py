"""What a tool loop asks of thinking (WIRE.md 1.7): its last assistant turn begins with it, or none is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire import envelope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_THINKING = ("thinking", "redacted_thinking")


def asks_to_drop(members: Mapping[str, bytes]) -> bool:
    """Whether the request asks its provider to drop thinking that is bound to another conversation."""
    binding = _thinking(members).get("block_binding")
    return isinstance(binding, dict) and binding.get("prefix_mismatch_behavior") == "drop_block"


def is_tool_loop(messages: Sequence[bytes]) -> bool:
    """Whether the newest message brings results."""
    newest = envelope.value_of(messages[-1]) if messages else None
    return _role(newest) == "user" and any(kind == "tool_result" for kind in _kinds(newest))


def must_not_think(members: Mapping[str, bytes], messages: Sequence[bytes]) -> bool:
    """Whether a provider would refuse to think on from these messages, whose last assistant turn lost its thinking.

    Models that bind thinking to what stands before it do not mind; others ask that such a turn begins with thinking
    while `thinking` is `enabled`, and say themselves that it may be disabled.
    """
    if _thinking(members).get("type") != "enabled" or not is_tool_loop(messages):
        return False
    place = len(messages) - 1
    while place and _role(envelope.value_of(messages[place])) != "assistant":
        place -= 1
    while place and _role(envelope.value_of(messages[place - 1])) == "assistant":
        place -= 1
    kinds = _kinds(envelope.value_of(messages[place]))
    return not kinds or kinds[0] not in _THINKING


def _thinking(members: Mapping[str, bytes]) -> dict[str, object]:
    found = envelope.value_of(members.get("thinking", b"null"))
    return found if isinstance(found, dict) else {}


def _role(message: object) -> object:
    return message.get("role") if isinstance(message, dict) else None


def _kinds(message: object) -> list[object]:
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else []
    return [block.get("type") if isinstance(block, dict) else None for block in blocks]


def is_continued(thread: bytes) -> bool:
    """Whether the member `thread` of a request goes on with one that the provider keeps; one of a form that is not
    known does."""
    value = envelope.value_of(thread)
    if value is None:
        return False
    return not (isinstance(value, dict) and ("create" in value or value.get("type") == "create"))
