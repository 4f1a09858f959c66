"""Stage 5: the amount of a call against what the tool's fee schedule gives on these facts (DESIGN 7, `fee_schedule`).

It stands before rules and limits: where the right amount is injected, they judge that one, for that one leaves.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeVar

from interceptors.arguments import is_sound
from interceptors.calls import ToolCall
from interceptors.case import Stage
from interceptors.causes import RefusalCause
from interceptors.decisions import FeeEvidence, Scheduled, Verdict
from interceptors.obligations import injecting, not_injectable
from policies.currencies import exponent
from policies.expressions import EvaluationError, Unreadable
from policies.fee_schedules import ROOT
from policies.model import Ruling
from policies.values import Money, Unit, render

if TYPE_CHECKING:
    from interceptors.calls import Json
    from interceptors.case import Case
    from policies.expressions import Expression
    from policies.fee_schedules import FeeSchedule
    from policies.fees import Blocked, Cancellation, Computed, Input
    from policies.model import Argument

T = TypeVar("T")

_NAME: Final = "fee_schedule"


class FeeSchedules:
    """Computes the refund anew, and lets no other amount pass. What lacks is for a person, never guessed."""

    name = _NAME
    stage = Stage.RULES

    def judge(self, case: Case) -> tuple[Verdict, ...]:
        declared = case.found.tool.fee_schedule
        if declared is None:
            return ()
        lacking = case.failed & declared.facts
        if lacking:
            # The verdict about the fact refuses the call already, and what rests on the refund is not judged.
            case.failed |= {ROOT}
            case.roots[ROOT] = Unreadable("the refund could not be computed")
            detail = f"not evaluated: no fact {', '.join(sorted(lacking))}"
            return (Verdict(_NAME, Ruling.ALLOW, rule=declared.id, detail=detail),)
        return (_row(case, declared),)


def _row(case: Case, declared: FeeSchedule) -> Verdict:
    from policies.fees import Blocked, compute  # noqa: PLC0415 - slow to import; who loaded the schedule has it

    cancellation, unread = _cancellation(case, declared)
    result = compute(declared.schedule, cancellation)
    if isinstance(result, Blocked):
        case.roots[ROOT] = Unreadable(str(result))
        return _blocked(case, declared, result, unread)
    case.roots[ROOT] = _readable(result)
    evidence = _evidence(result)
    detail = f"{result.distance} days before, interval {evidence.interval}: {result.interval.quoted.place}"
    call, reading = case.call, case.reading
    assert isinstance(call, ToolCall), "a malformed call ends in the first stage"
    assert reading is not None, "a tool with a fee schedule declares its arguments"
    if reading.values.get(declared.amount) == result.refund:
        return Scheduled(_NAME, Ruling.ALLOW, rule=declared.id, detail=detail, computed=evidence)
    if not declared.injects:
        return Scheduled(_NAME, declared.ruling, declared.reason, declared.id, f"not the refund: {detail}", evidence)
    argument = (case.found.tool.arguments or {})[declared.amount]
    spelled = _spelled(result.refund, argument, call.arguments.get(declared.amount))
    if not is_sound(argument, spelled):
        detail = f"the refund is no amount that the argument accepts: {detail}"
        return Scheduled(_NAME, declared.ruling, declared.reason, declared.id, detail, evidence)
    if why := not_injectable(call, {declared.amount: spelled}, case.declared_schema):
        return case.verdict(_NAME, RefusalCause.UNUSABLE_SCHEMA, detail=why)
    case.inject(declared.amount, spelled, result.refund)
    injection = injecting(call, case.injecting)
    case.obligations = (injection,)
    detail = f"injected: {detail}"
    return Scheduled(_NAME, Ruling.ALLOW, "", declared.id, detail, evidence, injection.digest)


def _cancellation(case: Case, declared: FeeSchedule) -> tuple[Cancellation, dict[Input, str]]:
    """What is known of the cancellation, and why what is not known could not be read."""
    from policies.fees import Cancellation, Input  # noqa: PLC0415 - as above

    unread: dict[Input, str] = {}

    def read(expression: Expression | None, name: Input, kind: type[T]) -> T | None:
        try:
            value = None if expression is None else expression.evaluate(case.environment)
        except EvaluationError as error:
            unread[name] = error.message
            return None
        return value if isinstance(value, kind) else None

    kind = declared.schedule.reference
    reference = read(declared.reference, Input[kind.name], date)
    known = Cancellation(
        paid=read(declared.paid, Input.PAID, Money),
        price=read(declared.price, Input.PRICE, Money),
        cancelled_at=read(declared.cancelled_at, Input.CANCELLED_AT, datetime),
        zone=declared.zone or case.policy.time_zone,
        dates={} if reference is None else {kind: reference},
    )
    return known, unread


def _blocked(case: Case, declared: FeeSchedule, result: Blocked, unread: dict[Input, str]) -> Verdict:
    from policies.fees.engine import Cause  # noqa: PLC0415 - as above

    is_incomplete = result.cause in (Cause.MISSING, Cause.NO_OFFSET)
    cause = RefusalCause.FIELD_UNREADABLE if is_incomplete else RefusalCause.NO_AMOUNT
    why = f": {unread[result.input]}" if result.input in unread else ""
    verdict = case.verdict(_NAME, cause)
    return Verdict(_NAME, verdict.ruling, verdict.reason, declared.id, f"{result}{why}")


def _spelled(refund: Money, argument: Argument, model_wrote: Json) -> Json:
    """The amount in the argument's unit: as a text where the model wrote one, else as a number."""
    places = {Unit.MAJOR: 0, Unit.MINOR: exponent(refund.currency), Unit.MILLI: 3}[argument.money_unit or Unit.MAJOR]
    number = refund.amount.scaleb(places)
    if isinstance(model_wrote, str):
        return f"{number:f}"
    return int(number) if number == number.to_integral_value() else number


def _readable(result: Computed) -> dict[str, object]:
    """What rules, limits and replies read; the fields are those of `fee_schedules.root_type`."""
    place = result.interval.quoted.place
    return {
        "refund": result.refund,
        "fee": result.fee,
        "paid": result.paid,
        "days": Decimal(result.distance),
        "interval": Decimal(result.interval.position),
        "cancelled_on": result.cancelled_on,
        "reference_date": result.reference_date,
        "quotation": _quotation(result),
        "place": f"{place.document}:{place.line}",
    }


def _evidence(result: Computed) -> FeeEvidence:
    place = result.interval.quoted.place
    return FeeEvidence(
        refund=render(result.refund),
        fee=render(result.fee),
        paid=render(result.paid),
        schedule=result.schedule,
        interval=result.interval.position,
        days=result.distance,
        cancelled_on=result.cancelled_on.isoformat(),
        reference_date=result.reference_date.isoformat(),
        quotation=_quotation(result),
        document=place.document,
        line=place.line,
        start=place.span.start,
        end=place.span.end,
        source=result.source,
    )


def _quotation(result: Computed) -> str:
    return " ".join(result.interval.quoted.text.split())
