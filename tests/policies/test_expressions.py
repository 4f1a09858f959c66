"""Expressions: types at load, exact values at run time, errors where there is no value."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from policies.expressions import (
    Environment,
    EvaluationError,
    Expression,
    ExpressionError,
    Scope,
    Unreadable,
    compile_expression,
)
from policies.expressions.evaluator import evaluate
from policies.expressions.functions import FUNCTIONS
from policies.expressions.quick import quick
from policies.expressions.syntax import Junction, Junctive, Literal
from policies.values import (
    ANY,
    BOOLEAN,
    DATE,
    NUMBER,
    SAFE_STRING,
    STRING,
    TIMESTAMP,
    Kind,
    Money,
    Type,
    Value,
    kind_of,
    list_of,
    money_type,
    record_of,
    type_of_value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

NOW = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
CONSTANTS: Mapping[str, Value] = {
    "window_days": Decimal(14),
    "self_service": Money(Decimal("500.00"), "USD"),
    "domains": ("a.example", "b.example"),
    "start": date(2026, 3, 1),
}
SCOPE = Scope(
    roots={
        "args": record_of(
            {
                "amount": money_type("USD"),
                "any_money": money_type(),
                "count": NUMBER,
                "flag": BOOLEAN,
                "day": DATE,
                "code": SAFE_STRING,
                "note": STRING,
                "to": list_of(STRING),
                "payments": list_of(record_of({"amount": money_type("USD"), "tags": list_of(STRING)})),
                "numbers": list_of(NUMBER),
            }
        ),
        "session": record_of({"customer_id": STRING}),
        "constants": record_of({name: type_of_value(value) for name, value in CONSTANTS.items()}),
        "order": record_of({"customer_id": STRING, "delivered_at": TIMESTAMP, "paid": money_type("USD")}),
        "orders": list_of(record_of({"paid": money_type("USD")})),
        "open": ANY,
    },
    absent={"customer": "this tool does not map the fact"},
)


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


ROOTS: Mapping[str, object] = {
    "args": {
        "amount": usd("120.00"),
        "any_money": Money(Decimal(5), "EUR"),
        "count": Decimal(3),
        "flag": True,
        "day": date(2026, 3, 10),
        "code": "damaged",
        "note": "Say HELLO",
        "to": ("x@A.example", "y@b.example"),
        "payments": ({"amount": usd("1.10"), "tags": ("p", "q")}, {"amount": usd("2.20"), "tags": ("p",)}),
        "numbers": (Decimal(3), Decimal(1), Decimal("3.0")),
    },
    "session": {"customer_id": "c1"},
    "constants": CONSTANTS,
    "order": {"customer_id": "c1", "delivered_at": datetime(2026, 3, 10, 9, 0, tzinfo=UTC), "paid": usd("300.00")},
    "orders": ({"paid": usd("1.00")}, {"paid": usd("2.00")}),
    "open": {"n": 5, "list": [1, 2, 3], "text": "hi", "null": None, "float": 1.5, "yes": True, "rows": [{"x": [1]}]},
}
ENVIRONMENT = Environment(ROOTS, NOW, BERLIN)


def compiled(source: str) -> Expression:
    return compile_expression(source, SCOPE)


def value_of(source: str, environment: Environment = ENVIRONMENT) -> Value:
    return compiled(source).evaluate(environment)


def with_roots(**roots: object) -> Environment:
    return Environment({**ROOTS, **roots}, NOW, BERLIN)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("order.customer_id == session.customer_id", True),
        ("days_since(order.delivered_at) <= constants.window_days", True),
        ("args.amount > constants.self_service", False),
        ("args.amount + 380.00 USD == constants.self_service", True),
        ("args.amount != 120 USD", False),
        ("0.1 + 0.2 == 0.3", True),
        ("1000.10 - 1000", Decimal("0.10")),
        ("10 / 4", Decimal("2.5")),
        ("1 / 3", Decimal("0." + "3" * 28)),
        ("2 / 3", Decimal("0." + "6" * 27 + "7")),
        ("-args.amount", usd("-120.00")),
        ("args.amount * 0.5", usd("60.000")),
        ("2 * args.amount", usd("240.00")),
        ("args.amount / 3 * 3 < args.amount", False),
        ("order.paid / args.amount", Decimal("2.5")),
        ("args.flag and not (args.count > 3)", True),
        ("args.count in [1, 2, 3]", True),
        ("args.count in []", False),
        ("args.code not in ['damaged']", False),
        ("args.day < today()", True),
        ("args.day + 10d == today()", True),
        ("today() - 10d", date(2026, 3, 10)),
        ("now() - order.delivered_at", timedelta(days=10, hours=3)),
        ("now() - 24h > order.delivered_at", True),
        ("order.delivered_at + 14d < now()", False),
        ("36h - 24h == 12h", True),
        ("args.payments[*].amount", (usd("1.10"), usd("2.20"))),
        ("args.payments[*].tags[*]", ("p", "q", "p")),
        ("args.to[*] == args.to", None),
        ("sum(args.payments[*].amount)", usd("3.30")),
        ("sum(orders[*].paid) <= 3 USD", True),
        ("sum([])", None),
        ("count(args.payments)", Decimal(2)),
        ("count([])", Decimal(0)),
        ("min(args.numbers)", Decimal(1)),
        ("max(args.numbers)", Decimal(3)),
        ("min(args.amount, order.paid)", usd("120.00")),
        ("max(24h, 1d, 90m)", timedelta(days=1)),
        ("abs(-3)", Decimal(3)),
        ("abs(-args.amount)", usd("120.00")),
        ("abs(24h - 48h)", timedelta(days=1)),
        ("round(2.345, 2)", Decimal("2.35")),
        ("round(-2.345, 2)", Decimal("-2.35")),
        ("round(2.5, 0)", Decimal(3)),
        ("round(args.amount / 7, 2)", usd("17.14")),
        ("distinct(args.numbers)", (Decimal(3), Decimal(1))),
        ("count(distinct(args.payments[*].tags[*]))", Decimal(2)),
        ("all_in(domain(args.to), constants.domains)", True),
        ("all_in(domain(args.to), ['a.example'])", False),
        ("any_in(domain(args.to), ['a.example'])", True),
        ("any_in([], ['a'])", False),
        ("count_in(args.payments[*].tags[*], ['p', 'x'])", Decimal(2)),
        ("count_in([], ['a'])", Decimal(0)),
        ("without(args.payments[*].tags[*], ['p'])", ("q",)),
        ("without(['a', 'a'], ['b'])", ("a", "a")),
        ("pairs(['a', 'b'], [1, 2.50])", ("a 1", "b 2.50")),
        ("pairs([args.day], ['b'])", ("2026-03-10 b",)),
        ("pairs(['a'], ['b', 'c'])", None),
        ("pairs(['a b'], ['c'])", None),
        ("all_in([], ['a'])", True),
        ("contains(args.note, 'HELLO')", True),
        ("contains(args.note, 'hello')", False),
        ("contains(lower(args.note), 'hello')", True),
        ("contains(args.numbers, 1)", True),
        ("lower(args.to)", ("x@a.example", "y@b.example")),
        ("domain('Ann@Mail.Example.COM')", "mail.example.com"),
        ("days_between(constants.start, args.day)", Decimal(9)),
        ("days_between(args.day, constants.start)", Decimal(-9)),
        ("days_since(today())", Decimal(0)),
        ("open.n + 1 == 6", True),
        ("sum(open.list) == 6", True),
        ("open.rows[*].x[*]", (Decimal(1),)),
        ("open.yes", True),
    ],
)
def test_values(source: str, expected: Value | None) -> None:
    """One row a rule of the language; None stands for a text that does not compile or has no value."""
    if expected is None:
        with pytest.raises((ExpressionError, EvaluationError)):
            value_of(source)
        return

    value = value_of(source)
    assert (kind_of(value), value) == (kind_of(expected), expected)


@pytest.mark.parametrize(
    ("source", "column", "said"),
    [
        ("args.amount > 5", 13, "money in USD and a number do not go together"),
        ("args.amount > 5 EUR", 13, "money in USD and money in EUR do not go together"),
        ("args.amount + 5 EUR > 1 USD", 13, "do not go together"),
        ("args.amount + 5 > 1 USD", 13, "+ does not apply to money in USD and a number"),
        ("args.amount * args.amount", 13, "* does not apply"),
        ("args.amount == order.customer_id", 13, "do not go together"),
        ("args.amount in [1 USD, 1]", 16, "do not go together"),
        ("args.amount in ['a']", 13, "do not go together"),
        ("true <= 500", 6, "a boolean cannot be compared with <="),
        ("true == 1", 6, "do not go together"),
        ("'a' < 'b'", 5, "a string cannot be compared with <"),
        ("'a' < 1", 5, "a string cannot be compared with <"),
        ("'a' + 'b'", 5, "+ does not apply"),
        ("args.day < now()", 10, "do not go together"),
        ("args.day - today()", 10, "- does not apply"),
        ("now() + now()", 7, "+ does not apply"),
        ("14d > 14", 5, "do not go together"),
        ("24h * 2", 5, "* does not apply"),
        ("args.to == args.to", 9, "a list cannot be compared"),
        ("order == order", 7, "a record cannot be compared"),
        ("order in orders", 7, "expected"),
        ("'x' in args.note", 5, "write contains(text, part)"),
        ("1 in 2", 3, "expected a list"),
        ("args.count and args.flag", 1, "expected a condition, not a number"),
        ("args.flag or args.note", 14, "expected a condition, not a string"),
        ("not args.count", 5, "expected a condition"),
        ("-args.flag", 1, "- does not apply"),
        ("open.x + args.flag", 8, "+ does not apply"),
        ("order.missing", 1, "'order.missing' is not declared: order has customer_id, delivered_at, paid"),
        ("orders.paid", 1, "write 'orders[*].paid'"),
        ("order[*].paid", 1, "not a list"),
        ("args.amount.value", 1, "is a money and has no field"),
        ("nothing == 1", 1, "'nothing' is not declared"),
        ("customer.id == 1", 1, "this tool does not map the fact"),
        ("USD > 1", 1, "'USD' is not declared"),
        ("frob(1)", 1, "unknown function 'frob'"),
        ("eval('1')", 1, "unknown function 'eval'"),
        ("sum()", 1, "sum takes 1 argument, not 0"),
        ("round(1)", 1, "round takes 2 arguments, not 1"),
        ("sum(args.amount)", 1, "sum: expected a list, not money in USD"),
        ("sum(args.to)", 1, "sum: expected"),
        ("sum(args.payments)", 1, "not a record"),
        ("min(1, 1 USD)", 1, "min: "),
        ("max(args.to)", 1, "max: expected"),
        ("all_in(args.to, [1])", 1, "do not go together"),
        ("count_in(args.to, [1])", 1, "do not go together"),
        ("without(args.to, [1])", 1, "do not go together"),
        ("pairs([true], ['a'])", 1, "pairs: expected date or number or string"),
        ("contains(args.note, 1)", 1, "expected string"),
        ("contains(1, 1)", 1, "expected a list"),
        ("lower(1)", 1, "lower: expected string"),
        ("domain(args.amount)", 1, "domain: expected string"),
        ("days_since('2026-01-01')", 1, "days_since: expected date or timestamp"),
        ("days_since(args.count)", 1, "days_since: expected"),
        ("now(1)", 1, "now takes 0 arguments"),
    ],
)
def test_what_does_not_fit_is_an_error_at_load(source: str, column: int, said: str) -> None:
    """Kinds and currencies are checked where they are known, undeclared paths are named, all with a column."""
    with pytest.raises(ExpressionError) as caught:
        compiled(source)

    assert (caught.value.column, said in caught.value.message) == (column, True), caught.value


@pytest.mark.parametrize(
    "source",
    [
        "open.missing == 1",
        "open.null == 1",
        "open.n.deeper == 1",
        "open.n[*]",
        "open[*].x",
        "open.list.x",
        "open.float > 1",
        "open.n > 5 USD",
        "open.n == 'hi'",
        "open.yes == 1",
        "open.yes <= 500",
        "open.text < 'z'",
        "open.n and true",
        "open.text in [1]",
        "open.n in open.text",
        "not open.n",
        "-open.text",
        "open.text + open.text",
        "open == open",
        "open.list == open.list",
        "sum(open.rows)",
        "sum(open.n)",
        "sum([open.n, open.yes])",
        "min(open.rows)",
        "min(open.missing)",
        "abs(open.yes)",
        "round(open.n, open.text)",
        "round(open.n, 0.5)",
        "round(open.n, 13)",
        "round(open.n, -1)",
        "lower(open.n)",
        "domain(open.text)",
        "contains(open.n, 1)",
        "contains(open.text, open.n)",
        "all_in(open.list, ['a'])",
        "distinct(open.rows)",
        "days_since(open.n)",
        "1 / (open.n - 5)",
        "args.amount / 0",
        "args.amount / 0 USD",
        "args.any_money > args.amount",
        "args.any_money + args.amount == 1 USD",
        "args.any_money == args.amount",
        "args.any_money in [1 USD]",
        "days_since(today() + 1d)",
        "days_since(now() + 24h)",
        "today() + 36h",
        "now() + 3000000d",
        "now() - 3000000d",
        "900000000d + 900000000d",
        "min([])",
        "sum(args.any_money)",
    ],
)
def test_what_has_no_value_is_an_error_at_run_time(source: str) -> None:
    """Missing, null, float, wrong kind, zero divisor, two currencies, a future day: never false, never a crash."""
    with pytest.raises((EvaluationError, ExpressionError)):
        value_of(source)


@pytest.mark.parametrize(
    "address",
    [
        *("a", "a@", "@b.com", "a@b@c.com", "Ann <a@b.com>", "a @b.com", "a@b.com ", '"a"@b.com', "a@[1.2.3.4]"),
        *("a@b..com", "a@.com", "a@b.com.", "a@-b.com", "a@b-.com", "a@b_c.com", "a@ü.com", "ä@b.com", "a,b@c.com"),
        *("a@b.com\n", "a@b.com;c@d.com", "a%b@c.com@", "a(x)@b.com", "a!b@c.com", "", "\ud800@b.com", "a@b.com\x00"),
    ],
)
def test_the_domain_of_an_ambiguous_address_is_an_error(address: str) -> None:
    """An address that two mailers could deliver to two places has no domain."""
    with pytest.raises(EvaluationError, match="plain e-mail address"):
        value_of("domain(args.note)", with_roots(args={"note": address}))


@pytest.mark.parametrize(
    "hostile",
    [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1E+999999999"), Decimal("1E-999999999"), 10**4000],
)
@pytest.mark.parametrize(
    "source", ["open.n > 1", "open.n == open.n", "open.n * open.n", "sum([open.n])", "round(open.n, 2)"]
)
def test_hostile_numbers_are_errors_before_they_cost_anything(hostile: object, source: str) -> None:
    """Neither NaN nor a huge exponent reaches arithmetic."""
    begin = time.perf_counter()

    with pytest.raises(EvaluationError):
        value_of(source, with_roots(open={"n": hostile}))
    assert time.perf_counter() - begin < 2


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("false and open.missing", False),
        ("true or open.missing", True),
        ("open.missing and false", None),
        ("open.missing or true", None),
        ("true and open.missing", None),
        ("false or open.missing", None),
        ("not open.missing", None),
    ],
)
def test_and_and_or_never_absorb_an_error(source: str, expected: bool | None) -> None:
    """From left to right: an operand that is looked at and has no value leaves the whole without one."""
    if expected is None:
        with pytest.raises(EvaluationError):
            value_of(source)
        return

    assert value_of(source) is expected


def test_errors_name_the_path_and_never_the_value() -> None:
    """`order.paid` is named, whether a root, a field or the type is missing; what stands there is not."""
    secret = "hunter2"
    cases = {
        "order": with_roots(order=Unreadable("the source timed out")),
        "order.paid": with_roots(order={"paid": Unreadable("not a number")}),
    }
    for path, environment in cases.items():
        with pytest.raises(EvaluationError) as caught:
            value_of("order.paid > 1 USD", environment)
        assert caught.value.path == path
        assert str(caught.value).startswith(f"{path} has no value: ")

    for roots in (
        {},
        {"paid": None},
        {"paid": secret},
        {"paid": Decimal(5)},
        {"paid": Money(Decimal(5), "EUR")},
        secret,
    ):
        with pytest.raises(EvaluationError) as caught:
            value_of("order.paid > 1 USD", with_roots(order=roots))
        assert caught.value.path == "order.paid"
        assert secret not in str(caught.value)


def test_an_absent_root_is_an_error() -> None:
    """A fact that was not read is no different from one without the field."""
    with pytest.raises(EvaluationError, match="order has no value"):
        value_of("order.paid > 1 USD", Environment({}, NOW))


def test_one_missing_field_in_a_list_spoils_the_list() -> None:
    """A sum over what happens to be there would be a lie."""
    payments = ({"amount": usd("1")}, {})

    with pytest.raises(EvaluationError, match=r"args\.payments\[\*\]\.amount has no value"):
        value_of("sum(args.payments[*].amount) < 5 USD", with_roots(args={"payments": payments}))


def test_an_element_of_another_kind_spoils_the_list() -> None:
    """Also where no operation would have looked at it."""
    with pytest.raises(EvaluationError, match=r"args\.to is a number, not a string"):
        value_of("count(args.to) == 2", with_roots(args={"to": ["a", 5]}))


def test_an_empty_list_sums_to_nothing_of_its_kind() -> None:
    """Where the kind is declared there is a zero of it; where it is not, there is none."""
    environment = with_roots(args={"payments": (), "numbers": ()}, open={"list": []})

    assert value_of("sum(args.payments[*].amount)", environment) == usd("0")
    assert value_of("sum(args.numbers)", environment) == Decimal(0)
    with pytest.raises(EvaluationError, match="empty list"):
        value_of("sum(open.list)", environment)


@pytest.mark.parametrize(
    ("moment", "now", "zone", "days"),
    [
        ("2026-03-10T22:59:59Z", "2026-03-11T22:30:00Z", "Europe/Berlin", 1),
        ("2026-03-10T23:00:00Z", "2026-03-11T22:30:00Z", "Europe/Berlin", 0),
        ("2026-03-10T23:00:00Z", "2026-03-11T22:30:00Z", "UTC", 1),
        ("2026-03-28T23:30:00Z", "2026-03-29T22:30:00Z", "Europe/Berlin", 1),
        ("2026-03-10T00:00:00+14:00", "2026-03-10T00:00:00-12:00", "UTC", 1),
        ("2026-03-10T23:59:59Z", "2026-03-10T23:59:59Z", "Asia/Tokyo", 0),
    ],
)
def test_days_are_counted_on_the_calendar_of_the_policy(moment: str, now: str, zone: str, days: int) -> None:
    """Midnight in `time_zone` is the border, also where the clocks change: not 24 hours, and not the server's day."""
    environment = Environment(
        {"order": {"delivered_at": datetime.fromisoformat(moment)}}, datetime.fromisoformat(now), ZoneInfo(zone)
    )

    assert value_of("days_since(order.delivered_at)", environment) == Decimal(days)


