"""AgentDojo's recorded runs under the packs for assistants."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.replays.dojo_calls import Wishes
from benchmarks.replays.dojo_data import SUITES, Tasks, recordings
from benchmarks.replays.dojo_report import report
from benchmarks.replays.family import Applied, Pack, Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.replays.dojo_data import Recording
    from benchmarks.replays.outcomes import Outcome
    from benchmarks.replays.tables import Report

PACKS = Path(__file__).resolve().parent.parent.parent / "policies" / "packs"


class Recorded:
    """No databases are needed: these packs read no facts, and each result is the recorded one."""

    def claims(self) -> Mapping[str, str] | None:
        return None

    def fact(self, kind: str, key: str) -> Mapping[str, Any] | None:  # noqa: ARG002 # the form of a world
        return None

    def apply(self, tool: str, arguments: Mapping[str, Any], recorded: str | None) -> Applied:  # noqa: ARG002 # as above
        return Applied(recorded or "", is_error=not recorded)


class Dojo:
    """The runs of a folder. The packs are the product's own, as they are.

    The agent declares no schemas: the runner that was recorded took calls that break them.
    """

    name = "agentdojo"

    def __init__(self, folder: Path, packs: Path = PACKS) -> None:
        self._folder = folder
        self._packs = {suite: Pack(f"assistant-{suite}", packs / f"assistant-{suite}", []) for suite in SUITES}
        self._read: list[Recording] | None = None

    @property
    def recordings(self) -> list[Recording]:
        if self._read is None:
            self._read = list(recordings(self._folder))
        return self._read

    def packs(self) -> Mapping[str, Pack]:
        return self._packs

    def runs(self) -> Sequence[Run]:
        labels = ("suite", "model", "attack", "user_task", "injection_task")
        return [
            Run(one.id, one.suite, one.messages, {label: getattr(one, label) for label in labels})
            for one in self.recordings
        ]

    def world(self, run: Run) -> Recorded:  # noqa: ARG002 # all runs have the same
        return Recorded()

    def report(self, outcomes: Sequence[Outcome]) -> Report:
        by_id = {one.id: one for one in self.recordings}
        wishes = Wishes(Tasks(self._folder))
        return report([(by_id[outcome.run], outcome) for outcome in outcomes], wishes)
