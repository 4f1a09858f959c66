"""What the gate did with each write, beside what it had to find."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import orjson

from benchmarks.replays.tau.oracle import broken
from benchmarks.replays.tau.rules import BY_DOMAIN, PERSON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.replays.family import Run
    from benchmarks.replays.outcomes import Judged, Outcome
    from benchmarks.replays.tau.oracle import Backend

REJECTED: Final = "forbid"


@dataclass(frozen=True, slots=True)
class Finding:
    """One write. `broken` are the rules that it breaks, None where its arguments are not those of the tool;
    `named` are the rules whose reasons the gate gave.
    """

    run: Run
    judged: Judged
    broken: frozenset[str] | None
    named: frozenset[str]

    @property
    def is_stopped(self) -> bool:
        return not self.judged.is_released

    @property
    def is_refused(self) -> bool:
        return self.judged.ruling == REJECTED

    @property
    def is_for_person(self) -> bool:
        return self.judged.reason in PERSON

    @property
    def is_accepted(self) -> bool:
        """Whether the back end carried it out when it was recorded."""
        return self.judged.is_error is False


@dataclass(slots=True)
class Replayed:
    """A run with its writes, and the reads that were not released."""

    run: Run
    writes: list[Finding] = field(default_factory=list)
    reads: int = 0
    reads_stopped: list[Judged] = field(default_factory=list)
    calls: int = 0
    asked: int = 0
    differing: int = 0

    @property
    def is_rewarded(self) -> bool:
        return self.run.labels["reward"] == 1


def replayed(run: Run, outcome: Outcome, world: Backend) -> Replayed:
    """Step the run's world once more, without a gate, and hold each write against the rules."""
    found = Replayed(run, calls=len(outcome.calls), differing=outcome.differing)
    judged = {one.call: one for one in outcome.calls}
    made = {}
    for message in run.messages:
        if message["role"] == "assistant":
            for call in message.get("tool_calls") or ():
                name, arguments = call["function"]["name"], _arguments(call["function"]["arguments"])
                made[call["id"]] = (name, arguments)
                _note(found, run, judged[call["id"]], world, arguments)
        elif message["role"] == "tool" and message["tool_call_id"] in made:
            world.apply(*made[message["tool_call_id"]], message["content"])
    return found


def _note(found: Replayed, run: Run, judged: Judged, world: Backend, arguments: Mapping[str, object]) -> None:
    found.asked += judged.asked
    if not judged.is_write:
        found.reads += 1
        if not judged.is_released:
            found.reads_stopped.append(judged)
        return
    must = broken(world, judged.tool, arguments)
    rules = BY_DOMAIN[str(run.labels["domain"])]
    said = {one.reason for one in judged.fired}
    named = {
        name
        for name, rule in rules.items()
        if said & set(rule.reasons) and (not rule.tools or judged.tool in rule.tools)
    }
    found.writes.append(Finding(run, judged, None if must is None else frozenset(must), frozenset(named)))


def _arguments(text: str) -> dict[str, object]:
    try:
        read = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {}
    return read if isinstance(read, dict) else {}
