"""The cells: what is measured, with which traffic, and how much more than a pass-through it may cost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from benchmarks.edits import PRUNING_POLICY, edited_exchange
from benchmarks.exchanges import POLICY, Dialect, Exchange, exchange, hidden_exchange

KIB = 1024


class Measure(Enum):
    CPU = "cpu"  # microseconds of the process a request, as a ratio to the pass-through's
    FIRST_BYTE = "first byte"  # milliseconds to the first byte of the body, as a ratio to the pass-through's
    DECISION = "decision"  # microseconds of CPU, against a bound
    MEMORY = "memory"  # resident bytes after many exchanges, as a ratio to those after a tenth of them


@dataclass(frozen=True, slots=True)
class Cell:
    """`budget` is a ratio, for DECISION microseconds. `requests` a round, on `connections` at a time."""

    name: str
    measure: Measure
    budget: float
    exchanges: tuple[Exchange, ...] = ()
    requests: int = 0
    connections: int = 8
    policy: str = POLICY


def _cpu(name: str, budget: float, requests: int, one: Exchange, connections: int = 8) -> Cell:
    return Cell(name, Measure.CPU, budget, (one,), requests, connections)


def _cells() -> tuple[Cell, ...]:
    found: list[Cell] = []
    mixed: list[Exchange] = []
    for dialect in Dialect:
        said = dialect.value
        rows = ((False, False, 1.15, 2000), (False, True, 1.7, 1000), (True, False, 1.5, 200), (True, True, 1.7, 200))
        for streamed, call, budget, requests in rows:
            name = f"{said} {'stream of 76 events' if streamed else 'json'}{', one judged call' if call else ''}"
            one = exchange(name, dialect, streamed=streamed, call=call)
            mixed.append(one)
            found.append(_cpu(name, budget, requests, one))
    for label, size, requests in (("2 KB", 2 * KIB, 2000), ("200 KB", 200 * KIB, 200), ("5 MB", 5 * KIB * KIB, 40)):
        name = f"history of {label}"
        grows = size > 2 * KIB
        one = exchange(name, Dialect.ANTHROPIC, streamed=False, call=False, body_bytes=size, grows=grows)
        found.append(_cpu(name, 1.5, requests, one, connections=4))
    hidden = hidden_exchange("history of 200 KB with a hidden turn", 200 * KIB)
    found.append(_cpu(hidden.name, 2.5, 200, hidden, connections=4))
    edited = edited_exchange("history of 5 MB with three edited results", 5 * KIB * KIB)
    found.append(Cell(edited.name, Measure.CPU, 2.5, (edited,), 40, 4, PRUNING_POLICY))
    name = "first byte of a paced stream"
    paced = exchange(name, Dialect.ANTHROPIC, streamed=True, call=False, seconds_before=0.02)
    found.append(Cell(name, Measure.FIRST_BYTE, 1.05, (paced,), 40, 1))
    found.append(Cell("decision without facts", Measure.DECISION, 50.0))
    found.append(Cell("memory after 10,000 exchanges", Measure.MEMORY, 1.1, tuple(mixed), 10_000, 16))
    return tuple(found)


CELLS = _cells()
EXCHANGES = {one.name: one for cell in CELLS for one in cell.exchanges}
BEFORE = {one.before.name: one.before for one in EXCHANGES.values() if one.before is not None}
"""Exchanges that stand ahead of measured ones."""
