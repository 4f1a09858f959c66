"""What the store knows and a scrape of `/metrics` tells: money by its state, cases that wait, words on samples."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from interceptors.kinds import MoneyState
from proxy.console.series import held_money
from proxy.store import StoreError
from proxy.store.figures import open_holdings
from proxy.store.glances import waiting_count, waiting_since
from proxy.store.reviews import Agreement, agreement

if TYPE_CHECKING:
    import sqlite3

    from proxy.clock import Clock
    from proxy.metrics import Metrics
    from proxy.store import Store


async def read_gauges(store: Store, metrics: Metrics, clock: Clock) -> None:
    """Ask the store, and set what it says. Where it cannot be asked, the figures stay what they were."""
    try:
        holdings, count, since, said = await store.read(lambda reader: reader.ask(_asked))
    except StoreError:
        metrics.store_failed()
        return
    money: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    calls: dict[str, int] = {state.value: 0 for state in MoneyState if not state.is_final}
    for state, held, reservations in holdings:
        calls[state] += reservations
        for one in held_money(held):
            money[state, one.currency] += one.amount * reservations
    age = 0.0 if since is None else max(0.0, (clock() - datetime.fromisoformat(since)).total_seconds())
    metrics.business.set_reservations(calls, money)
    metrics.business.set_cases(count, age)
    metrics.business.set_reviews(agreed=said.agreed, disagreed=said.disagreed, waiting=said.waiting)


def _asked(connection: sqlite3.Connection) -> tuple[list[tuple[str, str, int]], int, str | None, Agreement]:
    return open_holdings(connection), waiting_count(connection), waiting_since(connection), agreement(connection)
