"""The messages of a Converse request: read into turns, and edited (WIRE.md 5, 8.5)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from interceptors import strict_json
from proxy.wire import bedrock_results, envelope
from proxy.wire.bedrock_seal import REASONING, mark_of, seal_block, with_seals
from proxy.wire.bedrock_types import CALL, RESULT, is_executed
from proxy.wire.ends import newest_of, opening_of
from proxy.wire.transcript import Content, HiddenResult, Side, SideTurn, Turns, call_seen, result_seen
from proxy.wire.turn import remarked

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_SIDES: Final = {"user": Side.USER, "assistant": Side.ASSISTANT, "system": Side.SYSTEM}
_STABLE: Final = ("toolUseId", "name", "type", "source", "tool")
"""What a client keeps of a block that is neither text, call nor result."""


class ConverseTranscript:
    is_adjacent, is_bound, is_continued = True, True, False

    def __init__(self, body: bytes) -> None:
        self._members = envelope.members(body)
        self.messages: Sequence[bytes] = envelope.list_or_none(self._members.get("messages", b"[]"))
        self._turns: list[SideTurn] | None = None

    def reminder(self, text: str) -> bytes:
        return message_of("user", [envelope.encode({"text": remarked(text)})])

    def opening(self) -> SideTurn | None:
        return opening_of(self.messages, _is_said, turns_of)

    def turns(self) -> Sequence[SideTurn]:
        if self._turns is None:
            self._turns = turns_of(self.messages)
        return self._turns

    def newest(self) -> tuple[SideTurn | None, SideTurn | None]:
        return newest_of(self.messages, _is_said, turns_of)

    def with_notice(self, message: bytes, calls: Collection[str], notice: str) -> bytes:
        blocks = _blocks(message)
        for place, block in enumerate(blocks):
            if _call_of(block) not in calls:
                continue
            result = envelope.raw_at(block, RESULT)
            content = envelope.list_or_none(envelope.members(result).get("content", b"[]"))
            noticed = envelope.join_list([envelope.encode({"text": notice}), *content])
            blocks[place] = envelope.edited(block, **{RESULT: envelope.edited(result, content=noticed)})
        return envelope.edited(message, content=envelope.join_list(blocks))

    def body(self, messages: Sequence[bytes]) -> bytes:
        return envelope.join({**self._members, "messages": envelope.join_list(list(messages))})

    def with_results(
        self, messages: Sequence[bytes], results: Sequence[HiddenResult], order: Sequence[str]
    ) -> list[bytes]:
        """All results stand first in the first message of the turn, in the order of the calls."""
        if not messages:
            return [message_of("user", [result_block(result) for result in results])]
        blocks = [block for message in messages for block in _blocks(message)]
        by_call = {call: block for block in blocks if (call := _call_of(block)) is not None}
        rest = [block for block in blocks if _call_of(block) is None]
        by_call |= {result.call: result_block(result) for result in results}
        ordered = [by_call.pop(call) for call in order if call in by_call]
        return [envelope.edited(messages[0], content=envelope.join_list([*ordered, *by_call.values(), *rest]))]

    def without_thinking(self, message: bytes) -> bytes:
        blocks = _blocks(message)
        kept = [block for block in blocks if REASONING not in envelope.members(block)]
        return message if len(kept) == len(blocks) else _with_blocks(message, kept)

    def contents(self, messages: Sequence[bytes]) -> list[Content]:
        return [each for message in messages for each in bedrock_results.contents(_blocks(message))]

    def with_contents(self, messages: Sequence[bytes], contents: Sequence[Content | None]) -> list[bytes]:
        left = iter(contents)
        return [_changed(message, bedrock_results.with_content(_blocks(message), left)) for message in messages]

    def without_results(self, messages: Sequence[bytes], dropped: Sequence[bool]) -> list[bytes]:
        left = iter(dropped)
        found = [_changed(message, bedrock_results.without(_blocks(message), left)) for message in messages]
        return [message for message in found if _blocks(message)]

    def bound(self, message: bytes, mark: str) -> bytes:
        if REASONING.encode() not in message:
            return message
        blocks = [
            envelope.join({REASONING: seal_block(reasoning, mark)})
            if (reasoning := envelope.members(block).get(REASONING)) is not None
            else block
            for block in _blocks(message)
        ]
        return envelope.edited(message, content=envelope.join_list(blocks))

    def opened(self, message: bytes, mark: str) -> tuple[bytes, int]:
        return _with_seals(message, mark, of_edits=True)

    def unsealed(self, message: bytes, mark: str) -> tuple[bytes, int]:
        return _with_seals(message, mark, of_edits=False)


def _with_seals(message: bytes, mark: str, *, of_edits: bool) -> tuple[bytes, int]:
    if REASONING.encode() not in message:
        return message, 0
    blocks, removed = with_seals(_blocks(message), mark, of_edits=of_edits)
    return (message, 0) if blocks is None else (_with_blocks(message, blocks), removed)


def _changed(message: bytes, blocks: list[bytes]) -> bytes:
    """The message with other blocks; the message itself where they are the same."""
    return message if blocks == _blocks(message) else envelope.edited(message, content=envelope.join_list(blocks))


def message_of(role: str, blocks: Sequence[bytes]) -> bytes:
    return envelope.join({"role": envelope.encode(role), "content": envelope.join_list(list(blocks))})


def result_block(result: HiddenResult) -> bytes:
    """A refusal as the result of its call."""
    content = [{"text": result.content}]
    return envelope.encode({RESULT: {"toolUseId": result.call, "content": content, "status": "error"}})


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
        if not isinstance(content, list):
            raise envelope.EnvelopeError(f"messages.{place} has no content")
        for position, block in enumerate(content):
            _read_block(turn, raw, position, block)
    return turns.found


def _read_block(turn: SideTurn, raw: bytes, position: int, block: Any) -> None:
    if not isinstance(block, dict) or len(block) != 1:
        raise envelope.EnvelopeError("a content block is no object of one member")
    ((kind, value),) = block.items()
    members = value if isinstance(value, dict) else {}
    if kind == "text":
        turn.texts.append(str(value))
    elif kind == CALL and turn.side is Side.ASSISTANT and not is_executed(members):
        text = envelope.raw_at(raw, "content", position, CALL, "input").decode() if "input" in members else ""
        turn.calls.append(call_seen(str(members.get("toolUseId", "")), str(members.get("name", "")), text))
    elif kind == RESULT and turn.side is Side.USER:
        text = _result_text(members.get("content"))
        is_error = members.get("status") == "error"
        turn.results.append(result_seen(str(members.get("toolUseId", "")), text, is_error=is_error))
    elif kind == REASONING:
        turn.marks.append(mark_of(members))
    else:
        stable: dict[str, Any] = {"kind": kind, **{name: members[name] for name in _STABLE if name in members}}
        turn.other.append(hashlib.sha256(strict_json.canonical(stable)).hexdigest())


def _result_text(content: Any) -> str:
    """The text of a result's content; of one JSON value, and of what is no text, its JSON."""
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") if isinstance(part, dict) else None for part in content]
    if all(isinstance(text, str) for text in texts):
        return "".join(str(text) for text in texts)
    if len(content) == 1 and isinstance(content[0], dict) and "json" in content[0]:
        return envelope.encode(content[0]["json"]).decode()
    return envelope.encode(content).decode()


def _is_said(raw: bytes) -> bool:
    return _side(raw) is Side.ASSISTANT


def _side(raw: bytes) -> Side | None:
    role = envelope.value_of(envelope.members(raw).get("role", b"null"))
    return _SIDES.get(role) if isinstance(role, str) else None


def _blocks(message: bytes) -> list[bytes]:
    return envelope.list_or_none(envelope.members(message).get("content", b"[]"))


def _with_blocks(message: bytes, blocks: list[bytes]) -> bytes:
    """The message with these blocks; a provider takes none without any."""
    blocks = blocks or [envelope.encode({"text": "(no text)"})]
    return envelope.edited(message, content=envelope.join_list(blocks))


def _object(raw: bytes) -> dict[str, Any]:
    value = envelope.value_of(raw)
    return value if isinstance(value, dict) else {}


def _call_of(block: bytes) -> str | None:
    """The id of the call that a result answers; None for any other block."""
    result = envelope.members(block).get(RESULT)
    return None if result is None else str(_object(result).get("toolUseId", ""))
