"""A Chat turn that goes on: put together again, continued upstream, and joined for the client (WIRE.md 8.2 e)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.chat_calls import LEGACY, Slot, canonical_call
from proxy.wire.chat_transcript import ChatTranscript, result_message, turns_of
from proxy.wire.events import TEXT_KIND, TextKey
from proxy.wire.sse import Frame, event_frame
from proxy.wire.transcript import HiddenResult, Side, SideTurn
from proxy.wire.turn import NOTHING, remarked

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from proxy.wire.events import FrameRead, Key, Material, Released

_APPENDED = ("content", "reasoning_content", "reasoning", "refusal")
_BOUNDS = ("max_tokens", "max_completion_tokens")
_IDENTITY = ("id", "created", "system_fingerprint", "service_tier")
"""What clients take for the identity of one response; later legs state the first one's."""


class ChatContinuation:
    references = None

    def transcript(self, body: bytes) -> ChatTranscript:
        return ChatTranscript(body)

    def recorder(self, streamed: bool, blocks_before: int = 0) -> ChatTurn:  # noqa: ARG002 - calls have their own keys
        return ChatTurn(streamed)

    def splice(self, streamed: bool) -> _StreamSplice | _BodySplice:
        return _StreamSplice() if streamed else _BodySplice()

    def results(self, results: Sequence[HiddenResult]) -> list[bytes]:
        calls = [result_message(result) for result in results if result.kind != TEXT_KIND]
        texts = [remarked(result.content) for result in results if result.kind == TEXT_KIND]
        return [*calls, *(envelope.encode({"role": "user", "content": text}) for text in texts)]

    def named(self, entries: Sequence[FrameRead]) -> None:
        """Each request holds its whole history."""

    def said(self, text: str) -> bytes:
        return envelope.encode({"role": "assistant", "content": text})

    def visible(self, messages: Sequence[bytes]) -> SideTurn:
        found = turns_of(messages)
        return found[0] if found else SideTurn(Side.ASSISTANT, 0, 0)

    def continued(self, body: bytes, messages: Sequence[bytes], output_tokens: int) -> bytes | None:
        members = envelope.members(body)
        for member in _BOUNDS:
            bound = envelope.value_of(members[member]) if member in members else None
            if type(bound) is int:
                if bound <= output_tokens:
                    return None
                members[member] = envelope.encode(bound - output_tokens)
        for member in ("tool_choice", "function_call"):
            choice = envelope.value_of(members[member]) if member in members else None
            if isinstance(choice, dict) or choice == "required":
                members[member] = b'"auto"'
        members["messages"] = envelope.join_list([*envelope.elements(members["messages"]), *messages])
        return envelope.join(members)


class ChatTurn:
    """The recorder of one leg. A turn of several choices cannot be put together: it has no one message."""

    def __init__(self, streamed: bool) -> None:
        self._part = "delta" if streamed else "message"
        self.entries: list[FrameRead] = []
        self._calls: dict[Key, Material] = {}

    def add(self, entry: FrameRead) -> None:
        self.entries.append(entry)

    def complete(self, key: Key, material: Material) -> None:
        self._calls[key] = material

    def output_tokens(self) -> int:
        return next(filter(None, (_completion_tokens(_value(entry)) for entry in reversed(self.entries))), 0)

    def message(
        self, replaced: Mapping[Key, str], hidden: Collection[Key] = (), injected: Mapping[Key, Released] = NOTHING
    ) -> bytes | None:
        parts: dict[str, list[str]] = {}
        details: list[Any] = []
        for entry in self.entries:
            for choice in _value(entry).get("choices") or ():
                if choice.get("index", 0) != 0:
                    return None
                delta: dict[str, Any] = choice.get(self._part) or {}
                for member in _APPENDED:
                    if isinstance(delta.get(member), str):
                        parts.setdefault(member, []).append(delta[member])
                    elif delta.get(member) is not None:
                        return None
                details += delta.get("reasoning_details") or []
        said = {member: text for member, texts in parts.items() if (text := "".join(texts))}
        left_out = {*replaced, *hidden}
        if any(isinstance(key, TextKey) for key in left_out):
            said.pop("content", None)
        calls = {
            key: injected[key].applied(call) if key in injected else call
            for key, call in self._calls.items()
            if key not in left_out
        }
        return _message(said, details, calls, list(replaced.values()))


def _message(
    said: Mapping[str, str], details: list[Any], calls: Mapping[Key, Material], replies: Sequence[str]
) -> bytes | None:
    texts = [text for text in (said.get("content", ""), *replies) if text]
    message: dict[str, Any] = {"role": "assistant", **said, "content": "\n\n".join(texts) or None}
    if details:
        message["reasoning_details"] = details
    listed = [call for key, call in calls.items() if isinstance(key, Slot) and call.kind != LEGACY]
    legacy = [call for call in calls.values() if call.kind == LEGACY]
    if listed:
        message["tool_calls"] = [canonical_call(call, None) for call in listed]
    if legacy:
        message[LEGACY] = {"name": legacy[0].name, "arguments": legacy[0].arguments}
    return envelope.encode(message) if texts or calls else None


