"""What came back for released calls, settled behind the request where nothing of it waits for that.

The result of a call that reserved nothing frees and counts nothing: it is a record (decision 7), and the request goes
up meanwhile. Many requests share one look into the store and one transaction. One look is enough, whichever process
released the call: a release is on the disk before a byte of its call leaves.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interceptors.history import PastResult
from interceptors.settlement import state_of
from proxy.released import matching, released
from proxy.store import ReleasedCall, Settlement, StoreError
from proxy.wire.envelope import EnvelopeError
from proxy.wire.positional import is_positional

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from interceptors.kinds import MoneyState
    from policies.model import Policy
    from proxy.clock import Clock
    from proxy.outcomes import Outcomes
    from proxy.store import Store
    from proxy.wire.transcript import CallSeen, ResultSeen

DELAY_SECONDS = 0.02
RETRY_SECONDS = 1.0
WAITING_BYTES_MAX = 64 * 1024 * 1024
"""Of requests whose results wait. Beyond it the oldest are let go: a store that is down must not take the memory."""


@dataclass(frozen=True, slots=True)
class CameBack:
    """The results of one request's newest turn, and the calls of the turn before it by their ids."""

    tenant: str
    subject: str
    policy: Policy
    calls: Mapping[str, CallSeen]
    results: Sequence[ResultSeen]
    turn: int


@dataclass(frozen=True, slots=True)
class Later:
    """Results that nobody waits for, by the ids of their calls. `read` reads them whole, which costs; `size`: bytes.

    `read` raises `EnvelopeError`. `at` is when they came: an equal call that was released since is not theirs.
    """

    tenant: str
    subject: str
    policy: Policy
    calls: Sequence[str]
    read: Callable[[], CameBack | None]
    size: int
    at: datetime


class Settling:
    """One for the process, on its loop. `outcomes` wait to be written; `failed` is told each failure of the store."""

    def __init__(self, store: Store, outcomes: Outcomes, clock: Clock, failed: Callable[[], None]) -> None:
        self._store = store
        self._outcomes = outcomes
        self.clock = clock
        self._failed = failed
        self._waiting: list[Later] = []
        self._bytes = 0
        self._task: asyncio.Task[None] | None = None

    def add(self, later: Later) -> None:
        """To be settled soon."""
        self._waiting.append(later)
        self._bytes += later.size
        while self._bytes > WAITING_BYTES_MAX and len(self._waiting) > 1:
            self._bytes -= self._waiting.pop(0).size
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

    async def now(self, came: CameBack) -> dict[str, ReleasedCall]:
        """Settle before anything else happens; the released call of each result that has one. Raises `StoreError`."""
        found = await released(self._store, came.tenant, came.subject, [result.call for result in came.results])
        rows, settlements = self._read(came, found)
        await self._put(settlements)
        return rows

    async def close(self) -> None:
        """Settle what is left, once."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._write()

    def _read(
        self, came: CameBack, found: Mapping[str, Sequence[ReleasedCall]], at: datetime | None = None
    ) -> tuple[dict[str, ReleasedCall], list[Settlement]]:
        rows: dict[str, ReleasedCall] = {}
        settlements = []
        for result in came.results:
            taken = [row.receipt for call, row in rows.items() if is_positional(call)]
            row = matching(found.get(result.call, ()), came.calls.get(result.call), but=taken, by=at)
            if row is None:
                continue
            rows[result.call] = row
            state = self._state(came, result, row.tool)
            if not _is_known(row, state, result.digest):
                settlements.append(Settlement(row.receipt, state, result.digest))
        return rows, settlements

    def _state(self, came: CameBack, result: ResultSeen, name: str) -> MoneyState:
        tool = came.policy.tool(name) or came.policy.unknown_tool
        past = PastResult(result.call, result.value, result.is_error, came.turn, is_new=True)
        return state_of(came.policy, tool, past, self.clock())

    async def _run(self) -> None:
        seconds = DELAY_SECONDS
        while True:
            await asyncio.sleep(seconds)
            if await self._write() or not self._store.is_usable:
                return
            seconds = RETRY_SECONDS

    async def _write(self) -> bool:
        """Everything that waits; False where the store failed, and it waits again."""
        while self._waiting:
            some, self._waiting, self._bytes = self._waiting, [], 0
            try:
                await self._settle(some)
            except StoreError:
                self._failed()
                self._again(some)
                return False
            except asyncio.CancelledError:
                self._again(some)  # twice is once: what is known of a call is looked at in the transaction
                raise
        return True

    def _again(self, some: list[Later]) -> None:
        self._waiting[:0] = some
        self._bytes += sum(each.size for each in some)

    async def _settle(self, some: Sequence[Later]) -> None:
        by_customer: dict[tuple[str, str], list[Later]] = {}
        for one in some:
            by_customer.setdefault((one.tenant, one.subject), []).append(one)
        settlements: list[Settlement] = []
        for (tenant, subject), group in by_customer.items():
            ids = [call for one in group for call in one.calls]
            found = await released(self._store, tenant, subject, ids)
            known = [one for one in group if any(map(found.get, one.calls))]
            if known:
                settlements += await asyncio.to_thread(self._all, known, found)
        await self._put(settlements)

    async def _put(self, settlements: Sequence[Settlement]) -> None:
        """Behind what is still to be told of these calls, in one transaction with it."""
        if settlements:
            settling = self._store.settle(settlements, at=self.clock())
            _, done = await asyncio.gather(self._outcomes.write(), settling, return_exceptions=True)
            if isinstance(done, BaseException):
                raise done

    def _all(self, some: Sequence[Later], found: Mapping[str, Sequence[ReleasedCall]]) -> list[Settlement]:
        settlements: list[Settlement] = []
        for one in some:
            with suppress(EnvelopeError):
                if (came := one.read()) is not None:
                    settlements += self._read(came, found, one.at)[1]
        return settlements


def _is_known(row: ReleasedCall, state: MoneyState, result: str) -> bool:
    """Whether the store knows all that this result says: clients send it again with every try."""
    return row.result == result and row.state is not None and (row.state is state or row.state.is_final)
