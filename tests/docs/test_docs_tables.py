"""What pages list is what the code has: limits, routes, events, metrics, records, and the keys of callgate.yaml."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import orjson
import pytest
from prometheus_client.parser import text_string_to_metric_families

from interceptors.context import FactFailure
from interceptors.facts import KEYS_MAX
from interceptors.kinds import Kind, Remark
from interceptors.receipts import Decided
from policies import yaml_reader
from policies.expressions import parser
from policies.expressions.functions import FUNCTIONS
from policies.expressions.tokens import SOURCE_LENGTH_MAX
from policies.files import FILES_MAX
from policies.findings import FindingCode
from policies.model import Ruling
from policies.values import Money
from policies.yaml_reader import BYTES_MAX
from proxy.admin.app import admin_app
from proxy.config_file import read_config_file
from proxy.console.app import add_console
from proxy.logs import FIELDS, Event
from proxy.metrics import Metrics
from proxy.summary import Ending
from proxy.wire.registry import DIALECTS
from tests.docs.generated import PARTS, names_in, written
from tests.docs.pages import Block, code, page, page_names
from tests.docs.readers import keys_read

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

KEYED_BY_NAME = ("admin.persons", "upstreams", "webhooks")


@pytest.mark.parametrize("name", page_names())
def test_what_is_made_from_the_code_is_up_to_date(name: str) -> None:
    """A page's generated parts are what the code says now; `make docs` writes them."""
    text = page(name).text

    assert written(text) == text, "run `make docs`"


def test_every_generated_part_stands_on_a_page() -> None:
    """Nothing that the code could tell is left untold, or told twice."""
    assert sorted(part for name in page_names() for part in names_in(page(name).text)) == sorted(PARTS)


def _metrics() -> dict[str, set[str]]:
    """Each metric with its labels, as a scrape shows them once each has been used."""
    metrics = Metrics()
    metrics.exchange_opened()
    metrics.exchange_ended("chat", "complete")
    metrics.decided(tool="t", is_known=True, ruling=Ruling.FORBID, reason="r", hold_seconds=0.1)
    metrics.fact_read("order", FactFailure.MISSING)
    metrics.unknown_type("chat", "t")
    metrics.business.asked_for(Money(Decimal(1), "USD"), Ruling.ALLOW)
    metrics.business.handed_off("en", "opened")
    metrics.business.set_reservations({"held": 1}, {("held", "USD"): Decimal(1)})
    metrics.business.set_reviews(agreed=1, disagreed=0, waiting=0)
    metrics.remarked(Remark.FALSE_CLAIM, tool="t", is_known=True)
    families = text_string_to_metric_families(metrics.exposition().decode())
    # `_created` says since when a counter counts: the client library's own series.
    used = (family for family in families if not family.name.endswith("_created"))
    return {f.name: {label for sample in f.samples for label in sample.labels} - {"le"} for f in used}


def _routes() -> list[str]:
    judged = [f"POST {path}" for dialect in DIALECTS for path in dialect.paths]
    return judged + [f"{method} {path}" for dialect in DIALECTS for method, path in dialect.passive]


def _admin_routes() -> list[str]:
    app = admin_app(cast("Any", None))
    add_console(app, cast("Any", None))
    routes = app.router.routes()
    return [f"{r.method} {r.resource.canonical}" for r in routes if r.resource is not None and r.method != "HEAD"]


def _is_console(route: str) -> bool:
    path = route.partition(" ")[2]
    return path == "/" or path.startswith("/console")


TABLES: dict[tuple[str, str], Callable[[], Collection[str]]] = {
    ("docs/policy.md", "functions"): lambda: FUNCTIONS,
    ("docs/policy.md", "findings"): lambda: [finding.value for finding in FindingCode],
    ("docs/logs-and-metrics.md", "events"): lambda: [event.value for event in Event],
    ("docs/logs-and-metrics.md", "outcomes"): lambda: [*(ending.value for ending in Ending), "refused"],
    ("docs/logs-and-metrics.md", "metrics"): _metrics,
    ("docs/receipts.md", "kinds"): lambda: [kind.value for kind in Kind],
    ("docs/receipts.md", "decided"): lambda: list(Decided.__struct_fields__),
    ("docs/configuration.md", "routes"): lambda: set(_routes()),
    ("docs/configuration.md", "admin"): lambda: [one for one in _admin_routes() if not _is_console(one)],
    ("docs/console.md", "console"): lambda: [one for one in _admin_routes() if _is_console(one)],
}