def test_calendar_functions_are_marked_and_need_a_zone() -> None:
    """The loader can demand `time_zone`; without one there is no day."""
    assert {name for name, function in FUNCTIONS.items() if function.calendar} == {
        "days_since",
        "days_between",
        "today",
    }
    assert compiled("days_since(order.delivered_at) < 3").needs_time_zone
    assert not compiled("now() > order.delivered_at").needs_time_zone
    for source in ("today()", "days_since(order.delivered_at)"):
        with pytest.raises(EvaluationError, match="time_zone"):
            value_of(source, Environment(ROOTS, NOW))


def test_elapsed_time_ignores_the_clocks_of_a_zone() -> None:
    """Two times of one zone, an hour of summer time between them, are as far apart as their instants."""
    before, after = (datetime(2026, 3, day, 12, 0, tzinfo=BERLIN) for day in (28, 29))

    assert value_of("open.after - open.before", with_roots(open={"before": before, "after": after})) == timedelta(
        hours=23
    )


def test_naive_times_are_refused() -> None:
    """A time without an offset is no instant, neither as now nor in a fact."""
    with pytest.raises(ValueError, match="aware"):
        Environment({}, NOW.replace(tzinfo=None))
    with pytest.raises(EvaluationError, match="without an offset"):
        value_of("now() > order.delivered_at", with_roots(order={"delivered_at": NOW.replace(tzinfo=None)}))


