"""The outline of a request: what its turns mean and where they stand, which is all that finding hidden turns needs.

Reading a history is what costs, and the next request brings the same history again with something behind it. An outline
depends on bytes alone, so that one of a prefix may be remembered by the digest of its bytes; it holds digests and
places, no text; where edits of the history are decided by calls, also these. What is put back is asked of the ledger
each time.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proxy.wire.transcript import CHAIN_START, CallSeen, ResultSeen, Side, SideTurn, chained, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proxy.wire.transcript import Transcript

    Place = tuple[bytes, bytes]
    """Where an assistant turn stands: the meaning of all before it, and its own as the client holds it."""

STEPS_MAX = 50_000
"""Turns that are remembered, of all conversations; some 300 bytes each. Thinking and results count as turns do."""
_LENGTHS_MAX = 8  # of the prefixes of one opening that are tried


CALL_BYTES_MAX = 64 * 1024 * 1024
"""Of the messages whose calls are remembered, of all conversations."""


@dataclass(frozen=True, slots=True)
class Step:
    """One turn. `place` is that of an assistant turn. `after` names the place behind the turn. `calls` and `results`
    are there where they were asked for, the results without their content."""

    side: Side
    first: int
    last: int
    marks: tuple[str, ...]
    place: Place | None
    after: bytes
    calls: tuple[CallSeen, ...] = ()
    results: tuple[ResultSeen, ...] = ()


Outline = tuple[Step, ...]


def outlined(
    turns: Sequence[SideTurn],
    before: Outline = (),
    first: int = 0,
    *,
    with_calls: bool = False,
    after: bytes = CHAIN_START,
) -> Outline:
    """The outline of these turns behind `before`, whose messages are the `first` ones; without it `after` names the
    place behind which they stand."""
    steps = list(before)
    here = before[-1].after if before else after
    for turn in turns:
        meaning = turn.meaning()
        place = (here, meaning) if turn.side is Side.ASSISTANT else None
        here = here if turn.side is Side.SYSTEM else chained(here, meaning)
        calls = tuple(turn.calls) if with_calls else ()
        results = tuple(map(_named, turn.results)) if with_calls else ()
        last = turn.last + first
        steps.append(Step(turn.side, turn.first + first, last, tuple(turn.marks), place, here, calls, results))
    return tuple(steps)


def _named(result: ResultSeen) -> ResultSeen:
    return ResultSeen(result.call, None, result.is_error, "", result.stated)


class Outlines:
    """What is remembered, for any thread. `clear` forgets everything."""

    def __init__(self, steps_max: int = STEPS_MAX, *, with_calls: bool = False) -> None:
        self._steps_max = steps_max
        self._with_calls = with_calls
        self._known: OrderedDict[bytes, tuple[Outline, int]] = OrderedDict()  # with the bytes of its calls
        self._lengths: dict[bytes, list[int]] = {}  # by the digest of a first message: of what prefixes are known
        self._steps = 0
        self._call_bytes = 0
        self._lock = threading.Lock()

    def clear(self) -> None:
        with self._lock:
            self._known.clear()
            self._lengths.clear()
            self._steps = self._call_bytes = 0

    def of(self, owner: bytes, transcript: Transcript, read: Callable[[bytes], Transcript]) -> Outline:
        """The outline of a request. `owner` names the tenant and the dialect: nothing is shared between two.

        Raises `EnvelopeError`.
        """
        messages = transcript.messages
        if not messages:
            return ()
        names = _Names(owner, messages)
        count, before = self._longest(names, len(messages))
        behind = read(part_of(messages[count:])).turns() if count else ()
        if not count or (behind and behind[0].side is before[-1].side):  # what goes on with a turn is one with it
            count, before, behind = 0, (), transcript.turns()
        found = outlined(behind, before, count, with_calls=self._with_calls)
        if (end := self._end(found)) > len(before):
            self._remember(names, messages, found[:end])
        return found

    def _end(self, found: Outline) -> int:
        """How many steps are remembered. The newest turn is left out: the next request may add to it. So is the newest
        assistant turn where calls count: in some dialects results are told by the calls that they stand behind."""
        if not self._with_calls:
            return len(found) - 1
        return max((place for place, step in enumerate(found) if step.side is Side.ASSISTANT), default=0)

    def _longest(self, names: _Names, count: int) -> tuple[int, Outline]:
        """The longest prefix that is known, in messages, and its outline."""
        opening = names.of(1)
        with self._lock:
            lengths = sorted(one for one in self._lengths.get(opening, ()) if one < count)
        for length, name in reversed([(length, names.of(length)) for length in lengths]):
            with self._lock:
                if name in self._known:
                    self._known.move_to_end(name)
                    return length, self._known[name][0]
        return 0, ()

    def _remember(self, names: _Names, messages: Sequence[bytes], outline: Outline) -> None:
        length = outline[-1].last + 1
        name, opening = names.of(length), names.of(1)
        call_bytes = _call_bytes(messages, outline)
        with self._lock:
            if name in self._known:
                return
            self._known[name] = outline, call_bytes
            self._steps += _weight(outline)
            self._call_bytes += call_bytes
            lengths = self._lengths.setdefault(opening, [])
            if length not in lengths:
                lengths.append(length)
                del lengths[:-_LENGTHS_MAX]
            while self._known and (self._steps > self._steps_max or self._call_bytes > CALL_BYTES_MAX):
                _, (oldest, weight) = self._known.popitem(last=False)
                self._steps -= _weight(oldest)
                self._call_bytes -= weight
            if not self._known or len(self._lengths) > self._steps_max:
                self._lengths.clear()


def _weight(outline: Outline) -> int:
    """As many turns as it is worth: one turn may hold much."""
    return sum(1 + len(step.marks) + len(step.results) for step in outline)


def _call_bytes(messages: Sequence[bytes], outline: Outline) -> int:
    """At most what the calls of this outline hold in memory, as their text is measured."""
    return sum(len(message) for step in outline if step.calls for message in messages[step.first : step.last + 1])


class _Names:
    """The names of the prefixes of one request, each byte of which is hashed once where they are asked in order."""

    def __init__(self, owner: bytes, messages: Sequence[bytes]) -> None:
        self._messages = messages
        self._at = {0: hashlib.sha256(owner)}

    def of(self, length: int) -> bytes:
        """No JSON holds the byte between messages."""
        if length not in self._at:
            nearest = max(one for one in self._at if one < length)
            found = self._at[nearest].copy()
            found.update(b"\0")
            found.update(b"\0".join(self._messages[nearest:length]))
            self._at[length] = found
        return self._at[length].digest()
