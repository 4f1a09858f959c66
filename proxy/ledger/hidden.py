"""A hidden turn, and how a request gets it back. Pure: where entries are kept is `vault`'s to know.

An entry is found by the meaning of everything before the turn as the client holds it, and of the turn that the client
saw. Ids and marks confirm; they never select alone, since some providers use ids again in every turn: but where a
request names what the provider keeps by nothing else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from proxy.ledger.handed_over import taken_over
from proxy.ledger.outline import outlined
from proxy.wire.transcript import CHAIN_START, HiddenResult, Side, chained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from proxy.ledger.outline import Outline, Place, Step
    from proxy.wire.transcript import SideTurn, Transcript

    Finder = Callable[[Sequence[Place]], Mapping[Place, Sequence["Hidden"]]]
    """The entries of places, each place's oldest first; a place without any may be left out."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that was refused to the model. `digest` is that of its canonical arguments."""

    tool: str
    digest: str
    reason: str


@dataclass(frozen=True, slots=True)
class Asker:
    """For whom a request is made, and what it calls its conversation; empty where it does not say.

    Conversations may begin alike to the last letter: what is put back into one must not be another's.
    """

    subject: str = ""  # its digest
    conversation: str = ""

    def may_be(self, other: Asker) -> bool:
        """Whether both can be of one conversation, by what they say."""
        names = self.conversation, other.conversation
        return self.subject == other.subject and (names[0] == names[1] or "" in names)


NOBODY = Asker()


@dataclass(frozen=True, slots=True)
class Hidden:
    """One hidden turn.

    `before` and `visible` are its key. `messages` stand in the place of the client's assistant turn. `results` go into
    the user-side turn behind it, all results in the `order` of these call ids. `id` marks the thinking that depends on
    it. An entry that counts `once` is used up when the turn that it went up with has ended. `depends` is the id of the
    hidden turn before it, without which its own thinking is worth nothing. `asked` is who asked.
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
    depends: str = ""
    asked: Asker = NOBODY
    once: bool = False


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
    blocks that could not go up. `ambiguous` counts turns that fit entries of several conversations, and got none.
    `unsealed` counts messages of the client's own whose thinking is not as it came.
    """

    messages: list[bytes]
    root: bytes
    before: bytes
    entries: list[Hidden] = field(default_factory=list)
    taken_out: int = 0
    ambiguous: int = 0
    unsealed: int = 0
    refusals: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def is_changed(self) -> bool:
        return bool(self.entries or self.taken_out or self.unsealed)

    @property
    def mark(self) -> str:
        """Of the last hidden turn: what the model thinks from here on depends on it."""
        return self.entries[-1].id if self.entries else ""


def root_of(opening: SideTurn | None) -> bytes:
    """The name of a conversation's opening. Many conversations may share it; it only says where to look."""
    return chained(CHAIN_START, opening.meaning()) if opening is not None else CHAIN_START


def nothing_hidden(_places: Sequence[Place]) -> Mapping[Place, Sequence[Hidden]]:
    """A `Finder` that knows no entry."""
    return {}


def restore(transcript: Transcript, find: Finder, asker: Asker = NOBODY, outline: Outline | None = None) -> Restored:
    """Put back what `find` knows. It is asked once. The same request and entries give the same bytes. `outline` is that
    of the request, where it is known.
    """
    steps = outlined(transcript.turns()) if outline is None else outline
    result = Restored([], root_of(transcript.opening()), steps[-1].after if steps else CHAIN_START)
    known = find([step.place for step in steps if step.place is not None])
    found = {number: known[step.place] for number, step in enumerate(steps) if step.place and step.place in known}
    chosen = _chosen(steps, found, asker, result)
    pending: Hidden | None = None
    copied = 0
    for place, step in enumerate(steps):
        entry = chosen.get(place)
        if entry is None and pending is None and not step.marks:
            continue
        raw = list(transcript.messages[step.first : step.last + 1])
        if step.side is Side.ASSISTANT:
            pending = entry if entry is not None and entry.results else None
            raw = _put_back(transcript, step, entry) if entry is not None else _unsealed(transcript, raw, result)
            if entry is not None:
                result.entries.append(entry)
                result.refusals.update((refusal.tool, refusal.digest) for refusal in entry.refusals)
        elif step.side is Side.USER and pending is not None:
            raw, results = taken_over(transcript, step.first, raw, pending.results)
            raw = transcript.with_results(raw, results, pending.order)
            pending = None
        result.messages += transcript.messages[copied : step.first]
        result.messages += raw
        copied = step.last + 1
    result.messages += transcript.messages[copied:]
    if pending is not None:
        result.messages += transcript.with_results([], pending.results, pending.order)
    return result


