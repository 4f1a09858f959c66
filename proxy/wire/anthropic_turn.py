"""An Anthropic turn put together again from its frames, and the request that goes on behind it (WIRE.md 8.1 e)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.anthropic_transcript import message_of
from proxy.wire.turn import Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.events import FrameRead, Key

_APPENDED = {"text_delta": "text", "thinking_delta": "thinking"}


class AnthropicTurn:
    def __init__(self, *, streamed: bool) -> None:
        self._streamed = streamed
        self._entries: list[FrameRead] = []

    def add(self, entry: FrameRead) -> None:
        self._entries.append(entry)

    def output_tokens(self) -> int:
        tokens = 0
        for entry in self._entries:
            value = entry.value if isinstance(entry.value, dict) else {}
            message = value.get("message")
            usage = value.get("usage") or (message.get("usage") if isinstance(message, dict) else None)
            stated = usage.get("output_tokens") if isinstance(usage, dict) else None
            tokens = stated if isinstance(stated, int) else tokens
        return tokens

    def message(self, replaced: Mapping[Key, str]) -> Message | None:
        blocks = self._streamed_blocks(replaced) if self._streamed else self._body_blocks(replaced)
        if blocks is None:
            return None
        texts = [str(envelope.value_of(members["text"])) for block in blocks if (members := _text_members(block))]
        return Message(message_of("assistant", blocks), tuple(texts))

    def _body_blocks(self, replaced: Mapping[Key, str]) -> list[bytes] | None:
        (entry,) = self._entries
        blocks = envelope.elements(envelope.raw_at(entry.frame.data or b"", "content"))
        for key, text in replaced.items():
            assert isinstance(key, int)
            blocks[key] = envelope.encode({"type": "text", "text": text})
        return [block for block in blocks if not _is_empty(block)]

    def _streamed_blocks(self, replaced: Mapping[Key, str]) -> list[bytes] | None:
        blocks: list[_Block] = []
        by_index: dict[int, _Block] = {}
        for entry in self._entries:
            value = entry.value if isinstance(entry.value, dict) else {}
            match value.get("type"):
                case "content_block_start":
                    block = _Block(envelope.raw_at(entry.frame.data or b"", "content_block"))
                    if entry.keys and entry.keys[0] in replaced:
                        block.stands_for = replaced[entry.keys[0]]
                    blocks.append(block)
                    by_index[value["index"]] = block
                case "content_block_delta":
                    target = by_index.get(value["index"])
                    if target is None or not target.take(value["delta"]):
                        return None
        raw = [block.raw() for block in blocks]
        return [block for block in raw if not _is_empty(block)]


class _Block:
    """One block and what its deltas add to it."""

    def __init__(self, start: bytes) -> None:
        self._start = start
        self._parts: dict[str, list[str]] = {}
        self._citations: list[Any] = []
        self.stands_for: str | None = None

    def take(self, delta: dict[str, Any]) -> bool:
        """False where a delta is of a kind that cannot be put together here."""
        kind = delta.get("type")
        if isinstance(kind, str) and kind in _APPENDED:
            self._parts.setdefault(_APPENDED[kind], []).append(str(delta.get(_APPENDED[kind], "")))
        elif kind == "signature_delta":
            self._parts["signature"] = [str(delta.get("signature", ""))]
        elif kind == "input_json_delta":
            self._parts.setdefault("input", []).append(str(delta.get("partial_json", "")))
        elif kind == "citations_delta":
            self._citations.append(delta.get("citation"))
        else:
            return False
        return True

    def raw(self) -> bytes:
        if self.stands_for is not None:
            return envelope.encode({"type": "text", "text": self.stands_for})
        members = envelope.members(self._start)
        for member, parts in self._parts.items():
            text = "".join(parts)
            if member == "input":
                if text:
                    members[member] = text.encode()
            else:
                start = envelope.value_of(members[member]) if member in members else ""
                members[member] = envelope.encode(f"{start or ''}{text}")
        if self._citations:
            members["citations"] = envelope.encode(self._citations)
        return envelope.join(members)


def _text_members(block: bytes) -> Mapping[str, bytes] | None:
    members = envelope.members(block)
    return members if members.get("type") == b'"text"' else None


def _is_empty(block: bytes) -> bool:
    """A text block without text, which a provider sends and does not take back."""
    members = _text_members(block)
    return members is not None and not str(envelope.value_of(members.get("text", b'""'))).strip()


def continued(body: bytes, messages: Sequence[bytes], output_tokens: int) -> bytes | None:
    members = envelope.members(body)
    left = _left(members, output_tokens)
    if left is not None and left <= 0:
        return None
    if left is not None:
        members["max_tokens"] = envelope.encode(left)
    choice = envelope.value_of(members["tool_choice"]) if "tool_choice" in members else None
    if isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
        parallel = {key: value for key, value in choice.items() if key == "disable_parallel_tool_use"}
        members["tool_choice"] = envelope.encode({"type": "auto", **parallel})
    members["messages"] = envelope.join_list([*envelope.elements(members["messages"]), *messages])
    return envelope.join(members)


def _left(members: Mapping[str, bytes], output_tokens: int) -> int | None:
    """What is left of `max_tokens`; nothing where thinking would have no room in it."""
    bound = envelope.value_of(members["max_tokens"]) if "max_tokens" in members else None
    if not isinstance(bound, int):
        return None
    thinking = envelope.value_of(members["thinking"]) if "thinking" in members else None
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    left = bound - output_tokens
    return 0 if isinstance(budget, int) and left <= budget else left
