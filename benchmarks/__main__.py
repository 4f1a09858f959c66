"""`python -m benchmarks`: measures the cells, prints them beside their budgets, keeps the figures in `results/`."""

from __future__ import annotations

import json
import os
import platform
import pstats
import shlex
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
import uvloop

from benchmarks.cells import CELLS, Cell, Measure
from benchmarks.measure import Effort, Result, Sides, decision, measure
from benchmarks.processes import BenchmarkError, Process, free_port, running

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROFILED_LINES = 30
RESULTS = Path(__file__).resolve().parent / "results"
FULL, QUICK = Effort(rounds=7, share=1.0), Effort(rounds=3, share=0.1)
CALLGATE = str(Path(sys.executable).with_name("callgate"))


@click.command()
@click.option("--quick", is_flag=True, help="A tenth of the requests, three rounds: to see that it runs.")
@click.option(
    "--cell", "wanted", multiple=True, help="Only this cell, or those whose names hold it; may be given again."
)
@click.option("--callgate", default=CALLGATE, show_default="beside this Python", help="The command to measure.")
@click.option(
    "--profile", type=click.Path(path_type=Path, dir_okay=False), help="Run the gate under cProfile; of one cell."
)
@click.option("--control", is_flag=True, help="The pass-through against itself: what the figures are worth.")
@click.option(
    "--results", default=RESULTS, type=click.Path(path_type=Path, file_okay=False), help="Where to keep them."
)
def main(
    quick: bool, wanted: tuple[str, ...], callgate: str, control: bool, profile: Path | None, results: Path
) -> None:
    """Measure the gate against a plain pass-through in one run."""
    cells = _wanted(wanted)
    if control:
        cells = [cell for cell in cells if cell.measure is not Measure.DECISION]
    if not cells:
        raise click.UsageError("no cell has such a name: " + ", ".join(cell.name for cell in CELLS))
    if profile is not None and (len(cells) != 1 or control):
        raise click.UsageError("a profile is of one cell and of the gate: name the cell with --cell")
    effort = QUICK if quick else FULL
    command = None if control else shlex.split(callgate)
    if command is not None and profile is not None:
        command = [sys.executable, "-m", "cProfile", "-o", str(profile.resolve()), *command]
    print(f"{'cell':<46}{'gate':>14}{'beside':>14}{'figure':>9}{'budget':>9}", flush=True)
    found: list[Result] = []
    try:
        for cell in cells:
            found.append(_measured(cell, command, effort))
            print(_row(found[-1]), flush=True)
    except BenchmarkError as error:
        raise click.ClickException(str(error)) from error
    if profile is not None:
        # Figures under a profiler are no measurement: nothing is kept.
        pstats.Stats(str(profile)).sort_stats("tottime").print_stats(PROFILED_LINES)
        return
    print(f"kept in {_keep(found, results, effort, control)}")
    over = [result for result in found if result.figure > 2 * result.budget]
    if over:
        raise click.ClickException(f"more than twice the budget: {', '.join(result.cell for result in over)}")


def _wanted(texts: tuple[str, ...]) -> list[Cell]:
    """The cells that a text names, whole or in part; a text that is a whole name means that cell alone."""
    names = {cell.name for cell in CELLS}
    whole = {text for text in texts if text in names}
    parts = [text for text in texts if text not in names]
    return [cell for cell in CELLS if not texts or cell.name in whole or any(part in cell.name for part in parts)]


def _measured(cell: Cell, command: Sequence[str] | None, effort: Effort) -> Result:
    if cell.measure is Measure.DECISION:
        return decision(cell, effort)
    with _sides(command, cell.policy) as (sides, log):
        found = uvloop.run(measure(cell, sides, effort))
        if command is not None:
            _check(cell, log)
        return found


def _check(cell: Cell, log: Path) -> None:
    """Raises `BenchmarkError` where the gate did something else than what the cell is to measure."""
    lines = [line for line in log.read_bytes().split(b"\n") if b'"bytes_up"' in line]
    for one in cell.exchanges:
        done = sum(one.told in line for line in lines)
        if one.told and done < len(lines) - cell.connections:  # but for what stood ahead, once for each
            raise BenchmarkError(f"{cell.name}: {done} of {len(lines)} requests say {one.told.decode()}")


@contextmanager
def _sides(command: Sequence[str] | None, policy: str) -> Iterator[tuple[Sides, Path]]:
    """The gate (or, without a command, a second pass-through) and the pass-through, new for each cell; and its log."""
    with tempfile.TemporaryDirectory(prefix="callgate-bench-") as name:
        folder = Path(name)
        (folder / "state").mkdir(mode=0o700)
        (folder / "policy.yaml").write_text(policy)
        python = [sys.executable, "-m"]
        with running("upstream", [*python, "benchmarks.upstream"], folder / "upstream.log") as upstream:
            beside = [*python, "benchmarks.passthrough", f"http://{upstream.host}"]
            gate = [*command, *_serve(folder, upstream)] if command is not None else beside
            with (
                running("gate", gate, folder / "gate.log") as one,
                running("pass-through", beside, folder / "beside.log") as other,
            ):
                yield (one, other), folder / "gate.log"


def _serve(folder: Path, upstream: Process) -> list[str]:
    serve = ["serve", "--listen", f"127.0.0.1:{free_port()}", "--policy", str(folder / "policy.yaml")]
    for name in ("anthropic", "openai"):
        serve += ["--upstream", f"{name}=http://{upstream.host}"]
    return [*serve, "--state", str(folder / "state")]


def _row(result: Result) -> str:
    said = "pass" if result.is_within else "over"
    gate, beside = (f"{side:,.1f} {result.unit.split()[0]}" for side in (result.gate, result.beside))
    return f"{result.cell:<46}{gate:>14}{beside:>14}{result.figure:>9.2f}{result.budget:>9.2f}  {said}"


def _keep(found: Sequence[Result], folder: Path, effort: Effort, control: bool) -> Path:
    now = datetime.now(UTC)
    machine = {"python": platform.python_version(), "platform": platform.platform(), "cpus": os.cpu_count()}
    cells = [{**asdict(result), "within": result.is_within} for result in found]
    record = {"at": now.isoformat(), "control": control, "effort": asdict(effort), "machine": machine, "cells": cells}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{now:%Y%m%dT%H%M%S%f}.json"
    path.write_text(json.dumps(record, indent=2) + "\n")
    return path


if __name__ == "__main__":
    main()
