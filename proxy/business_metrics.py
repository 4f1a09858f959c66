"""What finance and reviewers look at: money by its fate, cases and samples that wait.

The gauges are of one state folder, so all its processes say the same. They are set before they are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from prometheus_client import CollectorRegistry

    from policies.model import Ruling
    from policies.values import Money


class BusinessMetrics:
    """Money, cases, reservations and reviews."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._money = Counter(
            "callgate_money", "Money of decided calls, by their answer", ["ruling", "currency"], registry=registry
        )
        self._handoffs = Counter(
            "callgate_handoffs", "Customers who asked for a person", ["language", "outcome"], registry=registry
        )
        self._open = Gauge("callgate_cases_open", "Cases that wait for a person", registry=registry)
        self._oldest = Gauge(
            "callgate_cases_oldest_seconds", "How long the oldest open case has waited", registry=registry
        )
        self._reservations = Gauge(
            "callgate_reservations", "Calls whose result is awaited, or unknown", ["state"], registry=registry
        )
        self._reserved = Gauge(
            "callgate_reserved_money", "Money that is held, or unknown", ["state", "currency"], registry=registry
        )
        self._reviews = Gauge(
            "callgate_reviews", "Sampled allowed writes, by what a person said", ["word"], registry=registry
        )

    def handed_off(self, language: str, outcome: str) -> None:
        """`language` is a tag of the policy; `outcome` opened, joined, repeated, or full."""
        self._handoffs.labels(language, outcome).inc()

    def asked_for(self, money: Money, ruling: Ruling) -> None:
        """Currencies are those that the policy names."""
        self._money.labels(ruling.value, money.currency).inc(float(money.amount))

    def set_cases(self, count: int, oldest_seconds: float) -> None:
        self._open.set(count)
        self._oldest.set(oldest_seconds)

    def set_reservations(self, calls: Mapping[str, int], money: Mapping[tuple[str, str], Decimal]) -> None:
        """By state, and by state and currency."""
        for state, count in calls.items():
            self._reservations.labels(state).set(count)
        self._reserved.clear()
        for (state, currency), amount in money.items():
            self._reserved.labels(state, currency).set(float(amount))

    def set_reviews(self, *, agreed: int, disagreed: int, waiting: int) -> None:
        for word, count in (("agreed", agreed), ("disagreed", disagreed), ("waiting", waiting)):
            self._reviews.labels(word).set(count)
