"""Compares a rule with what its quotation states: every number, unit and inclusivity, in both directions."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from policies.currencies import EXPONENTS
from policies.fees.candidate import Bound, Edge, FixedFee, PercentageFee
from policies.fees.lexicon import Side
from policies.fees.minor import is_whole_minor
from policies.fees.problems import ProblemKind
from policies.fees.reading import Mark, ReadAmount, ReadBase, ReadBound, ReadMark, ReadPercent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.fees.candidate import Candidate, CandidateInterval, Fee, PercentBase, TimeUnit
    from policies.fees.evidence import Located
    from policies.fees.problems import Problem

_Key: TypeAlias = "tuple[Side, Decimal, TimeUnit, bool]"


def bounds(located: Located, rule: tuple[tuple[Side, Bound], ...]) -> Iterator[Problem]:
    """The bounds of the rule and of the quotation, which must be the same."""
    stated = {_read_key(item) for item in located.inside if isinstance(item, ReadBound)}
    held = {_key(side, bound) for side, bound in rule}
    for key in sorted(held - stated, key=str):
        yield located.problem(ProblemKind.BOUND_NOT_QUOTED, _spell(key))
    for key in sorted(stated - held, key=str):
        yield located.problem(ProblemKind.BOUND_NOT_IN_RULE, _spell(key))


def interval(located: Located, rule: CandidateInterval, candidate: Candidate) -> Iterator[Problem]:
    """Every problem between an interval and its quotation."""
    held = ((Side.START, rule.start), (Side.END, rule.end))
    yield from bounds(located, tuple((side, end) for side, end in held if isinstance(end, Bound)))
    yield from _open_ends(located, rule, candidate)
    yield from _fee(located, rule.fee)
    yield from _limits(located, rule.fee, candidate)
    if isinstance(rule.fee, PercentageFee):
        yield from _base(located, rule.fee.of, candidate)


def stated_pairs(located: Located) -> tuple[str, ...]:
    """The (number, unit) pairs of a quotation, spelled."""
    return tuple(spelled for item in located.inside if (spelled := _pair(item)))


def _pair(item: object) -> str:
    match item:
        case ReadBound():
            return _spell(_read_key(item))
        case ReadPercent():
            return f"{item.percent} percent"
        case ReadAmount():
            return f"{item.amount} {item.currency}" if item.currency else "no fee"
        case _:
            return ""


def _key(side: Side, bound: Bound) -> _Key:
    return side, bound.number, bound.unit, bound.inclusive


def _read_key(item: ReadBound) -> _Key:
    return item.side, item.number, item.unit, item.inclusive


def _spell(key: _Key) -> str:
    side, number, unit, inclusive = key
    return f"{side.value} {number} {unit.value}, {'included' if inclusive else 'not included'}"


def _open_ends(located: Located, rule: CandidateInterval, candidate: Candidate) -> Iterator[Problem]:
    marks = {item.mark for item in located.inside if isinstance(item, ReadMark)}
    is_open = not any(isinstance(item, ReadBound) for item in located.inside)
    takes_rest = Edge.ADJOINING in (rule.start, rule.end)
    if is_open and takes_rest and Mark.REMAINDER not in marks:
        yield located.problem(ProblemKind.EDGE_NOT_STATED)
    from_booking = rule.start is Edge.PERIOD and candidate.period.start == "booking"
    if Mark.FROM_BOOKING in marks and not from_booking:
        yield located.problem(ProblemKind.BOOKING_NOT_START)


def _fee(located: Located, fee: Fee) -> Iterator[Problem]:
    read = [item for item in located.inside if isinstance(item, ReadPercent | ReadAmount)]
    spelled = sorted({_pair(item) for item in read})
    if not spelled:
        yield located.problem(ProblemKind.NO_FEE)
    elif len(spelled) > 1:
        yield located.problem(ProblemKind.SEVERAL_FEES, ", ".join(spelled))
    elif not _is_same(read[0], fee):
        amount = fee.amount if isinstance(fee, FixedFee) else fee.percent
        unit = fee.currency if isinstance(fee, FixedFee) else "percent"
        yield located.problem(ProblemKind.FEE_NOT_QUOTED, f"{amount} {unit}, the quotation has {spelled[0]}")


def _is_same(read: ReadPercent | ReadAmount, fee: Fee) -> bool:
    if isinstance(fee, PercentageFee):
        return isinstance(read, ReadPercent) and read.percent == fee.percent
    return isinstance(read, ReadAmount) and read.amount == fee.amount and read.currency in (None, fee.currency)


def _limits(located: Located, fee: Fee, candidate: Candidate) -> Iterator[Problem]:
    if isinstance(fee, PercentageFee):
        if fee.percent > Decimal(100):
            yield located.problem(ProblemKind.PERCENT_TOO_HIGH, str(fee.percent))
        return
    if fee.currency != candidate.currency:
        yield located.problem(ProblemKind.OTHER_CURRENCY, f"{fee.currency}, not {candidate.currency}")
    elif fee.currency in EXPONENTS and not is_whole_minor(fee.amount, fee.currency):
        yield located.problem(ProblemKind.TOO_FINE, f"{fee.amount} {fee.currency}")


def _base(located: Located, of: PercentBase, candidate: Candidate) -> Iterator[Problem]:
    named = {item.base for item in located.inside if isinstance(item, ReadBase)}
    if named - {of}:
        yield located.problem(ProblemKind.WRONG_BASE, f"not the {of.value}")
    elif not named and candidate.base is None:
        yield located.problem(ProblemKind.BASE_NOT_STATED)
    elif not named and candidate.base is not None and candidate.base.of is not of:
        yield located.problem(
            ProblemKind.WRONG_BASE, f"the schedule takes percentages of the {candidate.base.of.value}"
        )
