"""Rounds of asking: what was asked in vain twice is for a person (DESIGN 4).

The rounds are counted in the history of the request and nowhere else, so that a conversation that is taken back forgets
them, and a request that is sent again counts none twice. A history that a client forges can only narrow: every round
that it adds brings the call nearer to a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.causes import RefusalCause, answer
from interceptors.confirmation import CONFIRM
from interceptors.decisions import Verdict
from interceptors.history import Author, PastCall, Said
from interceptors.replies import reply
from policies.model import Category, Ruling, folded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interceptors.case import Case

FAILED_MAX: Final = 2
"""Rounds that may fail; the next one is for a person."""
_NAME: Final = "clarification"
_SYSTEM: Final = ("missing_parameter", "invalid_parameter", "ungrounded", "low_confidence")
"""The system's reasons that ask."""


def escalated(case: Case, deciding: Verdict) -> Verdict | None:
    """The verdict that takes the place of a question that was asked in vain too often; None where it may be asked.

    A question that waits for a yes lacks nothing, so that it is no failed round.
    """
    if deciding.ruling is not Ruling.CLARIFY or deciding.reason == CONFIRM:
        return None
    rounds = failed_rounds(case, deciding.reason)
    if rounds < FAILED_MAX:
        return None
    given = answer(RefusalCause.ASKED_IN_VAIN)
    return Verdict(_NAME, given.ruling, given.reason, detail=f"{rounds} failed rounds, now {deciding.reason}")


def failed_rounds(case: Case, reason: str) -> int:
    """The turns in which this tool's calls were answered by a question, since a call of it was last released.

    A question to the customer is known by its text: the gate's own, in the assistant's mouth. One that the model heard
    is known by its call.
    """
    asking = _asking(case, reason)
    texts = {_plain(reply(case, code, Category.VALIDATION)) for code in asking}
    turns: set[int] = set()
    for entry in case.context.history.entries:
        if isinstance(entry, PastCall) and folded(entry.tool) == case.key:
            if entry.released:
                turns.clear()
            elif entry.reason in asking:
                turns.add(entry.turn)
        elif isinstance(entry, Said) and entry.author is Author.ASSISTANT and _holds(entry.text, texts):
            turns.add(entry.turn)
    return len(turns)


def _asking(case: Case, reason: str) -> frozenset[str]:
    """The reasons with which a call of this tool is asked about."""
    tool = case.found.tool
    codes = {rule.reason for rule in tool.all_rules if rule.ruling is Ruling.CLARIFY}
    missing = (case.policy.facts[name].missing for name in tool.facts)
    codes |= {code for ruling, code in missing if ruling is Ruling.CLARIFY}
    return frozenset((*_SYSTEM, *codes, reason))


def _holds(text: str, asked: Iterable[str]) -> bool:
    plain = _plain(text)
    return any(one and one in plain for one in asked)


def _plain(text: str) -> str:
    """Clients join text blocks and part lines anew."""
    return " ".join(text.split())
