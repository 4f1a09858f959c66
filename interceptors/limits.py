"""Stage 5: what a call would add up to, against what was used so far, and whether it was done already (DESIGN 8).

All limits are looked at, each with a row of its own. The answer is given on a snapshot; where the call is allowed, an
obligation says what it holds and what the answer rests on, and the transaction that reserves looks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.calls import ToolCall
from interceptors.caps import NAME, Asked, ask, ask_intent, charges, incomplete
from interceptors.case import Stage
from interceptors.causes import RefusalCause, answer
from interceptors.decisions import Needs, Verdict
from interceptors.obligations import Reserve, injecting, key_of, not_injectable
from interceptors.usage import CapUse, IntentKey, IntentUse, text_of, value_of
from policies.model import Ruling
from policies.values import Money, render

if TYPE_CHECKING:
    from interceptors.case import Case
    from interceptors.obligations import CapCharge
    from interceptors.usage import Usage, UsageKey
    from policies.limits import OncePer


class Limits:
    """Says what it needs to know of the past, then answers, and obliges the edge to hold what the call would use."""

    name = NAME
    stage = Stage.RULES

    def judge(self, case: Case) -> tuple[Verdict, ...] | Needs:
        tool = case.found.tool
        if not tool.limits and tool.once_per is None:
            return ()
        looked = [ask(case, limit) for limit in tool.limits]
        rows = [one for one in looked if isinstance(one, Verdict)]
        asked = [one for one in looked if isinstance(one, Asked)]
        held = charges(asked)
        intent = None if tool.once_per is None else ask_intent(case, tool.once_per, held)
        if isinstance(intent, Verdict):
            rows.append(intent)
        # What cannot be told is held by nobody: only people may let such a call pass.
        is_whole = not rows or bool(case.discharges)
        keys: list[UsageKey] = [one.key for one in asked if one.key is not None]
        if isinstance(intent, IntentKey):
            keys.append(intent)
        unread = dict.fromkeys(key for key in keys if key not in case.usages)
        if unread:
            return Needs((), tuple(unread))
        renews, is_said = "", False
        if tool.once_per is not None and isinstance(intent, IntentKey):
            row, renews = _once(case, tool.once_per, intent)
            rows.append(row)
            # What the intent itself holds would else be told as the limit's fault.
            is_said = row.ruling is Ruling.FORBID
        rows += [_row(case, one, is_counted=is_said or bool(renews)) for one in asked]
        if is_whole and tool.reserves and all(case.passed(row).ruling is Ruling.ALLOW for row in rows):
            rests_on = {key: case.usages[key] for key in keys}
            against = _oblige(case, held, intent if isinstance(intent, IntentKey) else None, renews, rests_on)
            rows += [] if against is None else [against]
        return tuple(rows)


def _once(case: Case, once: OncePer, key: IntentKey) -> tuple[Verdict, str]:
    """The row of `once_per`, and the reservation that is handed out again, if one is."""
    use = case.usages[key]
    assert isinstance(use, IntentUse)
    if use.open is not None:
        if case.found.tool.inject is not None and use.open.same_terms:
            return Verdict(NAME, Ruling.ALLOW, rule=once.id, detail="handed out again"), use.open.reservation
        given = answer(RefusalCause.PENDING)
        return Verdict(NAME, given.ruling, given.reason, once.id, RefusalCause.PENDING.value), ""
    executed = use.executed_at
    if executed is not None and (once.within is None or case.context.now < executed + once.within):
        return Verdict(NAME, once.ruling, once.reason, once.id, "executed before"), ""
    return Verdict(NAME, Ruling.ALLOW, rule=once.id), ""


def _row(case: Case, asked: Asked, *, is_counted: bool) -> Verdict:
    """Whether the amount fits under the bound. `is_counted`: the same intent holds it already, and it passed then."""
    limit, currency = asked.limit, asked.charge.currency
    used, detail = 0, ""
    if asked.key is not None:
        use = case.usages[asked.key]
        assert isinstance(use, CapUse)
        others = {charge.currency for charge in use.charges} - {currency}
        if others:
            named = ", ".join(sorted(other or "plain numbers" for other in others))
            return incomplete(limit, ValueError(f"what was used so far is in {named}: currencies do not mix"))
        used = _used(use, asked.charge.counted)
        detail = f"{text_of(currency, used)} of {render(asked.maximum)} used"
        if is_counted:
            return Verdict(NAME, Ruling.ALLOW, rule=limit.id, detail=f"{detail}, this call included")
    total, maximum = (
        value.amount if isinstance(value, Money) else value
        for value in (value_of(currency, used + asked.charge.units), asked.maximum)
    )
    if total > maximum:
        return Verdict(NAME, limit.ruling, limit.reason, limit.id, detail)
    return Verdict(NAME, Ruling.ALLOW, rule=limit.id, detail=detail)


def _used(use: CapUse, counted: int | None) -> int:
    """What counts against the cap: the sum of the charges; where a fact counts too, the most that both can mean.

    At each charge the fact had counted so much, and what was charged from there on came on top; whatever the fact says
    now is counted in any case. A fact that lags frees nothing, and one that has caught up counts nothing twice.
    """
    if counted is None:
        return sum(charge.units for charge in use.charges)
    most, later, unseen = counted, 0, 0
    for charge in reversed(use.charges):
        if charge.counted is None:  # made before a fact counted: nothing says whether the fact holds it
            unseen += charge.units
        else:
            later += charge.units
            most = max(most, charge.counted + later)
    return most + unseen


def _oblige(
    case: Case,
    held: tuple[CapCharge, ...],
    intent: IntentKey | None,
    renews: str,
    rests_on: dict[UsageKey, Usage],
) -> Verdict | None:
    """Put down what must be done for the allow to stand, or say why that cannot be done."""
    tool = case.found.tool
    ordinal, name, terms = 0, "", ""
    if intent is not None:
        use = rests_on[intent]
        assert isinstance(use, IntentUse)
        ordinal = use.open.ordinal if use.open is not None else use.made
        name, terms = intent.name, intent.terms
    reserve = Reserve(name, terms, ordinal, held, tool.settle_within, rests_on, renews)
    if tool.inject is None or not isinstance(case.call, ToolCall):
        case.obligations = (reserve, *case.obligations)
        return None
    values = {**case.injecting, tool.inject: key_of(name, ordinal)}
    if why := not_injectable(case.call, values, case.declared_schema):
        return case.verdict(NAME, RefusalCause.UNUSABLE_SCHEMA, detail=why)
    case.obligations = (reserve, injecting(case.call, values))
    return None
