"""The stepped databases of the recorded runs, on invented records: what a call changes is what is read after it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from benchmarks.replays.tau.airline import Airline
from benchmarks.replays.tau.database import Database
from benchmarks.replays.tau.oracle import broken
from benchmarks.replays.tau.retail import Retail

GONE = {"status": "landed"}
FREE = {"status": "available", "prices": {"basic_economy": 50, "economy": 100, "business": 200}}


def flight(number: str, origin: str, destination: str, **days: Any) -> dict[str, Any]:
    dates = {day.replace("d", "2024-05-"): one for day, one in days.items()}
    return {"flight_number": number, "origin": origin, "destination": destination, "dates": dates}


def airline(**trip: Any) -> Airline:
    reservation = {
        "reservation_id": "TRIP01",
        "user_id": "ada",
        "origin": "AAA",
        "destination": "BBB",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": "F1", "date": "2024-05-20", "price": 100, "origin": "AAA", "destination": "BBB"}],
        "passengers": [{"first_name": "A", "last_name": "A", "dob": "1990-01-01"}],
        "payment_history": [{"payment_id": "gift", "amount": 100}],
        "created_at": "2024-05-01T12:00:00",
        "total_baggages": 1,
        "nonfree_baggages": 0,
        "insurance": "no",
        **trip,
    }
    methods = {"gift": {"source": "gift_card", "amount": 500}, "cert": {"source": "certificate", "amount": 90}}
    users = {"ada": {"membership": "regular", "reservations": ["TRIP01"], "payment_methods": methods}}
    flights = {
        "F1": flight("F1", "AAA", "BBB", d20=FREE, d21=FREE, d14=GONE, d16={"status": "delayed"}),
        "F2": flight("F2", "BBB", "AAA", d22=FREE),
    }
    base = {"users": users, "reservations": {"TRIP01": reservation}, "flights": flights}
    return Airline(Database(base), {"gift": "ada", "cert": "ada"}, "ada", keeps_cabin=False)


def shop() -> Retail:
    items = [{"item_id": "1", "product_id": "p", "price": 10.0, "options": {}, "name": "lamp"}]
    paid = [{"transaction_type": "payment", "amount": 10.0, "payment_method_id": "gift"}]
    order = {"order_id": "#1", "user_id": "ada", "status": "pending", "items": items, "payment_history": paid}
    methods = {"gift": {"source": "gift_card", "balance": 5.0, "id": "gift"}, "card": {"source": "credit_card"}}
    user = {"email": "ada@example.com", "name": {"first_name": "Ada", "last_name": "L"}, "address": {"zip": "1"}}
    base = {"users": {"ada": {**user, "payment_methods": methods}}, "orders": {"#1": order}, "products": {}}
    catalogue = {
        "1": {"item_id": "1", "product_id": "p", "available": True, "price": 10.0, "options": {}},
        "2": {"item_id": "2", "product_id": "p", "available": True, "price": 14.0, "options": {"x": "y"}},
    }
    return Retail(Database(base), catalogue, {"gift": "ada", "card": "ada"}, mixes_up=False)


CHANGE = {
    "reservation_id": "TRIP01",
    "cabin": "business",
    "flights": [{"flight_number": "F1", "date": "2024-05-21"}],
    "payment_id": "gift",
}


def test_a_change_is_seen_by_the_next_decision_and_by_no_other_run() -> None:
    """The record is the run's own from the first write on; price and balance move as the back end moves them."""
    world = airline()
    applied = world.apply("update_reservation_flights", CHANGE, None)
    after = world.fact("reservations", "TRIP01")
    user = world.database.read("users", "ada")

    assert not applied.is_error
    assert after is not None
    assert after["cabin"] == "business"
    assert [(one["date"], one["price"]) for one in json.loads(applied.content)["flights"]] == [("2024-05-21", 200)]
    assert user is not None
    assert user["payment_methods"]["gift"]["amount"] == 400
    assert world.database.first("reservations", "TRIP01") != world.database.read("reservations", "TRIP01")
    assert world.database.base["users"]["ada"]["payment_methods"]["gift"]["amount"] == 500


