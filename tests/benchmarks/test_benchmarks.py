"""The benchmark measures what it says: the traffic that its cells name, the design's budgets, checks that can fail."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.cells import CELLS, EXCHANGES, Measure
from benchmarks.exchanges import POLICY, STREAM_EVENTS, Exchange
from benchmarks.load import drive
from benchmarks.measure import Effort, decision
from benchmarks.processes import BenchmarkError, Process, running
from policies import load_policy_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JSON = "anthropic json"
BUDGETS = {
    "anthropic json": 1.15,
    "anthropic json, one judged call": 1.7,
    "anthropic stream of 76 events": 1.5,
    "openai json": 1.15,
    "openai json, one judged call": 1.7,
    "openai stream of 76 events": 1.5,
    "history of 2 KB": 1.5,
    "history of 200 KB": 1.5,
    "history of 5 MB": 1.5,
    "first byte of a paced stream": 1.05,
    "decision without facts": 50.0,
    "memory after 10,000 exchanges": 1.1,
}


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Process]:
    with running("upstream", [sys.executable, "-m", "benchmarks.upstream"], tmp_path / "upstream.log") as process:
        yield process


def test_the_budgets_are_the_designs() -> None:
    """Each cell of the design is there with its budget; others may be added."""
    assert {cell.name: cell.budget for cell in CELLS if cell.name in BUDGETS} == BUDGETS


@pytest.mark.parametrize("one", EXCHANGES.values(), ids=list(EXCHANGES))
def test_the_traffic_is_what_the_cell_names(one: Exchange) -> None:
    """Requests are JSON of their size, streams have their number of events, a call is there where the cell says so."""
    sizes = {"200 KB": 200 * 1024, "5 MB": 5 * 1024 * 1024}
    wanted = next((size for label, size in sizes.items() if label in one.name), 2048)
    request = json.loads(one.body)

    assert 0.9 * wanted < len(one.body) < 1.25 * wanted
    assert request["stream"] is one.answer.streamed
    assert len(one.answer.parts) == (STREAM_EVENTS if one.answer.streamed else 1)
    assert (b"process_refund" in one.answer.body) is ("judged call" in one.name)
    data = [line[6:] for line in one.answer.body.split(b"\n") if line.startswith(b"data: ")] or [one.answer.body]
    assert [json.loads(event) for event in data if event != b"[DONE]"]


def test_the_policy_judges_the_call() -> None:
    """The call of the traffic is one of a tool that the policy names and has rules for: it is judged, not passed."""
    tool = load_policy_text(POLICY).tool("process_refund")

    assert tool is not None
    assert tool.rules


async def test_a_wrong_answer_is_not_measured(upstream: Process) -> None:
    """An answer that is not what the upstream sent stops the run: a proxy that drops bytes is not fast."""
    right = EXCHANGES[JSON]
    other = Exchange(JSON, right.path, right.headers, right.body, EXCHANGES["openai json"].answer)

    assert len(await drive(upstream.host, [right], 3, 2)) == 3
    with pytest.raises(BenchmarkError, match="another answer than the upstream's"):
        await drive(upstream.host, [other], 1, 1)


async def test_cpu_is_that_of_the_process(upstream: Process) -> None:
    """The clock of another process moves when it works and stands still while it waits."""
    idle = upstream.cpu_seconds()
    assert upstream.cpu_seconds() - idle < 0.001

    await drive(upstream.host, [EXCHANGES[JSON]], 300, 4)

    assert upstream.cpu_seconds() > idle
    assert upstream.resident_bytes() > 1 << 20


def test_a_decision_is_measured() -> None:
    """The decision's cell needs no process, decides to allow, and gives a time above nothing."""
    (cell,) = [cell for cell in CELLS if cell.measure is Measure.DECISION]

    result = decision(cell, Effort(rounds=1, share=0.05))

    assert result.figure > 0.5


def test_a_server_that_does_not_start_is_an_error(tmp_path: Path) -> None:
    """A command that ends before it listens is told with its last words, not measured."""
    command = [sys.executable, "-c", "import sys; sys.exit('no such policy')"]

    with pytest.raises(BenchmarkError, match="no such policy"), running("gate", command, tmp_path / "log"):
        pass


def test_the_control_run_is_near_one(root: Path, tmp_path: Path) -> None:
    """The pass-through against itself, from the command line: a table, a record of it, and a ratio near one."""
    command = [sys.executable, "-m", "benchmarks", "--control", "--quick", "--cell", JSON, "--results", str(tmp_path)]

    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=100)

    assert done.returncode == 0, done.stderr
    (kept,) = tmp_path.glob("*.json")
    record: dict[str, Any] = json.loads(kept.read_text())
    first = record["cells"][0]
    assert first["cell"] == JSON
    assert 0.5 < first["figure"] < 2.0
    assert len(first["ratios"]) == record["effort"]["rounds"]
    assert JSON in done.stdout
