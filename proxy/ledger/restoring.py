"""A request gets its hidden turns back, and pays for what is new in it.

What a request went on with is known by its bytes (`beginnings`): only what stands behind is split and read. Where
nothing is known, or something else fits there now, all of it is (`outline`). Both make the same bytes.
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final

from proxy.ledger.beginnings import Beginnings, begun
from proxy.ledger.choosing import choose
from proxy.ledger.hidden import Restored, marks_of, nothing_hidden, put_back, restore, root_of
from proxy.ledger.outline import Outlines, outlined
from proxy.wire import envelope
from proxy.wire.prefix import owner_of
from proxy.wire.seal import LENIENT
from proxy.wire.turn import OWN_TURN

if TYPE_CHECKING:
    from collections.abc import Collection

    from proxy.clock import Clock
    from proxy.ledger.beginnings import Beginning
    from proxy.ledger.hidden import Asker, Finder, Hidden
    from proxy.ledger.outline import Outline, Place
    from proxy.ledger.vault import Vault
    from proxy.wire.dialect import Dialect
    from proxy.wire.transcript import Transcript

_SELECTS: Final = b'"%s":"h' % OWN_TURN.encode()
"""In a request that names items which were shown with a hidden turn: ids of entries begin so."""
_TRIES_MAX: Final = 8


class Restoring:
    """One for the process. Every method blocks, and may raise `LedgerError` or `EnvelopeError`."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock
        self.outlines = Outlines()
        self.beginnings = Beginnings()
        self._generation = 0

    def request(
        self, dialect: Dialect, body: bytes, member: bytes, tenant: str, asker: Asker, *, is_sealed: bool
    ) -> tuple[Restored, bytes] | None:
        """What was put back into a request, and the request with it; None where nothing is hidden of it. `member` are
        its messages as they stand in it, empty where the dialect does not say; `is_sealed`: its thinking may be."""
        self._keep_up()
        owner = owner_of(dialect, tenant)
        member = b"" if dialect.continuation.references is not None else member  # there ids may select
        before = self.beginnings.longest(owner, member)
        found = None if before is None else self._behind(dialect, body, member, tenant, asker, before)
        if found is None:
            found = self._whole(dialect, body, member, tenant, asker, is_sealed=is_sealed)
        if found is not None and found[0].entries:
            self._vault.touch(tenant, found[0].entries, self._clock())
        return found

    def place(self, dialect: Dialect, transcript: Transcript, tenant: str) -> Restored:
        """The place behind a request, as its client holds it."""
        self._keep_up()
        outline = self.outlines.of(owner_of(dialect, tenant), transcript, dialect.continuation.transcript)
        return restore(transcript, nothing_hidden, outline=outline)

    def _whole(
        self, dialect: Dialect, body: bytes, member: bytes, tenant: str, asker: Asker, *, is_sealed: bool
    ) -> tuple[Restored, bytes] | None:
        transcript = dialect.continuation.transcript(body)
        root = root_of(transcript.opening())
        selects = dialect.continuation.references is not None and _SELECTS in body
        if not selects and not is_sealed and not self._vault.knows(tenant, root):
            return None
        owner = owner_of(dialect, tenant)
        outline = self.outlines.of(owner, transcript, dialect.continuation.transcript)
        marked = outline if selects else ()
        found = restore(transcript, partial(self._found, tenant, root, marked), asker, outline)
        if member and body.rfind(LENIENT) < 0 and (one := begun(member, transcript, outline, found)) is not None:
            self.beginnings.remember(owner, member, one)
        return found, transcript.body(found.messages) if found.is_changed else body

    def _behind(
        self, dialect: Dialect, body: bytes, member: bytes, tenant: str, asker: Asker, before: Beginning
    ) -> tuple[Restored, bytes] | None:
        """Of a request that begins so; None where it has to be read as a whole."""
        part = _without(body, member, before.size)
        if part is None or part.rfind(LENIENT) >= 0:
            return None
        transcript = dialect.continuation.transcript(part)
        if envelope.join_list(list(transcript.messages)) != b"[" + member[before.size + 1 :]:
            return None
        steps = outlined(transcript.turns(), after=before.after)
        if not steps or steps[0].side is before.side:  # they would be one turn
            return None
        found = restored_behind(transcript, steps, before, partial(self._vault.find, tenant, root=before.root), asker)
        if found is None:
            return None
        if (one := begun(member, transcript, steps, found, before)) is not None:
            self.beginnings.remember(owner_of(dialect, tenant), member, one, instead_of=before)
        whole = [before.messages(member), *found.messages]
        return found, transcript.body(whole) if found.is_changed else body

    def _found(self, tenant: str, root: bytes, marked: Outline, places: Collection[Place]) -> dict[Place, list[Hidden]]:
        """The entries of these places. Where the client names items that were shown with a hidden turn, their ids
        select it, whatever became of the history before them; what the turn says confirms."""
        found = self._vault.find(tenant, places, root)
        named = {(mark, step.place) for step in marked if step.place is not None for mark in step.marks if mark}
        for mark, place in named:
            if not any(entry.id == mark for entry in found.get(place, ())):
                fitting = [entry for entry in self._vault.named(tenant, mark) if entry.visible == place[1]]
                found.setdefault(place, []).extend(fitting)
        return found

    def _keep_up(self) -> None:
        """Of what was erased or has expired nothing is remembered, not even digests."""
        if (generation := self._vault.generation()) != self._generation:
            self.outlines.clear()
            self.beginnings.clear()
            self._generation = generation


def restored_behind(
    transcript: Transcript, steps: Outline, before: Beginning, find: Finder, asker: Asker
) -> Restored | None:
    """What `restore` would find, of the messages behind a beginning; None where what was put back into the beginning
    is not what belongs there now, or thinking has to go."""
    numbers = dict(before.places)
    numbers.update((step.place, at) for at, step in enumerate(steps, before.count) if step.place is not None)
    found = {numbers[place]: entries for place, entries in find(numbers).items() if place in numbers}
    marks = chain(reversed(list(marks_of(steps, before.count))), reversed(before.marks))
    result = Restored([], before.root, steps[-1].after, unsealed=len(before.patches))
    result.chosen, result.ambiguous = choose(marks, found, asker)
    if {at: entry for at, entry in result.chosen.items() if at < before.count} != before.chosen:
        return None
    for at in sorted(before.chosen):
        result.add(before.chosen[at])
    put_back(transcript, steps, result, before.count, before.pending)
    return None if result.taken_out else result


def _without(body: bytes, member: bytes, size: int) -> bytes | None:
    """The request without the first `size` bytes of its messages, which end a message; None where these are not found.
    Whether they were those of the request, the caller sees by what it reads."""
    start, sample = -1, member[:64]
    for _ in range(_TRIES_MAX):
        start = body.find(sample, start + 1)
        if start < 0 or body.startswith(member, start):
            break
    if start < 0 or not body.startswith(member, start):
        return None
    return b"".join([body[:start], b"[", member[size + 1 :], body[start + len(member) :]])