def test_the_older_back_end_never_stores_the_cabin() -> None:
    """What the facts tell is then what it really holds, however wrong."""
    world = airline()
    world.keeps_cabin = True
    world.apply("update_reservation_flights", CHANGE, None)

    assert (world.fact("reservations", "TRIP01") or {})["cabin"] == "economy"


def test_a_recorded_refusal_changes_nothing() -> None:
    """Whatever our own back end would have done."""
    world = airline()
    applied = world.apply("cancel_reservation", {"reservation_id": "TRIP01"}, "Error: not today")

    assert applied.is_error
    assert not applied.differs
    assert (world.fact("reservations", "TRIP01") or {})["status"] == "active"


def test_a_recorded_result_that_the_database_does_not_give_differs() -> None:
    """A record is compared by its content, without what is null; a text as it is."""
    same = airline().apply("cancel_reservation", {"reservation_id": "TRIP01"}, None).content
    spaced = json.dumps({**json.loads(same), "note": None}, indent=2)

    assert not airline().apply("cancel_reservation", {"reservation_id": "TRIP01"}, spaced).differs
    assert airline().apply("cancel_reservation", {"reservation_id": "TRIP01"}, '{"status": "cancelled"}').differs
    assert airline().apply("cancel_reservation", {"reservation_id": "NONE"}, same).differs


def test_times_are_told_as_long_ago_as_they_were() -> None:
    """The gate's clock is today's: a booking of twelve hours before the run was made twelve hours ago."""
    told = (airline(created_at="2024-05-15T03:00:00").fact("reservations", "TRIP01") or {})["created_at"]

    assert abs(datetime.now(UTC) - datetime.fromisoformat(told) - timedelta(hours=12)) < timedelta(minutes=1)


def test_a_disruption_is_that_of_the_trip_as_it_was() -> None:
    """A delayed trip counts as changed once a call has changed it, with the passengers of before."""
    late = [{"flight_number": "F1", "date": "2024-05-16", "price": 100, "origin": "AAA", "destination": "BBB"}]
    world = airline(flights=late)
    before = world.fact("disruptions", "TRIP01")
    world.apply("update_reservation_flights", CHANGE, None)

    assert before == {
        "cabin": "economy",
        "insured": False,
        "cancelled_for": 0,
        "delayed_for": 1,
        "delayed_and_changed_for": 0,
    }
    assert world.fact("disruptions", "TRIP01") == {**before, "delayed_and_changed_for": 1}


