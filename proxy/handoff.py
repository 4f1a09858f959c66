"""A customer who asks for a person is answered by code (DESIGN 6): a case first, then the reply; no model is asked.

What is read is the newest text of the user's side, as the client sent it: no result, no turn that holds one, nothing
that is not the user's own words. An autonomous agent has no customer, so that nothing it says asks for a person.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from interceptors.calls import Proposer
from interceptors.context import Context, FactFailed, FactFailure
from interceptors.decisions import Needs
from interceptors.handing_off import HandingOff, hand_off
from interceptors.handoffs import HandedOff
from interceptors.person_wanted import person_wanted
from policies.handoff import REASON
from proxy.admission import RefusedError
from proxy.answers_told import AnswersTold
from proxy.handoff_places import places_of, text_of
from proxy.store import Entry, EscalationDraft, StoreError, new_escalation_id, new_receipt_id
from proxy.store.handoffs import Handed, HandoffDraft, known
from proxy.wire import envelope
from proxy.wire.dialect import Fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from interceptors.context import FactKey, FactResult
    from interceptors.person_wanted import Wanted
    from policies.handoff import Handoff
    from proxy.admission import Asking
    from proxy.handoff_places import Places
    from proxy.http1.requests import Request
    from proxy.passage import Passage
    from proxy.services import Services
    from proxy.wire.dialect import Dialect

T = TypeVar("T")
_STEP_BYTES: Final = 32 * 1024  # what is longer is not read on the loop
_STEP_LENGTH: Final = 1_000  # characters of a text: its words are looked up in every language
_UNRECORDED: Final = "the gate cannot record requests at present"


class _Asked(NamedTuple):
    """One request of a customer who asks for a person."""

    wanted: Wanted
    handoff: Handoff
    places: Places
    receipt: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Handoffs:
    """One for the process."""

    services: Services

    async def answered(self, request: Request, dialect: Dialect, body: bytes, passage: Passage) -> bool:
        """Answers a customer who asks for a person; False where nobody does.

        Raises:
            RefusedError: it cannot be recorded at present, so that nothing leaves.
        """
        asking = passage.asking
        assert asking is not None, "who asks is known before anything is read"
        handoff = asking.revision.policy.people.handoff
        if handoff is None or not passage.view.is_turn or _is_autonomous(asking):
            return False
        found = await self._wanted(dialect, body, passage, asking, handoff)
        if found is None:
            return False
        handed = await self._handed(found, dialect, passage, asking)
        passage.receipts.append(found.receipt)
        passage.handed_off = f"handoff:{found.wanted.language}:{handed.escalation or 'full'}"
        told = AnswersTold(self.services, dialect, passage)
        await told.send(request, body, handed, found.places.exactly, found.receipt)
        return True

    async def _wanted(
        self, dialect: Dialect, body: bytes, passage: Passage, asking: Asking, handoff: Handoff
    ) -> _Asked | None:
        try:
            text = await _looked(partial(text_of, dialect, body, passage.view.messages), len(body) > _STEP_BYTES)
            look = partial(person_wanted, text, handoff, asking.revision.policy.not_user)
            wanted = await _looked(look, len(text) > _STEP_LENGTH)
            if wanted is None:
                return None
            places = await _looked(partial(places_of, dialect, body), len(body) > _STEP_BYTES)
        except envelope.EnvelopeError:
            return None  # what is wrong with it is said where it is prepared to go up
        now = self.services.judge.clock()
        return _Asked(wanted, handoff, places, new_receipt_id(now), now)

    async def _handed(self, found: _Asked, dialect: Dialect, passage: Passage, asking: Asking) -> Handed:
        """What is answered, once it is written down with its case."""
        store = self.services.store
        whose = f"handoff\0{asking.caller.tenant}\0{asking.subject}\0{passage.conversation}\0"
        place = whose + found.places.here
        name = store.name(place)
        try:
            before = await store.look(lambda each: known(each, name, asking.subject, found.now))
            made = None if before is not None else await self._decided(found, asking)
            draft = HandoffDraft(place, tuple(whose + each for each in found.places.earlier), made.full if made else "")
            entry = Entry(
                _record(found, made, before, dialect, passage, asking),
                escalation=self._case(found, made, asking),
                handoff=draft,
            )
            (done,) = await store.commit([entry])
        except StoreError:
            self.services.metrics.store_failed()
            raise RefusedError(Fault.OVERLOADED, "store_unavailable", _UNRECORDED) from None
        assert done.handed is not None, "the record of a hand-over says what is answered"
        self.services.metrics.business.handed_off(found.wanted.language, _outcome(done.handed, entry.escalation))
        return done.handed

    async def _decided(self, found: _Asked, asking: Asking) -> HandingOff:
        """The facts of the case are read first, within the time that calls may be held; one that is late is missing."""
        policy = asking.revision.policy
        context = Context(found.now, asking.caller.tenant, identity=asking.caller.identity, subject=asking.claims)
        facts: dict[FactKey, FactResult] = {}
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.services.judge.hold_ms_max / 1000
        answer = hand_off(policy, found.handoff, found.wanted, context, facts)
        while isinstance(answer, Needs):
            unread = [key for key in answer.facts if key not in facts]
            try:
                async with asyncio.timeout_at(deadline):
                    facts |= await self.services.judge.facts.read(unread, asking.revision.facts)
            except TimeoutError:
                facts |= {key: FactFailed(FactFailure.TIMEOUT, found.now) for key in unread}
            answer = hand_off(policy, found.handoff, found.wanted, context, facts)
        return answer

    def _case(self, found: _Asked, made: HandingOff | None, asking: Asking) -> EscalationDraft:
        """With a signed subject the one case of this customer; else one of its own, which nothing joins by chance."""
        policy, case = asking.revision.policy, new_escalation_id(found.now)
        approvals = policy.people.approvals
        return EscalationDraft(
            id=case,
            tenant=asking.caller.tenant,
            subject=asking.subject,
            tool="",
            argument_digest="" if asking.subject else case,
            summary={} if made is None else made.summary,
            reason=REASON,
            receipt=found.receipt,
            created=found.now,
            policy=policy.name,
            proposer=Proposer.CUSTOMER,
            answer_by=found.now + approvals.answer_within,
            tells=self.services.judge.tells,
            open_max=approvals.open_max,
        )


async def _looked(look: Callable[[], T], is_long: bool) -> T:
    """What it finds; where that takes its time, the loop is not kept from others by it."""
    return await asyncio.to_thread(look) if is_long else look()


def _is_autonomous(asking: Asking) -> bool:
    identity = asking.revision.policy.identities.get(asking.caller.identity or "")
    return identity is not None and identity.autonomous


def _record(
    found: _Asked, made: HandingOff | None, before: Handed | None, dialect: Dialect, passage: Passage, asking: Asking
) -> HandedOff:
    policy = asking.revision.policy
    return HandedOff(
        receipt=found.receipt,
        time=found.now,
        exchange=passage.id,
        tenant=asking.caller.tenant,
        identity=asking.caller.identity,
        subject=asking.subject,
        dialect=dialect.name,
        model=passage.view.model,
        policy=policy.name,
        revision=policy.revision,
        language=found.wanted.language,
        phrase=found.wanted.phrase,
        reason=REASON,
        result=made.reply if made is not None else before.reply if before is not None else "",
        facts=() if made is None else made.facts,
    )


def _outcome(handed: Handed, draft: EscalationDraft | None) -> str:
    """A word for a metric."""
    if handed.escalation is None:
        return "full"
    if handed.is_repeated:
        return "repeated"
    return "opened" if draft is not None and handed.escalation == draft.id else "joined"
