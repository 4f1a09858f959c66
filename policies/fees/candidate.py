"""A proposed fee schedule. It is untrusted, whoever wrote it: nothing of it counts before `validator.validate`.

Days are counted backwards from the reference date: `start` is the earlier end of an interval (the larger number of
days before), `end` the later one. Numbers are exact decimals made from their spelling; a binary float is refused.
"""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal, TypeAlias

import re2
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

_SPELLING = r"(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,6})?"
_EXACT = re2.compile(_SPELLING)


class Language(Enum):
    ENGLISH = "en"
    GERMAN = "de"


class ReferenceKind(Enum):
    """The date that days are counted back from."""

    DEPARTURE = "departure"
    ARRIVAL = "arrival"
    EVENT = "event"


class TimeUnit(Enum):
    DAY = "day"
    WEEK = "week"


class PercentBase(Enum):
    """What a percentage is taken of: the price of what was booked, or what was paid so far."""

    PRICE = "price"
    PAID = "paid"


class RoundingRule(Enum):
    HALF_UP = "half_up"  # the fee, to the currency's minor unit


class Edge(Enum):
    """An end of an interval for which its quotation gives no number."""

    PERIOD = "period"  # where the period itself starts or ends
    ADJOINING = "adjoining"  # where the neighbour's stated end is


def _exact(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise ValueError("a number must be exact and written in digits")  # noqa: TRY004 - pydantic reads no TypeError
    if isinstance(value, Decimal) and not -7 < value.adjusted() < 12:  # else its plain digits may fill the memory
        raise ValueError("a number must have at most 12 digits before the point and 6 after it")
    spelling = value if isinstance(value, str) else format(value, "f") if isinstance(value, Decimal) else str(value)
    if _EXACT.fullmatch(spelling) is None:
        raise ValueError("a number must be plain digits, at most 12 before the point and 6 after it")
    return Decimal(spelling)


Exact: TypeAlias = Annotated[
    Decimal,
    BeforeValidator(_exact),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": f"^{_SPELLING}$"}]}),
]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Location(_Model):
    """Code points [start, end) of the source text, as it was decoded, before any normalisation."""

    document: str = Field(min_length=1, max_length=200)
    start: int = Field(ge=0)
    end: int = Field(ge=1)


class Quotation(_Model):
    """The words of the source that a statement rests on, and where they stand."""

    text: str = Field(min_length=1, max_length=2000)
    language: Annotated[Language, Field(strict=False)]
    location: Location


class Bound(_Model):
    """A stated end. `number` and `unit` are those of the quotation: "two weeks" is 2 and week, never 14 and day."""

    number: Exact
    unit: Annotated[TimeUnit, Field(strict=False)]
    inclusive: bool


class FixedFee(_Model):
    kind: Literal["fixed"]
    amount: Exact
    currency: str = Field(pattern="^[A-Z]{3}$")


class PercentageFee(_Model):
    kind: Literal["percentage"]
    percent: Exact
    of: Annotated[PercentBase, Field(strict=False)]


Fee: TypeAlias = Annotated[FixedFee | PercentageFee, Field(discriminator="kind")]
End: TypeAlias = Bound | Annotated[Edge, Field(strict=False)]


class CandidateInterval(_Model):
    start: End
    end: End
    fee: Fee
    quotation: Quotation


class Limit(_Model):
    """An end of the period that the source states, such as "cancellation is possible up to 2 days before"."""

    bound: Bound
    quotation: Quotation


class Period(_Model):
    """The days of cancellation that the schedule claims to cover, from the earliest to the latest."""

    start: Limit | Literal["booking"]
    end: Limit | Literal["reference_date"]  # the day itself included


class Reference(_Model):
    """`quotation` may be null where an interval's own quotation names the date."""

    kind: Annotated[ReferenceKind, Field(strict=False)]
    quotation: Quotation | None


class Base(_Model):
    """What percentages are taken of, where the source says it once for several intervals."""

    of: Annotated[PercentBase, Field(strict=False)]
    quotation: Quotation


class Candidate(_Model):
    """`week_days` states that a week counts as seven days; without it a bound in weeks is refused."""

    schedule: str = Field(pattern="^[a-z0-9][a-z0-9-]{0,63}$")
    languages: Annotated[tuple[Annotated[Language, Field(strict=False)], ...], Field(strict=False, min_length=1)]
    currency: str = Field(pattern="^[A-Z]{3}$")
    reference: Reference
    period: Period
    rounding: Annotated[RoundingRule, Field(strict=False)]
    intervals: Annotated[tuple[CandidateInterval, ...], Field(strict=False, min_length=1, max_length=64)]
    week_days: Literal[7] | None = None
    base: Base | None = None

    def quotations(self) -> tuple[Quotation, ...]:
        """Every quotation, in the order of the candidate."""
        stated = [self.reference.quotation, self.base.quotation if self.base else None]
        limits = [end.quotation for end in (self.period.start, self.period.end) if isinstance(end, Limit)]
        return tuple(q for q in [*stated, *limits, *(i.quotation for i in self.intervals)] if q is not None)


class CandidateError(ValueError):
    """The value is no candidate. Each message names the path in it: `intervals.0.fee.amount: ...`."""

    def __init__(self, messages: tuple[str, ...]) -> None:
        super().__init__("; ".join(messages))
        self.messages = messages


def read_candidate(value: object) -> Candidate:
    """A candidate from parsed strict JSON (numbers `int` or `Decimal`). Raises `CandidateError`."""
    try:
        return Candidate.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise CandidateError(tuple(f"{_path(item['loc'])}: {_message(item['msg'])}" for item in found)) from None


def candidate_schema() -> dict[str, object]:
    """The JSON Schema of a candidate, for editors and for structured output."""
    return Candidate.model_json_schema()


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "candidate"


def _message(text: str) -> str:
    plain = text.removeprefix("Value error, ")
    return plain[:1].lower() + plain[1:]
