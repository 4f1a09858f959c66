"""A Converse turn that goes on: put together again, and continued upstream (WIRE.md 8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.bedrock_block import Block, is_empty
from proxy.wire.bedrock_body_reader import CONTENT
from proxy.wire.bedrock_body_writer import as_left, text_block
from proxy.wire.bedrock_splice import BodySplice, StreamSplice, output_tokens, text_key
from proxy.wire.bedrock_texts import text_of
from proxy.wire.bedrock_transcript import ConverseTranscript, message_of, result_block, turns_of
from proxy.wire.bedrock_types import BLOCK_DELTA, BLOCK_START, BLOCK_STOP, event_of
from proxy.wire.events import TEXT_KIND
from proxy.wire.transcript import HiddenResult, Side, SideTurn
from proxy.wire.turn import NOTHING, remarked

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from proxy.wire.events import FrameRead, Key, Material, Released

_CONFIG: Final = "inferenceConfig"
_TOOLS: Final = "toolConfig"
_MORE: Final = "additionalModelRequestFields"


class ConverseContinuation:
    references = None

    def transcript(self, body: bytes) -> ConverseTranscript:
        return ConverseTranscript(body)

    def recorder(self, streamed: bool, blocks_before: int = 0) -> ConverseTurn:
        return ConverseTurn(streamed, blocks_before)

    def splice(self, streamed: bool) -> StreamSplice | BodySplice:
        return StreamSplice() if streamed else BodySplice()

    def results(self, results: Sequence[HiddenResult]) -> list[bytes]:
        calls = [result_block(result) for result in results if result.kind != TEXT_KIND]
        texts = [text_block(remarked(result.content)) for result in results if result.kind == TEXT_KIND]
        return [message_of("user", [*calls, *texts])]

    def named(self, entries: Sequence[FrameRead]) -> None:
        """Each request holds its whole history."""

    def said(self, text: str) -> bytes:
        return message_of("assistant", [text_block(text)])

    def visible(self, messages: Sequence[bytes]) -> SideTurn:
        found = turns_of(messages)
        return found[0] if found else SideTurn(Side.ASSISTANT, 0, 0)

    def continued(self, body: bytes, messages: Sequence[bytes], output_tokens: int) -> bytes | None:
        members = envelope.members(body)
        config = _object(members.get(_CONFIG))
        bound = envelope.value_of(config["maxTokens"]) if "maxTokens" in config else None
        if type(bound) is int:
            left = bound - output_tokens
            if left <= _thinking_budget(members):
                return None
            config["maxTokens"] = envelope.encode(left)
            members[_CONFIG] = envelope.join(config)
        tools = _object(members.get(_TOOLS))
        choice = envelope.value_of(tools["toolChoice"]) if "toolChoice" in tools else None
        if isinstance(choice, dict) and ("any" in choice or "tool" in choice):
            members[_TOOLS] = envelope.join({**tools, "toolChoice": b'{"auto":{}}'})
        own = envelope.list_or_none(members.get("messages", b"[]"))
        members["messages"] = envelope.join_list([*own, *messages])
        return envelope.join(members)


class ConverseTurn:
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
        return next(filter(None, (output_tokens(entry) for entry in reversed(self.entries))), 0)

    def message(
        self, replaced: Mapping[Key, str], hidden: Collection[Key] = (), injected: Mapping[Key, Released] = NOTHING
    ) -> bytes | None:
        build = self._streamed_blocks if self._streamed else self._body_blocks
        blocks = build(replaced, hidden, injected)
        kept = [block for block in blocks or () if not is_empty(block)]
        return message_of("assistant", kept) if kept else None

    def _body_blocks(
        self, replaced: Mapping[Key, str], hidden: Collection[Key], injected: Mapping[Key, Released]
    ) -> list[bytes] | None:
        (entry,) = self.entries
        try:
            own = envelope.elements(envelope.raw_at(entry.frame.data or b"", *CONTENT))
        except (KeyError, envelope.EnvelopeError):
            return None
        blocks: list[bytes] = []
        spoken = text_key(entry)
        is_kept = spoken is None or (spoken not in replaced and spoken not in hidden)
        reply = None if spoken is None else replaced.get(spoken)
        for place, block in enumerate(own, self._blocks_before):
            if not is_kept and text_of(envelope.value_of(block)) is not None:
                blocks += [] if reply is None else [text_block(reply)]
                reply = None
            elif place in replaced:
                blocks.append(text_block(replaced[place]))
            elif place in injected:
                blocks.append(as_left(block, injected[place]))
            elif place not in hidden:
                blocks.append(block)
        return blocks

    def _streamed_blocks(
        self, replaced: Mapping[Key, str], hidden: Collection[Key], injected: Mapping[Key, Released]
    ) -> list[bytes] | None:
        blocks: list[Block] = []
        by_index: dict[int, Block] = {}
        answered: set[Key] = set()
        for entry in self.entries:
            name, said = event_of(entry)
            if name == BLOCK_STOP:
                by_index.pop(said["contentBlockIndex"], None)
            if name not in (BLOCK_START, BLOCK_DELTA):
                continue
            index = said["contentBlockIndex"]
            if name == BLOCK_START or index not in by_index:
                block = by_index[index] = Block(entry if name == BLOCK_START else None)
                key = entry.keys[0] if entry.keys else None
                block.stands_for = None if key is None or key in answered else replaced.get(key)
                block.left = None if key is None else injected.get(key)
                is_answered = key is not None and key in answered and key in replaced
                if key is not None:
                    answered.add(key)
                if not is_answered and (key is None or key not in hidden):
                    blocks.append(block)
            if name == BLOCK_DELTA and not by_index[index].take(said["delta"]):
                return None
        return [block.raw() for block in blocks]


def _object(raw: bytes | None) -> dict[str, bytes]:
    return envelope.members(raw) if raw is not None and raw.startswith(b"{") else {}


def _thinking_budget(members: Mapping[str, bytes]) -> int:
    """What Claude may think, which must have room within the bound."""
    more: Any = envelope.value_of(members[_MORE]) if _MORE in members else None
    for name in ("thinking", "reasoning_config"):
        thinking = more.get(name) if isinstance(more, dict) else None
        budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
        if type(budget) is int:
            return budget
    return 0


CONVERSE_CONTINUATION: Final = ConverseContinuation()
