"""Every run once: several gates side by side, results kept as they come, what is kept already left alone."""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.replays.drive import drive
from benchmarks.replays.gate import gate
from benchmarks.replays.servers import Doubles
from proxy.demo.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.replays.family import Family, Pack, Run
    from benchmarks.replays.outcomes import Outcome, Results

RUNS_A_GATE = 250
"""After so many runs a gate is replaced, so that no lane ends long after the others."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs of one pack, for one gate."""

    pack: Pack
    runs: Sequence[Run]


@dataclass(slots=True)
class _Work:
    family: Family
    results: Results
    batches: deque[Batch]
    done: Callable[[Outcome], None]
    doubles: Doubles = field(default_factory=Doubles)


async def replay(
    family: Family,
    results: Results,
    runs: Sequence[Run],
    *,
    lanes: int,
    done: Callable[[Outcome], None],
) -> None:
    """Replay the runs and keep each outcome; `done` hears of it.

    Raises `ReplayError` and `GateFailedError`; what is kept by then stays.
    """
    work = _Work(family, results, deque(batches(family.packs(), runs)), done)
    async with serving(work.doubles.app()) as doubles:
        try:
            async with asyncio.TaskGroup() as group:
                for lane in range(min(lanes, len(work.batches))):
                    group.create_task(_lane(work, f"lane{lane}", doubles))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None


def batches(packs: Mapping[str, Pack], runs: Sequence[Run]) -> list[Batch]:
    """The runs by their packs, in pieces; the largest first."""
    by_pack: dict[str, list[Run]] = {}
    for run in runs:
        by_pack.setdefault(run.pack, []).append(run)
    found = [
        Batch(packs[name], mine[start : start + RUNS_A_GATE])
        for name, mine in by_pack.items()
        for start in range(0, len(mine), RUNS_A_GATE)
    ]
    return sorted(found, key=lambda batch: -len(batch.runs))


async def _lane(work: _Work, lane: str, doubles: str) -> None:
    while work.batches:
        batch = work.batches.popleft()
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="callgate-replay-")))
            one = await stack.enter_async_context(gate(folder / "gate", batch.pack, doubles, lane))
            for run in batch.runs:
                world = work.doubles.worlds[lane] = work.family.world(run)
                outcome = await drive(run, world, one, work.doubles)
                work.results.keep(run, batch.pack, outcome)
                work.done(outcome)