def test_an_expression_lists_what_it_reads() -> None:
    """Each path and function once, from every corner of the tree."""
    expression = compiled(
        "not (sum(args.payments[*].amount) > min(order.paid, constants.self_service))"
        " or args.code in [lower(args.note)]"
    )

    assert expression.paths == {
        ("args", "payments", "[*]", "amount"),
        ("order", "paid"),
        ("constants", "self_service"),
        ("args", "code"),
        ("args", "note"),
    }
    assert expression.functions == {"sum", "min", "lower"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("args.amount", money_type("USD")),
        ("args.amount * 2", money_type("USD")),
        ("order.paid / args.amount", NUMBER),
        ("args.payments[*].amount", list_of(money_type("USD"))),
        ("sum(args.payments[*].amount)", money_type("USD")),
        ("min(args.any_money, args.amount)", money_type("USD")),
        ("now() - order.delivered_at", Type(Kind.DURATION)),
        ("open.x", ANY),
        ("open.x[*].y", list_of(ANY)),
        ("open.x + 1", ANY),
        ("open.x > 1", BOOLEAN),
        ("lower(args.code)", SAFE_STRING),
        ("lower(args.note)", STRING),
        ("domain(args.code)", STRING),
    ],
)
def test_static_types(source: str, expected: Type) -> None:
    """The loader sees the type of the result, its currency, and whether a string may stand in a reply."""
    assert compiled(source).type == expected


