"""Results that nobody waits for: one look and at most one transaction for many, and none for what is known."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest

from interceptors.kinds import MoneyState
from interceptors.receipts import Released
from policies import load_policy_text
from proxy import settling
from proxy.outcomes import Outcomes
from proxy.settling import CameBack, Later, Settling
from proxy.store import ReleasedCall, Settlement, StoreError
from proxy.wire.transcript import ResultSeen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proxy.store import Entry, Store

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
POLICY = load_policy_text("language: 1\npolicy: p\ntools: {t: {effect: read}}\n")


class Known:
    """A store that knows one call under each id, and counts what it is asked. It fails the first `failures` times.

    `written` is what it was given, in order.
    """

    def __init__(self, state: MoneyState | None = None, result: str = "", failures: int = 0) -> None:
        self.released_at = [NOW]
        self.written: list[object] = []
        self._state = state
        self._result = result
        self._failures = failures
        self.looks = 0
        self.settled: list[Settlement] = []
        self.is_usable = True

    async def released_calls(self, _: str, ids: Sequence[str]) -> dict[str, tuple[ReleasedCall, ...]]:
        self.looks += 1
        if self._failures:
            self._failures -= 1
            raise StoreError("busy")
        more = (None, self._state, self._result)
        return {
            each: tuple(ReleasedCall(_receipt(each, at), each, "t", "d", at, *more) for at in self.released_at)
            for each in ids
        }

    async def settle(self, found: Sequence[Settlement], **_: Any) -> int:
        self.written += found
        self.settled += found
        return 0

    async def commit(self, entries: Sequence[Entry]) -> list[None]:
        self.written += [entry.record for entry in entries]
        return [None for _ in entries]


def _receipt(call: str, at: datetime) -> str:
    return f"rc_{call}" if at == NOW else f"rc_{call}, later"


def later(call: str, size: int = 1) -> Later:
    results = [ResultSeen(call, "ok", is_error=False, digest="r")]
    return Later(
        "tenant",
        "",
        POLICY,
        [one.call for one in results],
        lambda: CameBack("tenant", "", POLICY, {}, results, 0),
        size,
        NOW,
    )


def settle(store: Known) -> Settling:
    return behind_outcomes(store)[0]


def behind_outcomes(store: Known) -> tuple[Settling, Outcomes]:
    outcomes = Outcomes(cast("Store", store), lambda: None)
    return Settling(cast("Store", store), outcomes, lambda: NOW, lambda: None), outcomes


async def test_many_requests_share_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what they say is one transaction."""
    monkeypatch.setattr(settling, "DELAY_SECONDS", 0.0)
    store = Known()
    behind = settle(store)
    for n in range(5):
        behind.add(later(f"c{n}"))
    await asyncio.sleep(0.1)
    assert store.looks == 1
    assert store.settled == [Settlement(f"rc_c{n}", MoneyState.EXECUTED, "r") for n in range(5)]


@pytest.mark.parametrize(
    ("state", "result", "count"), [(MoneyState.EXECUTED, "r", 0), (None, "", 1), (MoneyState.UNKNOWN, "x", 1)]
)
async def test_what_is_known_costs_no_transaction(state: MoneyState | None, result: str, count: int) -> None:
    """Clients send the same result with every try."""
    store = Known(state, result)
    behind = settle(store)
    behind.add(later("c"))
    await behind.close()
    assert len(store.settled) == count


async def test_a_store_that_fails_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits is not lost by it."""
    monkeypatch.setattr(settling, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(settling, "RETRY_SECONDS", 0.01)
    store = Known(failures=2)
    behind = settle(store)
    behind.add(later("c"))
    await asyncio.sleep(0.2)
    assert [one.receipt for one in store.settled] == ["rc_c"]


async def test_what_waits_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go first."""
    monkeypatch.setattr(settling, "WAITING_BYTES_MAX", 25)
    store = Known()
    behind = settle(store)
    for n in range(5):
        behind.add(later(f"c{n}", size=10))
    await behind.close()
    assert [one.receipt for one in store.settled] == ["rc_c3", "rc_c4"]


async def test_a_result_is_that_of_a_call_which_was_released_before_it_came() -> None:
    """Results are looked up behind their request: an equal call that was released meanwhile waits for its own."""
    store = Known()
    store.released_at = [NOW, NOW + timedelta(seconds=1)]
    behind = settle(store)
    behind.add(later("c"))
    await behind.close()
    assert [one.receipt for one in store.settled] == ["rc_c"]


async def test_a_call_was_released_before_it_is_settled() -> None:
    """What left the socket is written behind, and never behind what came back for it."""
    store = Known()
    behind, outcomes = behind_outcomes(store)
    record = Released(receipt="rc_c", time=NOW, exchange="e")
    outcomes.add([record])
    behind.add(later("c"))
    await behind.close()
    await outcomes.close()
    assert store.written == [record, Settlement("rc_c", MoneyState.EXECUTED, "r")]
