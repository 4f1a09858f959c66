"""One figure that became another: which way it went, and by what sentence that is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from policies.expressions import Environment, EvaluationError
from policies.values import Money, parse_literal, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from policies.expressions import Expression
    from policies.model import Policy
    from policies.values import Value

_ANY_TIME: Final = datetime.min.replace(tzinfo=UTC)


def moved(what: str, old: Value, new: Value) -> str:
    """`The ceiling of process_refund rises from 500.00 USD to 800.00 USD.`"""
    return f"{what} {_way(old, new)} from {told(old)} to {told(new)}."


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


def told(value: Value) -> str:
    """A value as sentences spell it."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(render, value))}]"
    return render(value)


def one_way(name: str, before: list[str], after: list[str]) -> Iterator[str]:
    """The lines that stand in one of two only."""
    yield from (f"No more for {name}: {_bare(line)}" for line in before if line not in after)
    yield from (f"More for {name}: {_bare(line)}" for line in after if line not in before)


def _bare(line: str) -> str:
    return line.strip().removeprefix("- ")


def names_of_both(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """The names of two mappings, each once, those of the first one first."""
    return list(dict.fromkeys([*before, *after]))


def constant(policy: Policy, expression: Expression | None) -> Value | None:
    """The value of an expression that reads constants only."""
    if expression is None or expression.functions or any(path[0] != "constants" for path in expression.paths):
        return None
    try:
        return expression.evaluate(Environment({"constants": policy.constants}, _ANY_TIME))
    except EvaluationError:
        return None
