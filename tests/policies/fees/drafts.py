"""Builds candidates for texts: quotations are found in the text, everything else is said by the test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from policies.fees import Cancellation, ReferenceKind, Source, read_candidate, validate
from policies.values import Money

if TYPE_CHECKING:
    from policies.fees import Validation

GOLDEN = Path(__file__).parents[3] / "fixtures" / "fees"
NAMES = tuple(sorted(folder.name for folder in GOLDEN.iterdir() if folder.is_dir()))
PERIOD, ADJOINING = "period", "adjoining"


def strict(text: str) -> Any:
    """JSON with exact numbers."""
    return json.loads(text, parse_float=Decimal)


@dataclass(frozen=True)
class Golden:
    name: str
    value: Any  # the candidate as parsed JSON
    source: Source
    expected: Any


def golden(name: str) -> Golden:
    folder = GOLDEN / name
    return Golden(
        name,
        strict((folder / "candidate.json").read_text(encoding="utf-8")),
        Source("source.txt", (folder / "source.txt").read_bytes().decode()),
        strict((folder / "expected.json").read_text(encoding="utf-8")),
    )


def day(number: int | str, *, inclusive: bool = True, unit: str = "day") -> dict[str, Any]:
    return {"number": number, "unit": unit, "inclusive": inclusive}


def percent(number: int | str, of: str = "price") -> dict[str, Any]:
    return {"kind": "percentage", "percent": number, "of": of}


def fixed(amount: int | str, currency: str = "EUR") -> dict[str, Any]:
    return {"kind": "fixed", "amount": amount, "currency": currency}


def quote(text: str, words: str, language: str = "en", document: str = "terms.txt") -> dict[str, Any]:
    assert text.count(words) == 1, (words, text.count(words))
    start = text.index(words)
    location = {"document": document, "start": start, "end": start + len(words)}
    return {"text": words, "language": language, "location": location}


def draft(text: str, *rules: tuple[Any, Any, Any, str], language: str = "en", **more: Any) -> dict[str, Any]:
    """A candidate in EUR before departure. A rule is (start, end, fee, quoted words)."""
    intervals = [
        {"start": start, "end": end, "fee": fee, "quotation": quote(text, words, language)}
        for start, end, fee, words in rules
    ]
    return {
        "schedule": "draft",
        "languages": [language],
        "currency": "EUR",
        "reference": {"kind": "departure", "quotation": None},
        "period": {"start": "booking", "end": "reference_date"},
        "rounding": "half_up",
        "intervals": intervals,
        **more,
    }


def judge(value: Any, text: str) -> Validation:
    return validate(read_candidate(value), Source("terms.txt", text))


def kinds(validation: Any) -> set[str]:
    """The names of the problems, none for a valid schedule."""
    return {problem.kind.name for problem in getattr(validation, "problems", ())}


def known(case: Any, kind: ReferenceKind, currency: str) -> Cancellation:
    """A case of `expected.json` as the engine's input."""

    def money(amount: str | None) -> Money | None:
        return None if amount is None else Money(Decimal(amount), currency)

    return Cancellation(
        paid=money(case["paid"]),
        price=money(case["price"]),
        cancelled_at=datetime.fromisoformat(case["cancelled_at"]),
        zone=ZoneInfo(case["zone"]),
        dates={kind: date.fromisoformat(case["reference_date"])},
    )