def test_a_condition_is_a_boolean() -> None:
    """`holds` takes nothing for true that is not true."""
    assert compiled("open.yes").holds(ENVIRONMENT) is True
    for source in ("open.n", "open.text", "open.list"):
        with pytest.raises(EvaluationError, match="expected a condition"):
            compiled(source).holds(ENVIRONMENT)


@pytest.mark.parametrize(
    "source",
    [
        "sum(open.list) > 0",
        "count(distinct(open.list)) > 0",
        "0 in open.list",
        "all_in(open.list, open.list)",
        "contains(open.text, 'b')",
        "count(lower(open.words)) > 0",
        "max(open.list) > 0",
        "count(open.rows[*].x[*]) > 0",
        "count(open.matrix) > 0",
    ],
)
def test_cost_is_bounded(source: str) -> None:
    """However long a list or a text, an evaluation ends in milliseconds, with an error."""
    nested: list[object] = [1] * 100_000
    deep: list[object] = []
    for _ in range(2_000):
        deep = [deep]
    rows = [{"x": [1] * 200}] * 500
    data = {"list": nested, "text": "a" * 5_000_000, "words": ["a" * 10_000] * 2_000, "rows": rows, "matrix": deep}
    environment = with_roots(open=data)
    expression = compiled(source)
    begin = time.perf_counter()

    with pytest.raises(EvaluationError, match=r"costs too much|lists in lists"):
        expression.evaluate(environment)
    assert time.perf_counter() - begin < 5


