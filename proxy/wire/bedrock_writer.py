"""What may leave of a Converse stream (WIRE.md 8.5).

A refused call becomes a text block at its index; a hidden one leaves nothing, and the blocks behind it move up. What is
edited leaves in a message of its own headers with fresh checksums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from proxy.wire import envelope
from proxy.wire.bedrock_frames import message, with_payload
from proxy.wire.bedrock_seal import REASONING, seal_delta
from proxy.wire.bedrock_types import (
    BLOCK_DELTA,
    BLOCK_START,
    BLOCK_STOP,
    CALL,
    LIMIT_REASONS,
    MESSAGE_STOP,
    UNKNOWN,
    event_of,
)
from proxy.wire.events import FrameRead, Key, Material, Released, Replaced, TextKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged

END_TURN: Final = "end_turn"
TOOL_USE: Final = "tool_use"
_INDEX: Final = "contentBlockIndex"


class ConverseStreamWriter:
    def __init__(self) -> None:
        self._places: dict[int, int] = {}  # the index of each block, and the one that the client has
        self._gone = 0  # blocks of which nothing left
        self._next = 0  # the index behind all that the client has
        self._open: set[int] = set()  # indexes as the client knows them
        self._started: set[Key] = set()
        self._released = 0
        self._taken = 0  # calls that were taken out
        self._is_said = False  # a reply stands in the place of the text
        self._is_over = False  # the end of the message was sent
        self._mark = ""
        self._sealed: set[int] = set()  # clients join what comes of one block: it bears one seal

    def seal(self, mark: str) -> None:
        self._mark = mark

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        return b"".join(self._entry(entry, judged) for entry in entries)

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        stopped = self._stops()  # of a leg that was cut off
        return stopped + self._text_block(self._next, text) + self.write(end, judged) + self.finish()

    def keepalive(self) -> bytes:
        """Nothing: what is no event of the service is an error to some clients (WIRE.md 5)."""
        return b""

    def finish(self) -> bytes:
        out = self._stops()
        if not self._is_over:
            self._is_over = True
            reason = TOOL_USE if self._released else END_TURN
            out += message(MESSAGE_STOP, envelope.encode({"stopReason": reason}))
        return out

    def broken(self, message: str) -> bytes:
        return failed(message)

    def _entry(self, entry: FrameRead, judged: Mapping[Key, Judged]) -> bytes:
        if not entry.keys:
            return self._frame(entry)
        if isinstance(entry.keys[0], TextKey):
            return self._text_frame(entry, judged[entry.keys[0]])
        return self._call_frame(entry, entry.keys[0], judged[entry.keys[0]])

    def _frame(self, entry: FrameRead) -> bytes:
        name, said = event_of(entry)
        if name == MESSAGE_STOP:
            self._is_over = True
            return self._end(entry, said.get("stopReason"))
        if type(index := said.get(_INDEX)) is not int:
            return entry.frame.raw
        place = self._place(index)
        if name == BLOCK_STOP:
            self._open.discard(place)
        else:
            self._open.add(place)
        return self._placed(self._sealing(entry, index) if self._mark and name == BLOCK_DELTA else entry)

    def _end(self, entry: FrameRead, reason: object) -> bytes:
        """The reason says whether the client has calls to run, where a call was taken out."""
        is_cut = self._is_said and reason in LIMIT_REASONS
        untrue = END_TURN if self._released else TOOL_USE
        if not is_cut and (not self._taken or reason != untrue):
            return entry.frame.raw
        changed = envelope.edited(entry.frame.data or b"", stopReason=TOOL_USE if self._released else END_TURN)
        return with_payload(entry.frame.raw, changed)

    def _place(self, index: int) -> int:
        if index not in self._places:
            self._places[index] = max(0, index - self._gone)
            self._next = max(self._next, self._places[index] + 1)
        return self._places[index]

    def _leave_out(self, index: int) -> None:
        """The block at `index` leaves nothing."""
        self._gone += 1
        self._places.setdefault(index, 0)

    def _placed(self, entry: FrameRead) -> bytes:
        index = event_of(entry)[1].get(_INDEX)
        if type(index) is not int or (place := self._places[index]) == index:
            return entry.frame.raw
        return with_payload(entry.frame.raw, envelope.edited(entry.frame.data or b"", contentBlockIndex=place))

    def _call_frame(self, entry: FrameRead, key: Key, judged: Judged) -> bytes:
        material, answer = judged.material, judged.answer
        name, said = event_of(entry)
        is_first = key not in self._started
        self._started.add(key)
        if isinstance(answer, Released):
            self._released += is_first
            if type(index := said.get(_INDEX)) is not int:
                return entry.frame.raw
            place = self._place(index)
            if not material.is_plain and material.kind != UNKNOWN:
                return _canonical(place, material) if is_first else b""
            return self._placed(entry)
        self._taken += is_first
        if name != BLOCK_START:  # a later event of it, or what no table knows in the midst of another block
            return b""
        if isinstance(answer, Replaced):
            return self._text_block(self._place(said[_INDEX]), answer.text)
        self._leave_out(said[_INDEX])
        return b""

    def _text_frame(self, entry: FrameRead, judged: Judged) -> bytes:
        """Of a text that does not leave its reply, once, in the place of its first event."""
        if isinstance(judged.answer, Released):
            return self._frame(entry)
        (key,) = entry.keys
        index = event_of(entry)[1][_INDEX]
        is_new = index not in self._places
        if key in self._started or not isinstance(judged.answer, Replaced):
            if is_new:
                self._taken += key not in self._started
                self._leave_out(index)
            self._started.add(key)
            return b""
        self._started.add(key)
        self._taken += 1
        self._is_said = True
        return self._text_block(self._place(index), judged.answer.text)

    def _text_block(self, place: int, text: str) -> bytes:
        """A text begins without a start."""
        self._next = max(self._next, place + 1)
        delta = envelope.encode({_INDEX: place, "delta": {"text": text}})
        return message(BLOCK_DELTA, delta) + _stop(place)

    def _stops(self) -> bytes:
        places = sorted(self._open)
        self._open.clear()
        return b"".join(map(_stop, places))

    def _sealing(self, entry: FrameRead, index: int) -> FrameRead:
        """An event whose reasoning is bound to a hidden turn; any other as it is."""
        data = entry.frame.data or b""
        delta = envelope.members(envelope.raw_at(data, "delta"))
        if index in self._sealed or REASONING not in delta:
            return entry
        changed = seal_delta(delta[REASONING], self._mark)
        if changed is None:
            return entry
        self._sealed.add(index)
        data = envelope.edited(data, delta=envelope.join({REASONING: changed}))
        return entry._replace(frame=entry.frame._replace(raw=with_payload(entry.frame.raw, data), data=data))


def failed(text: str) -> bytes:
    """The error in mid-stream."""
    return message("internalServerException", envelope.encode({"message": text}), is_exception=True)


def _canonical(place: int, material: Material) -> bytes:
    """A whole call in three events."""
    extra = {name: value for name, value in material.extra.items() if name == "type"}
    call = {"toolUseId": material.id, "name": material.name, **extra}
    start = envelope.encode({_INDEX: place, "start": {CALL: call}})
    delta = envelope.encode({_INDEX: place, "delta": {CALL: {"input": material.arguments}}})
    return message(BLOCK_START, start) + message(BLOCK_DELTA, delta) + _stop(place)


def _stop(place: int) -> bytes:
    return message(BLOCK_STOP, envelope.encode({_INDEX: place}))
