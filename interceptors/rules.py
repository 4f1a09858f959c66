"""Stage 5: the tool's rules, every one of them, each with a row of its own (DESIGN 4 and 7)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from interceptors.case import Stage
from interceptors.causes import RefusalCause, answer
from interceptors.decisions import Verdict
from policies.expressions import EvaluationError

if TYPE_CHECKING:
    from interceptors.case import Case, PreparedRule
    from policies.expressions import Environment
    from policies.model import Rule

_NAME: Final = "rules"


class Rules:
    """No rule hides another: all are evaluated, in any order, and the strictest answer wins in `combine`."""

    name = _NAME
    stage = Stage.RULES

    def judge(self, case: Case) -> tuple[Verdict, ...]:
        if not case.found.rules:
            return ()
        environment = case.environment
        return tuple([row(rule, environment, case.failed) for rule in case.found.rules])


def row(prepared: PreparedRule, environment: Environment, failed: frozenset[str]) -> Verdict:
    """The row of one rule, wherever it stands: it fires, is silent, or cannot be judged."""
    lacking = prepared.facts & failed
    if lacking:
        # The verdict about the fact refuses the call already; `facts_incomplete` here would hide its `missing:`.
        return replace(prepared.silent, detail=f"not evaluated: no fact {', '.join(sorted(lacking))}")
    try:
        fires = _fires(prepared.rule, environment)
    except EvaluationError as error:
        given = answer(RefusalCause.EXPRESSION_ERROR)
        return Verdict(_NAME, given.ruling, given.reason, prepared.rule.id, f"{prepared.rule.reason}: {error.message}")
    return prepared.fired if fires else prepared.silent


def _fires(rule: Rule, environment: Environment) -> bool:
    """`when` holds and `unless` does not. Both are evaluated: an error in either is one, whatever the other says."""
    held = rule.when is None or rule.when.holds(environment)
    excused = rule.unless is not None and rule.unless.holds(environment)
    return held and not excused
