"""Stage 5: how sure the model says it is of its call. A declared confidence can only narrow (DESIGN 4)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from interceptors.case import Stage
from interceptors.causes import RefusalCause, answer
from interceptors.decisions import Verdict
from policies.expressions import EvaluationError
from policies.model import Ruling

if TYPE_CHECKING:
    from interceptors.case import Case

_NAME: Final = "confidence"


class DeclaredConfidence:
    """Says nothing of a tool that declares none. One that is left out, or no number from 0 to 1, is for a person."""

    name = _NAME
    stage = Stage.RULES

    def judge(self, case: Case) -> tuple[Verdict, ...]:
        confidence = case.found.tool.confidence
        if confidence is None:
            return ()
        rule = f"{case.found.tool.name}.confidence"
        try:
            value = confidence.value.evaluate(case.environment)
        except EvaluationError as error:
            given = answer(RefusalCause.EXPRESSION_ERROR)
            return (Verdict(_NAME, given.ruling, given.reason, rule, error.message),)
        if not isinstance(value, Decimal) or not 0 <= value <= 1:
            given = answer(RefusalCause.EXPRESSION_ERROR)
            return (Verdict(_NAME, given.ruling, given.reason, rule, "no number from 0 to 1"),)
        given = answer(RefusalCause.LOW_CONFIDENCE)
        if value < confidence.escalate_below:
            return (Verdict(_NAME, Ruling.ESCALATE, given.reason, rule, f"below {confidence.escalate_below}"),)
        if value < confidence.clarify_below:
            return (Verdict(_NAME, given.ruling, given.reason, rule, f"below {confidence.clarify_below}"),)
        return (Verdict(_NAME, Ruling.ALLOW, rule=rule, detail=f"at least {confidence.clarify_below}"),)
