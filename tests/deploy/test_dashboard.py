"""The dashboard asks for what `/metrics` has: every metric and every label, and the figures of the console's charts."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
from prometheus_client.parser import text_string_to_metric_families

from interceptors.context import FactFailure
from policies.model import Ruling
from policies.values import Money
from proxy.metrics import Metrics

DASHBOARD: dict[str, Any] = orjson.loads(
    (Path(__file__).resolve().parents[2] / "deploy" / "grafana" / "callgate.json").read_bytes()
)
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def _known() -> dict[str, set[str]]:
    """Each name that a scrape shows, with its labels."""
    metrics = Metrics()
    metrics.exchange_opened()
    metrics.exchange_ended("chat", "complete")
    metrics.decided(tool="t", is_known=True, ruling=Ruling.FORBID, reason="r", hold_seconds=0.1)
    metrics.fact_read("order", FactFailure.MISSING)
    metrics.business.asked_for(Money(Decimal(1), "USD"), Ruling.ALLOW)
    metrics.business.set_reservations({"held": 1}, {("held", "USD"): Decimal(1)})
    metrics.business.set_reviews(agreed=1, disagreed=0, waiting=0)
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(metrics.exposition().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def _asked(expression: str) -> tuple[set[str], set[str]]:
    labels = {name for group in re.findall(r"by \(([^)]*)\)", expression) for name in re.split(r",\s*", group)}
    labels |= set(re.findall(r"[{,]\s*(\w+)\s*(?:=|!=|=~)\s*\"", expression))
    return set(re.findall(r"callgate_\w+", expression)), labels


def test_every_expression_asks_for_what_there_is() -> None:
    """A metric or label that was renamed is found here."""
    known = _known()
    for expression in EXPRESSIONS:
        names, labels = _asked(expression)
        assert names, expression
        for name in names:
            assert name in known, expression
            assert labels <= known[name], expression


def test_the_dashboard_has_the_figures_of_the_console() -> None:
    """Answers, money by answer, unknown money, time to a verdict, reasons, waiting cases and agreement."""
    text = " ".join(EXPRESSIONS)
    wanted = ("verdicts_total", "money_total", "reserved_money", "hold_seconds_bucket", "cases_open", "reviews")

    assert [name for name in wanted if f"callgate_{name}" not in text] == []
    assert "sum by (reason)" in text


def test_panels_do_not_overlap_and_names_are_unique() -> None:
    """Each cell of the grid belongs to one panel; ids and titles are one panel's."""
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]

    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len({p["title"] for p in DASHBOARD["panels"]})
