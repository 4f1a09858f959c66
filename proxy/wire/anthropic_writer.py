"""What may leave of an Anthropic response (WIRE.md 8.1).

A refused call becomes a text block at its index, so the other indexes stand; a hidden one leaves nothing, and the
blocks behind it move up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from proxy.wire import envelope
from proxy.wire.anthropic_seals import SEALABLE, seal_member
from proxy.wire.events import (
    RELEASED,
    FrameRead,
    Hidden,
    Key,
    Material,
    Released,
    Replaced,
    TextKey,
)
from proxy.wire.sse import Frame, event_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged


from proxy.wire.anthropic_reader import Opening
from proxy.wire.anthropic_texts import is_text
from proxy.wire.anthropic_types import LIMIT_REASONS, as_left

PING = event_frame("ping", b'{"type": "ping"}')


class AnthropicStreamWriter:
    def __init__(self) -> None:
        self._places: dict[int, int] = {}  # the index of each block of this message, and the one that the client has
        self._blocks = 0
        self._blocks_before = 0  # of them, those of earlier messages of the stream
        self._messages = 0
        self._open: set[int] = set()  # indexes as the client knows them
        self._released = 0
        self._replaced = 0
        self._started: set[Key] = set()
        self._output_tokens = 0  # as upstream stated it last
        self._delta_sent = False
        self._stop_sent = False
        self._hidden = 0
        self._is_said = False  # a reply stands in the place of the text
        self._mark = ""

    def seal(self, mark: str) -> None:
        self._mark = mark

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        if self._open:  # of a leg that was cut off
            stopped = self._stops()
            self._open.clear()
            return stopped + self.append(text, end, judged)
        place = self._blocks
        self._blocks += 1
        self._replaced += 1
        return self._text_block(place, text) + self.write(end, judged) + self.finish()

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        out: list[bytes] = []
        for entry in entries:
            if entry.keys and isinstance(entry.keys[0], TextKey):
                out.append(self._text_frame(entry, judged[entry.keys[0]]))
            elif entry.keys and entry.value.get("type") == "message_start":
                out.append(self._opening(entry, judged))
            elif entry.keys:
                out.append(self._call_frame(entry, judged[entry.keys[0]]))
            elif entry.value is None:
                out.append(entry.frame.raw)
            else:
                out.append(self._frame(entry))
        return b"".join(out)

    def _frame(self, entry: FrameRead) -> bytes:
        value = entry.value
        match value.get("type"):
            case "content_block_start" | "content_block_delta" | "content_block_stop":
                return self._block_frame(entry)
            case "message_start":
                self._begin(value.get("message"))
            case "message_delta":
                self._delta_sent = True
                return self._end(entry)
            case "message_stop":
                self._stop_sent = True
        return entry.frame.raw

    def _begin(self, message: Any) -> None:
        message = message if isinstance(message, dict) else {}
        if self._messages:  # clients that bear a second message go on with the blocks of the first
            self._blocks_before = self._blocks
        else:
            self._blocks = len(message.get("content") or ())
        self._messages += 1
        self._places.clear()
        usage = message.get("usage")
        tokens = usage.get("output_tokens") if isinstance(usage, dict) else 0
        self._output_tokens = tokens if type(tokens) is int and 0 <= tokens <= strict_json.EXACT_INTEGER_MAX else 0

    def _opening(self, entry: FrameRead, judged: Mapping[Key, Judged]) -> bytes:
        """The start of a message that holds calls already."""
        answers = [judged[key] for key in entry.keys]
        refused = [isinstance(call.answer, Replaced) for call in answers]
        self._replaced += sum(refused)
        self._released += len(refused) - sum(refused)
        self._begin(entry.value["message"])
        if not any(refused):
            return entry.frame.raw
        data = entry.frame.data or b""
        message = envelope.raw_at(data, "message")
        blocks = envelope.elements(envelope.raw_at(message, "content"))
        for key, call in zip(entry.keys, answers, strict=True):
            assert isinstance(key, Opening)
            if isinstance(call.answer, Replaced):
                blocks[key.place] = envelope.encode({"type": "text", "text": call.answer.text})
        message = envelope.edited(message, content=envelope.join_list(blocks))
        return event_frame(entry.frame.event, envelope.edited(data, message=message))

    def _end(self, entry: FrameRead) -> bytes:
        """The reason says whether the client has calls to run, where a call was taken out."""
        delta = entry.value.get("delta")
        reason = delta.get("stop_reason") if isinstance(delta, dict) else None
        is_cut = self._is_said and reason in LIMIT_REASONS
        untrue = "end_turn" if self._released else "tool_use"
        if not is_cut and (not (self._replaced or self._hidden) or reason != untrue):
            return entry.frame.raw
        data = entry.frame.data or b""
        true_reason = "tool_use" if self._released else "end_turn"
        changed = envelope.edited(envelope.raw_at(data, "delta"), stop_reason=true_reason, stop_sequence=None)
        return event_frame(entry.frame.event, envelope.edited(data, delta=changed))

    def _block_frame(self, entry: FrameRead) -> bytes:
        value = entry.value
        index = value["index"]
        if value["type"] == "content_block_start":
            self._place(index, is_call=False)
            self._open.add(self._places[index])
        elif value["type"] == "content_block_stop":
            self._open.discard(self._places.get(index, index))
        return self._placed(_sealed(entry, self._mark) if self._mark else entry)

    def _place(self, index: int, *, is_call: bool) -> None:
        """Clients append a block but address it by its index, so the index that leaves is the block's place.

        Past a second start of a message some count on and some begin anew; only with calls does it matter.
        """
        counts_on = is_call or self._released or self._replaced or self._hidden
        self._places[index] = self._blocks if counts_on else self._blocks - self._blocks_before
        self._blocks += 1

    def _placed(self, entry: FrameRead) -> bytes:
        index = entry.value.get("index")
        if type(index) is not int or (place := self._places.get(index, index)) == index:
            return entry.frame.raw
        return event_frame(entry.frame.event, envelope.edited(entry.frame.data or b"", index=place))

    def _call_frame(self, entry: FrameRead, judged: Judged) -> bytes:
        material, answer = judged.material, judged.answer
        (key,) = entry.keys
        first = key not in self._started
        self._started.add(key)
        if isinstance(answer, Hidden):
            self._hidden += first
            return b""
        starts = entry.value.get("type") == "content_block_start"
        if starts:
            self._place(entry.value["index"], is_call=True)
        if isinstance(answer, Replaced):
            if not first:
                return b""
            self._replaced += 1
            return self._text_block(self._places[entry.value["index"]], answer.text) if starts else b""
        self._released += first
        if not material.is_plain:
            assert isinstance(answer, Released), "nothing else is left"
            return self._canonical(entry, material, answer) if first else b""
        return self._placed(entry)

    def _text_frame(self, entry: FrameRead, judged: Judged) -> bytes:
        """Of a text that does not leave its reply, once, in the place of its first frame."""
        if isinstance(judged.answer, Released):
            return self._frame(entry)
        (key,) = entry.keys
        if key in self._started:
            return b""
        self._started.add(key)
        if not isinstance(judged.answer, Replaced):
            self._hidden += 1
            return b""
        self._replaced += 1
        self._is_said = True
        self._blocks += 1
        return self._text_block(self._blocks - 1, judged.answer.text)

    def _canonical(self, entry: FrameRead, material: Material, answer: Released) -> bytes:
        index = self._places[entry.value["index"]]
        block = as_left(envelope.raw_at(entry.frame.data or b"", "content_block"), Released("{}", answer.name))
        delta = {"type": "input_json_delta", "partial_json": material.arguments}
        return _block(index, block, delta)

    @staticmethod
    def _text_block(index: int, text: str) -> bytes:
        block = envelope.encode({"type": "text", "text": ""})
        return _block(index, block, {"type": "text_delta", "text": text})

    def keepalive(self) -> bytes:
        return PING

    def _stops(self) -> bytes:
        ends = (envelope.encode({"type": "content_block_stop", "index": index}) for index in sorted(self._open))
        return b"".join(event_frame("content_block_stop", end) for end in ends)

    def finish(self) -> bytes:
        out = [self._stops()]
        if not self._delta_sent:
            reason = "tool_use" if self._released else "end_turn"
            delta = {"stop_reason": reason, "stop_sequence": None}
            usage = {"output_tokens": self._output_tokens}
            end = {"type": "message_delta", "delta": delta, "usage": usage}
            out.append(event_frame("message_delta", envelope.encode(end)))
        if not self._stop_sent:
            out.append(event_frame("message_stop", envelope.encode({"type": "message_stop"})))
        return b"".join(out)

    def broken(self, message: str) -> bytes:
        return event_frame("error", api_error(message))


def _sealed(entry: FrameRead, mark: str) -> FrameRead:
    """A frame whose thinking is bound to a hidden turn; any other as it is."""
    value, data = entry.value, entry.frame.data or b""
    if value["type"] == "content_block_delta" and value["delta"].get("type") == "signature_delta":
        member, path = "delta", "signature"
    elif value["type"] == "content_block_start" and value["content_block"].get("type") in SEALABLE:
        member, path = "content_block", SEALABLE[value["content_block"]["type"]]
    else:
        return entry
    changed = seal_member(envelope.raw_at(data, member), path, mark)
    data = envelope.edited(data, **{member: changed})
    return entry._replace(frame=Frame(event_frame(entry.frame.event, data), entry.frame.event, data))


def _block(index: int, block: bytes, delta: Mapping[str, str]) -> bytes:
    """A whole block of one delta."""
    start = {"type": b'"content_block_start"', "index": b"%d" % index, "content_block": block}
    return (
        event_frame("content_block_start", envelope.join(start))
        + event_frame(
            "content_block_delta", envelope.encode({"type": "content_block_delta", "index": index, "delta": delta})
        )
        + event_frame("content_block_stop", envelope.encode({"type": "content_block_stop", "index": index}))
    )


class AnthropicBodyWriter:
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

    def _body(self, entry: FrameRead, judged: Mapping[Key, Judged], appended: Sequence[str]) -> bytes:
        answers = {key: judged[key].answer for key in entry.keys if judged[key].answer != RELEASED}
        spoken = next((answers.pop(key) for key in entry.keys if isinstance(key, TextKey) and key in answers), RELEASED)
        data = entry.frame.data or b""
        has_content = isinstance(entry.value, dict) and "content" in entry.value
        if not has_content or (not answers and not appended and not self._mark and spoken == RELEASED):
            return entry.frame.raw
        blocks: list[bytes] = []
        reply = spoken.text if isinstance(spoken, Replaced) else None
        for place, block in enumerate(envelope.elements(envelope.raw_at(data, "content"))):
            answer = answers.get(place)
            if spoken != RELEASED and is_text(entry.value["content"][place]):
                blocks += [] if reply is None else [_text(reply)]
                reply = None
            elif isinstance(answer, Replaced):
                blocks.append(_text(answer.text))
            elif isinstance(answer, Released):
                blocks.append(as_left(block, answer))
            elif not isinstance(answer, Hidden):
                blocks.append(_sealed_block(block, self._mark) if self._mark else block)
        changes: dict[str, Any] = {"content": envelope.join_list([*blocks, *map(_text, appended)])}
        refused = [answer for answer in answers.values() if not isinstance(answer, Released)]
        calls = [key for key in entry.keys if not isinstance(key, TextKey)]
        is_said = isinstance(spoken, Replaced) and entry.value.get("stop_reason") in LIMIT_REASONS
        is_refused = refused and len(refused) == len(calls) and entry.value.get("stop_reason") == "tool_use"
        if is_refused or is_said:
            changes |= {"stop_reason": "end_turn", "stop_sequence": None}
        return envelope.edited(data, **changes)

    def keepalive(self) -> bytes:
        return b""

    def finish(self) -> bytes:
        return b""

    def broken(self, message: str) -> bytes:
        return api_error(message)


def _text(text: str) -> bytes:
    return envelope.encode({"type": "text", "text": text})


def _sealed_block(block: bytes, mark: str) -> bytes:
    kind = envelope.members(block).get("type", b"null").strip(b'"').decode()
    return seal_member(block, SEALABLE[kind], mark) if kind in SEALABLE else block


def api_error(message: str) -> bytes:
    """The body of an error in mid-turn."""
    return envelope.encode({"type": "error", "error": {"type": "api_error", "message": message}})
