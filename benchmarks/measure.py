"""How each kind of cell is measured: rounds that alternate between the two sides, and the median of their ratios."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs

from benchmarks.cells import Cell, Measure
from benchmarks.exchanges import ARGUMENTS, POLICY
from benchmarks.load import drive
from benchmarks.processes import Process
from benchmarks.talks import Talks
from interceptors.calls import Proposal, Proposer, ToolCall
from interceptors.context import Context
from interceptors.decisions import Decision
from interceptors.pipeline import Pipeline
from policies import load_policy_text
from policies.model import Ruling

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MICRO = 1e6
MILLI = 1e3
MIB = 1 << 20
WARM_UP_SHARE = 5


@dataclass(frozen=True, slots=True)
class Effort:
    """`rounds` of each cell, and the share of its requests that is sent in one."""

    rounds: int
    share: float

    def of(self, cell: Cell) -> int:
        return max(cell.connections, round(cell.requests * self.share))


@dataclass(frozen=True, slots=True)
class Result:
    """`figure` is what the budget bounds; `gate` and `beside` are its two sides in `unit`; `ratios` has one a round."""

    cell: str
    measure: str
    budget: float
    figure: float
    unit: str
    gate: float
    beside: float
    ratios: tuple[float, ...]

    @property
    def is_within(self) -> bool:
        return self.figure <= self.budget


Sides: TypeAlias = tuple[Process, Process]
Drive: TypeAlias = "Callable[[int], Awaitable[list[float]]]"
"""Sends so many requests to a side, which go on with what was sent before; the seconds to each body's first byte."""


async def measure(cell: Cell, sides: Sides, effort: Effort) -> Result:
    """One cell. `sides` are the gate and the pass-through, warm or not. Raises `BenchmarkError`."""
    match cell.measure:
        case Measure.CPU:
            return await _alternate(cell, sides, effort, "us CPU", _cpu)
        case Measure.FIRST_BYTE:
            return await _alternate(cell, sides, effort, "ms", _first_byte)
        case Measure.DECISION:
            return decision(cell, effort)
        case Measure.MEMORY:
            return await _memory(cell, sides[0], effort)


async def _cpu(send: Drive, side: Process, requests: int) -> float:
    before = side.cpu_seconds()
    await send(requests)
    return (side.cpu_seconds() - before) / requests * MICRO


async def _first_byte(send: Drive, _: Process, requests: int) -> float:
    return statistics.median(await send(requests)) * MILLI


async def _alternate(
    cell: Cell, sides: Sides, effort: Effort, unit: str, probe: Callable[[Drive, Process, int], Awaitable[float]]
) -> Result:
    requests = effort.of(cell)
    both = [(partial(_send, cell, side, Talks()), side) for side in sides]
    for send, _ in both:
        await send(max(cell.connections, requests // WARM_UP_SHARE))
    taken: list[tuple[float, float]] = []
    for number in range(effort.rounds):
        # Who is first changes, so that neither side always meets the other's warm caches.
        first, second = both if number % 2 == 0 else both[::-1]
        one, other = await probe(*first, requests), await probe(*second, requests)
        taken.append((one, other) if number % 2 == 0 else (other, one))
    ratios = tuple(gate / beside for gate, beside in taken)
    gate, beside = (statistics.median(side) for side in zip(*taken, strict=True))
    return _result(cell, statistics.median(ratios), unit, gate, beside, ratios)


async def _send(cell: Cell, side: Process, talks: Talks, requests: int) -> list[float]:
    return await drive(side.host, cell.exchanges, requests, cell.connections, talks)


def decision(cell: Cell, effort: Effort) -> Result:
    """In this process: the whole decision of a call that is allowed by typed arguments and two rules."""
    pipeline = Pipeline(load_policy_text(POLICY))
    context = Context(now=datetime.now(UTC), tenant="bench")
    raw = json.dumps(ARGUMENTS)
    arguments = json.loads(raw, parse_float=Decimal)
    call = ToolCall("process_refund", arguments, raw, "toolu_bench", 0)
    proposal = Proposal(call, Proposer.MODEL)
    decided = pipeline.screen(proposal, context)
    assert isinstance(decided, Decision), decided
    assert decided.ruling is Ruling.ALLOW, decided
    times = max(200, round(5000 * effort.share))
    taken = []
    for number in range(effort.rounds + 1):
        # Other arguments each time: an answer from a cache would measure nothing.
        proposals = [_varied(proposal, number * times + index) for index in range(times)]
        before = time.process_time()
        for one in proposals:
            pipeline.screen(one, context)
        taken.append((time.process_time() - before) / times * MICRO)
    figure = statistics.median(taken[1:])
    return _result(cell, figure, "us CPU", figure, cell.budget, tuple(taken[1:]))


def _varied(proposal: Proposal, number: int) -> Proposal:
    call = proposal.call
    assert isinstance(call, ToolCall)
    order = f"A{number % 9000 + 1000}"
    arguments = {**call.arguments, "order_id": order}
    return structs.replace(
        proposal, call=structs.replace(call, arguments=arguments, raw=call.raw.replace("A1001", order))
    )


async def _memory(cell: Cell, gate: Process, effort: Effort) -> Result:
    """Resident memory after all exchanges against that after a tenth of them, all on one process."""
    requests = max(200, round(cell.requests * min(1.0, effort.share)))
    await drive(gate.host, cell.exchanges, requests // 10, cell.connections)
    before = gate.resident_bytes()
    await drive(gate.host, cell.exchanges, requests - requests // 10, cell.connections)
    after = gate.resident_bytes()
    return _result(cell, after / before, "MiB", after / MIB, before / MIB, (after / before,))


def _result(cell: Cell, figure: float, unit: str, gate: float, beside: float, ratios: tuple[float, ...]) -> Result:
    return Result(cell.name, cell.measure.value, cell.budget, figure, unit, gate, beside, ratios)
