"""Mutants of a policy against the cases of its suite: which of them no case kills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interceptors.pipeline import Pipeline
from policies.loader import compile_document, read_document
from policies.mutants import edited, edits
from policies.problems import DocumentError
from proxy.suites.handoffs import run_asking
from proxy.suites.relevance import places_of, relevance
from proxy.suites.trial import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.files import Snapshot
    from policies.model import Policy
    from policies.mutants import Edit
    from policies.nodes import MappingNode
    from proxy.suites.cases import Equivalent, Suite
    from proxy.suites.relevance import Relevance


@dataclass(frozen=True, slots=True)
class Survival:
    """`made`: mutants that load; an edit that makes no policy is no mutant. `killed` counts those that a case noticed.

    `survivors` are neither killed nor listed as equivalent. `stale` are listed, and either killed or no mutant at all.
    """

    made: int
    killed: int
    equivalent: int
    survivors: tuple[Edit, ...]
    stale: tuple[Equivalent, ...]

    @property
    def passed(self) -> bool:
        return not self.survivors and not self.stale


def survive(snapshot: Snapshot, suite: Suite) -> Survival:
    """Every mutant of the policy of `snapshot`, run against the suite until a case fails."""
    root = read_document(snapshot)
    pipeline = Pipeline(compile_document(root, snapshot))
    cases = [relevance(run(pipeline, case)) for case in suite.cases]
    listed = {one.mutant: one for one in suite.equivalents}
    made = killed = 0
    alive: list[Edit] = []
    for edit, mutant in _mutants(root, snapshot):
        made += 1
        if _is_killed(mutant, cases, edit) or not all(run_asking(mutant.policy, one).passed for one in suite.asking):
            killed += 1
        else:
            alive.append(edit)
    names = {edit.name for edit in alive}
    survivors = tuple(edit for edit in alive if edit.name not in listed)
    stale = tuple(one for name, one in listed.items() if name not in names)
    return Survival(made, killed, len(alive) - len(survivors), survivors, stale)


def _mutants(root: MappingNode, snapshot: Snapshot) -> Iterator[tuple[Edit, Pipeline]]:
    for edit in edits(root):
        policy = _compiled(edited(root, edit), snapshot)
        if policy is not None:
            yield edit, Pipeline(policy)


def _compiled(root: MappingNode, snapshot: Snapshot) -> Policy | None:
    try:
        return compile_document(root, snapshot)
    except DocumentError:
        return None


def _is_killed(mutant: Pipeline, cases: list[Relevance], edit: Edit) -> bool:
    """Whether a case fails. Those that the edit concerns are tried first, and of them the one by which the last mutant
    died: neighbours die by the same case.
    """
    places = places_of(edit)
    for one in sorted(cases, key=lambda one: one.rank(places)):
        if not run(mutant, one.case).passed:
            cases.remove(one)
            cases.insert(0, one)
            return True
    return False
