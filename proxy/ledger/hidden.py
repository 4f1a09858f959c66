"""A hidden turn, and how a request gets it back. Pure: where entries are kept is `vault`'s to know.

An entry is found by the meaning of everything before the turn as the client holds it, and of the turn that the client
saw. Ids and marks confirm; they never select alone, since some providers use ids again in every turn.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from proxy.wire.transcript import CHAIN_START, HiddenResult, Side, chained

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proxy.wire.transcript import SideTurn, Transcript


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that was refused to the model. `digest` is that of its canonical arguments."""

    tool: str
    digest: str
    reason: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """One hidden turn.

    `before` and `visible` are its key. `messages` stand in the place of the client's assistant turn. `results` go into
    the user-side turn behind it, all results in the `order` of these call ids. `id` marks the thinking that depends on
    it.
    """

    id: str
    root: bytes  # of the conversation: the meaning of its opening
    before: bytes
    visible: bytes
    messages: tuple[bytes, ...]
    results: tuple[HiddenResult, ...] = ()
    order: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    answered: tuple[str, ...] = ()  # ids of the calls that the gate answered itself


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Hidden)


def to_bytes(hidden: Hidden) -> bytes:
    return _encoder.encode(hidden)


def from_bytes(data: bytes) -> Hidden:
    """Raises `msgspec.MsgspecError`."""
    return _decoder.decode(data)


@dataclass(slots=True)
class Restored:
    """A request with its hidden turns.

    `before` names the place behind the request, for the entry that the answer may need. `taken_out` counts thinking
    blocks that could not go up. `ambiguous` counts turns that fit several entries, which got none.
    """

    messages: list[bytes]
    root: bytes
    before: bytes
    entries: list[Hidden] = field(default_factory=list)
    taken_out: int = 0
    ambiguous: int = 0
    refusals: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def is_changed(self) -> bool:
        return bool(self.entries or self.taken_out)

    @property
    def mark(self) -> str:
        """Of the last hidden turn: what the model thinks from here on depends on it."""
        return self.entries[-1].id if self.entries else ""


def root_of(opening: SideTurn | None) -> bytes:
    """The name of a conversation's opening. Many conversations may share it; it only says where to look."""
    return chained(CHAIN_START, opening) if opening is not None else CHAIN_START


def restore(transcript: Transcript, find: Callable[[bytes, bytes], Sequence[Hidden]]) -> Restored:
    """Put back what `find(before, visible)` knows. The same request and entries give the same bytes."""
    result = Restored([], root_of(transcript.opening()), CHAIN_START)
    pending: Hidden | None = None
    for turn in transcript.turns():
        raw = transcript.messages[turn.first : turn.last + 1]
        if turn.side is Side.SYSTEM:
            result.messages += raw
            continue
        if turn.side is Side.ASSISTANT:
            entry = _choose(find(result.before, turn.meaning()), turn, result)
            pending = entry if entry is not None and entry.results else None
            if entry is not None:
                result.entries.append(entry)
                result.refusals.update((refusal.tool, refusal.digest) for refusal in entry.refusals)
                result.messages += entry.messages
            else:
                result.messages += _unsealed(transcript, raw, result)
        else:
            if pending is not None:
                raw = transcript.with_results(raw, pending.results, pending.order)
                pending = None
            result.messages += raw
        result.before = chained(result.before, turn)
    if pending is not None:
        result.messages += transcript.with_results([], pending.results, pending.order)
    return result


def _unsealed(transcript: Transcript, raw: Sequence[bytes], result: Restored) -> list[bytes]:
    known = {entry.id for entry in result.entries}
    messages = []
    for message in raw:
        opened, removed = transcript.unsealed(message, known)
        result.taken_out += removed
        messages.append(opened)
    return messages


def _choose(found: Sequence[Hidden], turn: SideTurn, result: Restored) -> Hidden | None:
    """The entry of a turn. Of several that differ, only one that the turn's own thinking names."""
    if len(found) <= 1:
        return found[0] if found else None
    named = [entry for entry in found if entry.id in turn.marks]
    if len(named) == 1:
        return named[0]
    if all((entry.messages, entry.results) == (found[0].messages, found[0].results) for entry in found):
        return found[0]
    result.ambiguous += 1
    return None
