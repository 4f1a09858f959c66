"""The functions of the language: one table, a line each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING

from policies.arithmetic import rounded
from policies.expressions import lists, signatures
from policies.expressions.errors import Mismatch
from policies.expressions.lists import is_in, items_of, uniform
from policies.expressions.operators import ORDERED, SIGNED, compare, compute, negate, words
from policies.expressions.run import TEXT_PER_COST, Run
from policies.expressions.syntax import Comparator, Operator
from policies.values import Kind, Money, Type, Value, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Function:
    """`check` gives the type of the result for the types of the arguments, `run` the value for the values and that
    type. `phrase` is how `explain` says it: `{0}` is the first argument, `{*}` all of them. `calendar` functions count
    days, for which the policy needs a `time_zone`.
    """

    least: int
    most: int
    check: Callable[[tuple[Type, ...]], Type]
    run: Callable[[Run, Type, tuple[Value, ...]], Value]
    phrase: str
    calendar: bool = False


def _sum(run: Run, type_: Type, arguments: tuple[Value, ...]) -> Value:
    items = uniform(run, arguments[0], SIGNED)
    if not items:
        return _nothing(type_)
    total = items[0]
    for item in items[1:]:
        total = compute(Operator.ADD, total, item)
    return total


def _nothing(type_: Type) -> Value:
    """The sum of no elements, where their type says what it is."""
    if type_.kind is Kind.NUMBER:
        return Decimal(0)
    if type_.kind is Kind.DURATION:
        return timedelta(0)
    if type_.kind is Kind.MONEY and type_.currency:
        return Money(Decimal(0), type_.currency)
    raise Mismatch("the sum of an empty list is not known: neither is what it would hold")


def _count(run: Run, _: Type, arguments: tuple[Value, ...]) -> Value:
    return Decimal(len(items_of(run, arguments[0])))


def _extreme(comparator: Comparator) -> Callable[[Run, Type, tuple[Value, ...]], Value]:
    def pick(run: Run, _: Type, arguments: tuple[Value, ...]) -> Value:
        items = uniform(run, arguments[0] if len(arguments) == 1 else arguments, ORDERED)
        if not items:
            raise Mismatch("an empty list has neither a least nor a greatest element")
        best = items[0]
        for item in items[1:]:
            if compare(comparator, item, best):
                best = item
        return best

    return pick


def _abs(_run: Run, _: Type, arguments: tuple[Value, ...]) -> Value:
    value, opposite = arguments[0], negate(arguments[0])
    return opposite if compare(Comparator.MORE, opposite, value) else value


def _round(_run: Run, _: Type, arguments: tuple[Value, ...]) -> Value:
    value, places = arguments
    if not isinstance(places, Decimal):
        raise Mismatch(f"places to round to are a number, not {words(kind_of(places))}")
    if isinstance(value, Money):
        return Money(rounded(value.amount, places), value.currency)
    if isinstance(value, Decimal):
        return rounded(value, places)
    raise Mismatch(f"round does not apply to {words(kind_of(value))}")


def _contains(run: Run, _: Type, arguments: tuple[Value, ...]) -> Value:
    whole, part = arguments
    if isinstance(whole, str):
        if not isinstance(part, str):
            raise Mismatch(f"a string does not contain {words(kind_of(part))}")
        run.spend((len(whole) + len(part)) // TEXT_PER_COST)
        return part in whole
    return is_in(run, part, whole)


def _lower(run: Run, _: Type, arguments: tuple[Value, ...]) -> Value:
    return _mapped(run, str.casefold, arguments[0], "lower")


def _domain(run: Run, _: Type, arguments: tuple[Value, ...]) -> Value:
    return _mapped(run, _domain_of, arguments[0], "domain")


def _domain_of(address: str) -> str:
    """What stands behind the one @ of a plain address. Anything that two mailers could read in two ways is an error:
    quotes, comments, display names, spaces, a second @, an address literal, letters beyond ASCII.
    """
    local, _, host = address.partition("@")
    labels = host.lower().split(".")
    plain = address.isascii() and not any(character in " \t\r\n\"'(),:;<>[]\\@%!" for character in local + host)
    if not plain or not local or len(address) > 320 or not all(map(_is_label, labels)):
        raise Mismatch("domain needs a plain e-mail address")
    return ".".join(labels)


def _is_label(label: str) -> bool:
    return label.replace("-", "").isalnum() and label[0] != "-" and label[-1] != "-"


def _days_since(run: Run, _: Type, arguments: tuple[Value, ...]) -> Value:
    days = (run.today() - _day(run, arguments[0])).days
    if days < 0:
        raise Mismatch("days_since of a day in the future")
    return Decimal(days)


def _days_between(run: Run, _: Type, arguments: tuple[Value, ...]) -> Value:
    return Decimal((_day(run, arguments[1]) - _day(run, arguments[0])).days)


def _now(run: Run, _: Type, _none: tuple[Value, ...]) -> Value:
    return run.now()


def _today(run: Run, _: Type, _none: tuple[Value, ...]) -> Value:
    return run.today()


# --- what they share


def _mapped(run: Run, function: Callable[[str], str], value: Value, name: str) -> Value:
    if isinstance(value, tuple):
        return tuple(_mapped(run, function, item, name) for item in items_of(run, value))
    if not isinstance(value, str):
        raise Mismatch(f"{name} does not apply to {words(kind_of(value))}")
    run.spend(len(value) // TEXT_PER_COST)
    return function(value)


def _day(run: Run, value: Value) -> date:
    if not isinstance(value, date):
        raise Mismatch(f"{words(kind_of(value))} is neither a date nor a timestamp")
    return run.day_of(value)


_MANY = 32  # arguments

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "sum": Function(1, 1, signatures.sum_, _sum, "the sum of {0}"),
        "count": Function(1, 1, signatures.count, _count, "the number of {0}"),
        "min": Function(1, _MANY, signatures.extreme, _extreme(Comparator.LESS), "the least of {*}"),
        "max": Function(1, _MANY, signatures.extreme, _extreme(Comparator.MORE), "the greatest of {*}"),
        "abs": Function(1, 1, signatures.signed, _abs, "{0} without its sign"),
        "round": Function(2, 2, signatures.round_, _round, "{0} rounded to {1} decimal places"),
        "distinct": Function(1, 1, signatures.distinct, lists.distinct, "{0} without repetitions"),
        "all_in": Function(2, 2, signatures.two_lists, lists.all_in, "each of {0} is one of {1}"),
        "any_in": Function(2, 2, signatures.two_lists, lists.any_in, "at least one of {0} is one of {1}"),
        "count_in": Function(2, 2, signatures.count_in, lists.count_in, "how many of {0} are one of {1}"),
        "without": Function(2, 2, signatures.without, lists.without, "{0} without those of {1}"),
        "pairs": Function(2, 2, signatures.pairs, lists.pairs, "each of {0} with that of {1} in the same place"),
        "contains": Function(2, 2, signatures.contains, _contains, "{0} contains {1}"),
        "lower": Function(1, 1, signatures.lower, _lower, "{0} in lower case"),
        "domain": Function(1, 1, signatures.domain, _domain, "the domain of {0}"),
        "days_since": Function(1, 1, signatures.days, _days_since, "days since {0}", calendar=True),
        "days_between": Function(2, 2, signatures.days, _days_between, "days from {0} to {1}", calendar=True),
        "now": Function(0, 0, signatures.now, _now, "now"),
        "today": Function(0, 0, signatures.today, _today, "today", calendar=True),
    }
)
