"""What Anthropic refuses in a request whatever stands around it: fields, types, roles, identifiers, empty texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import re2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy.demo.turns import Document

_TOOL_USE_ID = re2.compile(r"[a-zA-Z0-9_-]+")
_SERVER_TOOL_USE_ID = re2.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_ROLES = ("user", "assistant", "system")
_BREAKPOINTS_MAX = 4
_ASSISTANT_ONLY = ("tool_use", "server_tool_use", "mcp_tool_use", "thinking", "redacted_thinking")
_EMPTY_TEXT = "messages: text content blocks must be non-empty"


def shape_faults(body: Document) -> Iterator[str]:
    """The refusals' texts. Where there are none, `messages` is a list of messages whose blocks are objects."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        yield "messages: Field required"
        return
    if not messages:
        yield "messages: at least one message is required"
    for number, message in enumerate(messages):
        yield from _message_faults(number, message)
    tools = body.get("tools") or []
    for number, tool in enumerate(tools if isinstance(tools, list) else ()):
        if not isinstance(tool, dict):
            yield f"tools.{number}: Input should be a valid dictionary"
    for key, kind in (("tools", list), ("thinking", dict)):
        if not isinstance(body.get(key), kind | None):
            yield f"{key}: Input should be a valid {'list' if kind is list else 'dictionary'}"
    breakpoints = _breakpoints([body.get("system"), body.get("tools"), messages])
    if breakpoints > _BREAKPOINTS_MAX:
        yield f"A maximum of {_BREAKPOINTS_MAX} blocks with cache_control may be provided. Found {breakpoints}."


def _message_faults(number: int, message: Any) -> Iterator[str]:
    if not isinstance(message, dict):
        yield f"messages.{number}: Input should be a valid dictionary"
        return
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        yield f"messages.{number}.role: Input should be 'user', 'assistant' or 'system'"
    if content is None:
        yield f"messages.{number}.content: Field required"
    elif not isinstance(content, str | list):
        yield f"messages.{number}.content: Input should be a valid list"
    if content in ([], ""):
        yield f"messages.{number}: all messages must have non-empty content"
    for place, block in enumerate(content if isinstance(content, list) else ()):
        where = f"messages.{number}.content.{place}"
        if isinstance(block, dict):
            yield from _block_faults(where, role, block)
        else:
            yield f"{where}: Input should be a valid dictionary"


def _block_faults(where: str, role: object, block: Document) -> Iterator[str]:
    kind = block.get("type")
    if not isinstance(kind, str):
        yield f"{where}.type: Field required"
    if kind in _ASSISTANT_ONLY and role != "assistant":
        yield f"{where}: `{kind}` blocks can only be in `assistant` messages"
    match kind:
        case "text":
            if not block.get("text"):
                yield _EMPTY_TEXT
        case "tool_use":
            yield from _call_faults(f"{where}.tool_use", block, _TOOL_USE_ID, "^[a-zA-Z0-9_-]+$")
        case "server_tool_use":
            yield from _call_faults(f"{where}.server_tool_use", block, _SERVER_TOOL_USE_ID, "^srvtoolu_[a-zA-Z0-9_]+$")
        case "tool_result":
            if role != "user":
                yield f"{where}: `tool_result` blocks can only be in `user` messages"
            yield from _result_faults(where, block)
        case "thinking":
            for key in ("signature", "thinking"):
                if not isinstance(block.get(key), str):
                    yield f"{where}.thinking.{key}: Field required"
        case "redacted_thinking":
            if not isinstance(block.get("data"), str):
                yield f"{where}.redacted_thinking.data: Field required"


def _call_faults(where: str, block: Document, pattern: Any, spelled: str) -> Iterator[str]:
    if not isinstance(block.get("id"), str) or not pattern.fullmatch(block["id"]):
        yield f"{where}.id: String should match pattern '{spelled}'"
    if not isinstance(block.get("input"), dict):
        yield f"{where}.input: Input should be a valid dictionary"
    if not isinstance(block.get("name"), str):
        yield f"{where}.name: Field required"


def _result_faults(where: str, block: Document) -> Iterator[str]:
    if not isinstance(block.get("tool_use_id"), str):
        yield f"{where}.tool_result.tool_use_id: Field required"
    content = block.get("content")
    for one in content if isinstance(content, list) else ():
        if not isinstance(one, dict):
            yield f"{where}.tool_result.content: Input should be a valid dictionary"
        elif one.get("type") == "text" and not one.get("text"):
            yield _EMPTY_TEXT


def _breakpoints(value: Any) -> int:
    """How many blocks carry a `cache_control`. What a call's input or a tool's schema holds is no block."""
    match value:
        case list():
            return sum(_breakpoints(one) for one in value)
        case dict():
            return bool(value.get("cache_control")) + _breakpoints(value.get("content"))
        case _:
            return 0