def test_a_list_of_a_thousand_payments_is_within_the_cost() -> None:
    """The bound leaves room for what a real call holds."""
    payments = [{"amount": usd("1.00")}] * 1_000

    assert value_of("sum(args.payments[*].amount)", with_roots(args={"payments": payments})) == usd("1000.00")


decimals = st.decimals(-(10**15), 10**15, places=4)


@given(decimals, decimals, st.sampled_from("+-*"))
def test_sums_and_products_are_exact(left: Decimal, right: Decimal, sign: str) -> None:
    """Against fractions: not a digit is rounded away."""
    value = value_of(f"open.a {sign} open.b", with_roots(open={"a": left, "b": right}))

    assert isinstance(value, Decimal)
    a, b = Fraction(left), Fraction(right)
    assert Fraction(value) == {"+": a + b, "-": a - b, "*": a * b}[sign]


@given(decimals, decimals)
def test_a_quotient_is_right_to_28_digits(left: Decimal, right: Decimal) -> None:
    """Against fractions: the relative error is at most half a unit in the 28th digit."""
    assume(right != 0)
    value = value_of("open.a / open.b", with_roots(open={"a": left, "b": right}))

    assert isinstance(value, Decimal)
    exact = Fraction(left) / Fraction(right)
    assert abs(Fraction(value) - exact) <= abs(exact) * Fraction(1, 2 * 10**27)


