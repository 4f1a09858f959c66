"""What may leave of an answer of Converse that is not streamed (WIRE.md 8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire import envelope
from proxy.wire.bedrock_body_reader import CONTENT
from proxy.wire.bedrock_seal import REASONING, seal_block
from proxy.wire.bedrock_texts import text_of
from proxy.wire.bedrock_types import CALL, LIMIT_REASONS, blocks_of
from proxy.wire.bedrock_writer import END_TURN, TOOL_USE
from proxy.wire.events import RELEASED, Answer, FrameRead, Hidden, Key, Released, Replaced, TextKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged


class ConverseBodyWriter:
    def __init__(self) -> None:
        self._mark = ""

    def seal(self, mark: str) -> None:
        self._mark = mark

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        (entry,) = entries
        return self._body(entry, judged, ())

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        (entry,) = end
        return self._body(entry, judged, (text,))

    def keepalive(self) -> bytes:
        return b""

    def finish(self) -> bytes:
        return b""

    def broken(self, message: str) -> bytes:
        return envelope.encode({"message": message})

    def _body(self, entry: FrameRead, judged: Mapping[Key, Judged], appended: Sequence[str]) -> bytes:
        answers = {key: judged[key].answer for key in entry.keys if judged[key].answer != RELEASED}
        is_edited = bool(answers or appended or self._mark)
        if not is_edited or not isinstance(entry.value, dict) or blocks_of(entry.value) is None:
            return entry.frame.raw
        data = entry.frame.data or b""
        blocks = [*self._blocks(entry, answers), *map(text_block, appended)]
        reason = entry.value.get("stopReason")
        calls = [key for key in entry.keys if not isinstance(key, TextKey)]
        refused = [key for key in calls if not isinstance(answers.get(key, RELEASED), Released)]
        is_said = any(isinstance(key, TextKey) and isinstance(answers[key], Replaced) for key in answers)
        is_refused = refused and len(refused) == len(calls) and reason == TOOL_USE
        changes = {"stopReason": END_TURN} if is_refused or (is_said and reason in LIMIT_REASONS) else {}
        return envelope.edited(with_blocks(data, blocks), **changes)

    def _blocks(self, entry: FrameRead, answers: Mapping[Key, Answer]) -> list[bytes]:
        spoken = next((answers[key] for key in answers if isinstance(key, TextKey)), RELEASED)
        reply = spoken.text if isinstance(spoken, Replaced) else None
        values = blocks_of(entry.value) or []
        blocks: list[bytes] = []
        for place, block in enumerate(envelope.elements(envelope.raw_at(entry.frame.data or b"", *CONTENT))):
            answer = answers.get(place)
            if spoken != RELEASED and text_of(values[place]) is not None:
                blocks += [] if reply is None else [text_block(reply)]
                reply = None
            elif isinstance(answer, Replaced):
                blocks.append(text_block(answer.text))
            elif isinstance(answer, Released):
                blocks.append(as_left(block, answer))
            elif not isinstance(answer, Hidden):
                blocks.append(self._sealed(block) if self._mark and REASONING in values[place] else block)
        return blocks

    def _sealed(self, block: bytes) -> bytes:
        return envelope.edited(block, **{REASONING: seal_block(envelope.raw_at(block, REASONING), self._mark)})


def text_block(text: str) -> bytes:
    return envelope.encode({"text": text})


def as_left(block: bytes, answer: Released) -> bytes:
    """A call's block with the arguments, and the name, that were judged in place of its own."""
    name = {"name": answer.name} if answer.name else {}
    call = envelope.edited(envelope.raw_at(block, CALL), input=(answer.arguments or "{}").encode(), **name)
    return envelope.edited(block, **{CALL: call})


def with_blocks(body: bytes, blocks: list[bytes]) -> bytes:
    """An answer with these blocks in place of its own."""
    output = envelope.raw_at(body, "output")
    message = envelope.edited(envelope.raw_at(output, "message"), content=envelope.join_list(blocks))
    return envelope.edited(body, output=envelope.edited(output, message=message))
