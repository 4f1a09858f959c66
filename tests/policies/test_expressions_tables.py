"""The tables of operators and functions: the checker and the evaluator refuse the same."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import product
from zoneinfo import ZoneInfo

import pytest

from policies.arithmetic import AmountError
from policies.expressions import Environment, EvaluationError, ExpressionError, Scope
from policies.expressions.checker import check
from policies.expressions.errors import Mismatch
from policies.expressions.evaluator import evaluate
from policies.expressions.functions import FUNCTIONS
from policies.expressions.operators import ARITHMETIC, check_arithmetic, check_comparison, compare, compute
from policies.expressions.parser import parse
from policies.expressions.run import COST_MAX, Run
from policies.expressions.signatures import element
from policies.expressions.syntax import Comparator, Operator
from policies.values import ANY, Kind, Money, Value, kind_of, record_of, type_of_value

SAMPLES: dict[str, Value] = {
    "boolean": True,
    "string": "a@b.example",
    "number": Decimal(2),
    "usd": Money(Decimal("5.00"), "USD"),
    "eur": Money(Decimal("5.00"), "EUR"),
    "date": date(2026, 3, 1),
    "timestamp": datetime(2026, 3, 1, tzinfo=UTC),
    "duration": timedelta(days=1),
    "numbers": (Decimal(1), Decimal(2)),
    "strings": ("a@b.example", "c@d.example"),
    "dollars": (Money(Decimal(1), "USD"),),
    "record": {"a": Decimal(1)},
    "records": ({"a": Decimal(1)},),
}
ENVIRONMENT = Environment({"v": SAMPLES}, datetime(2026, 3, 20, tzinfo=UTC), ZoneInfo("Europe/Berlin"))
TYPED = Scope({"v": record_of({name: type_of_value(value) for name, value in SAMPLES.items()})})
OPEN = Scope({"v": ANY})

pairs = pytest.mark.parametrize(("left", "right"), list(product(SAMPLES, SAMPLES)), ids=lambda name: name)


def both(source: str) -> tuple[Kind | None, Kind | None]:
    """The kind that the checker promises and the one that the evaluator finds without it; None for a refusal."""
    try:
        promised = check(parse(source), TYPED).type.kind
    except ExpressionError:
        promised = None
    try:
        found = kind_of(evaluate(check(parse(source), OPEN), ENVIRONMENT))
    except (ExpressionError, EvaluationError):
        found = None
    return promised, found


@pairs
def test_load_and_run_time_agree_on_operators(left: str, right: str) -> None:
    """Declaring a type never changes an answer: it only moves the refusal from the call to the load."""
    for sign in ("+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"):
        promised, found = both(f"v.{left} {sign} v.{right}")

        if sign in ("and", "or") and left == "boolean":
            continue  # the right operand may never be looked at
        assert promised is found, sign


@pairs
def test_load_and_run_time_agree_on_functions(left: str, right: str) -> None:
    """The same holds for every function of the table, with one argument and with two."""
    for name, function in FUNCTIONS.items():
        for arguments in (f"v.{left}", f"v.{left}, v.{right}"):
            promised, found = both(f"{name}({arguments})")

            # Only these refuse a value of the right kind: a day in the future.
            assert promised is found, f"{name}({arguments})"
        assert function.least <= function.most


@pytest.mark.parametrize("operand", SAMPLES)
def test_load_and_run_time_agree_on_signs_and_lists(operand: str) -> None:
    """Minus, not, a list of two, and elements."""
    for source in (f"-v.{operand}", f"not v.{operand}", f"count([v.{operand}, 1])", f"v.{operand}[*]"):
        promised, found = both(source)

        if source.startswith("count"):
            assert found is Kind.NUMBER
        else:
            assert promised is found, source


def test_rows_of_the_table_compute_what_they_promise() -> None:
    """Each row, on values of its kinds, gives a value of its result's kind."""
    by_kind = {kind_of(value): value for value in SAMPLES.values()}

    for (sign, left, right), (result, _) in ARITHMETIC.items():
        assert kind_of(compute(sign, by_kind[left], by_kind[right])) is result
        assert check_arithmetic(sign, type_of_value(by_kind[left]), type_of_value(by_kind[right])).kind is result


def test_two_currencies_are_refused_in_both_places() -> None:
    """Neither the checker nor the evaluator relies on the other."""
    usd, eur = SAMPLES["usd"], SAMPLES["eur"]

    for sign in (Operator.ADD, Operator.SUBTRACT, Operator.DIVIDE):
        with pytest.raises(Mismatch):
            check_arithmetic(sign, type_of_value(usd), type_of_value(eur))
        with pytest.raises(AmountError):
            compute(sign, usd, eur)
    for comparator in Comparator:
        with pytest.raises(Mismatch):
            check_comparison(comparator, type_of_value(usd), type_of_value(eur))
        with pytest.raises(AmountError):
            compare(comparator, usd, eur)


def test_the_element_of_what_is_no_list_is_a_mismatch() -> None:
    """Unknown stays unknown; known and wrong is refused."""
    assert element(ANY) is ANY
    with pytest.raises(Mismatch):
        element(type_of_value("text"))


def test_the_budget_is_spent_once() -> None:
    """Exactly `COST_MAX` may be spent, whatever it is spent on."""
    run = Run(ENVIRONMENT)
    run.spend(COST_MAX)

    with pytest.raises(EvaluationError, match="costs too much"):
        run.spend()
