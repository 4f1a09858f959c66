"""The ledger as exchanges use it: a request gets its hidden turns back, an answer's hidden part is kept.

A ledger that fails is a ledger that is lost: the conversation goes on by the rules for that (`hidden.restore`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from proxy.ledger.answers import keep, own_answer
from proxy.ledger.hidden import NOBODY, Asker, Hidden, Refusal, Restored, nothing_hidden, restore, root_of
from proxy.ledger.items import ShownItems
from proxy.ledger.restoring import Restoring
from proxy.ledger.vault import LedgerError, Vault, new_hidden_id
from proxy.wire import envelope
from proxy.wire.dialect import RequestView
from proxy.wire.seal import both_marks, may_be_sealed
from proxy.wire.standing import Held, pointer, pointer_turn
from proxy.wire.transcript import CHAIN_START

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proxy.clock import Clock
    from proxy.history.noting import Noting
    from proxy.turn_memory import Remembered
    from proxy.wire.dialect import Dialect
    from proxy.wire.standing import Standing
    from proxy.wire.told import KeptAnswer
    from proxy.wire.transcript import Transcript


_NOTHING_SEEN = RequestView()
_NONE_HEARD: Counter[tuple[str, str]] = Counter()  # nobody adds to it


class Prepared(msgspec.Struct, frozen=True):
    """A request as it goes up. `client_body` is as it came.

    `mark` is that of its last hidden turn; `restored` counts them, `taken_out` thinking that could not go up, and
    `ambiguous` turns that fit several entries. `refusals` are those that the model has heard in this conversation.
    """

    body: bytes
    client_body: bytes
    mark: str = ""
    restored: int = 0
    taken_out: int = 0
    ambiguous: int = 0
    refusals: Counter[tuple[str, str]] = msgspec.field(default_factory=lambda: _NONE_HEARD)
    answered: frozenset[str] = frozenset()  # the calls whose results are the gate's own
    asker: Asker = NOBODY
    used_once: tuple[Hidden, ...] = ()
    edits: str = ""  # the mark of all edits of the history, which what the model thinks now depends on
    is_sealed: bool = False  # whether its thinking may bear seals of edits
    noting: Noting | None = None  # hears of the answer what a later summary of the conversation needs

    @property
    def seal(self) -> str:
        """Under which thinking leaves that depends on this request; empty where it went up as the client holds it."""
        return both_marks(self.mark, self.edits)


class Ledger:
    """One for the process. `failed` is told each failure of the vault."""

    def __init__(self, vault: Vault, clock: Clock, failed: Callable[[str], None]) -> None:
        self._vault = vault
        self._clock = clock
        self.failed = failed
        self.items = ShownItems(vault, clock, failed)
        self._restoring = Restoring(vault, clock)

    async def prepare(
        self,
        dialect: Dialect,
        body: bytes,
        tenant: str,
        asker: Asker = NOBODY,
        view: RequestView = _NOTHING_SEEN,
    ) -> Prepared:
        """The request with its hidden turns. One without any costs a look at whether there are any at all. `view` is
        what was seen of it.

        Raises:
            envelope.EnvelopeError: its messages cannot be read.
        """
        if dialect.continuation.references is not None:
            body = await self.items.known(dialect, body, tenant, asker.subject)
        is_sealed = may_be_sealed(body) if view.is_sealed is None else view.is_sealed
        try:
            if not is_sealed and self._vault.is_empty():
                return Prepared(body, body, asker=asker)
            member = view.stems.whole(body, view.messages)
            found = await asyncio.to_thread(self._restored, dialect, body, member, tenant, asker, is_sealed=is_sealed)
        except LedgerError as error:
            self.failed(str(error))
            found = replace(await asyncio.to_thread(_without, dialect, body, is_sealed=is_sealed), asker=asker)
        return replace(found, is_sealed=is_sealed or found.restored > 0)

    async def keep(
        self,
        dialect: Dialect,
        prepared: Prepared,
        turn: Remembered,
        refusals: Sequence[Refusal],
        *,
        tenant: str,
        mark: str,
    ) -> bool:
        """Keep the hidden part of an answer, durably, under `mark`. False where it could not be kept."""

        def write() -> None:
            entries = [] if turn.standing is None else _pointers(prepared, turn.standing, refusals, mark)
            if turn.messages:
                transcript = dialect.continuation.transcript(prepared.client_body)
                place = self._restoring.place(dialect, transcript, tenant)
                hidden = Hidden(
                    mark,
                    place.root,
                    place.before,
                    turn.visible,
                    _bound(transcript, turn.messages, prepared.edits),
                    turn.results,
                    turn.order,
                    tuple(refusals),
                    turn.answered,
                    prepared.mark,
                    prepared.asker,
                )
                entries.append(hidden)
            for entry in entries:
                self._vault.put(tenant, prepared.asker.subject, entry, self._clock())

        try:
            await asyncio.to_thread(write)
        except (LedgerError, envelope.EnvelopeError) as error:
            self.failed(str(error))
            return False
        return True

    async def keep_answer(
        self, dialect: Dialect, prepared: Prepared, answer: KeptAnswer, text: str, *, tenant: str, mark: str
    ) -> None:
        """Keep what stands behind the names of an answer of ours. Raises `LedgerError`."""
        if any(each.id == mark for each in prepared.used_once):
            return  # the request comes again, and its own answer stands in it already
        subject, entries = prepared.asker.subject, own_answer(dialect, prepared, answer, text, mark)
        await asyncio.to_thread(keep, self._vault, tenant, subject, entries, prepared, self._clock())
        await self.items.keep([(answer.item_id, answer.item)], "", tenant, subject)

    async def used(self, prepared: Prepared, tenant: str) -> None:
        """The turn of this request has ended: what counts once is used up."""
        if not prepared.used_once:
            return
        try:
            await asyncio.to_thread(self._vault.forget, tenant, prepared.used_once)
        except LedgerError as error:
            self.failed(str(error))

    def erase(self, subject: str) -> int:
        """Remove what is kept about a subject (its digest). It blocks. Raises `LedgerError`."""
        return self._vault.erase(subject)

    def expire(self) -> int:
        """Remove what has outlived its time. It blocks. Raises `LedgerError`."""
        return self._vault.expire(self._clock())

    def _restored(
        self, dialect: Dialect, body: bytes, member: bytes, tenant: str, asker: Asker, *, is_sealed: bool
    ) -> Prepared:
        found = self._restoring.request(dialect, body, member, tenant, asker, is_sealed=is_sealed)
        prepared = Prepared(body, body) if found is None else _prepared(body, *found)
        return replace(prepared, asker=asker)


def _bound(transcript: Transcript, messages: Sequence[bytes], edits: str) -> tuple[bytes, ...]:
    """The provider's turn, whose thinking says what edits it depends on."""
    return tuple(transcript.bound(message, edits) for message in messages) if edits else tuple(messages)


