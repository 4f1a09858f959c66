"""What left the socket is told with the next decision, or a moment later, and never too late."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from proxy.outcomes import DELAY_SECONDS, Outcomes
from proxy.store import StoreError
from tests.proxy.store.samples import released

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proxy.store import Entry, Store


class Written:
    """Stands for a store: the receipts of each transaction, and when it came."""

    is_usable = True

    def __init__(self, failures: int = 0) -> None:
        self.at: list[tuple[float, list[str]]] = []
        self.failures = failures

    async def commit(self, entries: Sequence[Entry]) -> list[object]:
        if self.failures:
            self.failures -= 1
            raise StoreError("planted")
        self.at.append((asyncio.get_running_loop().time(), [each.record.receipt for each in entries]))
        return []


def behind(store: Written) -> Outcomes:
    return Outcomes(cast("Store", store), lambda: None)


async def test_who_waits_is_written_in_time() -> None:
    """An outcome that no decision takes along is written by itself, all that wait in one transaction."""
    store = Written()
    outcomes = behind(store)
    began = asyncio.get_running_loop().time()
    outcomes.add([released("rc_1")])
    outcomes.add([released("rc_2")])
    await asyncio.sleep(4 * DELAY_SECONDS)
    [(at, receipts)] = store.at
    assert receipts == ["rc_1", "rc_2"]
    assert at - began >= DELAY_SECONDS * 0.8


async def test_where_decisions_follow_each_other_outcomes_cost_no_transaction() -> None:
    """The timer of outcomes that a decision took is not that of those that came after it: these have their time."""
    store = Written()
    outcomes = behind(store)
    outcomes.add([released("rc_1")])
    outcomes.take()
    outcomes.add([released("rc_2")])
    outcomes._begin()  # the first one's timer
    await asyncio.sleep(0)
    assert store.at == []
    assert [each.receipt for each in outcomes.take()] == ["rc_2"]


async def test_what_was_added_after_a_decision_waits_no_longer_than_others() -> None:
    """Its time counts from when it came."""
    store = Written()
    outcomes = behind(store)
    outcomes.add([released("rc_1")])
    await asyncio.sleep(DELAY_SECONDS / 2)
    outcomes.take()
    came = asyncio.get_running_loop().time()
    outcomes.add([released("rc_2")])
    await asyncio.sleep(5 * DELAY_SECONDS)
    [(at, receipts)] = store.at
    assert receipts == ["rc_2"]
    assert DELAY_SECONDS * 0.8 <= at - came < 4 * DELAY_SECONDS


async def test_what_a_store_refused_is_written_at_the_end() -> None:
    """A failed write is not lost, and the end of the process writes what waits, in order."""
    store = Written(failures=1)
    outcomes = behind(store)
    outcomes.add([released("rc_1")])
    await asyncio.sleep(2 * DELAY_SECONDS)
    outcomes.add([released("rc_2")])
    await outcomes.close()
    assert [receipts for _, receipts in store.at] == [["rc_1", "rc_2"]]
