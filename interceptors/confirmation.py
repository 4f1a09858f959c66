"""Stage 7: the customer's yes to exactly this call, where everything else allows it (DESIGN 4).

The gate asks. A call is confirmed by what stands in this request: the gate's own question, in the assistant's text,
and directly behind it a user's turn that is a clear yes; and by the store, which knows when it was asked last, and that
no call was released on it. The yes opens nothing: every other stage has decided before it, on fresh facts.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from interceptors.affirmations import is_yes
from interceptors.calls import Proposer, ToolCall
from interceptors.case import Stage
from interceptors.causes import RefusalCause, answer
from interceptors.chain import stamp
from interceptors.customers import customer
from interceptors.decisions import Needs, Verdict
from interceptors.history import Author, PastResult, Said
from interceptors.obligations import Ask, UseConfirmation
from interceptors.questions import question
from interceptors.replies import languages, own_text
from interceptors.strict_json import canonical, digest
from interceptors.usage import ConfirmationKey, ConfirmationUse
from interceptors.user_text import foreign
from policies.expressions import EvaluationError
from policies.model import Ruling

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from interceptors.case import Case
    from interceptors.history import Entry
    from policies.asking import Confirm
    from policies.patterns import Pattern

CONFIRM: Final = "confirm"
"""The reason of a call that waits for a yes."""
CONFIRMED_FOR: Final = timedelta(minutes=15)
"""How long after the question a yes counts."""

_NAME: Final = "confirmation"


class Confirmation:
    """Asks, or takes the yes. Of a tool without `confirm` it says nothing."""

    name = _NAME
    stage = Stage.CONFIRMATION

    def judge(self, case: Case) -> tuple[Verdict, ...] | Needs:
        tool, call = case.found.tool, case.call
        if tool.confirm is None or not isinstance(call, ToolCall):
            return ()
        if case.proposer in (Proposer.CUSTOMER, Proposer.OPERATOR):  # to propose exactly this call is to say yes to it
            return (Verdict(_NAME, Ruling.ALLOW, rule=f"{tool.name}.confirm", detail="proposed by a person"),)
        if not _is_asked(tool.confirm, case):
            return (Verdict(_NAME, Ruling.ALLOW, rule=f"{tool.name}.confirm", detail="no call that is asked about"),)
        stated = _leaving(case, call)
        key = ConfirmationKey(_name(case, stated))
        if key not in case.usages:
            return Needs((), (key,))
        use = case.usages[key]
        assert isinstance(use, ConfirmationUse)
        lacking = _lacking(case, stated, use)
        rule = f"{tool.name}.confirm"
        if not lacking and use.asked_at is not None:
            case.obligations = (*case.obligations, UseConfirmation(key, use.asked_at))
            return (Verdict(_NAME, Ruling.ALLOW, rule=rule, detail="the customer said yes to exactly this call"),)
        case.question, case.asking = _question(case, stated, case.context.now), Ask(key, case.context.now)
        given = answer(RefusalCause.NOT_CONFIRMED)
        return (Verdict(_NAME, given.ruling, given.reason, rule, lacking),)


def _is_asked(confirm: Confirm, case: Case) -> bool:
    """Whether this call is one to ask about; where that cannot be told, it is."""
    try:
        return confirm.when is None or confirm.when.holds(case.environment)
    except EvaluationError:
        return True


def _lacking(case: Case, stated: str, use: ConfirmationUse) -> str:
    """Why the call is not confirmed; empty where it is."""
    if use.asked_at is None:
        return "not asked"
    if not use.asked_at <= case.context.now < use.asked_at + CONFIRMED_FOR:
        return "asked too long ago"
    asked = _question(case, stated, use.asked_at)
    return "" if has_yes(case.context.history.entries, asked, case.policy.not_user) else "no clear yes"


def has_yes(entries: Sequence[Entry], asked: str, not_user: Sequence[Pattern]) -> bool:
    """Whether the newest that a user said is a clear yes, and the turn directly before it asks exactly `asked`.

    A yes that stands beside tool results, in a quotation, or before another text of a user is none.
    """
    said = [entry for entry in entries if isinstance(entry, Said) and entry.author is Author.USER]
    if not said:
        return False
    turn = said[-1].turn
    answered = [entry for entry in said if entry.turn == turn]
    here = [entry for entry in entries if entry.turn == turn]
    if any(entry.beside_results for entry in answered) or any(isinstance(entry, PastResult) for entry in here):
        return False
    before = [entry for entry in entries if entry.turn < turn]
    if not before:
        return False
    last = max(entry.turn for entry in before)
    asking = [entry for entry in before if entry.turn == last]
    if not all(isinstance(entry, Said) and entry.author is Author.ASSISTANT for entry in asking):
        return False
    text = " ".join(entry.text for entry in asking if isinstance(entry, Said))
    return _plain(asked) in _plain(text) and is_yes(_own("\n".join(entry.text for entry in answered), not_user))


def _own(text: str, not_user: Sequence[Pattern]) -> str:
    """The text without what is not the user's own."""
    kept, at = "", 0
    for start, end in foreign(text, not_user):
        kept, at = kept + text[at:start] + " ", end
    return kept + text[at:]


def _plain(text: str) -> str:
    """Clients join text blocks and part lines anew."""
    return " ".join(text.split())


def _leaving(case: Case, call: ToolCall) -> str:
    """The digest of what the call does: its arguments as they are to leave, without the key of its intent."""
    inject = case.found.tool.inject
    leaving = {**call.arguments, **case.injecting}
    return digest({name: value for name, value in leaving.items() if name != inject})


def _name(case: Case, stated: str) -> str:
    """Who is asked about what: the customer is the first field of `session`, as in receipts."""
    parts = ["confirmation", case.policy.name, case.context.tenant, customer(case), case.key, stated]
    return canonical(list(parts)).decode()


def _question(case: Case, stated: str, at: datetime) -> str:
    """The question as it was asked, or is asked, at that time."""
    tool = case.found.tool
    values = case.environment.roots["args"]
    assert isinstance(values, dict), "a tool with `confirm` declares its arguments"
    hidden = {tool.inject}
    if tool.confidence is not None:  # how sure the model is, is nothing that is done
        hidden |= {path[1] for path in tool.confidence.value.paths if path[0] == "args" and len(path) > 1}
    return question(
        tool.name,
        {name: one for name, one in (tool.arguments or {}).items() if name not in hidden},
        values,
        digest([stated, stamp(at)]),
        languages=languages(case),
        lead=own_text(case, CONFIRM),
        zone=case.policy.time_zone,
    )
