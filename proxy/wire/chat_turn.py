"""A Chat turn put together again from its chunks, and the request that goes on behind it (WIRE.md 8.2 e)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.chat_calls import LEGACY, Slot, canonical_call
from proxy.wire.turn import Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.events import FrameRead, Key, Material

_APPENDED = ("content", "reasoning_content", "reasoning", "refusal")
_BOUNDS = ("max_tokens", "max_completion_tokens")


class ChatTurn:
    """The one choice of a turn; a turn of several cannot go on."""

    def __init__(self, *, streamed: bool) -> None:
        self._part = "delta" if streamed else "message"
        self._entries: list[FrameRead] = []
        self.materials: dict[Key, Material] = {}

    def add(self, entry: FrameRead) -> None:
        self._entries.append(entry)

    def output_tokens(self) -> int:
        tokens = 0
        for entry in self._entries:
            usage = entry.value.get("usage") if isinstance(entry.value, dict) else None
            stated = usage.get("completion_tokens") if isinstance(usage, dict) else None
            tokens = stated if isinstance(stated, int) else tokens
        return tokens

    def message(self, replaced: Mapping[Key, str]) -> Message | None:
        parts: dict[str, list[str]] = {}
        details: list[Any] = []
        for entry in self._entries:
            for choice in (entry.value.get("choices") or ()) if isinstance(entry.value, dict) else ():
                if choice.get("index", 0) != 0:
                    return None
                delta: dict[str, Any] = choice.get(self._part) or {}
                for member in _APPENDED:
                    if isinstance(delta.get(member), str):
                        parts.setdefault(member, []).append(delta[member])
                    elif delta.get(member) is not None:
                        return None
                details += delta.get("reasoning_details") or []
        message = {member: "".join(texts) for member, texts in parts.items() if "".join(texts)}
        return self._with_calls(message, details, replaced)

    def _with_calls(self, said: Mapping[str, str], details: list[Any], replaced: Mapping[Key, str]) -> Message:
        texts = [text for text in (said.get("content", ""), *replaced.values()) if text]
        message: dict[str, Any] = {"role": "assistant", **said, "content": "\n\n".join(texts) or None}
        if details:
            message["reasoning_details"] = details
        calls = [material for key, material in self.materials.items() if isinstance(key, Slot) and key not in replaced]
        if calls and calls[0].kind == LEGACY:
            message[LEGACY] = {"name": calls[0].name, "arguments": calls[0].arguments}
        elif calls:
            message["tool_calls"] = [canonical_call(call, None) for call in calls]
        return Message(envelope.encode(message), tuple(texts))


def continued(body: bytes, messages: Sequence[bytes], output_tokens: int) -> bytes | None:
    members = envelope.members(body)
    for member in _BOUNDS:
        bound = envelope.value_of(members[member]) if member in members else None
        if isinstance(bound, int):
            if bound <= output_tokens:
                return None
            members[member] = envelope.encode(bound - output_tokens)
    for member in ("tool_choice", "function_call"):
        choice = envelope.value_of(members[member]) if member in members else None
        if isinstance(choice, dict) or choice == "required":
            members[member] = b'"auto"'
    members["messages"] = envelope.join_list([*envelope.elements(members["messages"]), *messages])
    return envelope.join(members)
