"""Laws of valid schedules, on schedules made from texts in two languages, and the tampering that none survives."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from policies.fees import (
    Cancellation,
    CandidateError,
    Computed,
    ReferenceKind,
    Schedule,
    Source,
    Validated,
    compute,
    read_candidate,
    validate,
)
from policies.values import Money
from tests.policies.fees.drafts import ADJOINING, NAMES, PERIOD, day, draft, fixed, golden, judge, percent

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDENS = [golden(name) for name in NAMES]
ZONE = ZoneInfo("Europe/Berlin")


@dataclass(frozen=True)
class Style:
    """How a text states its first, its inner and its last interval: words, and the rule's ends."""

    language: str
    first: Callable[[int], tuple[str, Any]]
    inner: Callable[[int, int], tuple[str, Any, Any]]
    last: Callable[[int], tuple[str, Any]]


STYLES = (
    Style(
        "en",
        lambda a: (f"{a} days or more before departure", day(a)),
        lambda a, b: (f"{a} to {b} days before departure", day(a), day(b)),
        lambda a: (f"within {a} days before departure", day(a)),
    ),
    Style(
        "en",
        lambda a: (f"more than {a - 1} days before departure", day(a - 1, inclusive=False)),
        lambda a, b: (
            f"less than {a + 1} but at least {b} days before departure",
            day(a + 1, inclusive=False),
            day(b),
        ),
        lambda _: ("later", ADJOINING),
    ),
    Style(
        "de",
        lambda a: (f"bis zum {a}. Tag vor Reisebeginn", day(a)),
        lambda a, b: (f"ab dem {a}. bis zum {b}. Tag vor Reisebeginn", day(a), day(b)),
        lambda a: (f"weniger als {a + 1} Tage vor Reisebeginn", day(a + 1, inclusive=False)),
    ),
    Style(
        "de",
        lambda a: (f"mindestens {a} Tage vor Abreise", day(a)),
        lambda a, _: (f"ab dem {a}. Tag vor Abreise", day(a), ADJOINING),
        lambda a: (f"ab dem {a}. Tag vor Abreise", day(a)),
    ),
)


@dataclass(frozen=True)
class Made:
    text: str
    value: Any
    cuts: list[int]  # the last day of each interval but the last
    fees: list[tuple[str, Decimal]]


def _fee(kind: str, value: Decimal, language: str) -> tuple[str, Any]:
    spelled = f"{value}".replace(".", "," if language == "de" else ".")
    if kind == "fixed":
        return f"{spelled} EUR", fixed(str(value))
    base = {
        "price": {"en": "of the price", "de": "des Reisepreises"},
        "paid": {"en": "of the amount paid", "de": "des gezahlten Betrags"},
    }
    return f"{spelled} % {base[kind][language]}", percent(str(value), kind)


@st.composite
def made(draw: st.DrawFn, *, rising: bool = False) -> Made:
    """A text and its candidate: two to six intervals, mixed fees, or fees of one kind that rise."""
    style = draw(st.sampled_from(STYLES))
    cuts = sorted(draw(st.sets(st.integers(2, 120), min_size=1, max_size=5)), reverse=True)
    kinds = draw(st.lists(st.sampled_from(["price", "paid", "fixed"]), min_size=len(cuts) + 1, max_size=len(cuts) + 1))
    values = [draw(st.decimals(0, 100, places=draw(st.integers(0, 2)))) for _ in kinds]
    if rising:
        kinds, values = kinds[:1] * len(kinds), sorted(values)
    first, end = style.first(cuts[0])
    parts: list[tuple[Any, Any, str]] = [(PERIOD, end, first)]
    for before, cut in pairwise(cuts):
        words, start, end = style.inner(before - 1, cut)
        parts.append((start, end, words))
    last, start = style.last(cuts[-1] - 1)
    parts.append((start, PERIOD, last))
    clauses, rules = [], []
    for (start, end, words), kind, value in zip(parts, kinds, values, strict=True):
        spelled, fee = _fee(kind, value, style.language)
        clauses.append(f"{words}: {spelled}")
        rules.append((start, end, fee, clauses[-1]))
    text = ";\n".join(clauses) + "."
    assume(all(text.count(clause) == 1 for clause in clauses))
    return Made(text, draft(text, *rules, language=style.language), cuts, list(zip(kinds, values, strict=True)))


def _schedule(one: Made) -> Schedule:
    validation = judge(one.value, one.text)
    assert isinstance(validation, Validated), [str(problem) for problem in validation.problems]
    return validation.schedule


def _cancelled(distance: int, paid: Decimal, price: Decimal) -> Cancellation:
    reference = date(2028, 3, 1)
    at = datetime(2028, 3, 1, 23, 59, 59, tzinfo=ZONE) - timedelta(days=distance)
    return Cancellation(Money(paid, "EUR"), Money(price, "EUR"), at, ZONE, {ReferenceKind.DEPARTURE: reference})


@given(made())
def test_every_day_is_in_exactly_one_interval(one: Made) -> None:
    """Days from far before to the reference date itself; which interval is told by the cuts alone."""
    schedule = _schedule(one)

    for distance in range(140):
        holding = [interval.position for interval in schedule.intervals if interval.days.holds(distance)]
        assert holding == [1 + sum(distance < cut for cut in one.cuts)]
    assert not any(interval.days.holds(-1) for interval in schedule.intervals)


