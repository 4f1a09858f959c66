"""One figure that became another: which way it went, and by what sentence that is told."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from policies.values import Money, parse_literal, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.values import Value


def moved(what: str, old: Value, new: Value) -> str:
    """`The ceiling of process_refund rises from 500.00 USD to 800.00 USD.`"""
    return f"{what} {_way(old, new)} from {_told(old)} to {_told(new)}."


def told_apart(old: str, new: str) -> tuple[Value, Value] | None:
    """The two figures, where two sentences are the same but for one; None where they are not."""
    first, second = old.split(" "), new.split(" ")
    if len(first) != len(second):
        return None
    different = [index for index, (one, other) in enumerate(zip(first, second, strict=True)) if one != other]
    if len(different) != 1:
        return None
    at = different[0]
    for width in (2, 1):  # money is two words
        one, other = (_value(" ".join(words[at : at + width])) for words in (first, second))
        if one is not None and other is not None:
            return one, other
    return None


def _value(text: str) -> Value | None:
    text = text.strip("().,;")
    try:
        literal = parse_literal(text)
        return Decimal(text) if literal is None and text.replace(".", "", 1).isdecimal() and text.isascii() else literal
    except ValueError:
        return None


def _way(old: Value, new: Value) -> str:
    match old, new:
        case (Money(amount=one, currency=first), Money(amount=other, currency=second)) if first == second:
            return "rises" if other > one else "falls"
        case (Decimal() as one, Decimal() as other):
            return "rises" if other > one else "falls"
        case (timedelta() as before, timedelta() as after):
            return "rises" if after > before else "falls"
        case _:
            return "changes"


def _told(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(render, value))}]"
    return render(value)


def one_way(name: str, before: list[str], after: list[str]) -> Iterator[str]:
    """The lines that stand in one of two only."""
    yield from (f"No more for {name}: {line.strip()}" for line in before if line not in after)
    yield from (f"More for {name}: {line.strip()}" for line in after if line not in before)
