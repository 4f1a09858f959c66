"""The rules of the wikis, and by which reasons of the packs each is enforced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


@dataclass(frozen=True, slots=True)
class Rule:
    """`reasons` are those of the pack; with `tools`, of these tools only."""

    says: str
    reasons: Collection[str]
    tools: Collection[str] = ()


_CANCEL: Final = ("cancel_reservation",)
AIRLINE: Final[Mapping[str, Rule]] = {
    "A3": Rule("at most five passengers", ("too_many_passengers",)),
    "A4": Rule("payment from the profile", ("payment_not_in_profile",)),
    "A4c": Rule("one certificate, one card, three gift cards", ("too_many_payments",)),
    "A5": Rule("bags that are paid for", ("wrong_bag_fee",)),
    "A6": Rule("flight can be booked", ("flight_not_open",)),
    "A7": Rule("flights lead where the booking says", ("wrong_route",)),
    "A8": Rule("basic economy keeps its flights", ("basic_economy_fixed",)),
    "A9": Rule("same origin, destination, kind of trip", ("other_route",)),
    "A10": Rule("no other cabin once flown", ("already_flown",), ("update_reservation_flights",)),
    "A11": Rule("bags are only added", ("bags_only_added",)),
    "A13": Rule("same number of passengers", ("same_number_of_passengers",)),
    "A14": Rule("no certificate for changes", ("certificate_for_change",)),
    "A15": Rule("may be cancelled at all", ("not_cancellable",)),
    "A16": Rule("not cancelled once flown", ("already_flown",), _CANCEL),
    "A17a": Rule("who may be compensated", ("no_compensation",)),
    "A17b": Rule("how much", ("wrong_compensation",)),
    "A17c": Rule("for a delay only after a change", ("change_first",)),
    "A18": Rule("not cancelled twice", ("already_cancelled",), _CANCEL),
}
RETAIL: Final[Mapping[str, Rule]] = {
    "R1": Rule("customer recognised before any write", ("facts_incomplete",)),
    "R2": Rule("one customer", ("not_yours",)),
    "R4": Rule("only pending orders are cancelled", ("not_pending",), ("cancel_pending_order",)),
    "R5": Rule("one of two reasons", ("reason_not_accepted",)),
    "R6": Rule(
        "only pending orders are changed",
        ("not_pending",),
        ("modify_pending_order_address", "modify_pending_order_payment", "modify_pending_order_items"),
    ),
    "R7": Rule("only delivered orders, once", ("not_delivered",)),
    "R8": Rule("payment from the profile", ("payment_not_in_profile",)),
    "R9": Rule("refund to what was paid with, or a gift card", ("other_refund",)),
    "R10": Rule("another way of paying", ("same_payment",)),
    "R11": Rule("gift card covers it", ("gift_card_too_low",)),
    "R12": Rule("items of the order", ("not_in_order",)),
    "R13": Rule("one for one", ("not_one_for_one",)),
    "R14": Rule("same product", ("other_product",)),
    "R15": Rule("new item is available", ("not_available", "no_such_item")),
    "R16": Rule("another option", ("same_item",)),
}
BY_DOMAIN: Final[Mapping[str, Mapping[str, Rule]]] = {"airline": AIRLINE, "retail": RETAIL}

PERSON: Final = ("insurance_claim",)
"""Reasons for which a person decides, since no record can: they are no refusal."""
ALL_RUNS: Final[Mapping[str, Mapping[str, int]]] = {
    "airline-tau1": {
        "A4": 7,
        "A4c": 6,
        "A5": 21,
        "A7": 3,
        "A8": 17,
        "A9": 21,
        "A10": 17,
        "A14": 4,
        "A15": 16,
        "A16": 18,
    }
    | {"A17b": 6, "A17c": 2},
    "airline-tau2": {"A4": 19, "A4c": 4, "A5": 7, "A6": 2, "A7": 5, "A8": 3, "A9": 7, "A11": 2, "A15": 26, "A16": 8}
    | {"A17b": 4, "A17c": 9, "A18": 1},
    "retail-tau1": {"R6": 2, "R7": 4, "R13": 9, "R16": 3},
    "retail-tau2": {"R1": 1, "R4": 1, "R6": 7, "R7": 9, "R8": 1, "R9": 2, "R13": 4, "R14": 1, "R15": 5, "R16": 8},
}
"""Calls that the README of the data counts by rule, over the open runs and those that are set aside."""