def test_a_payment_method_is_its_owners_until_it_is_used_up() -> None:
    """A certificate is gone once a booking took it; one that was sent in the run is there."""
    world = airline()
    booking = {
        "user_id": "ada",
        "origin": "AAA",
        "destination": "BBB",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": "F1", "date": "2024-05-20"}],
        "passengers": [{"first_name": "A", "last_name": "A", "dob": "1990-01-01"}],
        "payment_methods": [{"payment_id": "cert", "amount": 90}, {"payment_id": "gift", "amount": 10}],
        "total_baggages": 1,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    assert world.fact("payment-methods", "cert") == {"user_id": "ada", "source": "certificate"}
    assert broken(world, "book_reservation", booking) == set()
    assert not world.apply("book_reservation", booking, None).is_error
    assert world.fact("payment-methods", "cert") is None
    assert world.fact("reservations", "HATHAT") is not None
    assert not world.apply("send_certificate", {"user_id": "ada", "amount": 50}, None).is_error
    assert world.fact("payment-methods", "certificate_3221322") == {"user_id": "ada", "source": "certificate"}


@pytest.mark.parametrize(
    ("tool", "made", "trip", "rules"),
    [
        ("cancel_reservation", {}, {}, {"A15"}),
        ("cancel_reservation", {}, {"cabin": "business"}, set()),
        ("cancel_reservation", {}, {"created_at": "2024-05-14T15:00:00"}, set()),
        ("cancel_reservation", {}, {"created_at": "2024-05-14T14:59:59"}, {"A15"}),
        ("cancel_reservation", {}, {"insurance": "yes", "status": "cancelled"}, {"A18"}),
        ("update_reservation_flights", CHANGE, {}, set()),
        ("update_reservation_flights", CHANGE, {"cabin": "basic_economy"}, {"A8"}),
        ("update_reservation_flights", CHANGE, {"destination": "CCC"}, {"A9"}),
        ("update_reservation_flights", {**CHANGE, "payment_id": "cert"}, {}, {"A14"}),
        ("update_reservation_flights", {**CHANGE, "payment_id": "none"}, {"flight_type": "round_trip"}, {"A4", "A9"}),
        ("update_reservation_baggages", {"total_baggages": 2, "nonfree_baggages": 0}, {}, {"A5"}),
        ("update_reservation_baggages", {"total_baggages": 0, "nonfree_baggages": 0}, {}, {"A11"}),
        ("update_reservation_passengers", {"passengers": []}, {}, {"A13"}),
        ("send_certificate", {"user_id": "ada", "amount": 100}, {}, {"A17a", "A17b"}),
    ],
)
def test_the_check_beside_the_gate_knows_the_rules(
    tool: str, made: dict[str, Any], trip: dict[str, Any], rules: set[str]
) -> None:
    """What the tables hold the gate against is right by itself."""
    given = {"reservation_id": "TRIP01", "payment_id": "gift", **made}

    assert broken(airline(**trip), tool, given) == rules


def test_arguments_that_are_not_the_tools_are_not_judged() -> None:
    """Nothing can be said of a call that no back end could carry out."""
    assert broken(airline(), "cancel_reservation", {}) is None


def test_the_shop_knows_its_customer_from_a_look_up_on() -> None:
    """Before, nothing is signed, and a write is one of nobody; the first that was found stays."""
    world = shop()
    reason = {"order_id": "#1", "reason": "no longer needed"}

    assert world.claims() is None
    assert broken(world, "cancel_pending_order", reason) == {"R1"}
    assert world.apply("find_user_id_by_email", {"email": "ADA@example.com"}, None).content == "ada"
    world.apply("find_user_id_by_email", {"email": "x"}, "bob")
    assert world.claims() == {"sub": "ada"}
    assert broken(world, "cancel_pending_order", reason) == set()


def test_the_shops_writes_move_status_and_gift_cards() -> None:
    """What was paid comes back to the gift card; a changed order is pending no more."""
    swap = {"order_id": "#1", "item_ids": ["1"], "new_item_ids": ["2"], "payment_method_id": "gift"}
    world = shop()
    assert not world.apply("modify_pending_order_items", swap, None).is_error
    assert (world.fact("orders", "#1") or {})["status"] == "pending (item modified)"
    assert (world.fact("payment-methods", "gift") or {})["balance"] == 1.0

    world = shop()
    assert not world.apply("cancel_pending_order", {"order_id": "#1", "reason": "no longer needed"}, None).is_error
    assert (world.fact("payment-methods", "gift") or {})["balance"] == 15.0
    assert world.apply("cancel_pending_order", {"order_id": "#1", "reason": "no longer needed"}, None).is_error


@pytest.mark.parametrize(
    ("made", "rules"),
    [
        ({"new_item_ids": ["1"]}, {"R16"}),
        ({"new_item_ids": ["3"]}, {"R15"}),
        ({"new_item_ids": []}, {"R13"}),
        ({"item_ids": ["3"]}, {"R12"}),
        ({"item_ids": ["1", "1"], "new_item_ids": ["2", "2"]}, {"R12", "R11"}),
        ({"payment_method_id": "none"}, {"R8"}),
        ({"order_id": "#1"}, set()),
    ],
)
def test_the_check_beside_the_gate_knows_the_shop(made: dict[str, Any], rules: set[str]) -> None:
    """Place by place, and with as many of each item as the order has."""
    world = shop()
    world.customer = "ada"
    given = {"order_id": "#1", "item_ids": ["1"], "new_item_ids": ["2"], "payment_method_id": "gift", **made}

    assert broken(world, "modify_pending_order_items", given) == rules
