"""The messages of an Anthropic request: read into turns, and edited (WIRE.md 1.6, 1.7, 8.1)."""

from __future__ import annotations

import hashlib
import operator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from proxy.wire import envelope
from proxy.wire.anthropic_loops import asks_to_drop, is_continued, is_tool_loop, must_not_think
from proxy.wire.anthropic_results import contents, with_content, without
from proxy.wire.anthropic_seals import SEALABLE, edits_of, kind_of, mark_of, seal_member, with_blocks, with_seals
from proxy.wire.ends import newest_of, opening_of
from proxy.wire.seal import EDITED, SEALED
from proxy.wire.transcript import Content, HiddenResult, Side, SideTurn, Turns, call_seen, result_seen
from proxy.wire.turn import remarked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

_SIDES = {"user": Side.USER, "assistant": Side.ASSISTANT, "system": Side.SYSTEM}
_STABLE = ("type", "id", "tool_use_id", "name", "source")
"""What a client keeps of a block that is neither text, call nor result."""


class AnthropicTranscript:
    is_adjacent = True
    is_bound = True

    def __init__(self, body: bytes) -> None:
        self._members = envelope.members(body)
        self.messages: Sequence[bytes] = envelope.elements(self._members.get("messages", b"[]"))
        self._turns: list[SideTurn] | None = None
        self._taken_out = 0

    @property
    def is_continued(self) -> bool:
        return is_continued(self._members.get("thread", b"null"))

    def reminder(self, text: str) -> bytes:
        return message_of("user", [envelope.encode({"type": "text", "text": remarked(text)})])

    def opening(self) -> SideTurn | None:
        return opening_of(self.messages, _is_said, turns_of)

    def turns(self) -> Sequence[SideTurn]:
        if self._turns is None:
            self._turns = turns_of(self.messages, 0)
        return self._turns

    def newest(self) -> tuple[SideTurn | None, SideTurn | None]:
        return newest_of(self.messages, _is_said, turns_of)

    def with_notice(self, message: bytes, calls: Collection[str], notice: str) -> bytes:
        blocks = _blocks(message)
        for place, block in enumerate(blocks):
            members = envelope.members(block)
            if members.get("type") != b'"tool_result"' or _call_of(members) not in calls:
                continue
            content = members.get("content", b"null")
            parts = envelope.elements(content) if content.startswith(b"[") else []
            if not parts and (text := _result_text(envelope.value_of(content))):
                parts = [envelope.encode({"type": "text", "text": text})]
            noticed = [envelope.encode({"type": "text", "text": notice}), *parts]
            blocks[place] = envelope.edited(block, content=envelope.join_list(noticed))
        return envelope.edited(message, content=envelope.join_list(blocks))

    def contents(self, messages: Sequence[bytes]) -> list[Content]:
        return [each for message in messages for each in contents(_blocks(message))]

    def with_contents(self, messages: Sequence[bytes], contents: Sequence[Content | None]) -> list[bytes]:
        left = iter(contents)
        return [_with_blocks_of(message, lambda blocks: with_content(blocks, left)) for message in messages]

    def without_results(self, messages: Sequence[bytes], dropped: Sequence[bool]) -> list[bytes]:
        left = iter(dropped)
        found = (_with_blocks_of(message, lambda blocks: without(blocks, left)) for message in messages)
        return [message for message in found if envelope.members(message).get("content") != b"[]"]

    def bound(self, message: bytes, mark: str) -> bytes:
        if b"thinking" not in message:
            return message
        blocks = [
            seal_member(block, SEALABLE[kind], mark) if (kind := kind_of(block)) in SEALABLE else block
            for block in _blocks(message)
        ]
        return envelope.edited(message, content=envelope.join_list(blocks))

    def opened(self, message: bytes, mark: str) -> tuple[bytes, int]:
        if b"thinking" not in message or (not mark and EDITED.encode() not in message):
            return message, 0
        return self._with_seals(message, mark, edits_of)

    def body(self, messages: Sequence[bytes]) -> bytes:
        members = {**self._members, "messages": envelope.join_list(list(messages))}
        if self._taken_out and must_not_think(members, messages):
            members["thinking"] = b'{"type":"disabled"}'
        return envelope.join(members)

    def with_results(
        self, messages: Sequence[bytes], results: Sequence[HiddenResult], order: Sequence[str]
    ) -> list[bytes]:
        """All results stand first in the first message of the turn, in the order of the calls."""
        if not messages:
            return [message_of("user", [result_block(result) for result in results])]
        blocks = [block for message in messages for block in _blocks(message)]
        own = [block for block in blocks if kind_of(block) == "tool_result"]
        rest = [block for block in blocks if kind_of(block) != "tool_result"]
        by_call = {_call_of(envelope.members(block)): block for block in own}
        by_call |= {result.call: result_block(result) for result in results}
        ordered = [by_call.pop(call) for call in order if call in by_call]
        return [envelope.edited(messages[0], content=envelope.join_list([*ordered, *by_call.values(), *rest]))]

    def without_thinking(self, message: bytes) -> bytes:
        blocks = _blocks(message)
        kept = [block for block in blocks if kind_of(block) not in SEALABLE]
        return message if len(kept) == len(blocks) else with_blocks(message, kept)

    def unsealed(self, message: bytes, mark: str) -> tuple[bytes, int]:
        if SEALED.encode() not in message and (not mark or b"thinking" not in message):
            return message, 0
        return self._with_seals(message, mark, mark_of)

    def _with_seals(self, message: bytes, mark: str, of: Callable[[Any], tuple[str, str]]) -> tuple[bytes, int]:
        changed, removed = with_seals(message, _blocks(message), mark, of, is_left=self._leaves_to_provider)
        self._taken_out += removed
        return changed, removed

    @cached_property
    def _leaves_to_provider(self) -> bool:
        """In a tool loop, a provider that was asked to drop thinking that does not fit is left to do it."""
        return asks_to_drop(self._members) and is_tool_loop(self.messages)


