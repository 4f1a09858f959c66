"""What Anthropic refuses in a request's history, with the texts it refuses it with (as users quote them in reports).

Neighbouring turns of one role are merged before pairs are looked at, as the provider does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import re2

from proxy.demo.turns import HttpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy.demo.turns import Document

_TOOL_USE_ID = re2.compile(r"[a-zA-Z0-9_-]+")
_SERVER_RESULT_SUFFIX = "_tool_result"


def anthropic_refusal(body: Document) -> HttpError | None:
    """The first thing that Anthropic would find wrong with `messages`, or None."""
    text = next(_anthropic_faults(body), None)
    return None if text is None else HttpError(400, "invalid_request_error", text)


def _anthropic_faults(body: Document) -> Iterator[str]:
    messages = body.get("messages")
    if not isinstance(messages, list):
        yield "messages: Field required"
        return
    if not messages:
        yield "messages: at least one message is required"
        return
    yield from _shape_faults(messages)
    turns = _merged(messages)
    yield from _identifier_faults(turns)
    yield from _pair_faults(turns)
    if turns and turns[-1].role == "assistant":
        yield ("This model does not support assistant message prefill. The conversation must end with a user message.")


def _shape_faults(messages: list[Any]) -> Iterator[str]:
    for number, message in enumerate(messages):
        if not isinstance(message, dict):
            yield f"messages.{number}: Input should be a valid dictionary"
            continue
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant", "system"):
            yield f"messages.{number}.role: Input should be 'user', 'assistant' or 'system'"
        if content is None:
            yield f"messages.{number}.content: Field required"
        if content in ([], ""):
            yield f"messages.{number}: all messages must have non-empty content"
        for place, block in enumerate(content if isinstance(content, list) else ()):
            where = f"messages.{number}.content.{place}"
            if isinstance(block, dict):
                yield from _block_faults(where, role, block)
            else:
                yield f"{where}: Input should be a valid dictionary"


def _block_faults(where: str, role: object, block: Document) -> Iterator[str]:
    match block.get("type"):
        case "text":
            if not block.get("text"):
                yield "messages: text content blocks must be non-empty"
        case "tool_use":
            if role != "assistant":
                yield f"{where}: `tool_use` blocks can only be in `assistant` messages"
            if not isinstance(block.get("id"), str) or not _TOOL_USE_ID.fullmatch(block["id"]):
                yield f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            if not isinstance(block.get("input"), dict):
                yield f"{where}.tool_use.input: Input should be a valid dictionary"
        case "tool_result":
            if role != "user":
                yield f"{where}: `tool_result` blocks can only be in `user` messages"
        case None:
            yield f"{where}.type: Field required"


class _Merged:
    """Neighbouring turns of one role as the one turn that the provider sees; `number` is the first of them."""

    __slots__ = ("blocks", "number", "role")

    def __init__(self, role: str, number: int) -> None:
        self.role = role
        self.number = number
        self.blocks: list[Document] = []

    def of_type(self, kind: str) -> list[Document]:
        return [block for block in self.blocks if block.get("type") == kind]


def _merged(messages: list[Any]) -> list[_Merged]:
    turns: list[_Merged] = []
    for number, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role == "system":  # it changes tools or instructions; it stands in no pair
            continue
        if not turns or turns[-1].role != role:
            turns.append(_Merged(str(role), number))
        turns[-1].blocks += content if isinstance(content, list) else [{"type": "text", "text": content}]
    return turns


def _identifier_faults(turns: list[_Merged]) -> Iterator[str]:
    seen: set[str] = set()
    for turn in turns:
        for place, block in enumerate(turn.blocks):
            if block.get("type") != "tool_use":
                continue
            if block["id"] in seen:
                yield f"messages.{turn.number}.content.{place}: `tool_use` ids must be unique"
            seen.add(block["id"])


def _pair_faults(turns: list[_Merged]) -> Iterator[str]:
    for place, turn in enumerate(turns):
        before = turns[place - 1] if place else None
        after = turns[place + 1] if place + 1 < len(turns) else None
        if turn.role == "assistant":
            yield from _unanswered(turn, after)
        else:
            yield from _unasked(turn, before)


def _unanswered(turn: _Merged, after: _Merged | None) -> Iterator[str]:
    answered = {block.get("tool_use_id") for block in _leading_results(after)} if after is not None else set()
    missing = [block["id"] for block in turn.of_type("tool_use") if block["id"] not in answered]
    if missing:
        yield (
            f"messages.{turn.number}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )
    if after is None or all(block.get("type") == "tool_result" for block in after.blocks):
        return
    done = {block.get("tool_use_id") for block in turn.blocks if str(block.get("type")).endswith(_SERVER_RESULT_SUFFIX)}
    for block in turn.of_type("server_tool_use"):
        if block.get("id") not in done:
            name = block.get("name")
            yield (
                f"`{name}` tool use with id `{block.get('id')}` was found without a corresponding "
                f"`{name}_tool_result` block"
            )


def _unasked(turn: _Merged, before: _Merged | None) -> Iterator[str]:
    asked = {block["id"] for block in before.of_type("tool_use")} if before is not None else set()
    seen: set[str] = set()
    for place, block in enumerate(turn.blocks):
        if block.get("type") != "tool_result":
            continue
        identifier = str(block.get("tool_use_id"))
        if identifier not in asked:
            yield (
                f"messages.{turn.number}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{identifier}. Each `tool_result` block must have a corresponding `tool_use` block in the previous "
                "message."
            )
        if identifier in seen:
            yield (
                f"messages.{turn.number}.content.{place}: each tool_use must have a single result. Found multiple "
                f"`tool_result` blocks with id: {identifier}"
            )
        seen.add(identifier)


def _leading_results(turn: _Merged) -> Iterator[Document]:
    """Results count only where they stand before any other block."""
    for block in turn.blocks:
        if block.get("type") != "tool_result":
            return
        yield block