@given(made(), st.integers(0, 140), st.decimals(0, 5000, places=2), st.decimals(0, 5000, places=2))
def test_refund_and_fee_are_what_was_paid(one: Made, distance: int, paid: Decimal, price: Decimal) -> None:
    """Always, to the cent, neither below zero; and the fee is that of the text."""
    result = compute(_schedule(one), _cancelled(distance, paid, price))

    assert isinstance(result, Computed)
    assert result.fee.amount + result.refund.amount == paid
    assert result.fee.amount >= 0
    assert result.refund.amount >= 0
    kind, value = one.fees[sum(distance < cut for cut in one.cuts)]
    exact = value if kind == "fixed" else value * (price if kind == "price" else paid) / 100
    assert result.capped == (result.fee.amount < exact - Decimal("0.005"))
    assert result.capped or abs(result.fee.amount - exact) <= Decimal("0.005")


@given(made(rising=True), st.decimals("0.01", 5000, places=2))
def test_monotone_where_the_schedule_is(one: Made, paid: Decimal) -> None:
    """Where the fees of one kind rise from interval to interval, cancelling later never costs less."""
    schedule = _schedule(one)

    fees = [compute(schedule, _cancelled(distance, paid, paid)) for distance in range(130, -1, -1)]

    amounts = [result.fee.amount for result in fees if isinstance(result, Computed)]
    assert len(amounts) == 131
    assert amounts == sorted(amounts)


def _numbers(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of the numbers of the rules and of their locations."""
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in _numbers(inner, (*path, key))]
    if isinstance(value, list):
        return [found for key, inner in enumerate(value) for found in _numbers(inner, (*path, key))]
    is_number = not isinstance(value, bool) and (
        isinstance(value, int | Decimal) or path[-1] in ("percent", "amount", "number")
    )
    return [path] if is_number else []


def _set(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return changed


def _get(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


@st.composite
def one_edit(draw: st.DrawFn, text: str, alphabet: str) -> str:
    """The text with one character replaced, inserted or removed."""
    at = draw(st.integers(0, len(text)))
    character = draw(st.sampled_from(alphabet))
    kind = draw(st.sampled_from(["replace", "insert", "remove"]))
    if kind == "insert":
        return text[:at] + character + text[at:]
    assume(at < len(text))
    return text[:at] + (character if kind == "replace" else "") + text[at + 1 :]


def _is_refused(value: Any, source: Source) -> bool:
    try:
        return not isinstance(validate(read_candidate(value), source), Validated)
    except CandidateError:
        return True


@settings(max_examples=300)
@given(st.data())
def test_no_changed_number_of_a_rule_survives(data: st.DataObject) -> None:
    """One character of any number of a golden candidate, rule or location: refused, unless the number is the same."""
    one = data.draw(st.sampled_from(GOLDENS))
    path = data.draw(st.sampled_from(_numbers(one.value)))
    spelled = str(_get(one.value, path))
    edited = data.draw(one_edit(spelled, "0123456789."))
    assume(edited and edited.count(".") <= 1 and edited.strip(".") and Decimal(edited) != Decimal(spelled))

    new = edited if "." in edited else int(edited)

    assert _is_refused(_set(one.value, path, new), one.source)
    assert _is_refused(_set(one.value, path, edited), one.source)


@settings(max_examples=300)
@given(st.data())
def test_no_changed_character_of_a_quotation_survives(data: st.DataObject) -> None:
    """One character of any quotation: refused, unless it is the same after the declared normalisation."""
    one = data.draw(st.sampled_from(GOLDENS))
    index = data.draw(st.integers(0, len(one.value["intervals"]) - 1))
    path = ("intervals", index, "quotation", "text")
    text = _get(one.value, path)
    edited = data.draw(one_edit(text, "0123456789.,%-x "))
    assume(edited and " ".join(edited.split(" ")) != text and edited != text and "  " not in edited)

    assert _is_refused(_set(one.value, path, edited), one.source)


@settings(max_examples=300)
@given(st.data())
def test_no_changed_digit_of_the_source_survives(data: st.DataObject) -> None:
    """A digit changed in the source and in the quotation alike no longer is what the rule says."""
    one = data.draw(st.sampled_from(GOLDENS))
    index = data.draw(st.integers(0, len(one.value["intervals"]) - 1))
    quotation = one.value["intervals"][index]["quotation"]
    start, end = quotation["location"]["start"], quotation["location"]["end"]
    digits = [at for at in range(start, end) if one.source.text[at].isdecimal()]
    assume(digits)
    at = data.draw(st.sampled_from(digits))
    digit = data.draw(st.sampled_from("0123456789"))
    assume(digit != one.source.text[at])
    source = Source(one.source.name, one.source.text[:at] + digit + one.source.text[at + 1 :])
    changed = " ".join(source.text[start:end].split())

    value = _set(one.value, ("intervals", index, "quotation", "text"), changed)

    assert _is_refused(value, source)


@given(st.data())
def test_no_flipped_inclusivity_survives(data: st.DataObject) -> None:
    """Whether a bound includes its day is read from the words; any set of flipped bounds is refused."""
    one = data.draw(st.sampled_from(GOLDENS))
    paths = [(*path[:-1], "inclusive") for path in _numbers(one.value) if path[-1] == "number"]
    assume(paths)
    value = one.value
    for path in data.draw(st.sets(st.sampled_from(paths), min_size=1)):
        value = _set(value, path, not _get(value, path))

    assert _is_refused(value, one.source)
