"""Why a candidate is refused, and what else stands in its source: closed kinds, each with its place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policies.fees.text import Place


class ProblemKind(Enum):
    """The value is the sentence that people read; `Problem.detail` adds what was found."""

    SOURCE_TOO_LARGE = "the source text is too large"
    UNSUPPORTED_CURRENCY = "the currency is not supported"
    UNDECLARED_LANGUAGE = "the quotation is in a language that the schedule does not declare"
    UNKNOWN_DOCUMENT = "the quotation is located in another document"
    BAD_SPAN = "the location is no span of the source"
    NOT_IN_SOURCE = "the quotation does not stand in the source"
    ELSEWHERE = "the quotation does not stand at its location"
    CUT = "the quotation cuts through what the source says"
    UNREADABLE = "the clause holds a character that is not read"
    FOREIGN = "the quotation is not in its declared language"
    CONSTRUCT = "the clause holds what no amount can be computed from"
    FLAW = "the quotation holds"
    BOUND_NOT_QUOTED = "the rule holds a bound that its quotation does not state"
    BOUND_NOT_IN_RULE = "the quotation states a bound that the rule does not hold"
    FEE_NOT_QUOTED = "the rule's fee is not the one that its quotation states"
    NO_FEE = "the quotation states no fee"
    SEVERAL_FEES = "the quotation states several fees"
    UNCITED = "the paragraph states a number that no rule cites"
    UNCITED_RULE = "the source counts days back from a reference date where no rule cites it"
    EDGE_NOT_STATED = "the rule has no stated bound and its quotation does not say that it takes the remaining days"
    BOOKING_NOT_START = "the quotation starts with the booking and the rule does not"
    WRONG_REFERENCE = "the quotation counts back from another date"
    REFERENCE_NOT_STATED = "no quotation names the reference date"
    WRONG_BASE = "the quotation takes the percentage of something else"
    BASE_NOT_STATED = "no quotation says what the percentage is taken of"
    STATEMENT_WITH_RULE = "the quotation of a statement holds a rule of its own"
    WEEKS_NOT_STATED = "a bound is in weeks and the schedule does not state how many days a week has"
    NOT_WHOLE_DAYS = "a bound is no whole number of days"
    PERCENT_TOO_HIGH = "a percentage is above 100"
    TOO_FINE = "a fee is finer than the currency's minor unit"
    OTHER_CURRENCY = "the fee is in another currency than the schedule"
    NO_NEIGHBOUR = "an end adjoins a neighbour that states none"
    EMPTY = "the interval holds no day"
    GAP = "days of the period are in no interval"
    OVERLAP = "days are in two intervals, or the intervals are not in order of time"


@dataclass(frozen=True, slots=True)
class Problem:
    """`subject` is `schedule`, `reference`, `base`, `period start`, `period end` or `interval N` (from 1)."""

    kind: ProblemKind
    subject: str
    detail: str = ""
    quotation: str = ""
    place: Place | None = None

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        detail = f": {self.detail}" if self.detail else ""
        quoted = f" in {self.quotation!r}" if self.quotation else ""
        return f"{where}{self.subject}: {self.kind.value}{detail}{quoted}"


class NoticeKind(Enum):
    CONSTRUCT = "the source also speaks of"
    UNCITED = "the source also states"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something outside the clauses that the rules rest on. It refuses nothing."""

    kind: NoticeKind
    detail: str
    place: Place

    def __str__(self) -> str:
        return f"{self.place}: {self.kind.value} {self.detail}"
