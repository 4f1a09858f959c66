"""A request that goes on with a history that was edited before: it pays for what is new in it.

Where a policy decides by more than the newest results (their age, broken pairs, length), or anything is not as it was,
the request is read as a whole (`keeper`). Both make the same bytes, and keep the same decisions.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from interceptors.edits import Edit
from policies.upkeep import ages
from proxy.history.again import named
from proxy.history.begun import BegunMemory, begun, is_plain, shifted
from proxy.history.lifting import Upward
from proxy.history.view import View, edited
from proxy.ledger.edits import Decision, Where
from proxy.ledger.outline import outlined
from proxy.once import OncePerRevision
from proxy.wire.prefix import patched, patches
from proxy.wire.seal import LENIENT
from proxy.wire.transcript import Side

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from policies.model import Policy
    from proxy.history.begun import Begun
    from proxy.history.lifting import Coming, Request, Subject
    from proxy.history.view import Edited
    from proxy.ledger.edits import EditVault
    from proxy.wire.dialect import Dialect
    from proxy.wire.stem import Stem

    Decide = Callable[[View, bytes, Policy, Subject, Mapping[int, Decision], datetime], dict[int, Decision]]


def _looks_back(policy: Policy) -> bool:
    rules = policy.history
    return ages(policy) or rules.broken_pairs is not None or rules.compact_above is not None


looks_back = OncePerRevision(_looks_back)
"""Whether a policy decides by more than what is new in a request."""


class _End(NamedTuple):
    """What stands behind the stem of a request: its turns, counted from 0, and what was and is decided of them."""

    view: View
    known: Mapping[int, Decision]
    fresh: Mapping[int, Decision]

    @property
    def decisions(self) -> dict[int, Decision]:
        return {**self.known, **self.fresh}


class Growing:
    """One for the process. `decide` says what is decided of places that nothing was decided of."""

    def __init__(self, vault: EditVault, decide: Decide) -> None:
        self._vault = vault
        self._decide = decide
        self._memory = BegunMemory()

    def lift(self, coming: Coming) -> Upward | None:
        """The request with its edits; None where it has to be read as a whole. It blocks.

        Raises:
            envelope.EnvelopeError: its messages cannot be read.
            LedgerError: what was decided cannot be read, or not be kept.
        """
        self._memory.keep_up(coming.generation)
        subject, stem = coming.subject, coming.stems.known
        before = self._memory.of(stem)
        if stem is None or before is None or looks_back(coming.policy):
            return None
        view = _behind(coming.dialect, coming.body, stem, before)
        if view is None or (newest := view.newest) is None:
            return None
        if self._vault.is_due(subject.tenant, before.oldest, coming.now):
            return None  # all its places are used, and kept for longer
        end = self._end(coming, view, before)
        found = None if end is None else self._edited(view, end.decisions, before)
        if end is None or found is None:
            return None
        where = Where(subject.tenant, view.places[newest], before.root, subject.asker.subject)
        if end.fresh:
            kept = shifted(self._kept(where, end, newest, before.count, coming.now), -before.count)
            if kept != end.fresh[newest]:  # somebody else was first
                end = end._replace(fresh={**end.fresh, newest: kept})
                found = self._edited(view, end.decisions, before)
                if found is None:
                    return None
        last = coming.stems.newest
        if last is not None and last != stem and (one := begun(last, view, end.decisions, found, (before, stem.size))):
            self._memory.add(last, one, coming.generation)
        return _upward(coming.body, end, found, before, stem, where)

    def remember(self, request: Request, decision: Decision, found: Edited) -> None:
        """What became of a request that was read as a whole; the next one may begin with the same stem."""
        view, stem, newest = request.view, request.stems.newest, request.view.newest
        is_whole = request.subject.client_body is request.body
        if stem is None or newest is None or not is_whole or request.mends or request.pairs:
            return
        if request.body.rfind(LENIENT) >= 0:
            return
        if (one := begun(stem, view, {**request.before, newest: decision}, found)) is not None:
            self._memory.add(stem, one, request.generation)

    def _end(self, coming: Coming, view: View, before: Begun) -> _End | None:
        """What was decided of the turns behind a stem, and what is now; None where it reaches further back."""
        places = {view.places[number]: number for number, turn in enumerate(view.turns) if turn.side is Side.USER}
        subject = coming.subject
        stored = self._vault.find(subject.tenant, places)
        known = {places[place]: shifted(each, -before.count) for place, each in stored.items()}
        if not is_plain(known.items(), 0):
            return None
        if known:
            self._vault.touch(subject.tenant, stored, coming.now)
        is_decided = view.newest in known
        fresh = {} if is_decided else self._decide(view, coming.body, coming.policy, subject, known, coming.now)
        return _End(view, known, fresh) if is_plain(fresh.items(), 0) else None

    @staticmethod
    def _edited(view: View, decisions: Mapping[int, Decision], before: Begun) -> Edited | None:
        """The turns behind a stem with their edits; None where thinking has to go, or nothing is left of a turn."""
        if not is_plain(decisions.items(), 0):
            return None
        found = edited(view, decisions, {}, state=before.state)
        return found if not found.taken_out and all(change.messages for change in found.changes) else None

    def _kept(self, where: Where, end: _End, newest: int, by: int, now: datetime) -> Decision:
        """What was decided of the newest place first, by whoever it was; what is decided now is kept."""
        own = shifted(end.fresh[newest], by)
        places = {end.view.places[number]: shifted(each, by) for number, each in end.fresh.items() if number != newest}
        results = named(end.view, {at: each for at, each in end.decisions.items() if at in end.view.unread})
        named_so = {name: shifted(each, by) for name, each in results.items()}
        return self._vault.decide(where, own, now, places, named_so)


def _behind(dialect: Dialect, body: bytes, stem: Stem, before: Begun) -> View | None:
    """The view of what stands behind a stem; None where it cannot be told by itself."""
    part = stem.rest(body)
    if part is None or part.rfind(LENIENT) >= 0:
        return None
    transcript = dialect.continuation.transcript(part)
    if transcript.is_continued or transcript.body(transcript.messages) != part:
        return None
    steps = outlined(transcript.turns(), after=before.after, with_calls=True)
    if not steps or steps[0].side is not Side.ASSISTANT:
        return None
    return View(transcript, steps, before.root)


def _upward(body: bytes, end: _End, found: Edited, before: Begun, stem: Stem, where: Where) -> Upward:
    ends = list(accumulate(len(message) + 1 for message in end.view.transcript.messages))
    changes = [*before.patches, *patches(found.changes, ends, stem.size + 1)]
    changed = patched(body, changes) if changes else body
    counts: Counter[Edit] = Counter()
    for each in end.fresh.values():
        counts.update(Edit(one.why) for one in each.results)
    decision = end.decisions[len(end.view.turns) - 1]
    saved = max(0, len(body) - len(changed))
    return Upward(changed, found.mark, where, shifted(decision, before.count), counts, saved)