@given(st.lists(decimals, max_size=20))
def test_a_sum_does_not_depend_on_the_order(amounts: list[Decimal]) -> None:
    """Exact addition is associative: no order of payments slips under a limit."""

    def total(of: list[Decimal]) -> Value:
        return value_of(
            "sum(args.payments[*].amount)", with_roots(args={"payments": [{"amount": Money(a, "USD")} for a in of]})
        )

    assert total(amounts) == total(amounts[::-1]) == total(sorted(amounts))


currencies = st.sampled_from(["USD", "EUR", "JPY"])


@given(
    decimals,
    currencies,
    decimals,
    currencies,
    st.sampled_from(["+", "-", "/", "==", "!=", "<", "<=", ">", ">=", "in", "min"]),
)
def test_money_never_mixes(left: Decimal, one: str, right: Decimal, other: str, sign: str) -> None:
    """Two currencies never compare, add or divide, whatever stands at load; money and a number never compare."""
    environment = with_roots(open={"a": Money(left, one), "b": Money(right, other), "n": right})
    text = {"in": "open.a in [{}]", "min": "min(open.a, {})"}.get(sign, f"open.a {sign} {{}}")
    if one != other:
        with pytest.raises(EvaluationError, match="do not mix"):
            value_of(text.format("open.b"), environment)
    if sign != "/":
        with pytest.raises(EvaluationError):
            value_of(text.format("open.n"), environment)


