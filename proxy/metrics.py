"""The metrics of one process, in a registry of their own, with a bounded number of label values.

Labels are names that the policy or a table of the gate knows; anything else becomes `other`, so that neither a client
nor a model can make series at will, or put a value into one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from proxy.business_metrics import BusinessMetrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from interceptors.context import FactFailure
    from interceptors.kinds import Remark
    from policies.model import Ruling

OTHER = "other"
VALUES_MAX = 200
CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
_HOLD_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_LENGTH_MAX = 64


@dataclass(slots=True)
class _Names:
    """The first `VALUES_MAX` names stand for themselves."""

    known: set[str] = field(default_factory=set)

    def bounded(self, name: str) -> str:
        if name in self.known:
            return name
        if not name or len(name) > _LENGTH_MAX or not name.isascii() or not name.isprintable():
            return OTHER
        if len(self.known) >= VALUES_MAX:
            return OTHER
        self.known.add(name)
        return name


@dataclass(slots=True)
class _Count:
    """What came since somebody read `told`: a counter of the library costs each exchange as much as its log line."""

    told: Counter
    new: int = 0


class Metrics:
    """Counts; knows nothing of what it counts."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._tools, self._reasons, self._types, self._facts = _Names(), _Names(), _Names(), _Names()
        registry = self._registry
        self._exchanges = Counter(
            "callgate_exchanges", "Exchanges by how they ended", ["dialect", "outcome"], registry=registry
        )
        self._verdicts = Counter(
            "callgate_verdicts", "Decided calls by their answer", ["tool", "ruling", "reason"], registry=registry
        )
        self._hold = Histogram(
            "callgate_hold_seconds",
            "Time from a call's completion to its verdict",
            buckets=_HOLD_BUCKETS,
            registry=registry,
        )
        self._facts_read = Counter(
            "callgate_facts_reads", "Reads of facts by their result", ["fact", "result"], registry=registry
        )
        self._unknown = Counter(
            "callgate_unknown_types", "Wire types that no table names", ["dialect", "type"], registry=registry
        )
        self._remarks = Counter(
            "callgate_text_remarks", "What was found in texts of the model", ["remark", "tool"], registry=registry
        )
        self._policy_failures = Counter(
            "callgate_policy_reload_failures", "Edits of the policy that could not be used", registry=registry
        )
        self._store_errors = Counter("callgate_store_errors", "Failures of the store", registry=registry)
        self._ledger_errors = Counter("callgate_ledger_errors", "Failures of the ledger", registry=registry)
        self._log_errors = Counter("callgate_log_errors", "Lines that the log could not take", registry=registry)
        self._overloads = Counter("callgate_overloads", "Requests refused for lack of room", registry=registry)
        self._business = BusinessMetrics(registry)
        # Asked for when somebody reads them: a gauge that is set with each request costs each request.
        _asked("callgate_bytes_in_flight", "Bytes held for open exchanges", lambda: self._in_flight, registry)
        _asked("callgate_exchanges_open", "Exchanges that are open", lambda: self._open, registry)
        self._in_flight = self._open = 0
        self._ended: dict[tuple[str, str], _Count] = {}
        self._decided = lru_cache(maxsize=VALUES_MAX)(self._verdicts.labels)

    def exchange_opened(self) -> None:
        self._open += 1

    def exchange_ended(self, dialect: str, outcome: str) -> None:
        """`dialect` and `outcome` are names of closed tables."""
        self._open -= 1
        count = self._ended.get((dialect, outcome))
        if count is None:
            count = self._ended[dialect, outcome] = _Count(self._exchanges.labels(dialect, outcome))
        count.new += 1

    def decided(self, *, tool: str, is_known: bool, ruling: Ruling, reason: str, hold_seconds: float) -> None:
        """`is_known`: the policy names the tool; a tool that it does not name is a word of the model's."""
        name = self._tools.bounded(tool) if is_known else OTHER
        self._decided(name, ruling.value, self._reasons.bounded(reason) if reason else "").inc()
        self._hold.observe(hold_seconds)

    @property
    def business(self) -> BusinessMetrics:
        """Money and people."""
        return self._business

    def fact_read(self, fact: str, failure: FactFailure | None) -> None:
        self._facts_read.labels(self._facts.bounded(fact), "ok" if failure is None else failure.value).inc()

    def unknown_type(self, dialect: str, name: str) -> None:
        self._unknown.labels(dialect, self._types.bounded(name)).inc()

    def remarked(self, remark: Remark, *, tool: str, is_known: bool) -> None:
        """`tool` is empty where the text names none; `is_known` as in `decided`."""
        name = self._tools.bounded(tool) if is_known else OTHER
        self._remarks.labels(remark.value, name if tool else "").inc()

    def policy_failed(self) -> None:
        self._policy_failures.inc()

    def store_failed(self) -> None:
        self._store_errors.inc()

    def ledger_failed(self) -> None:
        self._ledger_errors.inc()

    def log_failed(self) -> None:
        self._log_errors.inc()

    def overloaded(self) -> None:
        self._overloads.inc()

    def set_bytes_in_flight(self, count: int) -> None:
        self._in_flight = count

    def exposition(self) -> bytes:
        """The text format that Prometheus reads; `CONTENT_TYPE` is its type."""
        for count in self._ended.values():
            count.told.inc(count.new)
            count.new = 0
        return generate_latest(self._registry)


def _asked(name: str, says: str, figure: Callable[[], int], registry: CollectorRegistry) -> None:
    """A gauge that asks for its figure."""
    Gauge(name, says, registry=registry).set_function(figure)
