"""An Anthropic turn that goes on: put together again, continued upstream, and joined for the client (WIRE.md 8.1 e)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.anthropic_texts import is_text
from proxy.wire.anthropic_transcript import AnthropicTranscript, message_of, result_block, turns_of
from proxy.wire.anthropic_types import as_left
from proxy.wire.events import TEXT_KIND, TextKey
from proxy.wire.sse import Frame, event_frame
from proxy.wire.transcript import HiddenResult, Side, SideTurn
from proxy.wire.turn import NOTHING, remarked

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from proxy.wire.events import FrameRead, Key, Material, Released

_APPENDED = {"text_delta": "text", "thinking_delta": "thinking"}
_ENDS = ("message_delta", "message_stop")
_INPUT_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation")


class AnthropicContinuation:
    references = None

    def transcript(self, body: bytes) -> AnthropicTranscript:
        return AnthropicTranscript(body)

    def recorder(self, streamed: bool, blocks_before: int = 0) -> AnthropicTurn:
        return AnthropicTurn(streamed, blocks_before)

    def splice(self, streamed: bool) -> _StreamSplice | _BodySplice:
        return _StreamSplice() if streamed else _BodySplice()

    def results(self, results: Sequence[HiddenResult]) -> list[bytes]:
        calls = [result_block(result) for result in results if result.kind != TEXT_KIND]
        texts = [_text_block(remarked(result.content)) for result in results if result.kind == TEXT_KIND]
        return [message_of("user", [*calls, *texts])]

    def named(self, entries: Sequence[FrameRead]) -> None:
        """Each request holds its whole history."""

    def said(self, text: str) -> bytes:
        return message_of("assistant", [envelope.encode({"type": "text", "text": text})])

    def visible(self, messages: Sequence[bytes]) -> SideTurn:
        found = turns_of(messages)
        return found[0] if found else SideTurn(Side.ASSISTANT, 0, 0)

    def continued(self, body: bytes, messages: Sequence[bytes], output_tokens: int) -> bytes | None:
        members = envelope.members(body)
        left = _left(members, output_tokens)
        if left is not None:
            if left <= 0:
                return None
            members["max_tokens"] = envelope.encode(left)
        choice = envelope.value_of(members["tool_choice"]) if "tool_choice" in members else None
        if isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
            parallel = {key: value for key, value in choice.items() if key == "disable_parallel_tool_use"}
            members["tool_choice"] = envelope.encode({"type": "auto", **parallel})
        members["messages"] = envelope.join_list([*envelope.elements(members["messages"]), *messages])
        return envelope.join(members)


class AnthropicTurn:
    """The recorder of one leg."""

    def __init__(self, streamed: bool, blocks_before: int = 0) -> None:
        self._streamed = streamed
        self._blocks_before = blocks_before
        self.entries: list[FrameRead] = []

    def add(self, entry: FrameRead) -> None:
        self.entries.append(entry)

    def complete(self, key: Key, material: Material) -> None:
        """The frames hold all of it."""

    def output_tokens(self) -> int:
        return next(filter(None, (_output_tokens(_value(entry)) for entry in reversed(self.entries))), 0)

    def message(
        self, replaced: Mapping[Key, str], hidden: Collection[Key] = (), injected: Mapping[Key, Released] = NOTHING
    ) -> bytes | None:
        build = self._streamed_blocks if self._streamed else self._body_blocks
        blocks = build(replaced, hidden, injected)
        kept = [block for block in blocks or () if not _is_empty(block)]
        return message_of("assistant", kept) if kept else None

    def _body_blocks(
        self, replaced: Mapping[Key, str], hidden: Collection[Key], injected: Mapping[Key, Released]
    ) -> list[bytes] | None:
        (entry,) = self.entries
        if not isinstance(_value(entry).get("content"), list):
            return None
        blocks: list[bytes] = []
        own = envelope.elements(envelope.raw_at(entry.frame.data or b"", "content"))
        spoken = _text_key(entry)
        is_kept = spoken is None or (spoken not in replaced and spoken not in hidden)
        reply = None if spoken is None else replaced.get(spoken)
        for place, block in enumerate(own, self._blocks_before):
            if not is_kept and is_text(_value(entry)["content"][place - self._blocks_before]):
                blocks += [] if reply is None else [_text_block(reply)]
                reply = None
            elif place in replaced:
                blocks.append(_text_block(replaced[place]))
            elif place in injected:
                blocks.append(as_left(block, injected[place]))
            elif place not in hidden:
                blocks.append(block)
        return blocks

    def _streamed_blocks(
        self, replaced: Mapping[Key, str], hidden: Collection[Key], injected: Mapping[Key, Released]
    ) -> list[bytes] | None:
        blocks: list[_Block] = []
        by_index: dict[int, _Block] = {}
        answered: set[Key | None] = set()
        for entry in self.entries:
            value = _value(entry)
            if value.get("type") == "content_block_start":
                block = by_index[value["index"]] = _Block(envelope.raw_at(entry.frame.data or b"", "content_block"))
                key = entry.keys[0] if entry.keys else None
                if isinstance(key, TextKey) and key in replaced and key in answered:
                    continue  # the reply stands in the place of the first block of the text
                answered.add(key)
                block.stands_for = replaced.get(key) if key is not None else None
                block.left = injected.get(key) if key is not None else None
                if key is None or key not in hidden:
                    blocks.append(block)
            elif value.get("type") == "content_block_delta":
                target = by_index.get(value["index"])
                if target is None or not target.take(value["delta"]):
                    return None
            elif value.get("type") == "message_start" and (value.get("message") or {}).get("content"):
                return None  # blocks that no start told of
        return [block.raw() for block in blocks]


class _Block:
    """One block and what its deltas add to it."""

    def __init__(self, start: bytes) -> None:
        self._start = start
        self._parts: dict[str, list[str]] = {}
        self._citations: list[Any] = []
        self.stands_for: str | None = None
        self.left: Released | None = None  # how it left, where not as it came

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
            return _text_block(self.stands_for)
        members = envelope.members(self._start)
        for member, parts in self._parts.items():
            text = "".join(parts)
            if member != "input":
                start = envelope.value_of(members[member]) if member in members and member != "signature" else ""
                members[member] = envelope.encode(f"{start or ''}{text}")
            elif text:
                members[member] = text.encode()
        if self._citations:
            members["citations"] = envelope.encode(self._citations)
        whole = envelope.join(members)
        return whole if self.left is None else as_left(whole, self.left)


class _StreamSplice:
    """Later legs lose their start; their indexes go on; the last end states what all legs used."""

    blocks_before = 0  # a stream's calls have keys of their own

    def __init__(self) -> None:
        self._offset = 0
        self._blocks = 0
        self._output_tokens = 0
        self._input_usage: dict[str, Any] = {}

    def ends(self, entry: FrameRead) -> bool:
        return _value(entry).get("type") in _ENDS

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:
        for entry in entries:
            self._count(_value(entry))
        self._offset = self._blocks
        stated = (_output_tokens(_value(entry)) for entry in reversed(kept_back))
        self._output_tokens = next(filter(None, stated), self._output_tokens)

    def join(self, frame: Frame) -> Frame | None:
        value = _parsed(frame)
        if frame.data is None or value.get("type") == "message_start":
            usage = (value.get("message") or {}).get("usage") or {}
            self._input_usage = {key: usage[key] for key in _INPUT_USAGE if key in usage} or self._input_usage
            return frame if frame.data is None else None
        if value.get("type") == "message_delta":
            return self._end(frame, value)
        index = value.get("index")
        if type(index) is not int:
            return frame
        return _framed(frame, envelope.edited(frame.data, index=index + self._offset))

    def _count(self, value: Mapping[str, Any]) -> None:
        index = value.get("index")
        if value.get("type") == "content_block_start" and type(index) is int:
            self._blocks = max(self._blocks, index + 1)

    def _end(self, frame: Frame, value: Mapping[str, Any]) -> Frame:
        usage = value.get("usage")
        if not isinstance(usage, dict):
            return frame
        data = frame.data or b""
        stated = envelope.members(envelope.raw_at(data, "usage"))
        for key, count in self._input_usage.items():
            stated.setdefault(key, envelope.encode(count))
        stated["output_tokens"] = envelope.encode((usage.get("output_tokens") or 0) + self._output_tokens)
        return _framed(frame, envelope.edited(data, usage=envelope.join(stated)))


class _BodySplice:
    """The bodies of several legs as one: the first one's id, all visible blocks, the last one's end."""

    def __init__(self) -> None:
        self._first: bytes | None = None
        self._visible: list[bytes] = []
        self._output_tokens = 0

    @property
    def blocks_before(self) -> int:
        return len(self._visible)

    def ends(self, entry: FrameRead) -> bool:  # noqa: ARG002 - a body is start and end at once
        return True

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:  # noqa: ARG002 - no frames to rewrite
        (entry,) = kept_back
        data = entry.frame.data or b""
        self._first = self._first or data
        blocks = envelope.elements(envelope.raw_at(data, "content"))
        is_silent = _text_key(entry) is not None
        self._visible = [
            block
            for place, block in enumerate(blocks)
            if place not in entry.keys and not (is_silent and is_text(_value(entry)["content"][place]))
        ]
        self._output_tokens = _output_tokens(_value(entry))

    def join(self, frame: Frame) -> Frame | None:
        value = _parsed(frame)
        if self._first is None or not isinstance(value.get("content"), list):
            return frame
        data = frame.data or b""
        changes: dict[str, Any] = {"id": envelope.raw_at(self._first, "id")}
        own = envelope.elements(envelope.raw_at(data, "content"))
        changes["content"] = envelope.join_list([*self._visible, *own])
        usage = value.get("usage")
        if isinstance(usage, dict):
            total = (usage.get("output_tokens") or 0) + self._output_tokens
            changes["usage"] = envelope.edited(envelope.raw_at(data, "usage"), output_tokens=total)
        joined = envelope.edited(data, **changes)
        return Frame(joined, None, joined)


def _text_key(entry: FrameRead) -> TextKey | None:
    return next((key for key in entry.keys if isinstance(key, TextKey)), None)


def _value(entry: FrameRead) -> dict[str, Any]:
    return entry.value if isinstance(entry.value, dict) else {}


def _parsed(frame: Frame) -> dict[str, Any]:
    """What a frame says; nothing where it is not what the reader will take."""
    if frame.data is None:
        return {}
    try:
        value = envelope.value_of(frame.data)
    except envelope.EnvelopeError:
        return {}
    return value if isinstance(value, dict) else {}


def _framed(frame: Frame, data: bytes) -> Frame:
    return Frame(event_frame(frame.event, data), frame.event, data, frame.is_disguised)


def _output_tokens(value: Mapping[str, Any]) -> int:
    message = value.get("message")
    usage = value.get("usage") or (message.get("usage") if isinstance(message, dict) else None)
    stated = usage.get("output_tokens") if isinstance(usage, dict) else None
    return stated if type(stated) is int else 0


def _text_block(text: str) -> bytes:
    return envelope.encode({"type": "text", "text": text})


def _is_empty(block: bytes) -> bool:
    """A text block without text, which a provider sends and does not take back."""
    members = envelope.members(block)
    return members.get("type") == b'"text"' and not str(envelope.value_of(members.get("text", b'""'))).strip()


def _left(members: Mapping[str, bytes], output_tokens: int) -> int | None:
    """What is left of `max_tokens`; nothing where thinking would have no room in it."""
    bound = envelope.value_of(members["max_tokens"]) if "max_tokens" in members else None
    if type(bound) is not int:
        return None
    thinking = envelope.value_of(members["thinking"]) if "thinking" in members else None
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    left = bound - output_tokens
    return 0 if type(budget) is int and left <= budget else left


ANTHROPIC_CONTINUATION = AnthropicContinuation()