@pytest.mark.parametrize("table", TABLES, ids=" ".join)
def test_a_table_has_the_rows_that_the_code_has(table: tuple[str, str]) -> None:
    """What the code knows and what the page lists are the same names."""
    assert sorted(page(table[0]).names(table[1])) == sorted(TABLES[table]())


def test_the_labels_of_the_metrics_are_documented() -> None:
    """Each metric's row names the labels that a scrape shows."""
    rows = page("docs/logs-and-metrics.md").tables["metrics"]

    assert {code(row[0]): set(re.findall(r"`(\w+)`", row[2])) for row in rows} == _metrics()


def test_the_levels_of_the_events_are_documented() -> None:
    """Each event's row names its level."""
    rows = page("docs/logs-and-metrics.md").tables["events"]

    assert {code(row[0]): row[1] for row in rows} == {event.value: event.level for event in Event}


def test_the_line_of_the_log_that_is_shown_has_only_fields_of_the_log() -> None:
    """The example of a line could be one."""
    (block,) = page("docs/logs-and-metrics.md").of("json")
    assert orjson.loads(block.text).keys() <= FIELDS.keys()


def _configurations() -> list[Block]:
    return [block for block in page("docs/configuration.md").of("yaml") if "upstreams:" in block.text]


def _asked_path(path: str) -> str:
    for parent in KEYED_BY_NAME:
        if path.startswith(f"{parent}."):
            return f"{parent}.*"
    return path


def test_every_key_of_the_configuration_is_documented(tmp_path: Path) -> None:
    """What the reader of callgate.yaml accepts, object by object, is what the tables list and the examples use."""
    path = tmp_path / "callgate.yaml"
    with keys_read() as found:
        for block in _configurations():
            path.write_text(block.text, encoding="utf-8")
            read_config_file(path)
    accepted: dict[str, set[str]] = {}
    used: dict[str, set[str]] = {}
    for read in found:
        where = f"config {_asked_path(read.path)}".strip()
        accepted[where] = set(read.allowed)
        used[where] = used.get(where, set()) | read.present
    limits = accepted.pop("config limits")
    used.pop("config limits")

    configuration = page("docs/configuration.md")
    tables = [name for name in configuration.tables if name.startswith("config")]
    assert {name: set(configuration.names(name)) for name in tables} == accepted
    assert used == accepted
    assert limits == set(re.findall(r"^\| `(\w+)`", page("docs/limits.md").text, re.MULTILINE))


def test_the_example_of_the_limits_loads(tmp_path: Path) -> None:
    """docs/limits.md sets limits that exist, within what they may be."""
    (block,) = page("docs/limits.md").of("yaml")
    path = tmp_path / "callgate.yaml"
    path.write_text(block.text, encoding="utf-8")

    assert read_config_file(path).limits.hold_ms_max == 5000


def test_the_bounds_of_a_policy_are_those_of_the_code() -> None:
    """docs/limits.md names each fixed bound with its figure."""
    told = {row[0]: int(row[1].replace(",", "")) for row in page("docs/limits.md").tables["fixed"]}

    assert told == {
        "bytes of a policy file": BYTES_MAX,
        "files of a policy": FILES_MAX,
        "levels of nesting in a file": yaml_reader.DEPTH_MAX,
        "characters of an expression": SOURCE_LENGTH_MAX,
        "levels of nesting in an expression": parser.DEPTH_MAX,
        "parts of an expression": parser.NODES_MAX,
        "records of one fact in one decision": KEYS_MAX,
    }
