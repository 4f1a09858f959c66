"""The store of one process: receipts, escalations and the halt in `STATE/callgate.db`, shared with other processes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self, TypeVar

from proxy.store import erasure, grants, halts, outbox, reservations, settlements
from proxy.store.absences import Absences
from proxy.store.confirmations import forget
from proxy.store.connections import BUSY_TIMEOUT_MS, Connect, connect, prepare, scrub
from proxy.store.entries import Committed, Entry, Erasure, Retained
from proxy.store.escalations import status_of
from proxy.store.folder import SubjectKey, check_folder, make_folder, make_key
from proxy.store.halts import HaltLook
from proxy.store.ids import new_receipt_id, new_writer_id
from proxy.store.lookups import Lookups
from proxy.store.reader import Reader
from proxy.store.transaction import Transaction, prepare_entry
from proxy.store.usage import read_usages
from proxy.store.voting import vote
from proxy.store.writer import Writer

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from datetime import datetime, timedelta
    from pathlib import Path
    from types import TracebackType

    from interceptors.chain import Head
    from interceptors.kinds import MoneyState
    from interceptors.usage import Usage, UsageKey
    from proxy.store.cases import Answer, Answering, EscalationStatus
    from proxy.store.entries import ReleasedCall, Settlement
    from proxy.store.outbox import Message

T = TypeVar("T")

BY_RETENTION = "retention"
"""Who removed what the configuration's `retain` removes, in the records that tell of it."""


