"""The closed tables of Ollama's `/api/chat`: members of lines, messages and calls (WIRE.md 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire.events import TEXT_KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CALLS: Final = "tool_calls"
FUNCTION: Final = "function"
MESSAGE_MEMBERS: Final = frozenset({TEXT_KIND, "images", "role", "thinking", "tool_call_id", "tool_name", CALLS})
LIMIT_REASONS: Final = frozenset({"length"})
_SPELLED: Final = MESSAGE_MEMBERS | {"arguments", "done", "done_reason", FUNCTION, "message", "name"}
_FOLDED: Final = frozenset(name.replace("_", "") for name in _SPELLED)


class WrongShapeError(ValueError):
    """A line that the dialect cannot have sent."""


def message_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """The message of a parsed line; empty where it has none. Raises `WrongShapeError`."""
    check_spelling(value)
    message = value.get("message")
    if not isinstance(message, dict | None) or CALLS in value or not isinstance(value.get("done"), bool | None):
        raise WrongShapeError
    check_spelling(message or {})
    if message and not isinstance(message.get(TEXT_KIND), str | None):
        raise WrongShapeError
    return message or {}


def calls_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of `tool_calls`. Raises `WrongShapeError`."""
    calls = message.get(CALLS)
    if calls is None:
        return []
    if not isinstance(calls, list) or not all(isinstance(one, dict) for one in calls):
        raise WrongShapeError
    return calls


def check_spelling(members: Iterable[str]) -> None:
    """Clients that fold case (Ollama's own are written in Go) would find a call where the gate sees none (G5)."""
    for member in members:
        if member not in _SPELLED and member.replace("_", "").casefold() in _FOLDED:
            raise WrongShapeError


def unknown(message: Mapping[str, Any]) -> list[str]:
    """Members of a message that bear content, and that no table knows."""
    return [name for name in message if name not in MESSAGE_MEMBERS and isinstance(message[name], (dict, list, str))]
