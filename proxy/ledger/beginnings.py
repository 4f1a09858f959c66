"""How histories begin, and what was put back there: a request that goes on with one costs what is new in it.

A beginning is known again by its bytes. It ends before the newest turn of its request, to which the next one may add.
What stood in the ledger is asked anew each time; only where that is the same, what became of the messages is used
again. Unlike an outline this holds texts: as many as fit, until anything is erased or expires.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from proxy.ledger.hidden import marks_of
from proxy.wire import envelope
from proxy.wire.prefix import Names, Patch, patched, patches
from proxy.wire.tail import backwards
from proxy.wire.transcript import Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.ledger.hidden import Hidden, Restored
    from proxy.ledger.outline import Outline, Place
    from proxy.wire.transcript import Transcript

PLACES_MAX: Final = 50_000
"""Of all conversations; some 200 bytes each."""
TEXT_BYTES_MAX: Final = 32 * 1024 * 1024
"""Of what was put back, of all conversations."""
_MESSAGES_BACK: Final = 64  # in which a beginning is looked for, from the end
_COMMA: Final = ord(",")


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first `size` bytes of the messages of some request, up to the end of one; `count` turns, of which the last is
    of `side`, and `after` names the place behind them. `marks` are those of thinking, in order.

    `patches` put back the entries `chosen`; `pending` is one whose results come behind it.
    """

    size: int
    count: int
    side: Side
    after: bytes
    root: bytes
    places: Mapping[Place, int]
    marks: tuple[tuple[int, str], ...]
    chosen: Mapping[int, Hidden]
    pending: Hidden | None
    patches: tuple[Patch, ...]

    def messages(self, member: bytes) -> bytes:
        """The beginning of these messages with what was put back, without a bracket."""
        return patched(member, self.patches, 1, self.size)


def begun(
    member: bytes, transcript: Transcript, steps: Outline, found: Restored, before: Beginning | None = None
) -> Beginning | None:
    """The beginning of a request whose messages are `member`; of what stands behind `before`, where that is known:
    then the transcript and the steps are of this alone. None where it cannot be known again.
    """
    first = 1 if before is None else before.size + 1
    ends = list(accumulate(len(message) + 1 for message in transcript.messages))
    is_compact = bool(ends) and first + ends[-1] == len(member)
    if not is_compact or len(steps) < 2 or found.taken_out:
        return None
    number = 0 if before is None else before.count
    kept, newest = steps[:-1], number + len(steps) - 1
    changes = [change for change in found.changes if change.number < newest]
    if not all(change.messages for change in changes):
        return None
    numbered = enumerate(kept, number)
    chosen = {at: entry for at, entry in found.chosen.items() if at < newest}
    return Beginning(
        first + ends[kept[-1].last] - 1,
        newest,
        kept[-1].side,
        kept[-1].after,
        found.root,
        {**(before.places if before else {}), **{step.place: at for at, step in numbered if step.place is not None}},
        (*(before.marks if before else ()), *marks_of(kept, number)),
        chosen,
        _pending(kept, number, chosen, before),
        (*(before.patches if before else ()), *patches(changes, ends, first)),
    )


def _pending(steps: Outline, first: int, chosen: Mapping[int, Hidden], before: Beginning | None) -> Hidden | None:
    """The entry whose results belong to the first turn of the user's side behind these."""
    for number, step in reversed(list(enumerate(steps, first))):
        if step.side is Side.USER:
            return None
        if step.side is Side.ASSISTANT:
            entry = chosen.get(number)
            return entry if entry is not None and entry.results else None
    return before.pending if before is not None else None


class Beginnings:
    """What is remembered, for any thread. `clear` forgets everything."""

    def __init__(self, places_max: int = PLACES_MAX, text_bytes_max: int = TEXT_BYTES_MAX) -> None:
        self._places_max, self._text_bytes_max = places_max, text_bytes_max
        self._known: OrderedDict[bytes, Beginning] = OrderedDict()
        self._sizes: Counter[int] = Counter()
        self._places = self._text_bytes = 0
        self._lock = threading.Lock()
        self._names = Names()

    def clear(self) -> None:
        with self._lock:
            self._known.clear()
            self._sizes.clear()
            self._places = self._text_bytes = 0

    def longest(self, owner: bytes, member: bytes) -> Beginning | None:
        """The longest that these messages begin with. `owner` names the tenant and the dialect."""
        if not self._sizes or not member.startswith(b"["):
            return None
        size = len(member) - 1
        try:
            for _, message in zip(range(_MESSAGES_BACK), backwards(member), strict=False):
                size -= len(message) + 1
                if size in self._sizes and member[size] == _COMMA:
                    name = self._names.of(owner, member, size)
                    with self._lock:
                        if name in self._known:
                            self._known.move_to_end(name)
                            return self._known[name]
        except envelope.EnvelopeError:
            pass  # its provider's to refuse
        return None

    def remember(self, owner: bytes, member: bytes, one: Beginning, instead_of: Beginning | None = None) -> None:
        """Until others need the room. What it goes on with is not needed beside it."""
        name = self._names.of(owner, member, one.size)
        before = None if instead_of is None else self._names.of(owner, member, instead_of.size)
        with self._lock:
            if name in self._known:
                return
            if before is not None and (gone := self._known.pop(before, None)) is not None:
                self._count(gone, -1)
            self._known[name] = one
            self._count(one, 1)
            while self._places > self._places_max or self._text_bytes > self._text_bytes_max:
                _, oldest = self._known.popitem(last=False)
                self._count(oldest, -1)

    def _count(self, one: Beginning, by: int) -> None:
        self._sizes[one.size] += by
        if not self._sizes[one.size]:
            del self._sizes[one.size]
        self._places += by * one.count
        self._text_bytes += by * sum(len(patch.text) for patch in one.patches)
