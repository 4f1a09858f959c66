"""How edited histories begin, and what became of them there: a request that goes on with one costs what is new in it.

A beginning is the stem of a request (`wire/stem`), at each of whose places something was decided. What is decided at a
place holds for ever, so that the messages of a stem go up as they did, whatever the policy says now.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter, OrderedDict
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from proxy.history.view import State
from proxy.wire.prefix import Patch, patches
from proxy.wire.transcript import Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interceptors.edits import Edit
    from proxy.history.view import Edited, View
    from proxy.ledger.edits import Decision
    from proxy.wire.stem import Stem

BEGUN_MAX: Final = 4096
"""Beginnings that are remembered."""
PATCHES_MAX: Final = 50_000
"""Edited turns of them all; some 200 bytes each beside their text."""
TEXT_BYTES_MAX: Final = 32 * 1024 * 1024
"""Of what stands in these turns."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The history in a stem: `count` turns, `root` and `first` name how it begins, `oldest` the first place of the
    user's side, `after` the place at its end. `state` and `counts` say what was edited in it, `patches` how."""

    count: int
    root: bytes
    first: bytes
    oldest: bytes
    after: bytes
    state: State
    counts: Mapping[Edit, int]
    patches: tuple[Patch, ...]


def is_plain(decisions: Iterable[tuple[int, Decision]], first: int) -> bool:
    """Whether these decisions, at places from the turn `first` on, edit nothing but results behind it."""
    return not any(
        decision.pairs
        or decision.stretches
        or decision.notes
        or decision.told
        or any(each.turn < first for each in decision.results)
        for number, decision in decisions
        if number >= first
    )


def shifted(decision: Decision, by: int) -> Decision:
    """The decision with the numbers of a history that has `by` turns more before it, or fewer."""
    return replace(decision, results=tuple(replace(each, turn=each.turn + by) for each in decision.results))


def begun(
    stem: Stem, view: View, decisions: Mapping[int, Decision], found: Edited, before: tuple[Begun, int] | None = None
) -> Begun | None:
    """The history of a stem, of a request with this view. Where that shows only what stands behind another, that is
    `before`, with the size of its stem. None where the history of the stem may yet become another."""
    known, offset = (None, stem.opens + 1) if before is None else (before[0], before[1] + 1)
    ends = list(accumulate(len(message) + 1 for message in view.transcript.messages))
    last = bisect_left(ends, stem.size - offset + 1)
    if last == len(ends) or offset + ends[last] - 1 != stem.size or found.taken_out:
        return None
    count = next((number for number, turn in enumerate(view.turns) if turn.first == last + 1), 0)
    users = [number for number, turn in enumerate(view.turns[:count]) if turn.side is Side.USER]
    oldest = known.oldest if known is not None else next((view.places[number] for number in users), b"")
    is_decided = decisions.keys() >= set(users) and is_plain(decisions.items(), 0)
    if not count or not oldest or not is_decided or not is_plain(decisions.items(), count):
        return None
    changes = [change for change in found.changes if change.number < count]
    if not all(change.messages for change in changes):
        return None
    first = known.first if known is not None else view.places[0]
    start = known.state if known is not None else State(first)
    earlier = known.counts if known is not None else {}
    counts = Counter(earlier) + Counter(changes[-1].counts) if changes else earlier
    return Begun(
        count + (known.count if known is not None else 0),
        view.root,
        first,
        oldest,
        view.places[count - 1],
        changes[-1].state if changes else start,
        counts,
        (*(known.patches if known is not None else ()), *patches(changes, ends, offset)),
    )


class BegunMemory:
    """What is remembered, by the names of stems, for any thread."""

    def __init__(self, begun_max: int = BEGUN_MAX) -> None:
        self._begun_max = begun_max
        self._known: OrderedDict[bytes, Begun] = OrderedDict()
        self._patches = self._bytes = self._generation = 0
        self._lock = threading.Lock()

    def keep_up(self, generation: int) -> None:
        """Forget everything where something was erased, or has expired."""
        with self._lock:
            if generation != self._generation:
                self._known.clear()
                self._patches, self._bytes, self._generation = 0, 0, generation

    def of(self, stem: Stem | None) -> Begun | None:
        """The history of a stem."""
        if stem is None:
            return None
        with self._lock:
            if (found := self._known.get(stem.name)) is not None:
                self._known.move_to_end(stem.name)
            return found

    def add(self, stem: Stem, one: Begun, generation: int) -> None:
        """Until others need the room; unless something was removed since `generation`."""
        with self._lock:
            if generation != self._generation or stem.name in self._known:
                return
            self._known[stem.name] = one
            self._count(one, 1)
            while len(self._known) > self._begun_max or self._patches > PATCHES_MAX or self._bytes > TEXT_BYTES_MAX:
                self._count(self._known.popitem(last=False)[1], -1)

    def _count(self, one: Begun, by: int) -> None:
        self._patches += by * len(one.patches)
        self._bytes += by * sum(len(patch.text) for patch in one.patches)