def _without(dialect: Dialect, body: bytes, *, is_sealed: bool) -> Prepared:
    """The request of a conversation whose ledger cannot be read: what depends on it is taken out.

    What the model thinks now depends on that, and must not come back once the ledger can be read again: its mark is one
    that no entry has.
    """
    if not is_sealed:
        return Prepared(body, body, new_hidden_id())
    transcript = dialect.continuation.transcript(body)
    found = restore(transcript, nothing_hidden)
    return replace(_prepared(body, found, transcript.body(found.messages)), mark=new_hidden_id())


def _prepared(client_body: bytes, found: Restored, body: bytes) -> Prepared:
    return Prepared(
        body,
        client_body,
        found.mark,
        len(found.entries),
        found.taken_out,
        found.ambiguous,
        found.refusals,
        frozenset(call for entry in found.entries for call in entry.answered),
        used_once=tuple(entry for entry in found.entries if entry.once),
    )


def _pointers(prepared: Prepared, standing: Standing, refusals: Sequence[Refusal], mark: str) -> list[Hidden]:
    """What is owed to a turn that the provider keeps, under each name by which a request may go on with it."""
    heard = [Refusal(tool, digest, "") for tool, digest in prepared.refusals.elements()]
    return [
        Hidden(
            mark,
            root_of(turn),
            CHAIN_START,
            turn.meaning(),
            (pointer(held, last),),
            standing.results,
            standing.order,
            (*heard, *refusals),
            standing.answered,
            asked=prepared.asker,
            once=held is Held.CONVERSATION,
        )
        for held, known, last in standing.pairs()
        for turn in (pointer_turn(held, known),)
    ]