@given(decimals, decimals)
def test_comparing_money_is_comparing_its_amounts(left: Decimal, right: Decimal) -> None:
    """Trailing zeros count for nothing."""
    environment = with_roots(open={"a": Money(left, "USD"), "b": Money(right, "USD")})
    signs = ("==", "!=", "<", "<=", ">", ">=")

    held = [value_of(f"open.a {sign} open.b", environment) for sign in signs]

    assert held == [left == right, left != right, left < right, left <= right, left > right, left >= right]


paths = st.sampled_from(
    [
        *(
            "args.amount",
            "args.any_money",
            "args.count",
            "args.flag",
            "args.day",
            "args.note",
            "args.to",
            "args.numbers",
        ),
        *("args.payments[*].amount", "orders[*].paid", "order.delivered_at", "open", "open.a", "open.b", "open.a[*]"),
        *("order", "constants.window_days", "session.customer_id"),
    ]
)
literals = st.sampled_from(
    ["0", "1", "-2.5", "5 USD", "1 EUR", "14d", "'x'", "true", "[]", "[1, 2]", "['x']", "now()", "today()"]
)


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from([*(["+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in"]), "not in"])
    calls = st.sampled_from(sorted(FUNCTIONS))
    return st.one_of(
        st.tuples(inner, signs, inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(calls, st.lists(inner, max_size=2)).map(lambda parts: f"{parts[0]}({', '.join(parts[1])})"),
        inner.map(lambda text: f"(not {text})"),
        inner.map(lambda text: f"(-{text})"),
        st.lists(inner, max_size=3).map(lambda texts: f"[{', '.join(texts)}]"),
    )


sources = st.recursive(paths | literals, _grow, max_leaves=6)
junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals()
    | st.floats()
    | st.text(max_size=5)
    | st.builds(Money, st.decimals(), currencies)
    | st.dates()
    | st.datetimes()
    | st.datetimes(timezones=st.just(UTC))
    | st.timedeltas()
    | st.just(Unreadable("why")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "amount", "paid"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(sources, junk, junk, junk, st.sampled_from([None, BERLIN]))
def test_any_evaluation_ends_in_a_value_or_an_error(
    source: str, one: object, two: object, three: object, zone: ZoneInfo | None
) -> None:
    """Whatever stands where, typed or not: a value of the declared kind, or one of the two errors."""
    try:
        expression = compiled(source)
    except ExpressionError:
        return
    roots = {**ROOTS, "open": {"a": one, "b": two}, "order": three, "orders": [three, one]}
    try:
        value = expression.evaluate(Environment(roots, NOW, zone))
    except EvaluationError:
        return

    assert kind_of(value) is not None
    assert expression.type.kind in (Kind.ANY, kind_of(value))


@given(sources)
def test_what_is_declared_is_what_is_evaluated(source: str) -> None:
    """With facts as declared, the currency that the checker promises is the currency of the value."""
    try:
        expression = compiled(source)
        value = expression.evaluate(ENVIRONMENT)
    except (ExpressionError, EvaluationError):
        return

    if isinstance(value, Money) and expression.type.currency:
        assert value.currency == expression.type.currency


conditions = st.recursive(
    st.tuples(paths | literals, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), paths | literals).map(" ".join)
    | st.sampled_from(["args.flag", "not args.flag", "args.note == 'x'", "args.amount > 1 USD", "args.count >= 2"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})")
        | inner.map(lambda text: f"(not ({text}))")
    ),
    max_leaves=5,
)
junk_of_arguments = st.dictionaries(
    st.sampled_from(["amount", "any_money", "count", "flag", "day", "note", "to", "numbers"]), junk, max_size=4
)