def _put_back(transcript: Transcript, turn: Step, entry: Hidden) -> list[bytes]:
    """The provider's own messages. A client that dropped the thinking it was given with them holds no other thinking
    from before either; put back before thinking that it still holds, theirs would stand in the middle (WIRE.md 1.7)."""
    if turn.marks:
        return list(entry.messages)
    return [transcript.without_thinking(message) for message in entry.messages]


def _unsealed(transcript: Transcript, raw: Sequence[bytes], result: Restored) -> list[bytes]:
    messages = []
    for message in raw:
        opened, removed = transcript.unsealed(message, result.mark)
        result.taken_out += removed
        result.unsealed += opened is not message
        messages.append(opened)
    return messages


def _chosen(
    turns: Sequence[Step], found: Mapping[int, Sequence[Hidden]], asker: Asker, result: Restored
) -> dict[int, Hidden]:
    """The entry of each turn that gets one, by its place.

    Thinking tells which hidden turns stood before it when it was made, so the newest that can be resolved decides for
    all before it: an equal turn of another branch, or one kept after this one was lost, must not come in there. Where
    no thinking tells, the asker does.
    """
    at = {entry.id: (place, entry) for place, entries in found.items() for entry in entries}
    chosen: dict[int, Hidden] = {}
    first = 0
    for place, mark in _newest_first(turns):
        chain = _chain(mark, place, at)
        if chain is not None:
            chosen = chain
            first = max(place, max(chain, default=-1) + 1)
            break
    mark = chosen[max(chosen)].id if chosen else ""
    for place in sorted(found):
        if place < first:
            continue
        fitting = [entry for entry in found[place] if entry.depends == mark and entry.asked.may_be(asker)]
        entry = _one_of(fitting, asker)
        if entry is not None:
            chosen[place] = entry
            mark = entry.id
        result.ambiguous += entry is None and bool(fitting)
    return chosen


def _one_of(fitting: Sequence[Hidden], asker: Asker) -> Hidden | None:
    """The entry that was kept first, so that later ones change nothing: of this conversation, if it has a name; else
    only where all are alike, since another conversation may have begun in the same way."""
    own = [entry for entry in fitting if asker.conversation and entry.asked == asker]
    if own:
        return own[0]
    alike = all((entry.messages, entry.results) == (fitting[0].messages, fitting[0].results) for entry in fitting)
    return fitting[0] if fitting and alike else None


def _newest_first(turns: Sequence[Step]) -> Iterator[tuple[int, str]]:
    """The place and the mark of each thinking block."""
    for place in reversed(range(len(turns))):
        for mark in reversed(turns[place].marks):
            yield place, mark


def _chain(mark: str, place: int, at: Mapping[str, tuple[int, Hidden]]) -> dict[int, Hidden] | None:
    """The hidden turns that thinking at `place` with this mark depends on; None where one of them is lost."""
    chain: dict[int, Hidden] = {}
    last = place
    while mark:
        stands, entry = at.get(mark, (len(at) + place + 1, None))
        if entry is None or stands > last or stands in chain:
            return None
        chain[stands] = entry
        last, mark = stands, entry.depends
    return chain
