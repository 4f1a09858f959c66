"""One block of a streamed Converse turn as a history holds it: its start, and what its deltas add."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.bedrock_seal import REASONING
from proxy.wire.bedrock_types import CALL, RESULT, event_of, only

if TYPE_CHECKING:
    from proxy.wire.events import FrameRead, Released

_REASONED: Final = frozenset({"text", "signature", "redactedContent"})


class Block:
    """Of a text no event tells the start."""

    def __init__(self, start: FrameRead | None) -> None:
        kind, members = only(event_of(start)[1]["start"]) if start is not None else ("", {})
        self._kind = kind
        self._members: dict[str, Any] = dict(members) if isinstance(members, dict) else {}
        self._parts: dict[str, list[str]] = {}
        self._content: list[Any] = []  # of a result
        self._citations: list[Any] = []
        self.stands_for: str | None = None
        self.left: Released | None = None  # how it left, where not as it came

    def take(self, delta: dict[str, Any]) -> bool:
        """False where a delta is of a kind that cannot be put together here."""
        kind, value = only(delta)
        match kind:
            case "text":
                self._parts.setdefault("text", []).append(str(value))
            case "toolUse" if isinstance(value, dict):
                self._parts.setdefault("input", []).append(str(value.get("input", "")))
            case "reasoningContent" if isinstance(value, dict) and _REASONED.issuperset(value):
                for name, part in value.items():
                    self._parts.setdefault(f"{REASONING}.{name}", []).append(str(part))
            case "toolResult" if isinstance(value, list):
                self._content += value
            case "citation":
                self._citations.append(value)
            case _:
                return False
        return True

    def raw(self) -> bytes:
        if self.stands_for is not None:
            return envelope.encode({"text": self.stands_for})
        if self._kind == CALL:
            arguments = "".join(self._parts.get("input", ())) or "{}"
            named = {}
            if self.left is not None:
                arguments = self.left.arguments or arguments
                named = {"name": self.left.name} if self.left.name else {}
            members = {name: envelope.encode(value) for name, value in (self._members | named).items()}
            return envelope.join({CALL: envelope.join({**members, "input": arguments.encode()})})
        if self._kind:
            content = {"content": self._content} if self._kind == RESULT else {}
            return envelope.encode({self._kind: {**self._members, **content}})
        return envelope.encode(self._said())

    def _said(self) -> dict[str, Any]:
        text = "".join(self._parts.get("text", ()))
        if redacted := self._parts.get(f"{REASONING}.redactedContent"):
            return {REASONING: {"redactedContent": _joined(redacted)}}
        reasoning = {
            name: "".join(self._parts[f"{REASONING}.{name}"])
            for name in ("text", "signature")
            if f"{REASONING}.{name}" in self._parts
        }
        if reasoning:
            return {REASONING: {"reasoningText": {"text": "", **reasoning}}}
        if self._citations:
            return {"citationsContent": {"content": [{"text": text}], "citations": self._citations}}
        return {"text": text}


def is_empty(block: bytes) -> bool:
    """A text block without text, which a provider sends and does not take back."""
    members = envelope.members(block)
    return "text" in members and not str(envelope.value_of(members["text"])).strip()


def _joined(parts: list[str]) -> str:
    """Bytes that came in several parts, each in base64 of its own."""
    try:
        return b64encode(b"".join(b64decode(part, validate=True) for part in parts)).decode()
    except Error:
        return "".join(parts)