@given(conditions, junk_of_arguments, st.just({}) | junk)
def test_what_a_closure_says_at_once_is_what_the_walk_says(
    source: str, changed: dict[str, object], whole: object
) -> None:
    """Whatever stands where: where a closure answers, walking the tree gives the same value and no error."""
    try:
        expression = compiled(source)
    except ExpressionError:
        return
    args = ROOTS["args"]
    assert isinstance(args, dict)
    roots = {**ROOTS, "args": whole or {**args, **changed}}
    said = None if expression.quick is None else expression.quick(roots)
    if said is None:
        return

    walked = evaluate(expression.tree, Environment(roots, NOW))
    assert (type(said), said) == (type(walked), walked)


@pytest.mark.parametrize(
    "source",
    [
        *("args.amount > constants.self_service", "args.count >= 2 and not args.flag", "args.note != 'x' or args.flag"),
        *("args.day == constants.start", "not (args.amount <= 1 USD)", "true", "args.flag"),
    ],
)
def test_the_usual_conditions_are_not_walked(source: str) -> None:
    """Else the property above would hold of nothing."""
    expression = compiled(source)
    assert expression.quick is not None
    assert expression.quick(ROOTS) is evaluate(expression.tree, ENVIRONMENT)


def test_a_condition_that_walks_long_has_no_closure() -> None:
    """What the walk would stop for its cost is not said at once either."""
    assert compiled(" and ".join(["args.flag"] * 100)).quick is not None
    assert quick(Junctive(Junction.AND, tuple([Literal(True)] * 2_000))) is None
