"""Many verdicts, one answer: deny overrides, and no order of rules changes anything (guarantee G6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from interceptors.case import Stage
from interceptors.decisions import Verdict
from policies.model import Category, Ruling

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ALLOW: Final = Ruling.ALLOW  # an attribute of an enum's class is looked up by a function of the interpreter
_RULINGS: Final = {Ruling.FORBID: 0, Ruling.ESCALATE: 1, Ruling.CLARIFY: 2, Ruling.ALLOW: 3}
# Which of several reasons speaks: whose data it is comes first, so that nothing is told of another's record; what can
# never be cured comes before what a retry may cure.
_CATEGORIES: Final = {
    Category.PERMISSION: 0,
    Category.POLICY: 1,
    Category.ESCALATED: 2,
    Category.INTERNAL: 3,
    Category.VALIDATION: 4,
    Category.TRANSIENT: 5,
}
TOLD: Final = "gather."
"""How the row of a fact is named that is read for people only."""
NOTHING_AGAINST: Final = Verdict("combine", Ruling.ALLOW)


def is_ended(verdicts: Iterable[Verdict], stage: Stage, following: Stage) -> bool:
    """Between two stages: a forbid or a clarify ends it; an escalate waits, but not past the screen (DESIGN 4).

    Nobody is asked for a yes to what is not allowed otherwise.
    """
    is_left = following is Stage.CONFIRMATION or (stage.is_screen and not following.is_screen)
    for verdict in verdicts:
        ruling = verdict.ruling
        if ruling is not Ruling.ALLOW and (is_left or ruling is not Ruling.ESCALATE):
            return True
    return False


def is_told(verdict: Verdict) -> bool:
    """Whether it is about a fact that is read for people only, and that its source could not give."""
    return verdict.rule.startswith(TOLD) and verdict.ruling is Ruling.FORBID and verdict.reason == "facts_unavailable"


def despite(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """What people would get beside a case keeps no case from them: where something else passes the call on, the fact
    that could not be read is told as such. Where nothing does, it stands against the call as any other."""
    found = tuple(verdicts)
    if not any(verdict.ruling is Ruling.ESCALATE for verdict in found):
        return found
    return tuple(replace(one, ruling=Ruling.ALLOW, reason="") if is_told(one) else one for one in found)


def combine(verdicts: Iterable[Verdict], categories: Mapping[str, Category]) -> Verdict:
    """The verdict that decides: forbid > escalate > clarify > allow, then the rank of the reason's category, then text.

    Total: no verdict at all is an ALLOW, for nothing stands against the call. `categories` has every reason code; one
    that it lacks ranks as internal.
    """

    def rank(verdict: Verdict) -> tuple[int, int, str, str, str, str]:
        category = categories.get(verdict.reason, Category.INTERNAL)
        return (
            _RULINGS[verdict.ruling],
            _CATEGORIES[category],
            verdict.reason,
            verdict.rule,
            verdict.interceptor,
            verdict.detail,
        )

    against = [verdict for verdict in verdicts if verdict.ruling is not _ALLOW]
    return min(against, key=rank) if against else NOTHING_AGAINST
