"""Mutants: every altered golden candidate is refused, and altered code does not pass the tests."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from policies.fees import CandidateError, Validated, read_candidate, validate
from tests.policies.fees.drafts import ADJOINING, NAMES, PERIOD, golden
from tests.policies.fees.equivalents import EQUIVALENTS
from tests.policies.fees.mutation import MODULES, mutants, survives

if TYPE_CHECKING:
    from collections.abc import Iterator

_SWAPS = {
    "day": ("week",),
    "week": ("day",),
    "price": ("paid",),
    "paid": ("price",),
    "en": ("de",),
    "de": ("en",),
    PERIOD: (ADJOINING,),
    ADJOINING: (PERIOD,),
    "departure": ("arrival", "event"),
    "arrival": ("departure", "event"),
    "event": ("departure", "arrival"),
    "EUR": ("USD",),
    "USD": ("EUR",),
    "GBP": ("EUR",),
    "CHF": ("EUR",),
    "JPY": ("EUR",),
}


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from _leaves(inner, (*path, key))
    if not isinstance(value, dict | list):
        yield path, value


def _others(key: str, value: Any) -> tuple[Any, ...]:
    """What could stand in the place of a value: thresholds by one, amounts by a little, everything closed swapped."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1)
    if key in ("percent", "amount", "number"):
        return (value + "1" if "." in value else value + "0", "0" if value != "0" else "1")
    return _SWAPS.get(value, ())


def altered(value: Any) -> Iterator[tuple[str, Any]]:
    """Every candidate with one value altered, an interval left out, or a part of two intervals swapped."""
    for path, leaf in _leaves(value):
        for other in _others(str(path[-1]), leaf):
            changed = copy.deepcopy(value)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = other
            yield f"{'.'.join(map(str, path))}: {other}", changed
    for index in range(len(value["intervals"])):
        lacking = copy.deepcopy(value)
        del lacking["intervals"][index]
        yield f"without interval {index}", lacking
        for other in range(index):
            for part in ("fee", "quotation", "start", "end"):
                swapped = copy.deepcopy(value)
                one, two = swapped["intervals"][index], swapped["intervals"][other]
                if one[part] != two[part]:
                    one[part], two[part] = two[part], one[part]
                    yield f"{part} of {other} and {index} swapped", swapped


@pytest.mark.parametrize("name", NAMES)
def test_no_altered_candidate_is_valid(name: str) -> None:
    """No single change of a golden candidate survives, but for the currency where no fee of it states one.

    A share is the same in any currency, and what was paid in another than the schedule's blocks.
    """
    one = golden(name)
    survivors, count = [], 0
    for change, value in altered(one.value):
        count += 1
        try:
            candidate = read_candidate(value)
        except CandidateError:
            continue
        if isinstance(validate(candidate, one.source), Validated):
            survivors.append(change)

    is_all_shares = all(interval["fee"]["kind"] == "percentage" for interval in one.value["intervals"])
    assert survivors == (["currency: USD"] if is_all_shares else [])
    assert count >= 15


@pytest.mark.parametrize("module", MODULES)
def test_altered_code_does_not_pass(module: str) -> None:
    """A sample of each module's mutants, spread over it, is killed; `mutation` runs them all."""
    every = list(mutants(module))
    listed = [one for one in every if (one.module, one.text, one.change) in EQUIVALENTS]
    sample = [one for one in every[1 :: max(1, len(every) // 3)] if one not in listed]

    assert sample
    assert [str(one) for one in sample if survives(one)] == []


def test_a_listed_equivalent_is_a_mutant() -> None:
    """The list names nothing that is no longer there."""
    there = {(one.module, one.text, one.change) for module in MODULES for one in mutants(module)}

    assert EQUIVALENTS.keys() <= there
    assert all(EQUIVALENTS.values())
