"""Stage 2: who is asking, which tools it may use, and whether writes are halted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.calls import Proposer
from interceptors.case import Stage
from interceptors.causes import RefusalCause
from interceptors.decisions import Verdict
from policies.model import Mode, Ruling

if TYPE_CHECKING:
    from interceptors.case import Case

_NAME: Final = "capability"
_PASSED: Final = (Verdict(_NAME, Ruling.ALLOW),)


class Capability:
    """An identity, or an operator, uses the tools on its list; a policy without `identities` has no lists for models.
    Halt stops every write.
    """

    name = _NAME
    stage = Stage.CAPABILITY

    def judge(self, case: Case) -> tuple[Verdict, ...]:
        against: list[Verdict] = []
        if not is_permitted(case):
            against.append(case.verdict(_NAME, RefusalCause.NOT_PERMITTED))
        if case.found.is_write and (case.context.halted or case.policy.mode is Mode.HALT):
            against.append(case.verdict(_NAME, RefusalCause.HALTED))
        return tuple(against) or _PASSED


def is_permitted(case: Case) -> bool:
    """Whether who proposes the call may use its tool at all."""
    if case.proposer not in (Proposer.MODEL, Proposer.GATE):
        operator = case.policy.people.operators.get(case.context.operator or "")
        return operator is not None and (operator.tools is None or case.key in operator.tools)
    if not case.policy.identities:
        return True
    identity = case.policy.identities.get(case.context.identity or "")
    return identity is not None and (identity.tools is None or case.key in identity.tools)
