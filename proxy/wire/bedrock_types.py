"""The closed tables of Bedrock's Converse: events, blocks, deltas, stop reasons (WIRE.md 5). What is not here is
unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire.anthropic_types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from proxy.wire.events import FrameRead

BLOCKS: Final[Mapping[str, Kind]] = {
    "text": Kind.TEXT,
    "reasoningContent": Kind.TEXT,
    "citationsContent": Kind.TEXT,
    "image": Kind.FRAME,
    "document": Kind.FRAME,
    "video": Kind.FRAME,
    "audio": Kind.FRAME,
    "guardContent": Kind.FRAME,
    "cachePoint": Kind.FRAME,
    "searchResult": Kind.FRAME,
    "toolUse": Kind.CALL,
    "toolResult": Kind.OBSERVED,
    "toolAddition": Kind.CALL,  # what a request may hold; of a model it is judged as a call of that name
    "toolRemoval": Kind.CALL,
}
STARTS: Final[Mapping[str, Kind]] = {"toolUse": Kind.CALL, "toolResult": Kind.OBSERVED, "image": Kind.FRAME}
DELTAS: Final[Mapping[str, Kind]] = {
    "text": Kind.TEXT,
    "reasoningContent": Kind.TEXT,
    "citation": Kind.TEXT,
    "image": Kind.FRAME,
    "toolUse": Kind.CALL,
    "toolResult": Kind.OBSERVED,
}
MESSAGE_START: Final = "messageStart"
BLOCK_START: Final = "contentBlockStart"
BLOCK_DELTA: Final = "contentBlockDelta"
BLOCK_STOP: Final = "contentBlockStop"
MESSAGE_STOP: Final = "messageStop"
METADATA: Final = "metadata"
EVENTS: Final = frozenset(
    {
        MESSAGE_START,
        BLOCK_START,
        BLOCK_DELTA,
        BLOCK_STOP,
        MESSAGE_STOP,
        METADATA,
        "internalServerException",
        "modelStreamErrorException",
        "serviceUnavailableException",
        "throttlingException",
        "validationException",
    }
)
STOP_REASONS: Final = frozenset(
    {
        "end_turn",
        "tool_use",
        "max_tokens",
        "stop_sequence",
        "guardrail_intervened",
        "content_filtered",
        "malformed_model_output",
        "malformed_tool_use",
        "model_context_window_exceeded",
    }
)
LIMIT_REASONS: Final = frozenset(
    {"max_tokens", "model_context_window_exceeded", "malformed_model_output", "malformed_tool_use"}
)
"""Those by which the last call, or the text, may not be whole."""
CALL: Final = "toolUse"
RESULT: Final = "toolResult"
EXECUTED: Final = "server_tool_use"
"""The type of a call that the provider executes. A call of any other type, or of none, is the client's."""
UNKNOWN: Final = "unknown"
CONTENT_MEMBERS: Final = ("contentBlockIndex", "start", "delta", "content", "message", "output", "toolUse")
"""Members by which an event that no table knows shows that it bears content."""
_MEMBERS: Final = frozenset(
    {
        "content",
        "contentBlockIndex",
        "delta",
        "input",
        "message",
        "name",
        "output",
        "role",
        "start",
        "stopReason",
        "text",
        "toolResult",
        "toolUse",
        "toolUseId",
        "type",
    }
)
_FOLDED: Final = frozenset(name.casefold() for name in _MEMBERS)


class WrongShapeError(ValueError):
    """What the dialect cannot have sent."""


def check_spelling(members: Iterable[str]) -> None:
    """Clients that fold case would find a call where the gate sees none; the provider sends no such name (G5)."""
    for member in members:
        if member not in _MEMBERS and member.replace("_", "").casefold() in _FOLDED:
            raise WrongShapeError


def object_of(value: Any) -> dict[str, Any]:
    """An object of an answer, well spelled."""
    if not isinstance(value, dict):
        raise WrongShapeError
    check_spelling(value)
    return value


def only(union: Any) -> tuple[str, Any]:
    """The one member of a union, and its value. Clients refuse a union that has none, or two."""
    stated = [(name, value) for name, value in object_of(union).items() if value is not None]
    if len(stated) != 1:
        raise WrongShapeError
    return stated[0]


def is_executed(call: Mapping[str, Any]) -> bool:
    return call.get("type") == EXECUTED


def extra_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """Members of a call that must survive where it leaves in canonical form."""
    return {name: value for name, value in call.items() if name not in ("toolUseId", "name", "input")}


def event_of(entry: FrameRead) -> tuple[str, dict[str, Any]]:
    """The name of an event and what it says; of what is none two empty ones.

    The reader puts what is said under the name of its event; a recorder may hold what is said alone.
    """
    name, value = entry.frame.event, entry.value
    if name is None or not isinstance(value, dict):
        return "", {}
    said = value[name] if len(value) == 1 and name in value else value
    return name, said if isinstance(said, dict) else {}


def blocks_of(value: Any) -> list[Any] | None:
    """The blocks of a whole answer; None for what is none. Raises `WrongShapeError`."""
    if "output" not in object_of(value) or value["output"] is None:
        return None
    name, message = only(value["output"])
    if name != "message":
        raise WrongShapeError
    content = object_of(message).get("content")
    if not isinstance(content, list | None):
        raise WrongShapeError
    return content
