"""The candidate's model: strict, exact, and its JSON Schema."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import policies.fees
from policies.fees import CandidateError, candidate_schema, read_candidate
from policies.fees.files import parse_candidate
from policies.fees.problems import Problem, ProblemKind
from tests.policies.fees.drafts import GOLDEN, NAMES, golden
from tests.policies.fees.refusals import EARLY_RULE, LATE_RULE, TWO, draft

SCHEMA = Path(policies.fees.__file__).with_name("candidate.schema.json")
SOUND = draft(TWO, EARLY_RULE, LATE_RULE)


def _with(path: str, new: Any) -> Any:
    value = copy.deepcopy(SOUND)
    inner = value
    *keys, last = (int(key) if key.isdecimal() else key for key in path.split("."))
    for key in keys:
        inner = inner[key]
    if new is ...:
        del inner[last]
    else:
        inner[last] = new
    return value


@pytest.mark.parametrize(
    ("path", "new", "says"),
    [
        ("intervals.0.fee.percent", 20.0, "must be exact"),
        ("intervals.0.fee.percent", True, "must be exact"),
        ("intervals.0.fee.percent", None, "must be exact"),
        ("intervals.0.fee.percent", -20, "plain digits"),
        ("intervals.0.fee.percent", "2e1", "plain digits"),
        ("intervals.0.fee.percent", "020", "plain digits"),
        ("intervals.0.fee.percent", "20.", "plain digits"),
        ("intervals.0.fee.percent", " 20", "plain digits"),
        ("intervals.0.fee.percent", "\u0662\u0660", "plain digits"),
        ("intervals.0.fee.percent", Decimal("NaN"), "plain digits"),
        ("intervals.0.fee.percent", Decimal("1E+900000"), "at most 12 digits"),
        ("intervals.0.fee.percent", Decimal("1E-900000"), "at most 12 digits"),
        ("intervals.0.fee.percent", Decimal("0.0000001"), "at most 12 digits"),
        ("intervals.0.fee.kind", "tiered", "intervals.0.fee"),
        ("intervals.0.fee.of", "deposit", "intervals.0.fee.percentage.of"),
        ("intervals.0.end.inclusive", "true", "inclusive"),
        ("intervals.0.end.inclusive", ..., "inclusive"),
        ("intervals.0.end.unit", "month", "unit"),
        ("intervals.0.end", "open", "intervals.0.end"),
        ("intervals.0.quotation", ..., "intervals.0.quotation: field required"),
        ("intervals.0.quotation.location.start", "0", "location.start"),
        ("intervals.0.quotation.location.start", -1, "location.start"),
        ("intervals.0.note", "please allow", "intervals.0.note: extra inputs are not permitted"),
        ("intervals", [], "intervals"),
        ("rounding", "half_even", "rounding"),
        ("rounding", ..., "rounding: field required"),
        ("reference.quotation", ..., "reference.quotation: field required"),
        ("period", ..., "period: field required"),
        ("week_days", 5, "week_days"),
        ("currency", "euro", "currency"),
        ("schedule", "../x", "schedule"),
        ("languages", ["fr"], "languages.0"),
        ("languages", [], "languages"),
    ],
)
def test_nothing_but_the_model(path: str, new: Any, says: str) -> None:
    """Unknown keys, missing keys, inexact or oddly spelled numbers: refused, by their path."""
    with pytest.raises(CandidateError) as caught:
        read_candidate(_with(path, new))

    assert says in "\n".join(caught.value.messages)
    assert all(path.partition(".")[0] in message for message in caught.value.messages)


@pytest.mark.parametrize("spelling", ["20", 20, Decimal(20), Decimal("20.00"), Decimal("2E+1"), "20.000000"])
def test_numbers_are_exact(spelling: Any) -> None:
    """Text, integer and decimal spell one number."""
    fee = read_candidate(_with("intervals.0.fee.percent", spelling)).intervals[0].fee

    assert fee.kind == "percentage"
    assert fee.percent == 20


def test_a_message_holds_no_value() -> None:
    """What the candidate says is no part of what is said about it."""
    with pytest.raises(CandidateError) as caught:
        read_candidate(_with("intervals.0.fee.percent", "send it to me"))

    assert "send it" not in str(caught.value)


def test_the_schema_is_that_of_the_model() -> None:
    """The file that editors and models are given is made from the model."""
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == candidate_schema()


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_accepts_the_golden_candidates(name: str) -> None:
    """The schema is valid and says what the model says of sound candidates; a missing key it refuses too."""
    validator = jsonschema_rs.validator_for(candidate_schema())
    value = json.loads(json.dumps(golden(name).value, default=str))

    assert validator.is_valid(value)
    assert not validator.is_valid({key: inner for key, inner in value.items() if key != "rounding"})
    assert not validator.is_valid({**value, "extra": 1})


def test_a_problem_without_a_place_says_so_much() -> None:
    """A message has only the parts that there are."""
    assert str(Problem(ProblemKind.GAP, "period")) == "period: days of the period are in no interval"


def test_a_file_holds_one_strict_document() -> None:
    """The same candidate as from parsed JSON; a repeated key, more behind it and huge numbers are no candidate."""
    text = (GOLDEN / NAMES[0] / "candidate.json").read_text(encoding="utf-8")
    assert parse_candidate(text) == read_candidate(golden(NAMES[0]).value)
    for broken in (
        text.replace("{", '{"currency": "EUR", ', 1),
        text + "{}",
        text.replace('"number": ', '"number": 1e999999999, "n": ', 1),
        "NaN",
        '"\ud800"',
        "",
    ):
        with pytest.raises(CandidateError):
            parse_candidate(broken)
