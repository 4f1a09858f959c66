"""Sentences: what finance reads is what the tree decides."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from policies.expressions import Scope, compile_expression, sentence
from policies.expressions.functions import FUNCTIONS
from policies.values import (
    ANY,
    BOOLEAN,
    DATE,
    STRING,
    TIMESTAMP,
    Money,
    Value,
    list_of,
    money_type,
    record_of,
    type_of_value,
)

CONSTANTS: dict[str, Value] = {
    "window_days": Decimal(14),
    "self_service": Money(Decimal(500), "USD"),
    "domains": ("a.example", "b.example"),
    "start": date(2026, 3, 1),
    "tier": {"gold": Money(Decimal(2000), "USD")},
}
SCOPE = Scope(
    {
        "args": record_of(
            {
                "amount": money_type("USD"),
                "code": STRING,
                "day": DATE,
                "to": list_of(STRING),
                "payments": list_of(record_of({"amount": money_type("USD")})),
            }
        ),
        "order": record_of({"delivered_at": TIMESTAMP, "refund_eligible": BOOLEAN, "paid": money_type("USD")}),
        "constants": record_of({name: type_of_value(value) for name, value in CONSTANTS.items()}),
        "open": ANY,
    }
)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "days_since(order.delivered_at) <= constants.window_days",
            "days since order.delivered_at is at most window_days (14)",
        ),
        ("args.amount > constants.self_service", "args.amount is more than self_service (500.00 USD)"),
        ("args.amount >= constants.tier.gold", "args.amount is at least tier.gold (2000.00 USD)"),
        ("order.refund_eligible", "order.refund_eligible is true"),
        ("not order.refund_eligible", "order.refund_eligible is not true"),
        ("not args.amount > 5 USD", "args.amount is at most 5.00 USD"),
        ("args.code == 'damaged'", 'args.code is "damaged"'),
        ("args.code != 'damaged'", 'args.code is not "damaged"'),
        ("args.code in ['a', 'b']", 'args.code is one of "a", "b"'),
        ("not args.code in ['a']", 'args.code is none of "a"'),
        (
            "all_in(domain(args.to), constants.domains)",
            'each of the domain of args.to is one of domains ("a.example", "b.example")',
        ),
        (
            "sum(args.payments[*].amount) < order.paid",
            "the sum of the values of amount in args.payments is less than order.paid",
        ),
        ("args.day < constants.start", "args.day is before start (2026-03-01)"),
        ("now() >= order.delivered_at", "now is not before order.delivered_at"),
        ("args.amount + 5 USD < order.paid / 2", "(args.amount plus 5.00 USD) is less than (order.paid divided by 2)"),
        ("-args.amount < 0 USD", "(minus args.amount) is less than 0.00 USD"),
        (
            "order.refund_eligible and (args.amount < 5 USD or args.code == 'x')",
            'order.refund_eligible is true and (args.amount is less than 5.00 USD or args.code is "x")',
        ),
        (
            "not (order.refund_eligible and open.x)",
            "it is not the case that (order.refund_eligible is true and open.x is true)",
        ),
        ("args.code in []", "args.code is one of an empty list"),
        ("contains(args.to[*], 'a')", 'the elements of args.to contains "a"'),
        ("args.code == '{0}'", 'args.code is "{0}"'),
        ("contains(args.code, '{0} {x}')", 'args.code contains "{0} {x}"'),
    ],
)
def test_sentences(source: str, expected: str) -> None:
    """Comparisons in words, constants with their values, grouping in parentheses."""
    assert sentence(compile_expression(source, SCOPE), CONSTANTS) == expected


def test_every_function_has_words() -> None:
    """A phrase takes as many arguments as the function must have, and no more than it may."""
    for name, function in FUNCTIONS.items():
        told = [f"x{index}" for index in range(max(function.least, 1))]
        text = function.phrase.replace("{*}", ", ".join(told)).format(*told)

        assert all(part in text for part in told[: function.least]), name
        assert "{" not in text
