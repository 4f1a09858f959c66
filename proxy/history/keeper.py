"""The history of a request on its way up: what was decided about it is put in, what is new in it is decided.

A memory that fails is no reason to guess: what went up once must go up again, so that the request waits.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace as replaced
from functools import partial
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from interceptors.edits import Edit
from policies.upkeep import BrokenPairs
from proxy.history.again import named, recognized
from proxy.history.compacting import summed_up
from proxy.history.deciding import decide, first_sight, uses
from proxy.history.growing import Growing
from proxy.history.lifting import Coming, Request, Subject, Upward
from proxy.history.noting import Noting
from proxy.history.pairs import broken, known_pairs, mended, refuse_broken
from proxy.history.sent import Sent
from proxy.history.server_held import refuse_held
from proxy.history.tokens import Rates, estimated
from proxy.history.view import View
from proxy.ledger.edits import Decision, Where
from proxy.ledger.hidden import root_of
from proxy.ledger.outline import Outlines
from proxy.wire.prefix import owner_of
from proxy.wire.seal import may_be_sealed
from proxy.wire.stem import NO_STEMS
from proxy.wire.transcript import Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from policies.model import Policy
    from proxy.clock import Clock
    from proxy.history.compacting import Accounts, Overlong
    from proxy.history.receipts import Receipts
    from proxy.ledger.edits import EditVault, PairEdit
    from proxy.ledger.outline import Outline
    from proxy.wire.dialect import Dialect
    from proxy.wire.stem import Stems
    from proxy.wire.transcript import Transcript

__all__ = ["Histories", "Subject", "Upward"]

_LONG_AGO = Decision(0.0)
"""Of a place that went up as it came, nobody knows when."""


class Histories:
    """One for the process. Without `receipts` nothing is summed up."""

    def __init__(self, vault: EditVault, clock: Clock, receipts: Receipts | None = None) -> None:
        self._vault = vault
        self._clock = clock
        self._receipts = receipts
        self._rates = Rates()
        self._outlines = Outlines(with_calls=True)
        self._generation = 0
        self._sent = Sent()
        self._growing = Growing(vault, self._decided)

    async def lift(
        self, dialect: Dialect, body: bytes, policy: Policy, subject: Subject, stems: Stems = NO_STEMS
    ) -> Upward:
        """The request with its edits. A conversation that has none, under a policy that makes none, costs a look at
        whether there are any at all. `stems` are those of this body.

        Raises:
            envelope.EnvelopeError: its messages cannot be read.
            BrokenPairsError, ServerHeldError: the policy refuses it.
            LedgerError: what was decided before cannot be read, or what is decided now not be kept.
            StoreError: the receipts of what is summed up cannot be read.
        """
        is_used = uses(policy)
        if not is_used and self._vault.is_empty() and not (subject.is_sealed and may_be_sealed(body)):
            return self._as_it_came(body, subject)
        found = await asyncio.to_thread(self._lifted, dialect, body, policy, subject, stems, is_used=is_used)
        if isinstance(found, Upward):
            return found
        assert self._receipts is not None, "nothing else finds what is too long"
        known = await self._receipts.accounts(subject.tenant, subject.asker.subject, found.of)
        return await asyncio.to_thread(self._compacted, found, known)

    def _lifted(
        self, dialect: Dialect, body: bytes, policy: Policy, subject: Subject, stems: Stems, *, is_used: bool
    ) -> Upward | Overlong:
        now, generation = self._clock(), self._vault.generation()
        if is_used and stems.known is not None:
            coming = Coming(dialect, body, policy, subject, stems, now, generation)
            if (grown := self._growing.lift(coming)) is not None:
                return grown
        transcript = dialect.continuation.transcript(body)
        is_plain = not is_used and not may_be_sealed(body)
        if is_plain and not self._vault.knows(subject.tenant, root_of(transcript.opening())):
            return self._as_it_came(body, subject)
        view = View(transcript, self._outline(dialect, transcript, subject.tenant))
        # Decisions stand behind turns of the user's side.
        places = [turn.after for turn in view.turns if turn.side is Side.USER]
        known = self._vault.find(subject.tenant, places, view.root)
        decisions = {number: known[place] for number, place in enumerate(view.places) if place in known}
        if decisions:
            self._vault.touch(subject.tenant, [view.places[number] for number in decisions], now)
        refuse_held(view, policy)
        pairs = known_pairs(decisions.values())
        mends = self._mends(dialect, view, policy, subject, pairs)
        newest = view.newest
        decided = None if newest is None else decisions.pop(newest, None)
        where = None
        if newest is not None and (is_used or decisions or decided is not None):
            where = Where(subject.tenant, view.places[newest], view.root, subject.asker.subject)
        request = Request(dialect, body, policy, subject, view, decisions, mends, pairs, where, now, generation, stems)
        if newest is None or where is None or decided is not None:
            return self._upward(request, decided)
        fresh = self._decided(view, body, policy, subject, decisions, now)
        own = replace(fresh.pop(newest), pairs=mends)
        if policy.history.compact_above is not None and self._sent.at(subject.tenant, body) is None:
            own = replace(own, rate=self._rates.of(subject.tenant, view.places[:newest], decisions), notes=True)
            if self._receipts is not None and (long := self._receipts.overlong(request, own, fresh)) is not None:
                return long
        return self._kept(request, own, fresh)

    def _compacted(self, found: Overlong, known: Accounts) -> Upward:
        """The request with its closed matters summed up."""
        own, stretches = found.own, summed_up(found.request, found.of, known)
        if stretches:
            results = tuple(each for each in own.results if each.turn > stretches[-1].last)
            own = replace(own, results=results, stretches=stretches)
        return self._kept(found.request, own, found.before, found.tokens)

    def _kept(self, request: Request, own: Decision, before: Mapping[int, Decision], tokens: int = 0) -> Upward:
        """The request as was decided of it first, by whoever it was; what was decided now is kept."""
        assert request.where is not None, "something is decided of it"
        view, newest = request.view, len(request.view.turns) - 1
        places = {view.places[number]: each for number, each in before.items()}
        results = named(
            view, {number: each for number, each in {**before, newest: own}.items() if number in view.unread}
        )
        decision = self._vault.decide(request.where, own, request.now, places, results)
        request = replaced(request, before={**request.before, **before})
        return self._upward(request, decision, [*before.values(), decision], tokens)

    def _upward(
        self, request: Request, decision: Decision | None, fresh: Iterable[Decision] = (), tokens: int = 0
    ) -> Upward:
        found, changed = request.with_edits(decision)
        if decision is not None:
            self._growing.remember(request, decision, found)
        counts = _counts(fresh, request.mends)
        if fresh and request.is_held_whole:
            counts[Edit.NOT_COMPACTED] += 1
        noting, after = None, 0
        if decision is not None and decision.notes and request.where is not None and self._receipts is not None:
            name = request.subject.asker.conversation
            noting = Noting(self._receipts.notes, self._rates, self._clock, request.where, name, len(changed))
            after = estimated(len(changed), decision.rate) if tokens and decision.stretches else 0
        saved = max(0, len(request.body) - len(changed))
        where, before = request.where, tokens if after else 0
        return Upward(changed, found.mark, where, decision, +counts, saved, found.taken_out, before, after, noting)

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
        again = recognized(view, found.keys() - set(view.unread), partial(self._vault.recall, subject.tenant))
        found |= again
        at = self._sent.at(subject.tenant, body)
        if at is not None:
            return found | {newest: Decision(at)}
        for number in set(found).intersection(view.unread):
            own = first_sight(view, number, policy, subject.answered)
            found[number] = Decision(now.timestamp(), tuple(own))
        return found | {newest: decide(view, newest, policy, {**known, **again}, subject.answered, now)}

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
        return self._outlines.of(owner_of(dialect, tenant), transcript, dialect.continuation.transcript)


def _counts(fresh: Iterable[Decision], mends: Iterable[PairEdit]) -> Counter[Edit]:
    """What was decided for the first time; pairs are mended anew wherever a policy before did not."""
    counts: Counter[Edit] = Counter()
    for decision in fresh:
        counts.update(Edit(each.why) for each in decision.results)
        counts[Edit.NOTICE] += bool(decision.notice)
        counts[Edit.COMPACTED] += len(decision.stretches)
    for each in mends:
        counts[Edit.ORPHAN] += sum(each.dropped)
        counts[Edit.UNANSWERED] += len(each.added)
    return counts
