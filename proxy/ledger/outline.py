"""The outline of a request: what its turns mean and where they stand, which is all that finding hidden turns needs.

Reading a history is what costs, and the next request brings the same history again with something behind it. An outline
depends on bytes alone, so that one of a prefix may be remembered by the digest of its bytes; it holds digests and
places, no text. What is put back is asked of the ledger each time.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proxy.wire import envelope
from proxy.wire.transcript import CHAIN_START, Side, SideTurn, chained

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proxy.wire.transcript import Transcript

    Place = tuple[bytes, bytes]
    """Where an assistant turn stands: the meaning of all before it, and its own as the client holds it."""

STEPS_MAX = 50_000
"""Turns that are remembered, of all conversations; some 300 bytes each."""
_LENGTHS_MAX = 8  # of the prefixes of one opening that are tried


@dataclass(frozen=True, slots=True)
class Step:
    """One turn. `place` is that of an assistant turn. `after` names the place behind the turn."""

    side: Side
    first: int
    last: int
    marks: tuple[str, ...]
    place: Place | None
    after: bytes


Outline = tuple[Step, ...]


def outlined(turns: Sequence[SideTurn], before: Outline = (), first: int = 0) -> Outline:
    """The outline of these turns behind `before`, whose messages are the `first` ones."""
    steps = list(before)
    here = before[-1].after if before else CHAIN_START
    for turn in turns:
        meaning = turn.meaning()
        place = (here, meaning) if turn.side is Side.ASSISTANT else None
        here = here if turn.side is Side.SYSTEM else chained(here, meaning)
        steps.append(Step(turn.side, turn.first + first, turn.last + first, tuple(turn.marks), place, here))
    return tuple(steps)


class Outlines:
    """What is remembered, for any thread. `clear` forgets everything."""

    def __init__(self, steps_max: int = STEPS_MAX) -> None:
        self._steps_max = steps_max
        self._known: OrderedDict[bytes, Outline] = OrderedDict()
        self._lengths: dict[bytes, list[int]] = {}  # by the digest of a first message: of what prefixes are known
        self._steps = 0
        self._lock = threading.Lock()

    def clear(self) -> None:
        with self._lock:
            self._known.clear()
            self._lengths.clear()
            self._steps = 0

    def of(self, owner: bytes, transcript: Transcript, read: Callable[[bytes], Transcript]) -> Outline:
        """The outline of a request. `owner` names the tenant and the dialect: nothing is shared between two.

        Raises `EnvelopeError`.
        """
        messages = transcript.messages
        if not messages:
            return ()
        opening = _digest(owner, messages[:1])
        count, before = self._longest(owner, opening, messages)
        if count == 0:
            found = outlined(transcript.turns())
        else:
            rest = b'{"messages":' + envelope.join_list(list(messages[count:])) + b"}"
            found = outlined(read(rest).turns(), before, count)
        if len(found) - 1 > len(before):
            self._remember(owner, opening, messages, found[:-1])
        return found

    def _longest(self, owner: bytes, opening: bytes, messages: Sequence[bytes]) -> tuple[int, Outline]:
        """The longest prefix that is known, in messages, and its outline."""
        with self._lock:
            lengths = sorted((one for one in self._lengths.get(opening, ()) if one < len(messages)), reverse=True)
        for length in lengths:
            name = _digest(owner, messages[:length])
            with self._lock:
                if name in self._known:
                    self._known.move_to_end(name)
                    return length, self._known[name]
        return 0, ()

    def _remember(self, owner: bytes, opening: bytes, messages: Sequence[bytes], outline: Outline) -> None:
        """The newest turn is left out: the next request may add to it."""
        length = outline[-1].last + 1
        name = _digest(owner, messages[:length])
        with self._lock:
            if name in self._known:
                return
            self._known[name] = outline
            self._steps += len(outline)
            lengths = self._lengths.setdefault(opening, [])
            if length not in lengths:
                lengths.append(length)
                del lengths[:-_LENGTHS_MAX]
            while self._steps > self._steps_max and self._known:
                _, oldest = self._known.popitem(last=False)
                self._steps -= len(oldest)
            if not self._known or len(self._lengths) > self._steps_max:
                self._lengths.clear()


def _digest(owner: bytes, messages: Sequence[bytes]) -> bytes:
    """No JSON holds the byte between them."""
    return hashlib.sha256(owner + b"\0" + b"\0".join(messages)).digest()
