"""Counts have names from closed sets, and no client or model can make series at will."""

from __future__ import annotations

import pytest

from interceptors.context import FactFailure
from policies.model import Ruling
from proxy.metrics import OTHER, VALUES_MAX, Metrics


def _series(metrics: Metrics, name: str) -> dict[str, float]:
    lines = metrics.exposition().decode().split("\n")
    found = {}
    for line in lines:
        if line.startswith((name + "{", name + " ")):
            key, _, value = line.rpartition(" ")
            found[key.removeprefix(name)] = float(value)
    return found


def test_each_thing_is_counted_where_it_belongs() -> None:
    """One call of each method, and what it shows."""
    metrics = Metrics()
    metrics.exchange_opened()
    metrics.exchange_opened()
    metrics.exchange_ended("anthropic-messages", "completed")
    metrics.decided(tool="refund", is_known=True, ruling=Ruling.FORBID, reason="over_limit", hold_seconds=0.02)
    metrics.fact_read("order", None)
    metrics.fact_read("order", FactFailure.TIMEOUT)
    metrics.unknown_type("openai-chat", "new_block")
    metrics.policy_failed()
    metrics.store_failed()
    metrics.log_failed()
    metrics.overloaded()
    metrics.set_bytes_in_flight(7)

    assert _series(metrics, "callgate_exchanges_total") == {'{dialect="anthropic-messages",outcome="completed"}': 1.0}
    assert _series(metrics, "callgate_verdicts_total") == {'{reason="over_limit",ruling="forbid",tool="refund"}': 1.0}
    assert _series(metrics, "callgate_facts_reads_total") == {
        '{fact="order",result="ok"}': 1.0,
        '{fact="order",result="timeout"}': 1.0,
    }
    assert _series(metrics, "callgate_unknown_types_total") == {'{dialect="openai-chat",type="new_block"}': 1.0}
    assert _series(metrics, "callgate_hold_seconds_count") == {"": 1.0}
    assert _series(metrics, "callgate_exchanges_open") == {"": 1.0}
    assert _series(metrics, "callgate_bytes_in_flight") == {"": 7.0}
    for name in ("policy_reload_failures", "store_errors", "log_errors", "overloads"):
        assert _series(metrics, f"callgate_{name}_total") == {"": 1.0}


def test_a_tool_that_the_policy_does_not_name_has_no_series_of_its_own() -> None:
    """Its name is a word of the model's."""
    metrics = Metrics()
    for number in range(1000):
        metrics.decided(
            tool=f"invented_{number}", is_known=False, ruling=Ruling.FORBID, reason="unknown_tool", hold_seconds=0
        )

    assert list(_series(metrics, "callgate_verdicts_total")) == [
        f'{{reason="unknown_tool",ruling="forbid",tool="{OTHER}"}}'
    ]


def test_the_number_of_series_has_a_bound() -> None:
    """What comes past it is counted as `other`, and nothing is lost."""
    metrics = Metrics()
    for number in range(1000):
        metrics.unknown_type("openai-chat", f"type_{number}")

    series = _series(metrics, "callgate_unknown_types_total")
    assert len(series) == VALUES_MAX + 1
    assert series[f'{{dialect="openai-chat",type="{OTHER}"}}'] == 1000 - VALUES_MAX


@pytest.mark.parametrize("name", ["", "x" * 65, "a\nb", "ü", "\ud800"])
def test_a_name_that_is_no_name_is_other(name: str) -> None:
    """A label cannot break the format or carry a text."""
    metrics = Metrics()
    metrics.unknown_type("openai-chat", name)

    assert list(_series(metrics, "callgate_unknown_types_total")) == [f'{{dialect="openai-chat",type="{OTHER}"}}']


def test_two_gates_in_one_process_do_not_share_counts() -> None:
    """The registry is the object's own."""
    one, other = Metrics(), Metrics()
    one.policy_failed()

    assert _series(other, "callgate_policy_reload_failures_total") == {"": 0.0}
