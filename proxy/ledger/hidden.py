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

from proxy.ledger.choosing import choose
from proxy.ledger.handed_over import taken_over
from proxy.ledger.outline import outlined
from proxy.wire.transcript import CHAIN_START, HiddenResult, Side, chained

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from proxy.ledger.outline import Outline, Place, Step
    from proxy.wire.transcript import SideTurn, Transcript

    Finder = Callable[[Collection[Place]], Mapping[Place, Sequence["Hidden"]]]
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
    hidden turn before it, without which its own thinking is worth nothing. `asked` is who asked. `is_own`: an answer of
    the gate's own that the client names; it holds it as it stands, so that no thinking depends on it.
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
    is_own: bool = False


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Hidden)


def to_bytes(hidden: Hidden) -> bytes:
    return _encoder.encode(hidden)


def from_bytes(data: bytes) -> Hidden:
    """Raises `msgspec.MsgspecError`."""
    return _decoder.decode(data)


@dataclass(frozen=True, slots=True)
class Change:
    """What stands in the place of the messages from `first` to before `behind`, which are those of turn `number`."""

    number: int
    first: int
    behind: int
    messages: tuple[bytes, ...]


@dataclass(slots=True)
class Restored:
    """A request with its hidden turns.

    `before` names the place behind the request, for the entry that the answer may need. `taken_out` counts thinking
    blocks that could not go up. `ambiguous` counts turns that fit entries of several conversations, and got none.
    `unsealed` counts messages of the client's own whose thinking is not as it came. `chosen` are the entries by the
    numbers of their turns, `changes` what became of the messages of turns.
    """

    messages: list[bytes]
    root: bytes
    before: bytes
    entries: list[Hidden] = field(default_factory=list)
    taken_out: int = 0
    ambiguous: int = 0
    unsealed: int = 0
    refusals: Counter[tuple[str, str]] = field(default_factory=Counter)
    chosen: Mapping[int, Hidden] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    @property
    def is_changed(self) -> bool:
        return bool(self.entries or self.taken_out or self.unsealed)

    def add(self, entry: Hidden) -> None:
        """It stands in its place."""
        self.entries.append(entry)
        self.refusals.update((refusal.tool, refusal.digest) for refusal in entry.refusals)

    @property
    def mark(self) -> str:
        """Of the last hidden turn: what the model thinks from here on depends on it."""
        return next((entry.id for entry in reversed(self.entries) if not entry.is_own), "")


def root_of(opening: SideTurn | None) -> bytes:
    """The name of a conversation's opening. Many conversations may share it; it only says where to look."""
    return chained(CHAIN_START, opening.meaning()) if opening is not None else CHAIN_START


def nothing_hidden(_places: Collection[Place]) -> Mapping[Place, Sequence[Hidden]]:
    """A `Finder` that knows no entry."""
    return {}


def restore(transcript: Transcript, find: Finder, asker: Asker = NOBODY, outline: Outline | None = None) -> Restored:
    """Put back what `find` knows. It is asked once. The same request and entries give the same bytes. `outline` is that
    of the request, where it is known.
    """
    steps = outlined(transcript.turns()) if outline is None else outline
    result = Restored([], root_of(transcript.opening()), steps[-1].after if steps else CHAIN_START)
    numbers = {step.place: number for number, step in enumerate(steps) if step.place is not None}
    found = {numbers[place]: entries for place, entries in find(numbers).items() if place in numbers}
    result.chosen, result.ambiguous = choose(reversed(list(marks_of(steps))), found, asker)
    put_back(transcript, steps, result)
    return result


def marks_of(steps: Sequence[Step], first: int = 0) -> Iterator[tuple[int, str]]:
    """The number of the turn and the mark of each thinking block, where `first` is the number of the first turn."""
    return ((number, mark) for number, step in enumerate(steps, first) for mark in step.marks)


def put_back(
    transcript: Transcript, steps: Sequence[Step], result: Restored, first: int = 0, pending: Hidden | None = None
) -> None:
    """Put what was chosen into the messages of these turns, the first of which is the turn `first`. `pending` is an
    entry before them whose results are still to come."""
    copied = 0
    for number, step in enumerate(steps, first):
        entry = result.chosen.get(number)
        if entry is None and pending is None and not step.marks:
            continue
        raw = list(transcript.messages[step.first : step.last + 1])
        if step.side is Side.ASSISTANT:
            pending = entry if entry is not None and entry.results else None
            raw = _put_back(transcript, step, entry) if entry is not None else _unsealed(transcript, raw, result)
            if entry is not None:
                result.add(entry)
        elif step.side is Side.USER and pending is not None:
            raw, results = taken_over(transcript, step.first, raw, pending.results)
            raw = transcript.with_results(raw, results, pending.order)
            pending = None
        result.changes.append(Change(number, step.first, step.last + 1, tuple(raw)))
        result.messages += transcript.messages[copied : step.first]
        result.messages += raw
        copied = step.last + 1
    result.messages += transcript.messages[copied:]
    if pending is not None:
        result.messages += transcript.with_results([], pending.results, pending.order)


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
