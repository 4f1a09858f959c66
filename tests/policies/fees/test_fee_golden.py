"""Ten schedules of our own: each quotation found, each interval and each amount exact."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from policies.fees import Computed, Validated, compute, read_candidate, validate
from policies.fees.schedule import Fixed
from policies.fees.text import normalise
from tests.policies.fees.drafts import NAMES, golden, known

SCHEDULES = [golden(name) for name in NAMES]
CASES = [
    pytest.param(one, case, id=f"{one.name}-{n}") for one in SCHEDULES for n, case in enumerate(one.expected["cases"])
]
every_schedule = pytest.mark.parametrize("one", SCHEDULES, ids=NAMES)


def _schedule(one: Any) -> Any:
    validation = validate(read_candidate(one.value), one.source)
    assert isinstance(validation, Validated), [str(problem) for problem in validation.problems]
    return validation.schedule


def test_there_are_enough_of_them() -> None:
    """Ten schedules, at least 14 quotations, both languages, fixed and percentage fees."""
    quotations = [quotation for one in SCHEDULES for quotation in read_candidate(one.value).quotations()]

    assert len(SCHEDULES) == 10
    assert len(quotations) >= 14
    assert {quotation.language.value for quotation in quotations} == {"en", "de"}


@every_schedule
def test_every_quotation_is_found(one: Any) -> None:
    """The evidence of each interval is the source's own text at its place, line and column included."""
    for interval, rule in zip(_schedule(one).intervals, one.value["intervals"], strict=True):
        place, text = interval.quoted.place, one.source.text
        assert interval.quoted.text == text[place.span.start : place.span.end]
        assert normalise(interval.quoted.text).text == normalise(rule["quotation"]["text"]).text
        line = text.split("\n")[place.line - 1]
        assert line[place.column - 1 :].startswith(interval.quoted.text.split("\n")[0])
        assert interval.stated


@every_schedule
def test_every_interval_is_exact(one: Any) -> None:
    """Days, both ends included, and fee are those written down by hand."""
    found = []
    for interval in _schedule(one).intervals:
        fee = interval.fee
        spelled = (
            f"{fee.amount.amount} {fee.amount.currency}"
            if isinstance(fee, Fixed)
            else f"{fee.percent} % {fee.of.value}"
        )
        found.append({"first": interval.days.first, "last": interval.days.last, "fee": spelled})

    assert found == one.expected["intervals"]


@pytest.mark.parametrize(("one", "case"), CASES)
def test_every_amount_is_exact(one: Any, case: Any) -> None:
    """Fee, refund, distance and interval of each case, leap days, month ends, changes of the clock included."""
    schedule = _schedule(one)

    result = compute(schedule, known(case, schedule.reference, schedule.currency))

    assert isinstance(result, Computed)
    assert (result.interval.position, result.distance) == (case["interval"], case["distance"])
    assert (str(result.fee.amount), str(result.refund.amount)) == (case["fee"], case["refund"])
    assert result.fee.amount + result.refund.amount == Decimal(case["paid"])


def test_schedules_know_whether_they_read_the_price() -> None:
    """Those with a share of the price, whatever else they hold, and no other."""
    for one in SCHEDULES:
        fees = [interval["fee"] for interval in one.value["intervals"]]
        assert _schedule(one).reads_price is any(fee.get("of") == "price" for fee in fees), one.name


def test_notices_tell_what_stands_beside() -> None:
    """A number elsewhere that no rule cites is told, with its place, and refuses nothing."""
    one = golden("harbour-walks")

    validation = validate(read_candidate(one.value), one.source)

    assert [str(notice) for notice in validation.notices] == [
        "source.txt:3:48 [83,98): the source also states 'within two days'"
    ]
