"""Which cases of a suite are most likely to notice an edit of its policy: it decides how long a search takes, and never
what it finds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.model import Ruling

if TYPE_CHECKING:
    from policies.mutants import Edit
    from proxy.suites.cases import Case
    from proxy.suites.trial import Trial


@dataclass(frozen=True, slots=True)
class Relevance:
    """Of a case that was run under the policy as it is: what fired in it, what was silent, and what it is about.

    `about` are places of the policy as an edit names them: a tool, a reason, a fact.
    """

    case: Case
    fired: frozenset[str]
    silent: frozenset[str]
    about: frozenset[str]

    def rank(self, places: frozenset[str]) -> int:
        """Lower is more likely."""
        for number, known in enumerate((self.fired, self.silent, self.about)):
            if known & places:
                return number
        return 3


def relevance(trial: Trial) -> Relevance:
    """What the case has to do with which places of its policy."""
    decision = trial.decision
    verdicts = () if decision is None else decision.verdicts
    about = {f"tools.{trial.case.call.name}", *(f"facts.{key.fact}" for key in trial.reads)}
    fired = {one.rule for one in verdicts if one.ruling is not Ruling.ALLOW}
    if decision is not None and decision.reason:
        fired.add(f"reasons.{decision.reason}")
    silent = {one.rule for one in verdicts if one.ruling is Ruling.ALLOW}
    return Relevance(trial.case, frozenset(fired - {""}), frozenset(silent - {""}), frozenset(about))


def places_of(edit: Edit) -> frozenset[str]:
    """The places that the edit lies in, as rules and limits are named: `tools.pay`, `pay.rules[0]`, `reasons.late`."""
    found, place = set[str](), ""
    for step in edit.steps:
        place += f"[{step}]" if isinstance(step, int) else f".{step}"
        found.add(place.removeprefix("."))
        found.add(place.removeprefix(".tools."))
    return frozenset(found)
