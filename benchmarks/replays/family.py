"""What a family of recorded runs gives: its runs, the packs that judge them, the facts, the tables.

A family is one module or folder beside these; `benchmarks/trajectories.py` lists it. The rest knows no data set.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchmarks.replays.outcomes import Outcome
    from benchmarks.replays.tables import Report

Message: TypeAlias = "Mapping[str, Any]"
"""A message in OpenAI's Chat form."""


class DataError(Exception):
    """The data is not there, or not of the form that its README tells."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A policy under which runs are replayed.

    `folder` is copied for each gate; `files` are put into the copy, in place of those of the same name: figures that
    this customer has otherwise. `tools` is what the agent declares. `facts_variable` is the name of the environment
    variable in which the policy expects the address of the facts; empty where it reads none.
    """

    name: str
    folder: Path
    tools: Sequence[Mapping[str, Any]]
    facts_variable: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded run under one pack. `id` is unique among all runs of all families, and is the agent's API key.

    A message of role `tool` whose content is None is answered by the world: a run of which no results were recorded.
    """

    id: str
    pack: str
    messages: Sequence[Message]
    labels: Mapping[str, str | int | float | None]


@dataclass(frozen=True, slots=True)
class Applied:
    """What the back end did with a call: its answer, whether it refused, and whether the recording says otherwise."""

    content: str
    is_error: bool
    differs: bool = False


class World(Protocol):
    """The databases of one run, stepped call by call as they were when it was recorded."""

    def claims(self) -> Mapping[str, str] | None:
        """What the application signs about the customer now; None where nobody is known yet."""

    def fact(self, kind: str, key: str) -> Mapping[str, Any] | None:
        """The record that the policy reads at `/KIND/KEY`, as it is now; None where there is none."""

    def apply(self, tool: str, arguments: Mapping[str, Any], recorded: str | None) -> Applied:
        """Carry the call out. `recorded` is what the recording says came back."""


class Family(Protocol):
    """All that one data set needs."""

    name: str

    def packs(self) -> Mapping[str, Pack]:
        """The packs by their names. Raises `DataError`."""

    def runs(self) -> Sequence[Run]:
        """Every run, always in the same order. Raises `DataError`."""

    def world(self, run: Run) -> World:
        """The world in which a run begins."""

    def report(self, outcomes: Sequence[Outcome]) -> Report:
        """The tables and charts of what was found; of some runs only where not all were replayed."""