class _StreamSplice:
    """Later legs bear the first one's identity; their text and calls go on; the last usage states what all used."""

    blocks_before = 0

    def __init__(self) -> None:
        self._identity: dict[str, bytes] = {}
        self._calls = 0
        self._offset = 0
        self._completion_tokens = 0
        self._has_text = False
        self._needs_glue = False

    def ends(self, entry: FrameRead) -> bool:
        """The finish, the usage and the mark. A chunk that also says something is not kept back."""
        if entry.frame.data == b"[DONE]":
            return True
        value = _value(entry)
        choices = value.get("choices")
        if choices is None:
            return False
        heard = [member for member in _APPENDED if member != TEXT_KIND or not _is_silent(entry)]
        return not any((choice.get("delta") or {}).get(member) for choice in choices for member in heard) and (
            not choices or any(choice.get("finish_reason") for choice in choices)
        )

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:
        for entry in entries:
            self._count(_value(entry), is_silent=_is_silent(entry))
            if not self._identity and _value(entry).get("choices"):  # Azure's first chunk has none, and an empty id
                members = envelope.members(entry.frame.data or b"")
                self._identity = {member: members[member] for member in _IDENTITY if member in members}
        self._offset = self._calls
        self._needs_glue = self._has_text
        stated = (_completion_tokens(_value(entry)) for entry in reversed(kept_back))
        self._completion_tokens = next(filter(None, stated), self._completion_tokens)

    def join(self, frame: Frame) -> Frame | None:
        value = _parsed(frame)
        if not value:
            return frame
        data = frame.data or b""
        changes: dict[str, Any] = {**self._identity}
        if value.get("choices"):
            raw = envelope.elements(envelope.raw_at(data, "choices"))
            changes["choices"] = envelope.join_list(
                [self._choice(one, choice) for one, choice in zip(raw, value["choices"], strict=True)]
            )
        if isinstance(value.get("usage"), dict):
            changes["usage"] = _summed(envelope.raw_at(data, "usage"), value["usage"], self._completion_tokens)
        joined = envelope.edited(data, **changes)
        return Frame(event_frame(frame.event, joined), frame.event, joined, frame.is_disguised)

    def _count(self, value: Mapping[str, Any], *, is_silent: bool) -> None:
        """Calls and text of a leg, in the numbers that stand in the turn."""
        for choice in value.get("choices") or ():
            delta = choice.get("delta") or {}
            self._has_text |= bool(delta.get("content")) and not is_silent
            for call in delta.get("tool_calls") or ():
                index = call.get("index")
                if type(index) is int:
                    self._calls = max(self._calls, index + 1)

    def _choice(self, raw: bytes, choice: dict[str, Any]) -> bytes:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return raw
        members = envelope.members(envelope.raw_at(raw, "delta"))
        members.pop("role", None)
        if delta.get("content") and self._needs_glue and isinstance(delta["content"], str):
            members["content"] = envelope.encode("\n\n" + delta["content"])
            self._needs_glue = False
        if delta.get("tool_calls"):
            calls = envelope.elements(members["tool_calls"])
            members["tool_calls"] = envelope.join_list(
                [
                    envelope.edited(one, index=call["index"] + self._offset) if type(call.get("index")) is int else one
                    for one, call in zip(calls, delta["tool_calls"], strict=True)
                ]
            )
        return envelope.edited(raw, delta=envelope.join(members))


class _BodySplice:
    """The bodies of several legs as one: the first one's identity, all that was said, the last one's end."""

    blocks_before = 0

    def __init__(self) -> None:
        self._first: dict[str, bytes] | None = None
        self._said = ""
        self._completion_tokens = 0

    def ends(self, entry: FrameRead) -> bool:  # noqa: ARG002 - a body is start and end at once
        return True

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:  # noqa: ARG002 - no frames to rewrite
        (entry,) = kept_back
        value = _value(entry)
        if self._first is None:
            members = envelope.members(entry.frame.data or b"")
            self._first = {member: members[member] for member in _IDENTITY if member in members}
        message = value["choices"][0].get("message") or {}
        is_said = isinstance(message.get("content"), str) and not _is_silent(entry)
        self._said = message["content"] if is_said else ""
        self._completion_tokens = _completion_tokens(value)

    def join(self, frame: Frame) -> Frame | None:
        value = _parsed(frame)
        if self._first is None or not value.get("choices"):
            return frame
        data = frame.data or b""
        changes: dict[str, Any] = {**self._first}
        if self._said:
            choices = envelope.elements(envelope.raw_at(data, "choices"))
            own = (value["choices"][0].get("message") or {}).get("content")
            joined = f"{self._said}\n\n{own}" if own else self._said
            message = envelope.edited(envelope.raw_at(choices[0], "message"), content=joined)
            choices[0] = envelope.edited(choices[0], message=message)
            changes["choices"] = envelope.join_list(choices)
        if isinstance(value.get("usage"), dict):
            changes["usage"] = _summed(envelope.raw_at(data, "usage"), value["usage"], self._completion_tokens)
        body = envelope.edited(data, **changes)
        return Frame(body, None, body)


def _is_silent(entry: FrameRead) -> bool:
    """Whether the text of this frame stays unseen."""
    return any(isinstance(key, TextKey) for key in entry.keys)


def _value(entry: FrameRead) -> dict[str, Any]:
    return entry.value if isinstance(entry.value, dict) else {}


def _parsed(frame: Frame) -> dict[str, Any]:
    """What a frame says; nothing where it is not what the reader will take."""
    if frame.data is None or frame.data == b"[DONE]":
        return {}
    try:
        value = envelope.value_of(frame.data)
    except envelope.EnvelopeError:
        return {}
    return value if isinstance(value, dict) else {}


def _completion_tokens(value: Mapping[str, Any]) -> int:
    usage = value.get("usage")
    stated = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return stated if type(stated) is int else 0


def _summed(raw: bytes, usage: Mapping[str, Any], before: int) -> bytes:
    """The last leg's input, and the output of all."""
    completion = _completion_tokens({"usage": usage}) + before
    prompt = usage.get("prompt_tokens")
    total = {"total_tokens": prompt + completion} if type(prompt) is int and "total_tokens" in usage else {}
    return envelope.edited(raw, completion_tokens=completion, **total)


CHAT_CONTINUATION = ChatContinuation()
