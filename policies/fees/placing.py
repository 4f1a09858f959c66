"""Counts the places of quotations, which a model cannot.

A quotation that stands in the source exactly once has one place, and code knows it. Nothing else of a proposal is
touched, and none of it is trusted for that: the validator judges whatever comes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.fees.text import Span, normalise

if TYPE_CHECKING:
    from policies.fees.text import Source


def placed(value: object, source: Source) -> object:
    """Parsed JSON in which every quotation that is found exactly once is located there."""
    if isinstance(value, list):
        return [placed(item, source) for item in value]
    if not isinstance(value, dict):
        return value
    text = value.get("text")
    if isinstance(text, str) and "location" in value and (span := _only_place(text, source)) is not None:
        return {**value, "location": {"document": source.name, "start": span.start, "end": span.end}}
    return {key: placed(item, source) for key, item in value.items()}


def _only_place(text: str, source: Source) -> Span | None:
    wanted, within = normalise(text).text, source.normalised
    first, last = within.text.find(wanted), within.text.rfind(wanted)
    if not wanted or first != last or first < 0:
        return None
    return within.to_source(Span(first, first + len(wanted)))
