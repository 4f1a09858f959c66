"""`python -m benchmarks.trajectories`: replays recorded agent runs through the running gate and prints what it did.

An interrupted evaluation goes on where it stopped: each run's outcome is kept in a file of its own, by the policy that
judged it.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.replays.dojo_family import Dojo
from benchmarks.replays.family import DataError
from benchmarks.replays.gate import ReplayError
from benchmarks.replays.outcomes import Results
from benchmarks.replays.page import page
from benchmarks.replays.schedule import replay
from benchmarks.replays.tables import markdown, show
from benchmarks.replays.tau.family import Tau
from proxy.demo.gate_process import GateFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.replays.family import Family, Run
    from benchmarks.replays.outcomes import Outcome
    from benchmarks.replays.tables import Report

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "trajectories"
RESULTS = ROOT / "benchmarks" / "results" / "trajectories"
FAMILIES: dict[str, Callable[[Path], Family]] = {"agentdojo": Dojo, "tau": Tau}
"""A family is made of the folder of its data."""
LEAD = (
    "Each recorded turn was given to the agent through a running gate; facts came from the databases, stepped call by "
    "call as they were recorded. What a run would have done after a refusal is not simulated."
)


@click.command()
@click.option("--family", "wanted", multiple=True, type=click.Choice(list(FAMILIES)), help="Only this one; repeatable.")
@click.option("--data", default=DATA, show_default=True, type=click.Path(path_type=Path), help="The recorded runs.")
@click.option("--results", default=RESULTS, type=click.Path(path_type=Path), help="Where outcomes are kept.")
@click.option("--lanes", default=3, show_default=True, type=click.IntRange(1, 32), help="Gates that run side by side.")
@click.option("--only", default="", help="Runs whose id holds this text.")
@click.option("--limit", default=0, type=click.IntRange(0), help="At most so many runs of each family.")
@click.option("--fresh", is_flag=True, help="Replay all runs, also those whose outcome is kept.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the report as one page.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the tables as they stand in docs/evidence.md.")
def main(
    wanted: tuple[str, ...],
    data: Path,
    results: Path,
    lanes: int,
    only: str,
    limit: int,
    fresh: bool,
    html: Path | None,
    as_markdown: bool,
) -> None:
    """Replay recorded agent runs through the running gate, and say what was stopped and what was left alone."""
    console = Console()
    reports: list[Report] = []
    try:
        for name in wanted or FAMILIES:
            family = FAMILIES[name](data)
            runs = [run for run in family.runs() if only in run.id][: limit or None]
            kept = Results(results / name)
            outcomes = _outcomes(family, kept, runs, console, lanes=lanes, fresh=fresh)
            reports.append(family.report(outcomes))
    except (DataError, ReplayError, GateFailedError) as error:
        raise click.ClickException(str(error)) from error
    for report in reports:
        if as_markdown:
            for table in report.tables:
                click.echo(f"\n**{table.title}**\n\n{markdown(table)}\n\n{table.note}")
        else:
            show(report, console)
    if html is not None:
        html.write_text(page("What the gate did to recorded agents", LEAD, reports), encoding="utf-8")
        console.print(f"written to {html}")


def _outcomes(
    family: Family, kept: Results, runs: Sequence[Run], console: Console, *, lanes: int, fresh: bool
) -> list[Outcome]:
    packs = family.packs()
    found = {} if fresh else {run.id: old for run in runs if (old := kept.read(run, packs[run.pack])) is not None}
    missing = [run for run in runs if run.id not in found]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    started, before = time.monotonic(), _cpu_seconds()
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task(family.name, total=len(runs), completed=len(found))

        def done(outcome: Outcome) -> None:
            found[outcome.run] = outcome
            progress.advance(task)

        if missing:
            uvloop.run(replay(family, kept, missing, lanes=lanes, done=done))
    taken, used = time.monotonic() - started, _cpu_seconds() - before
    console.print(
        f"{family.name}: {len(missing)} runs replayed in {taken:.0f} s ({used:.0f} s of CPU, gates included), "
        f"{len(runs) - len(missing)} kept before"
    )
    if odd := sum(outcome.odd for outcome in found.values()):
        raise ReplayError(f"{odd} calls were released without an allow, or held back with one: look at the gate first")
    return [found[run.id] for run in runs]


def _cpu_seconds() -> float:
    """Of this process and of those that it has started and ended: wall-clock time says little on a busy machine."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in uses)


if __name__ == "__main__":
    main()