def open_store(state: Path, *, connect: Connect = connect, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> Store:
    """Open `state` for writing, made where it is missing. It blocks: call it before the loop runs, or in a thread.

    Raises `StateFolderError` where an operator must change something, `StoreError` where the database fails.
    """
    make_folder(state)
    check_folder(state)
    key = make_key(state)
    prepare(state, key, connect, busy_timeout_ms)
    look, absences = HaltLook(state), Absences(state)
    writer = Writer(state, connect, new_writer_id(), busy_timeout_ms, look.began, absences.released)
    return Store(state, key, writer, look, Lookups(state), absences)


def open_reader(state: Path) -> Reader:
    """Open an existing `state` for questions only. It blocks. Raises `StoreError`."""
    return Reader(state)


class Store:
    """Every method that writes returns when its work is on the disk, or raises `StoreError` and nothing was written."""

    def __init__(
        self, state: Path, key: SubjectKey, writer: Writer, look: HaltLook, lookups: Lookups, absences: Absences
    ) -> None:
        self._state = state
        self._key = key
        self._writer = writer
        self._look = look
        self._lookups, self._absences = lookups, absences

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish what was begun; later calls raise `StoreError`."""
        await self._writer.close()
        self._look.close()
        self._lookups.close()
        self._absences.close()

    @property
    def is_usable(self) -> bool:
        """False once it is closed or broken for good; a full disk or a lock passes, and does not count."""
        return self._writer.is_usable

    @property
    def head(self) -> Head:
        """The end of this process's chain, for the log; number 0 where it wrote nothing."""
        return self._writer.head

    def subject_digest(self, subject: str) -> str:
        """The keyed digest under which a subject's value is recorded. Raises `ValueError` for an empty one."""
        return self._key.digest(subject)

    async def probe(self) -> None:
        """Raises `StoreError` where no transaction can be had now. It writes nothing, so a full disk is not seen."""
        await self._writer.run(lambda _: None)

    async def commit(self, entries: Sequence[Entry]) -> list[Committed]:
        """Write all entries or none, in their order, behind this process's chain (guarantee G8).

        Returns when they are fsynced. Raises `StoreError`, or `ReceiptError` for a record that has no canonical form.
        """
        prepared = [prepare_entry(entry) for entry in entries]

        def write(transaction: Transaction) -> list[Committed]:
            return [transaction.write(each, self._key) for each in prepared]

        return await self._writer.run(write)

    def is_halted(self) -> bool:
        """Whether the operator's halt is in force now, whoever threw it. Does not wait. Raises `StoreError`."""
        return self._look.is_halted()

    async def usages(self, keys: Sequence[UsageKey]) -> dict[UsageKey, Usage]:
        """What was used so far: the snapshot that a decision is made on. Raises `StoreError`."""
        return await asyncio.to_thread(self._lookups.ask, lambda each: read_usages(each, self._key, keys))

    async def released_calls(self, tenant: str, call_ids: Sequence[str]) -> dict[str, tuple[ReleasedCall, ...]]:
        """By id, this tenant's calls that were allowed and not aborted, oldest first. Raises `StoreError`."""
        asked = self._absences.asks(tenant, call_ids)
        if not asked:
            return {}
        found = await asyncio.to_thread(
            self._lookups.ask, lambda each: reservations.released_calls(each, tenant, list(asked))
        )
        self._absences.learn(tenant, asked, found)
        return found

    def knows_none(self, tenant: str, call_ids: Sequence[str]) -> bool:
        """Whether `released_calls` would surely find nothing, said without asking. False: that is not known."""
        return self._absences.covers(tenant, call_ids)

    async def settle(self, found: Sequence[Settlement], *, at: datetime) -> int:
        """Settle calls by what came back for them; how many reservations changed. What is final stays what it is."""
        return await self._writer.run(lambda each: settlements.settle(each, found, at=at))

    async def free(self, receipts: Sequence[str], *, at: datetime) -> int:
        """Undo what calls hold, no byte of which was handed to the socket; how many reservations changed."""
        return await self._writer.run(lambda each: settlements.free(each, receipts, at=at))

    async def expire(self, *, at: datetime) -> int:
        """Count as unknown all that had no result within its time; how many calls that were."""
        total = 0
        while count := await self._writer.run(lambda each: settlements.expire(each, at=at)):
            total += count
        return total

    async def resolve(self, reservation: str, state: MoneyState, *, by: str, reason: str, at: datetime) -> str | None:
        """A person says that a reservation was executed, or was not; its receipt, None where there is nothing open."""
        return await self._writer.run(
            lambda each: settlements.resolve(each, reservation, state, by=by, reason=reason, at=at)
        )

    async def answer(self, answering: Answering) -> Answer:
        """Take a person's answer to a case. The first one who closes it wins; the others hear that it is closed."""
        return await self._writer.run(lambda each: vote(each, self._key, answering))

    async def expire_cases(self, *, at: datetime) -> int:
        """Cases that were not answered, or not used, in time say so; how many."""
        return await self._writer.run(lambda each: grants.expire(each.connection, at))

    async def take_message(self, *, at: datetime, lease: timedelta) -> Message | None:
        """The next thing to tell somebody, which no other process gets until the lease is over."""
        return await self._writer.run(lambda each: outbox.take(each.connection, at, lease))

    async def message(self, change: Callable[[sqlite3.Connection], None]) -> None:
        """Change what is known of a message: one of `proxy.store.outbox`."""
        await self._writer.run(lambda each: change(each.connection))

    async def case_status(self, escalation: str) -> EscalationStatus | None:
        """How a case stands now. Raises `StoreError`."""
        return await asyncio.to_thread(self._lookups.ask, lambda each: status_of(each, escalation))

    async def halt(self, *, by: str, reason: str, at: datetime) -> str:
        """Throw the halt; the receipt's id. From its commit on, no `when_halted` entry is passed over."""
        receipt = new_receipt_id(at)
        return await self._writer.run(lambda each: self._look.halt(each, by=by, reason=reason, at=at, receipt=receipt))

    async def resume(self, *, by: str, at: datetime) -> str | None:
        """Lift the halt; the receipt's id, None where no halt was in force."""
        receipt = new_receipt_id(at)
        return await self._writer.run(lambda each: halts.resume(each, by=by, at=at, receipt=receipt))

    async def erase(self, subject: str, *, by: str, at: datetime) -> Erasure:
        """Erase what is recorded about a subject (its value, not its digest): payloads, salts and open cases."""
        digest = self.subject_digest(subject)
        receipt = new_receipt_id(at)
        erased = await self._writer.run(lambda each: erasure.erase_subject(each, digest, by=by, at=at, receipt=receipt))
        scrubbed = await asyncio.to_thread(scrub, self._state)
        return Erasure(erased.receipt, erased.records, erased.escalations, scrubbed)

    async def retain(self, *, receipts_before: datetime, payloads_before: datetime, at: datetime) -> Retained:
        """Erase payloads and cases older than `payloads_before`, remove records older than `receipts_before`.

        In steps, so that calls are decided in between. A later `receipts_before` takes payloads with it.
        """

        async def steps(step: Callable[[Transaction], int]) -> int:
            total = 0
            while count := await self._writer.run(step):
                total += count
            return total

        def expire(transaction: Transaction) -> int:
            receipt = new_receipt_id(at)
            return erasure.expire_payloads(transaction, payloads_before, by=BY_RETENTION, at=at, receipt=receipt)

        def prune(transaction: Transaction) -> int:
            receipt = new_receipt_id(at)
            return erasure.prune_records(transaction, receipts_before, by=BY_RETENTION, at=at, receipt=receipt)

        await self._writer.run(lambda each: forget(each.connection, at))
        cases = await self._writer.run(lambda each: erasure.expire_escalations(each, payloads_before))
        await steps(lambda each: erasure.forget_releases(each, receipts_before))
        records = await steps(prune)
        payloads = await steps(expire)
        if cases or records or payloads:
            await asyncio.to_thread(scrub, self._state)
        return Retained(payloads=payloads, escalations=cases, records=records)

    async def write(self, change: Callable[[Transaction], T]) -> T:
        """Do what stands in a module of its own, in one transaction. Raises `StoreError`."""
        return await self._writer.run(change)

    async def look(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """A question of a request that waits, off the loop, as of one moment. Raises `StoreError`."""
        return await asyncio.to_thread(self._lookups.ask, question)

    def name(self, text: str) -> str:
        """The keyed digest under which state about `text` is kept."""
        return self._key.name(text)

    async def read(self, question: Callable[[Reader], T]) -> T:
        """Ask off the loop: `await store.read(lambda reader: reader.receipts(limit=20))`. Raises `StoreError`."""

        def ask() -> T:
            with Reader(self._state) as reader:
                return question(reader)

        return await asyncio.to_thread(ask)
