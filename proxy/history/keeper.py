"""The history of a request on its way up: what was decided about it is put in, what is new in it is decided.

A memory that fails is no reason to guess: what went up once must go up again, so that the request waits.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from interceptors.edits import Edit
from policies.upkeep import BrokenPairs
from proxy.history.deciding import decide, first_sight, uses
from proxy.history.pairs import broken, known_pairs, mended, refuse_broken, repairs
from proxy.history.sent import Sent
from proxy.history.server_held import refuse_held
from proxy.history.view import View, edited
from proxy.ledger.edits import Decision, Where
from proxy.ledger.hidden import root_of
from proxy.ledger.outline import Outlines
from proxy.wire.seal import may_be_sealed
from proxy.wire.transcript import Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from policies.model import Policy
    from proxy.clock import Clock
    from proxy.ledger.edits import EditVault, PairEdit
    from proxy.ledger.hidden import Asker
    from proxy.ledger.outline import Outline
    from proxy.wire.dialect import Dialect
    from proxy.wire.transcript import Transcript

BYTES_A_TOKEN = 4
"""Of JSON in English, where nothing better is known."""
_LONG_AGO = Decision(0.0)
"""Of a place that went up as it came, nobody knows when."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose request it is, and the calls in it whose results are the gate's own."""

    tenant: str
    asker: Asker
    answered: frozenset[str] = frozenset()
    client_body: bytes = b""  # as the client sent it: the places that it knows
    is_sealed: bool = True  # whether its thinking may depend on edits


@dataclass(frozen=True, slots=True)
class Upward:
    """A request as it goes up. `mark` names its edits, for the thinking of the answer. `fresh` counts what was decided
    for the first time; `bytes_saved` is what the body is shorter than it came; `taken_out` are thinking blocks.
    """

    body: bytes
    mark: str = ""
    where: Where | None = None
    decision: Decision | None = None
    fresh: Mapping[Edit, int] = field(default_factory=dict)
    bytes_saved: int = 0
    taken_out: int = 0

    @property
    def tokens_saved(self) -> int:
        return self.bytes_saved // BYTES_A_TOKEN


class Histories:
    """One for the process."""

    def __init__(self, vault: EditVault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock
        self._outlines = Outlines(with_calls=True)
        self._generation = 0
        self._sent = Sent()

    async def lift(self, dialect: Dialect, body: bytes, policy: Policy, subject: Subject) -> Upward:
        """The request with its edits. A conversation that has none, under a policy that makes none, costs a look at
        whether there are any at all.

        Raises:
            envelope.EnvelopeError: its messages cannot be read.
            BrokenPairsError, ServerHeldError: the policy refuses it.
            LedgerError: what was decided before cannot be read, or what is decided now not be kept.
        """
        is_used = uses(policy)
        if not is_used and self._vault.is_empty() and not (subject.is_sealed and may_be_sealed(body)):
            return self._as_it_came(body, subject)
        return await asyncio.to_thread(self._lifted, dialect, body, policy, subject, is_used=is_used)

    def _lifted(self, dialect: Dialect, body: bytes, policy: Policy, subject: Subject, *, is_used: bool) -> Upward:
        transcript = dialect.continuation.transcript(body)
        is_plain = not is_used and not may_be_sealed(body)
        if is_plain and not self._vault.knows(subject.tenant, root_of(transcript.opening())):
            return self._as_it_came(body, subject)
        view = View(transcript, self._outline(dialect, transcript, subject.tenant))
        now = self._clock()
        # Decisions stand behind turns of the user's side.
        places = [turn.after for turn in view.turns if turn.side is Side.USER]
        known = self._vault.find(subject.tenant, places, view.root)
        decisions = {number: known[place] for number, place in enumerate(view.places) if place in known}
        if decisions:
            self._vault.touch(subject.tenant, [view.places[number] for number in decisions], now)
        refuse_held(view, policy)
        pairs = known_pairs(decisions.values())
        mends = self._mends(dialect, view, policy, subject, pairs)
        newest, fresh, where = view.newest, None, None
        if newest is not None and (is_used or decisions):
            where = Where(subject.tenant, view.places[newest], view.root, subject.asker.subject)
            if newest not in decisions:
                fresh = self._decided(view, body, policy, subject, decisions, now)
                before = {view.places[number]: each for number, each in fresh.items() if number != newest}
                own = replace(fresh[newest], pairs=mends)
                decisions |= fresh | {newest: self._vault.decide(where, own, now, before)}
        found = edited(view, decisions, repairs([*mends, *pairs.values()]))
        changed = transcript.body(found.messages) if found.is_changed else body
        counts = _counts([] if fresh is None else [decisions[number] for number in fresh], mends)
        decision = decisions.get(newest) if newest is not None else None
        saved = max(0, len(body) - len(changed))
        return Upward(changed, found.mark, where, decision, counts, saved, found.taken_out)

    def _as_it_came(self, body: bytes, subject: Subject) -> Upward:
        self._sent.add(subject.tenant, body, self._clock().timestamp())
        return Upward(body)

    def _decided(
        self,
        view: View,
        body: bytes,
        policy: Policy,
        subject: Subject,
        known: Mapping[int, Decision],
        now: datetime,
    ) -> dict[int, Decision]:
        """What is decided of the newest place, and of those before it that nothing was decided of.

        What an assistant's turn stands behind went up as it came. To decide that is to keep it: a shorter history that
        ends there may come again, and must not change what the longer one that holds it was.
        """
        *before, newest = [number for number, turn in enumerate(view.turns) if turn.side is Side.USER]
        found = {number: _LONG_AGO for number in before if number not in known}
        at = self._sent.at(subject.tenant, body)
        if at is not None:
            return found | {newest: Decision(at)}
        for number in set(found).intersection(view.unread):
            own = first_sight(view, number, policy, subject.answered)
            found[number] = Decision(now.timestamp(), tuple(own))
        return found | {newest: decide(view, newest, policy, known, subject.answered, now)}

    @staticmethod
    def _mends(
        dialect: Dialect, view: View, policy: Policy, subject: Subject, known: Mapping[int, PairEdit]
    ) -> tuple[PairEdit, ...]:
        how = policy.history.broken_pairs
        found = broken(view) if how is not None else None
        if how is None or not found:
            return ()
        client = View(dialect.continuation.transcript(subject.client_body))
        match how:
            case BrokenPairs.REPAIR:
                refuse_broken(client, at_end=True)
                return mended(view, found, policy, known)
            case BrokenPairs.REFUSE:
                if not found.is_mended(known):
                    refuse_broken(client)
                return ()
            case _:
                assert_never(how)

    def _outline(self, dialect: Dialect, transcript: Transcript, tenant: str) -> Outline:
        """Of what was erased or has expired nothing is remembered."""
        if (generation := self._vault.generation()) != self._generation:
            self._outlines.clear()
            self._generation = generation
        owner = f"{dialect.name}\0{tenant}".encode(errors="surrogatepass")
        return self._outlines.of(owner, transcript, dialect.continuation.transcript)


def _counts(fresh: Iterable[Decision], mends: Iterable[PairEdit]) -> Mapping[Edit, int]:
    """What was decided for the first time; pairs are mended anew wherever a policy before did not."""
    counts: Counter[Edit] = Counter()
    for decision in fresh:
        counts.update(Edit(each.why) for each in decision.results)
        counts[Edit.NOTICE] += bool(decision.notice)
    for each in mends:
        counts[Edit.ORPHAN] += sum(each.dropped)
        counts[Edit.UNANSWERED] += len(each.added)
    return +counts
