"""One evaluation: what it reads, what time it is, and how much it may still cost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

from policies.arithmetic import bounded
from policies.expressions.environment import Environment, Unreadable
from policies.expressions.errors import EvaluationError
from policies.expressions.operators import words
from policies.expressions.scope import EACH, dotted
from policies.values import Kind, Money, Type, Value, kind_of

COST_MAX = 10_000  # nodes evaluated, elements touched, and hundreds of characters searched
TEXT_PER_COST = 100  # characters
LISTS_MAX = 8  # lists within lists


class Run:
    """Reads are checked here and nowhere else: what comes out is a value of the language, in one form each."""

    __slots__ = ("_left", "environment")

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._left = COST_MAX

    def spend(self, cost: int = 1) -> None:
        self._left -= cost
        if self._left < 0:
            raise EvaluationError("the expression costs too much: a list or a text is too long")

    # --- time

    def now(self) -> datetime:
        return self.environment.now.astimezone(UTC)

    def today(self) -> date:
        return self.day_of(self.environment.now)

    def day_of(self, moment: date | datetime) -> date:
        """Its day on the calendar of the policy's `time_zone`; a date is its own."""
        if not isinstance(moment, datetime):
            return moment
        if self.environment.zone is None:
            raise EvaluationError("a calendar day needs a time_zone")
        return moment.astimezone(self.environment.zone).date()

    # --- paths

    def read(self, steps: tuple[str, ...]) -> Value:
        """What the path names; a list where it holds `EACH`, flat where it holds several."""
        return self._read_each(steps) if EACH in steps else self._read_one(steps)

    def _read_one(self, steps: tuple[str, ...]) -> Value:
        current: object = self.environment.roots
        for index, step in enumerate(steps):
            if type(current) is not dict and not isinstance(current, Mapping):
                raise _no_fields(steps, index)
            current = current.get(step)
            self.spend()
            if current is None or type(current) is Unreadable:
                raise _missing(current, steps[: index + 1])
        return self.value(current, steps)

    def _read_each(self, steps: tuple[str, ...]) -> Value:
        current: list[object] = [self.environment.roots.get(steps[0])]
        for index, step in enumerate(steps):
            if index and step == EACH:
                current = [item for value in current for item in self._elements(value, steps[:index])]
            elif index:
                current = [_field(value, step, steps, index) for value in current]
            self.spend(len(current))
            for value in current:
                if value is None or type(value) is Unreadable:
                    raise _missing(value, steps[: index + 1])
        return tuple([self.value(found, steps) for found in current])

    def _elements(self, value: object, steps: tuple[str, ...]) -> tuple[object, ...] | list[object]:
        if not isinstance(value, tuple | list):
            raise EvaluationError(f"{dotted(steps)} is not a list", dotted(steps))
        self.spend(len(value))
        return value

    def value(self, found: object, steps: tuple[str, ...], depth: int = 0) -> Value:
        """`found` in the one form of its kind: numbers bounded and decimal, timestamps in UTC, lists as tuples."""
        if type(found) is str or type(found) is bool:
            return found
        if isinstance(found, int):
            # The bound comes first: a decimal is made in time quadratic in the digits.
            if found.bit_length() > 256:
                raise EvaluationError(f"{dotted(steps)} is too large a number", dotted(steps))
            return bounded(Decimal(found))
        if isinstance(found, Decimal):
            return bounded(found)
        if isinstance(found, Money):
            bounded(found.amount)
            return found
        if isinstance(found, datetime):
            if found.utcoffset() is None:
                raise EvaluationError(f"{dotted(steps)} is a timestamp without an offset", dotted(steps))
            return found.astimezone(UTC)
        if isinstance(found, tuple | list):
            if depth > LISTS_MAX:
                raise EvaluationError(f"{dotted(steps)} holds lists in lists", dotted(steps))
            self.spend(len(found))
            return tuple(self.value(item, steps, depth + 1) for item in found)
        if found is None or isinstance(found, Unreadable):
            raise _missing(found, steps)
        if isinstance(found, Mapping) or kind_of(found) is not None:
            return found  # type: ignore[return-value]  # a record is read field by field, through here again
        raise EvaluationError(f"{dotted(steps)} is {words(None)}", dotted(steps))


def expect(value: Value, declared: Type, steps: tuple[str, ...]) -> None:
    """`EvaluationError` where the value at the path is of another kind or currency than its declaration says."""
    found = kind_of(value)
    currency = value.currency if isinstance(value, Money) else None
    if found is declared.kind and (not declared.currency or declared.currency == currency):
        return
    if declared.kind is not Kind.ANY:
        what = dotted(steps)
        raise EvaluationError(
            f"{what} is {words(found, currency)}, not {words(declared.kind, declared.currency)}", what
        )


def _field(value: object, name: str, steps: tuple[str, ...], index: int) -> object:
    if not isinstance(value, Mapping):
        raise _no_fields(steps, index)
    return value.get(name)


def _no_fields(steps: tuple[str, ...], index: int) -> EvaluationError:
    return EvaluationError(f"{dotted(steps[:index])} has no fields", dotted(steps[: index + 1]))


def _missing(value: object, steps: tuple[str, ...]) -> EvaluationError:
    why = f": {value.why}" if isinstance(value, Unreadable) else ""
    return EvaluationError(f"{dotted(steps)} has no value{why}", dotted(steps))