def message_of(role: str, blocks: Sequence[bytes]) -> bytes:
    return envelope.join({"role": envelope.encode(role), "content": envelope.join_list(list(blocks))})


def result_block(result: HiddenResult) -> bytes:
    """A refusal as the result of its call."""
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call}
    if result.toolset:
        # Results of a toolset's member hold blocks only, and name the toolset again.
        block |= {"toolset_name": result.toolset, "content": [{"type": "text", "text": result.content}]}
    else:
        block["content"] = result.content
    return envelope.encode({**block, "is_error": True})


def turns_of(messages: Sequence[bytes], first: int = 0) -> list[SideTurn]:
    """The turns of these messages, the first of which stands at the place `first`."""
    turns = Turns()
    for place, raw in enumerate(messages, first):
        message = envelope.value_of(raw)
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in _SIDES:
            raise envelope.EnvelopeError(f"messages.{place} has no role that is known")
        turn = turns.at(_SIDES[role], place)
        content = message.get("content")
        if isinstance(content, str):
            turn.texts.append(content)
            continue
        if not isinstance(content, list):
            raise envelope.EnvelopeError(f"messages.{place} has no content")
        for position, block in enumerate(content):
            _read_block(turn, raw, position, block)
    return turns.found


def _read_block(turn: SideTurn, raw: bytes, position: int, block: Any) -> None:
    if isinstance(block, str):
        turn.texts.append(block)
        return
    if not isinstance(block, dict):
        raise envelope.EnvelopeError("a content block is no object")
    kind = str(block.get("type", ""))
    if kind == "text":
        turn.texts.append(str(block.get("text", "")))
    elif kind == "tool_use":
        text = envelope.raw_at(raw, "content", position, "input").decode() if "input" in block else ""
        toolset = block.get("toolset_name")
        name = str(block.get("name", ""))
        seen = call_seen(str(block.get("id", "")), f"{toolset}/{name}" if toolset else name, text)
        turn.calls.append(replace(seen, toolset=str(toolset)) if toolset else seen)
    elif kind == "tool_result":
        content = _result_text(block.get("content"))
        is_error = block.get("is_error") is True
        turn.results.append(result_seen(str(block.get("tool_use_id", "")), content, is_error=is_error))
    elif kind in SEALABLE:
        turn.marks.append(mark_of(block.get(SEALABLE[kind]))[0])
    else:
        stable = {key: block[key] for key in _STABLE if key in block}
        turn.other.append(hashlib.sha256(strict_json.canonical(stable)).hexdigest())


def _result_text(content: Any) -> str:
    """The text of a result's content; of what is no text its JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [
            part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content
        ]
        if all(isinstance(text, str) for text in texts):
            return "".join(str(text) for text in texts)
    return envelope.encode(content).decode()


def _is_said(raw: bytes) -> bool:
    return _role(raw) is Side.ASSISTANT


def _role(raw: bytes) -> Side | None:
    role = envelope.value_of(envelope.members(raw).get("role", b"null"))
    return _SIDES.get(role) if isinstance(role, str) else None


def _blocks(message: bytes) -> list[bytes]:
    """The content blocks of a message; a text becomes the one block that it stands for."""
    content = envelope.members(message).get("content", b"[]")
    if content.lstrip().startswith(b'"'):
        text = envelope.value_of(content)
        return [envelope.encode({"type": "text", "text": text})] if text else []
    return envelope.elements(content)


def _with_blocks_of(message: bytes, change: Callable[[list[bytes]], list[bytes]]) -> bytes:
    """The message with other blocks; the message itself where they are the same."""
    blocks = _blocks(message)
    changed = change(blocks)
    is_same = len(changed) == len(blocks) and all(map(operator.is_, changed, blocks))
    return message if is_same else envelope.edited(message, content=envelope.join_list(changed))


def _call_of(members: Mapping[str, bytes]) -> str:
    """The id of the call that a result answers, empty where it names none."""
    return str(envelope.value_of(members.get("tool_use_id", b'""')))
